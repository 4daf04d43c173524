//! Asking a browser program what it is, without starting it for real.

use std::{path::Path, process::Command, time::Duration};

use crate::{Error, Exit, launch::explain_exit, run::run};

/// A cold start from a slow disk takes seconds; more than this is a hang.
const LONGEST: Duration = Duration::from_secs(20);

/// What a browser says to `--version`, which also shows that all its libraries are there. Blocks.
///
/// Windows programs do not answer on a stream; there the text is empty.
///
/// # Errors
/// [`Error::Exited`] with the reason when it cannot run, [`Error::Helper`] when it cannot be started or hangs.
pub fn version(executable: &Path) -> Result<String, Error> {
    if cfg!(windows) {
        return Ok(String::new());
    }
    let ran = run(Command::new(executable).arg("--version"), LONGEST)?;
    if ran.status.success() {
        return Ok(ran.stdout.lines().next().unwrap_or_default().trim().to_owned());
    }
    // Stubs explain themselves on either stream.
    let said = if ran.stderr.trim().is_empty() { ran.stdout } else { ran.stderr };
    Err(Error::Exited {
        path: executable.to_owned(),
        status: ran.status.to_string(),
        why: explain_exit(ran.status, &said),
        stderr: said,
    })
}

pub(crate) fn misses_libraries(error: &Error) -> bool {
    matches!(error, Error::Exited { why: Exit::MissingLibraries { .. }, .. })
}
