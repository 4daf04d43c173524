//! What a verb has at hand while it runs.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use surehand_browser::Notes;
use surehand_page::Deadline;
use surehand_session::{Fault, Kind, Limits, Session, SessionOptions, Sessions, Tab};

/// What a front says about a command beside the command itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Which session.
    pub session: String,
    /// How the session is to be started.
    pub options: SessionOptions,
    /// How long the command may wait, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// What relative paths are relative to.
    pub cwd: PathBuf,
    /// Does the caller have no files here? Then none can be named: not to be written, and not to be given to a page.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub without_files: bool,
    /// Will the result be read as JSON?
    pub json: bool,
}

/// See the module.
pub struct Context {
    /// All sessions.
    pub sessions: Arc<Sessions>,
    /// What the front said.
    pub settings: Settings,
    /// Where long work tells what it does.
    pub notes: Arc<dyn Notes>,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl Context {
    /// The session; it must be there.
    pub async fn session(&self) -> Result<Arc<Session>, Fault> {
        self.sessions.get(&self.settings.session, &self.settings.options).await
    }

    /// The session; made if it is not there.
    pub async fn open_session(&self) -> Result<Arc<Session>, Fault> {
        self.sessions.open(&self.settings.session, &self.settings.options, &self.notes).await
    }

    /// The session and the tab that commands go to.
    pub async fn tab(&self) -> Result<(Arc<Session>, Tab), Fault> {
        let session = self.session().await?;
        let tab = session.active_tab()?;
        Ok((session, tab))
    }

    /// The same with another time limit, if one is given.
    pub(crate) fn with_timeout(&self, timeout: Option<u64>) -> Self {
        let mut settings = self.settings.clone();
        settings.timeout = timeout.or(settings.timeout);
        Self { sessions: self.sessions.clone(), settings, notes: self.notes.clone() }
    }

    /// The same for a caller that reads texts, whatever the front shows: parts that only `--json` needs are left out.
    pub fn for_text(&self) -> Self {
        let settings = Settings { json: false, ..self.settings.clone() };
        Self { sessions: self.sessions.clone(), settings, notes: self.notes.clone() }
    }

    /// Writes the elements that a fault offers into its message, each with a reference.
    pub async fn name_matches(&self, fault: Fault) -> Fault {
        match self.session().await {
            Ok(session) => session.name_matches(fault),
            Err(_) => fault,
        }
    }

    /// The deadline of an action or a wait.
    pub fn deadline(&self) -> Deadline {
        Deadline::after(Limits::new(self.settings.timeout).action)
    }

    /// The deadline of a navigation.
    pub fn navigation_deadline(&self) -> Deadline {
        Deadline::after(Limits::new(self.settings.timeout).navigation)
    }

    /// A path of the user's, made absolute.
    pub fn path(&self, path: &Path) -> Result<PathBuf, Fault> {
        if self.settings.without_files {
            let message = format!("{} is a file of the server, which nobody here may name", path.display());
            return Err(
                Fault::new(Kind::Usage, message).hint("leave the path out, where there is a way without it")
            );
        }
        Ok(self.settings.cwd.join(path))
    }

    /// Writes a file that the user asked for, with the folders above it.
    pub fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        make_folder(path).and_then(|_| fs_err::write(path, bytes)).map_err(unwritable)
    }

    /// Writes a file under the first of these names that nobody has, also if others look for one at the same time.
    pub fn write_new_file(
        &self,
        names: impl IntoIterator<Item = String>,
        bytes: &[u8],
    ) -> Result<PathBuf, Fault> {
        for name in names {
            let path = self.path(name.as_ref())?;
            let made = make_folder(&path)
                .and_then(|_| fs_err::OpenOptions::new().write(true).create_new(true).open(&path));
            let written = match made {
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => continue,
                Ok(mut file) => file.write_all(bytes).inspect_err(|_| {
                    // Half a file under a name of its own helps nobody.
                    let _ = fs_err::remove_file(&path);
                }),
                Err(error) => Err(error),
            };
            return written.map(|()| path).map_err(unwritable);
        }
        Err(Fault::new(Kind::UnwritablePath, "every name is taken").hint("give a path"))
    }

    /// Writes a file that only its owner may read, all of it or nothing.
    pub fn write_secret_file(&self, path: &Path, bytes: &[u8]) -> Result<(), Fault> {
        let write = || {
            // A temporary file is only its owner's from the start.
            let mut file = tempfile::NamedTempFile::new_in(make_folder(path)?)?;
            file.write_all(bytes)?;
            file.persist(path).map_err(|error| error.error)
        };
        write()
            .map(drop)
            .map_err(|error| unwritable(std::io::Error::other(format!("{}: {error}", path.display()))))
    }
}

fn make_folder(path: &Path) -> std::io::Result<&Path> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    fs_err::create_dir_all(folder).map(|()| folder)
}

/// A file that cannot be written.
pub(crate) fn unwritable(error: std::io::Error) -> Fault {
    Fault::new(Kind::UnwritablePath, error.to_string()).hint("choose a path that you may write to")
}
