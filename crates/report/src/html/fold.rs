//! Which steps are folded away: long rows of steps that say nothing new.
//!
//! A failing test is open, and its failure must be near; thousands of steps before it, or skipped ones after it, would
//! push it off the screen. What is folded can be opened.

use std::ops::Range;

use crate::run::{Status, StepReport};

/// Shorter rows of passed steps are shown as they are.
const MOST_PASSED: usize = 60;

/// What is kept in sight before the next failure, or the end.
const KEPT_PASSED: usize = 10;

/// Shorter rows of skipped steps are shown as they are.
const MOST_SKIPPED: usize = 5;

/// A long row is folded into several parts, so that opening one is quick; but their list is to be short too.
const SMALLEST_FOLD: usize = 500;
const MOST_FOLDS: usize = 8;

/// Steps that are shown together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Which steps.
    pub steps: Range<usize>,
    /// Whether they are folded away.
    pub folded: bool,
}

/// Divides the steps into blocks: all of them, in order. A block has steps of one phase.
pub fn blocks(steps: &[StepReport]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut start = 0;
    for row in steps.chunk_by(|a, b| a.status == b.status && a.phase == b.phase) {
        let end = start + row.len();
        let shown_from = match row[0].status {
            Status::Ok if row.len() > MOST_PASSED => end - KEPT_PASSED,
            Status::Skipped if row.len() > MOST_SKIPPED => end,
            _ => start,
        };
        let size = fold_size(shown_from - start);
        for fold in (start..shown_from).step_by(size) {
            blocks.push(Block { steps: fold..shown_from.min(fold + size), folded: true });
        }
        if shown_from < end {
            show(&mut blocks, shown_from..end, steps);
        }
        start = end;
    }
    blocks
}

/// How many steps each part of a row has: a round number.
fn fold_size(row: usize) -> usize {
    row.div_ceil(MOST_FOLDS).next_multiple_of(SMALLEST_FOLD).max(SMALLEST_FOLD)
}

/// Adds steps that are shown, to the block before if that is shown too and belongs to the same phase.
fn show(blocks: &mut Vec<Block>, shown: Range<usize>, steps: &[StepReport]) {
    match blocks.last_mut() {
        Some(last) if !last.folded && steps[last.steps.start].phase == steps[shown.start].phase => {
            last.steps.end = shown.end;
        }
        _ => blocks.push(Block { steps: shown, folded: false }),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::run::Phase;
    use crate::samples::{failed_assert, passed_step};

    fn passed(count: usize) -> Vec<StepReport> {
        (0..count).map(|index| passed_step(index, "click", json!({}), 1)).collect()
    }

    fn told(steps: &[StepReport]) -> Vec<(Range<usize>, bool)> {
        blocks(steps).into_iter().map(|block| (block.steps, block.folded)).collect()
    }

    #[test]
    fn few_steps_are_one_block() {
        let mut steps = passed(3);
        steps.push(failed_assert(3));
        steps.push(StepReport::skipped(4, "click", "click", json!({})));
        assert_eq!(told(&steps), [(0..5, false)]);
        assert_eq!(told(&[]), []);
    }

    #[test]
    fn a_failure_stays_near() {
        let mut steps = passed(1_200);
        steps.push(failed_assert(1_200));
        steps.extend((0..20).map(|_| StepReport::skipped(0, "click", "click", json!({}))));
        assert_eq!(
            told(&steps),
            [
                (0..500, true),
                (500..1_000, true),
                (1_000..1_190, true),
                (1_190..1_201, false),
                (1_201..1_221, true)
            ]
        );
    }

    #[test]
    fn a_long_row_has_few_parts() {
        let blocks = told(&passed(20_010));
        assert_eq!(blocks.len(), 9);
        assert_eq!(blocks[0], (0..2_500, true));
        assert_eq!(blocks[8], (20_000..20_010, false));
    }

    #[test]
    fn phases_are_apart() {
        let mut steps = passed(3);
        steps[0].phase = Phase::Setup;
        steps[2].phase = Phase::Teardown;
        assert_eq!(told(&steps), [(0..1, false), (1..2, false), (2..3, false)]);
    }
}
