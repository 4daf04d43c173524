//! The time axis that the bars of a run share.

use crate::brief;

/// How many equal parts the axis has.
const PARTS: u64 = 4;

/// The coordinates of a bar run from 0 to this.
const WIDTH: u64 = 1_000;

/// Bars of the shortest steps are still seen.
const NARROWEST: u64 = 4;

/// An axis from 0 to a round time that is not before the end of the run.
#[derive(Debug, Clone, Copy)]
pub struct Axis {
    part_ms: u64,
}

impl Axis {
    /// The shortest axis that holds this time.
    pub fn until(ms: u64) -> Self {
        Self { part_ms: round_up(ms.div_ceil(PARTS).max(1)) }
    }

    /// The times at the end of each part.
    pub fn labels(self) -> Vec<String> {
        (1..=PARTS).map(|part| label(self.part_ms.saturating_mul(part))).collect()
    }

    /// Where a bar begins and how wide it is.
    pub fn bar(self, started_ms: u64, duration_ms: u64) -> (u64, u64) {
        let scaled = |ms: u64| {
            let end = u128::from(self.part_ms) * u128::from(PARTS);
            u64::try_from(u128::from(ms) * u128::from(WIDTH) / end).unwrap_or(WIDTH).min(WIDTH)
        };
        let start = scaled(started_ms).min(WIDTH - NARROWEST);
        let width = scaled(duration_ms).max(NARROWEST).min(WIDTH - start);
        (start, width)
    }
}

/// The smallest number with few digits that is not below this one.
fn round_up(ms: u64) -> u64 {
    let mut power: u64 = 1;
    loop {
        let rounds = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80].map(|tenths| power.saturating_mul(tenths));
        if let Some(round) = rounds.iter().find(|round| *round % 10 == 0 && *round / 10 >= ms) {
            return round / 10;
        }
        match power.checked_mul(10) {
            Some(next) => power = next,
            None => return ms,
        }
    }
}

fn label(ms: u64) -> String {
    let said = brief::duration(ms);
    match said.strip_suffix(" s") {
        Some(seconds) if seconds.contains('.') => {
            format!("{} s", seconds.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => said,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_ends_at_a_round_time() {
        assert_eq!(Axis::until(0).labels(), ["1 ms", "2 ms", "3 ms", "4 ms"]);
        assert_eq!(Axis::until(57).labels(), ["15 ms", "30 ms", "45 ms", "60 ms"]);
        assert_eq!(Axis::until(1_650).labels(), ["500 ms", "1 s", "1.5 s", "2 s"]);
        assert_eq!(Axis::until(4_000).labels(), ["1 s", "2 s", "3 s", "4 s"]);
        assert_eq!(Axis::until(u64::MAX).labels().len(), 4);
    }

    #[test]
    fn bars_stay_on_the_axis() {
        let axis = Axis::until(4_000);
        assert_eq!(axis.bar(1_000, 2_000), (250, 500));
        assert_eq!(axis.bar(0, 0), (0, 4));
        assert_eq!(axis.bar(4_000, 0), (996, 4));
        assert_eq!(axis.bar(3_000, 9_000), (750, 250));
        assert_eq!(axis.bar(u64::MAX, u64::MAX), (996, 4));
    }
}
