//! The lines that go over the daemon's socket: one JSON line per request; any number of notes and then one result back.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use surehand_guard::Secrets;
use surehand_session::{Fault, Kind};
use surehand_verbs::{Command, Output, Settings};

/// The version that both ends must share. A debug build also tells when it was built, so that a developer's daemon never
/// runs yesterday's code.
pub fn version() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let built = cfg!(debug_assertions).then(built_at).flatten();
    built.map_or_else(|| version.to_owned(), |built| format!("{version}+{built}"))
}

fn built_at() -> Option<u128> {
    let program = std::env::current_exe().ok()?;
    // A program that was replaced while it runs has a path that does not exist any more: it is another version.
    let modified = fs_err::metadata(program).ok()?.modified().ok()?;
    Some(modified.duration_since(std::time::UNIX_EPOCH).ok()?.as_millis())
}

/// What a client asks for.
#[derive(Debug, Serialize, Deserialize)]
pub struct Request {
    /// The client's version.
    pub version: String,
    /// What to do.
    pub task: Task,
    /// Which log lines the client wants to see, e.g. `cdp=trace`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
}

/// What to do.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Run a command.
    Run {
        /// Which.
        command: Box<Command>,
        /// And how.
        settings: Box<Settings>,
    },
    /// Call a tool.
    Tool {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: serde_json::Value,
        /// The sets that it may be of.
        toolsets: Vec<String>,
        /// And how.
        settings: Box<Settings>,
        /// What the client masks: what a tool cuts, and what is logged, is masked where it runs.
        #[serde(default, skip_serializing_if = "SecretsBody::is_empty")]
        secrets: SecretsBody,
    },
    /// Tell how the daemon is.
    Status,
}

/// Secrets on their way to the daemon. `Debug` shows names only.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretsBody(Vec<(String, String)>);

impl SecretsBody {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<Secrets> for SecretsBody {
    fn from(secrets: Secrets) -> Self {
        Self(secrets.reveal().map(|(name, value)| (name.to_owned(), value.to_owned())).collect())
    }
}

impl TryFrom<SecretsBody> for Secrets {
    type Error = surehand_guard::SecretsError;

    fn try_from(body: SecretsBody) -> Result<Self, Self::Error> {
        Secrets::revealed(body.0)
    }
}

impl std::fmt::Debug for SecretsBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(name, _)| name)).finish()
    }
}

/// What the daemon sends back.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Message {
    /// Something a person should know while waiting.
    Note(String),
    /// How far a long work has come.
    Progress {
        /// What work.
        what: String,
        /// Done so far.
        done: u64,
        /// Of how much, if known.
        total: Option<u64>,
    },
    /// A line of the log.
    Log(String),
    /// The command is still under way.
    Alive,
    /// The daemon is of another version, had nothing to keep and is gone: ask again.
    Replaced,
    /// The result, for people. The last line.
    Text {
        /// What to print.
        text: String,
        /// An aside that is not part of the result.
        aside: Option<String>,
        /// Is it the report of a failure?
        failed: bool,
    },
}

/// The result for programs: the last line, and what `--json` prints.
#[derive(Debug, Serialize)]
pub struct Envelope<'a> {
    /// Did it work?
    pub success: bool,
    /// What it returned.
    pub data: Option<&'a RawValue>,
    /// Why it failed.
    pub error: Option<ErrorBody>,
}

/// Why something failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ErrorBody {
    /// The stable name of the kind.
    pub code: String,
    /// What happened.
    pub message: String,
    /// What to do next.
    pub hints: Vec<String>,
}

impl From<Fault> for ErrorBody {
    fn from(fault: Fault) -> Self {
        Self { code: fault.kind.code().to_owned(), message: fault.message, hints: fault.hints }
    }
}

impl From<ErrorBody> for Fault {
    fn from(body: ErrorBody) -> Self {
        let kind = Kind::from_code(&body.code).unwrap_or(Kind::Internal);
        body.hints.into_iter().fold(Fault::new(kind, body.message), Fault::hint)
    }
}

impl Envelope<'_> {
    /// The envelope of a failure, as one line.
    pub fn failure(fault: Fault) -> String {
        let envelope = Envelope { success: false, data: None, error: Some(fault.into()) };
        // A string map to JSON cannot fail.
        serde_json::to_string(&envelope).unwrap_or_default()
    }

    /// The envelope of data that is JSON already, as one line.
    pub fn data(data: &impl Serialize) -> String {
        let raw = serde_json::value::to_raw_value(data).unwrap_or_default();
        serde_json::to_string(&Envelope { success: true, data: Some(&raw), error: None }).unwrap_or_default()
    }

    /// The envelope of data that tells of a failure, as one line.
    pub fn failed_data(data: &serde_json::Value, fault: Fault) -> String {
        let raw = serde_json::value::to_raw_value(data).unwrap_or_default();
        let envelope = Envelope { success: false, data: Some(&raw), error: Some(fault.into()) };
        serde_json::to_string(&envelope).unwrap_or_default()
    }

    /// The envelope of a result, as one line.
    pub fn success(output: &dyn Output) -> String {
        match output.json() {
            Ok(data) => {
                let envelope =
                    Envelope { success: !output.failed(), data: Some(&data), error: batch_error(output) };
                serde_json::to_string(&envelope).unwrap_or_default()
            }
            Err(error) => Self::failure(Fault::new(Kind::Internal, error.to_string())),
        }
    }
}

/// A report of failures has an error of its own beside its data.
fn batch_error(output: &dyn Output) -> Option<ErrorBody> {
    let kind = Kind::BatchFailed;
    output.failed().then(|| {
        Fault::new(kind, "at least one command of the batch failed")
            .hint("each entry of data has its own error")
            .into()
    })
}
