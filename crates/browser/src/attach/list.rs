//! What a browser that somebody else started has open, as it tells over HTTP.

use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::time::timeout_at;

use super::{LONGEST, fetch, parse, read_json, told};
use crate::Error;

/// A thousand tabs with long addresses are a few megabytes.
const LARGEST_LIST: usize = 16 << 20;

/// Something that a browser has open.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Listed {
    /// The browser's id of it.
    pub id: String,
    /// `page`, `iframe`, `service_worker` and the like.
    #[serde(rename = "type", default)]
    pub kind: String,
    /// The document's title.
    #[serde(default)]
    pub title: String,
    /// Its address.
    #[serde(default)]
    pub url: String,
}

/// Lists what a browser has open, the tab that was used last first. Not for addresses of sockets.
///
/// # Errors
/// As [`super::resolve`]; always within five seconds.
pub async fn list(endpoint: &str, timeout: Duration) -> Result<Vec<Listed>, Error> {
    const PATH: &str = "/json/list";
    let endpoint = endpoint.trim();
    let parsed = parse(endpoint)?;
    let limit = timeout.min(LONGEST);
    let asked = timeout_at((Instant::now() + limit).into(), fetch(endpoint, &parsed, PATH, LARGEST_LIST));
    let Ok(fetched) = asked.await else {
        return Err(Error::AttachTimeout { endpoint: endpoint.into(), waited: told(limit) });
    };
    let (answer, _) = fetched?;
    read_json(endpoint, &answer, PATH)
}
