//! Points in time, to the millisecond, as RFC 3339 writes them in UTC. Small enough to need no calendar crate.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// Milliseconds since 1970 in UTC. Shown and serialized as `2026-11-16T11:12:17.123Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// A text that is no point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this is no time; write it as RFC 3339 does, e.g. 2026-11-16T11:12:17Z")]
pub struct NotATime;

const DAY: i64 = 86_400_000;

impl Timestamp {
    /// By the clock of this machine.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// From milliseconds since 1970.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since 1970.
    pub const fn millis(self) -> i64 {
        self.0
    }
}

/// Year, month and day of a day since 1970. After Howard Hinnant, "chrono-compatible low-level date algorithms": years
/// begin in March, so that the leap day is the last of a year.
fn date_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let of_era = days.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

/// The other way.
fn days_of(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
    era * 146_097 + of_era - 719_468
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = date_of(self.0.div_euclid(DAY));
        let of_day = self.0.rem_euclid(DAY);
        let (hour, minute) = (of_day / 3_600_000, of_day / 60_000 % 60);
        let (second, millis) = (of_day / 1_000 % 60, of_day % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl FromStr for Timestamp {
    type Err = NotATime;

    /// RFC 3339: any offset, any number of decimals. What is finer than a millisecond is dropped.
    fn from_str(text: &str) -> Result<Self, NotATime> {
        parse(text.as_bytes()).map(Self).ok_or(NotATime)
    }
}

fn parse(text: &[u8]) -> Option<i64> {
    let (head, rest) = text.split_at_checked(19)?;
    let separators = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if separators.iter().any(|(at, byte)| head[*at] != *byte) || !matches!(head[10], b'T' | b't' | b' ') {
        return None;
    }
    let (year, month) = (number(&head[..4])?, number(&head[5..7])?);
    let (day, hour) = (number(&head[8..10])?, number(&head[11..13])?);
    let (minute, second) = (number(&head[14..16])?, number(&head[17..19])?);
    // A leap second counts as the first of the next minute.
    let days = days_of(year, month, day);
    if !(1..=12).contains(&month)
        || date_of(days) != (year, month, day)
        || hour > 23
        || minute > 59
        || second > 60
    {
        return None;
    }
    let (millis, zone) = decimals(rest)?;
    let local = days * DAY + hour * 3_600_000 + minute * 60_000 + second * 1_000 + millis;
    Some(local - offset(zone)?)
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |sum, digit| digit.is_ascii_digit().then(|| sum * 10 + i64::from(digit - b'0')))
}

/// Milliseconds, and what follows.
fn decimals(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(text) = text.strip_prefix(b".") else { return Some((0, text)) };
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    let digit = |at: usize| digits.get(at).map_or(0, |digit| i64::from(digit - b'0'));
    (count > 0).then(|| (digit(0) * 100 + digit(1) * 10 + digit(2), rest))
}

fn offset(zone: &[u8]) -> Option<i64> {
    let sign = match zone {
        b"Z" | b"z" => return Some(0),
        [b'+', ..] => 1,
        [b'-', ..] => -1,
        _ => return None,
    };
    if zone.len() != 6 || zone[3] != b':' {
        return None;
    }
    let (hours, minutes) = (number(&zone[1..3])?, number(&zone[4..6])?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 60 + minutes) * 60_000)
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_794_827_537_123, "2026-11-16T11:12:17.123Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            assert_eq!(Timestamp(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Timestamp(millis)));
        }
        for same in
            ["2026-11-16T12:12:17.1239+01:00", "2026-11-16t05:42:17.123-05:30", "2026-11-16 11:12:17.123z"]
        {
            assert_eq!(same.parse(), Ok(Timestamp(1_794_827_537_123)), "{same}");
        }
        assert_eq!("2026-11-16T11:12:17Z".parse(), Ok(Timestamp(1_794_827_537_000)));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "now",
            "2026-11-16",
            "2026-11-16T11:12:17",
            "2026-02-29T00:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-00-01T00:00:00Z",
            "2026-01-00T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:60:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00+1:00",
            "2026-01-01T00:00:00+01:00x",
            "2026-01-01T00:00:0éZ",
            "+026-01-01T00:00:00Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(NotATime), "{text}");
        }
    }

    #[test]
    fn every_day_is_found_again() {
        for days in (-800_000..800_000).step_by(7) {
            let (year, month, day) = date_of(days);
            assert_eq!(days_of(year, month, day), days);
        }
    }
}
