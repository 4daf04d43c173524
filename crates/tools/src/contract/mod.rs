//! Contracts: what a page must look like, judged without a model.
//!
//! A contract is one assertion in JSON, or several joined by `and`, `or` and `not`. `dsl` reads it and reports everything
//! that is wrong with it at once; `logic` and `leaf` judge it over whatever [`Evidence`] there is; `live` is the evidence of
//! a tab, `given` the evidence that a caller hands in. What cannot be known is never guessed: it is inconclusive.

mod classes;
mod dsl;
mod evidence;
mod given;
mod leaf;
mod live;
mod logic;
mod metrics;
mod pattern;
mod phash;
mod validate;

pub use classes::Classes;
pub use dsl::{Assertion, Comparison, Observed, Op, Since, Unit};
pub use evidence::{Entries, Evidence, Exemplar, Known, Measured, Said, Sent, Text, Unknown};
pub use given::Given;
pub use live::Live;
pub use logic::{Failed, Judgement, Verdict, judge};
pub use pattern::{Fit, Pattern};
pub use validate::{Invalid, parse};
