//! What packs borrow of the user of this machine: their vault, and a folder for files.

use std::path::PathBuf;
use std::sync::Arc;

use surehand_session::{Fault, Kind};
use surehand_tools::packs::{ACTION_TIME, Artifact, Artifacts, CALL_TIME, Lender};

use crate::home::Home;
use crate::ipc;
use crate::safe::{Lent, Safe};

/// For calls of the user of this machine.
pub(crate) fn local(home: &Home) -> Lender {
    Lender {
        credentials: Arc::new(Lent::to_local(&Safe::of(home))),
        artifacts: Arc::new(Folder(home.artifacts())),
        call_time: CALL_TIME,
        action_time: ACTION_TIME,
    }
}

/// Files in a folder, told by their paths.
struct Folder(PathBuf);

impl Artifacts for Folder {
    fn keep(&self, extension: &str, _: &'static str, bytes: &[u8]) -> Result<Artifact, Fault> {
        let keep = || -> std::io::Result<PathBuf> {
            ipc::create_private(&self.0)?;
            let suffix = format!(".{extension}");
            let mut file =
                tempfile::Builder::new().prefix("surehand-").suffix(&suffix).tempfile_in(&self.0)?;
            std::io::Write::write_all(&mut file, bytes)?;
            file.keep().map(|(_, path)| path).map_err(|error| error.error)
        };
        let path = keep().map_err(|error| {
            Fault::new(Kind::UnwritablePath, format!("the file cannot be kept: {error}"))
                .hint("make room on the disk, or set SUREHAND_HOME to a folder that can be written")
        })?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Artifact { artifact_key: name, artifact_url: None, path: Some(path), size: bytes.len() })
    }
}
