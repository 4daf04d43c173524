//! Figures: medians of samples, what is compared with what, and the verdict.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// Between two animation frames, in milliseconds: headless browsers paint 60 times a second.
pub const FRAME: f64 = 1000.0 / 60.0;

/// Samples of one quantity, in milliseconds. Differences may be negative.
#[derive(Debug, Clone, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Adds one time.
    pub fn push(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1000.0);
    }

    /// Each sample less the sample of `other` that was taken in the same round.
    pub fn less(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one - two).collect())
    }

    /// Each sample and the sample of `other` that was taken in the same round.
    pub fn plus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(one, two)| one + two).collect())
    }

    /// The largest one; `None` if nothing was measured.
    pub fn largest(&self) -> Option<Amount> {
        self.0.iter().copied().max_by(f64::total_cmp).map(Amount::Milliseconds)
    }

    /// The one that so many of a hundred do not exceed; `None` if nothing was measured.
    pub fn percentile(&self, of_hundred: usize) -> Option<Amount> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let place = (sorted.len() * of_hundred).div_ceil(100).checked_sub(1)?;
        sorted.get(place).copied().map(Amount::Milliseconds)
    }

    /// The middle one; of an even number, the mean of the middle two; `None` if nothing was measured.
    pub fn median(&self) -> Option<Amount> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let above = *sorted.get(middle)?;
        let median = if sorted.len() % 2 == 1 { above } else { f64::midpoint(sorted[middle - 1], above) };
        Some(Amount::Milliseconds(median))
    }
}

/// One figure with its unit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Amount {
    /// A time.
    Milliseconds(f64),
    /// A size.
    Bytes(u64),
}

impl Amount {
    #[expect(clippy::cast_precision_loss, reason = "sizes here are far below 2^52")]
    fn value(self) -> f64 {
        match self {
            Self::Milliseconds(value) => value,
            Self::Bytes(value) => value as f64,
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Milliseconds(value) if value.abs() < 10.0 => write!(out, "{value:.2} ms"),
            Self::Milliseconds(value) => write!(out, "{value:.1} ms"),
            Self::Bytes(_) => write!(out, "{:.1} MB", self.value() / 1e6),
        }
    }
}

/// What must hold between ours and the floor.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Ours is at most this many milliseconds above the floor.
    Above(f64),
    /// Ours is at most this many times the floor.
    Times(f64),
    /// Ours is under this, whatever the floor.
    Under(Amount),
    /// Only reported.
    None,
}

impl fmt::Display for Limit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Above(value) if value.fract() != 0.0 => write!(out, "≤ +{value:.1} ms"),
            Self::Above(value) => write!(out, "≤ +{value} ms"),
            Self::Times(value) => write!(out, "≤ {value}x"),
            Self::Under(amount) => write!(out, "< {amount}"),
            Self::None => Ok(()),
        }
    }
}

/// How a row came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The limit holds.
    Ok,
    /// It does not.
    Over,
    /// Ours, less process start, is not even positive: the machine was too busy for a verdict.
    Noise,
    /// There is no limit, or nothing to hold against it.
    Reported,
}

/// One line of the result.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The name of the case.
    pub case: String,
    /// What the figures are.
    pub what: String,
    /// The raw protocol's figure.
    pub floor: Option<Amount>,
    /// Surehand's figure.
    pub ours: Option<Amount>,
    /// What must hold.
    pub limit: Limit,
}

impl Row {
    /// Ours in relation to the floor: the difference or the ratio that the limit is about.
    pub fn relation(&self) -> Option<String> {
        let (ours, floor) = (self.ours?.value(), self.floor?.value());
        Some(match self.limit {
            Limit::Above(_) => format!("{:+.2} ms", ours - floor),
            _ => format!("{:.2}x", ours / floor),
        })
    }

    /// Whether the limit holds.
    pub fn verdict(&self) -> Verdict {
        if self.limit != Limit::None && matches!(self.ours, Some(Amount::Milliseconds(..=0.0))) {
            return Verdict::Noise;
        }
        let holds = match (self.limit, self.floor, self.ours) {
            (Limit::Under(most), _, Some(ours)) => ours.value() < most.value(),
            (Limit::Above(most), Some(floor), Some(ours)) => ours.value() - floor.value() <= most,
            (Limit::Times(most), Some(floor), Some(ours)) => ours.value() <= floor.value() * most,
            _ => return Verdict::Reported,
        };
        if holds { Verdict::Ok } else { Verdict::Over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(values: &[u64]) -> Samples {
        let mut samples = Samples::default();
        values.iter().for_each(|value| samples.push(Duration::from_millis(*value)));
        samples
    }

    fn row(floor: f64, ours: f64, limit: Limit) -> Row {
        let amount = |value| Some(Amount::Milliseconds(value));
        Row { case: String::new(), what: String::new(), floor: amount(floor), ours: amount(ours), limit }
    }

    #[test]
    fn medians_and_pairs() {
        assert_eq!(samples(&[9, 1, 5]).median().unwrap(), Amount::Milliseconds(5.0));
        assert_eq!(samples(&[4, 1, 2, 9]).median().unwrap(), Amount::Milliseconds(3.0));
        assert_eq!(samples(&[9, 1, 5]).largest().unwrap(), Amount::Milliseconds(9.0));
        assert_eq!(samples(&[]).median(), None);
        let difference = samples(&[5, 7, 20]).less(&samples(&[6, 4, 2]));
        assert_eq!(difference.median().unwrap(), Amount::Milliseconds(3.0));
    }

    #[test]
    fn verdicts() {
        assert_eq!(row(10.0, 12.0, Limit::Above(2.0)).verdict(), Verdict::Ok);
        assert_eq!(row(10.0, 12.1, Limit::Above(2.0)).verdict(), Verdict::Over);
        assert_eq!(row(10.0, 20.0, Limit::Times(2.0)).verdict(), Verdict::Ok);
        assert_eq!(row(10.0, 20.1, Limit::Times(2.0)).verdict(), Verdict::Over);
        assert_eq!(row(10.0, 1.0, Limit::None).verdict(), Verdict::Reported);
        assert_eq!(row(10.0, -0.1, Limit::Times(2.0)).verdict(), Verdict::Noise);
        let size = |ours| Row { ours, floor: None, ..row(0.0, 0.0, Limit::Under(Amount::Bytes(15_000_000))) };
        assert_eq!(size(Some(Amount::Bytes(14_999_999))).verdict(), Verdict::Ok);
        assert_eq!(size(Some(Amount::Bytes(15_000_000))).verdict(), Verdict::Over);
        assert_eq!(size(None).verdict(), Verdict::Reported);
    }

    #[test]
    fn relations_follow_the_limit() {
        assert_eq!(row(10.0, 12.5, Limit::Above(2.0)).relation().unwrap(), "+2.50 ms");
        assert_eq!(row(10.0, 12.5, Limit::Times(2.0)).relation().unwrap(), "1.25x");
    }
}
