//! The journal of a client: one line per call, on disk, so that it outlives the client and the server.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;
use surehand_guard::{Secrets, redact};

/// See the module.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    secrets: Arc<Secrets>,
    /// Opened with the first line: a client that calls nothing leaves nothing.
    file: Mutex<Option<fs_err::File>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    /// Seconds since 1970.
    at: f64,
    tool: &'a str,
    arguments: &'a str,
    ok: bool,
    ms: u64,
}

impl Journal {
    pub fn new(path: PathBuf, secrets: Arc<Secrets>) -> Self {
        Self { path, secrets, file: Mutex::default() }
    }

    /// Notes a call. A journal that cannot be written does not stop the work, but is told in the log.
    pub fn note(&self, tool: &str, arguments: &Value, ok: bool, took: Duration) {
        let text = arguments.to_string();
        let masked = self.secrets.mask(&text);
        let masked = redact::mask_members(&masked, redact::is_sensitive_name);
        let line = Line {
            at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
            tool: &self.secrets.mask(tool),
            arguments: &redact::mask_queries(&masked),
            ok,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        };
        if let Err(error) = self.write(&line) {
            tracing::warn!("the journal cannot be written: {error}");
        }
    }

    fn write(&self, line: &Line<'_>) -> std::io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if file.is_none() {
            if let Some(folder) = self.path.parent() {
                fs_err::create_dir_all(folder)?;
            }
            *file = Some(fs_err::OpenOptions::new().create(true).append(true).open(&self.path)?);
        }
        let Some(file) = file.as_mut() else { return Ok(()) };
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        file.write_all(&text)
    }
}
