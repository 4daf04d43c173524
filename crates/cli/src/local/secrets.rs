//! `--secrets FILE` of `mcp` and `tool`.

use std::path::Path;
use std::sync::Arc;

use surehand_guard::Secrets;
use surehand_session::{Fault, Kind};

use crate::printer::Printer;

/// Reads a file of secrets. Others should not be able to: that is told.
pub(super) fn read(path: Option<&Path>, printer: &Printer) -> Result<Option<Arc<Secrets>>, Fault> {
    let Some(path) = path else { return Ok(None) };
    let text = fs_err::read_to_string(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::InvalidData => {
            Fault::new(Kind::BadFile, format!("{} is not text", path.display())).hint("write it in UTF-8")
        }
        _ => Fault::new(Kind::MissingFile, error.to_string()).hint("check the path after --secrets"),
    })?;
    let secrets = Secrets::parse(&text).map_err(|error| {
        Fault::new(Kind::BadFile, format!("{}: {error}", path.display()))
            .hint("each line is KEY=value; the value may stand in quotes")
    })?;
    if others_may_read(path) {
        let shown = path.display();
        printer.note(&format!("others may read {shown}: keep it to yourself with `chmod 600 {shown}`"));
    }
    Ok(Some(Arc::new(secrets)))
}

#[cfg(unix)]
fn others_may_read(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs_err::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
}

/// The rights of a file in a person's own folders are the person's.
#[cfg(not(unix))]
fn others_may_read(_: &Path) -> bool {
    false
}
