//! The floor: the same browser, spoken to by the smallest client there can be.
//!
//! One blocking thread, the pipe on descriptors 3 and 4, messages ended by NUL. Nothing is shared with the product.

mod launch;
mod page;
mod wire;

pub use launch::{Launch, RawBrowser};
pub use page::{RawPage, WALK};
