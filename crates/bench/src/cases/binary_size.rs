//! The size of the executable, as it is.

use anyhow::Result;

use super::Case;
use crate::bench::Bench;
use crate::measure::{Amount, Limit, Row};

const LIMIT: Amount = Amount::Bytes(15_000_000);

pub struct BinarySize;

impl Case for BinarySize {
    fn name(&self) -> &'static str {
        "binary-size"
    }

    fn about(&self) -> &'static str {
        "the stripped release binary"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        let ours = match &bench.subject {
            Some(subject) => Some(Amount::Bytes(fs_err::metadata(subject.binary())?.len())),
            None => None,
        };
        Ok(vec![Row {
            case: self.name().into(),
            what: self.about().into(),
            floor: None,
            ours,
            limit: Limit::Under(LIMIT),
        }])
    }
}
