//! Why a report could not be written down.

use thiserror::Error;

/// A report could not be brought into its form. No report causes this; a mistake in this crate does.
#[derive(Debug, Error)]
pub enum RenderError {
    /// The template of the page has a mistake.
    #[error("the HTML report could not be written: {0}")]
    Html(#[from] minijinja::Error),
    /// The XML could not be written.
    #[error("the JUnit report could not be written: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}
