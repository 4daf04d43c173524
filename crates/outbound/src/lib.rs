//! The one HTTP client, with which everything that Surehand itself asks of others is asked.
//!
//! What lives here: its TLS, whom it believes, and what its errors mean.
//! What must not: what is asked, and of whom.

mod failure;
mod trust;

pub use failure::{distrust, innermost};
pub use reqwest;

/// A client that speaks TLS, to be given its proxy and its limits by whoever needs it.
pub fn builder() -> Result<reqwest::ClientBuilder, rustls::Error> {
    let builder = reqwest::Client::builder().user_agent(concat!("surehand/", env!("CARGO_PKG_VERSION")));
    Ok(builder.tls_backend_preconfigured(trust::config()?))
}
