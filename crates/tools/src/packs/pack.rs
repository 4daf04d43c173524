//! What a pack is, what it has at hand, how it fails, and the one way to run one.

use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use surehand_guard::Secrets;
use surehand_guard::vault::{Reference, SecretText, SubstituteError, placeholders, substitute};
use surehand_page::Deadline;
use surehand_session::{Fault, Kind, PackCode, Session};

use super::hands::{Blocked, blocked_since};
use crate::check::{Misfit, read_all, told, whole_numbers};
use crate::{schema, shape};

/// One pack: a whole errand in one call. Its input is the type itself.
pub trait Pack: DeserializeOwned + JsonSchema + Send {
    /// How it is called over HTTP and on the command line: `browser.interact`.
    const NAME: &'static str;
    /// How it is called over MCP, where many clients take no dots.
    const TOOL: &'static str;
    /// What it does, in one or two sentences.
    const DESCRIPTION: &'static str;
    /// What comes out of it.
    type Output: Serialize + JsonSchema;

    /// Members of the input in which credentials may stand, as `${vault:NAME}`; nowhere else are they put in.
    const FILLED: &'static [&'static str] = &[];

    /// Reads the input, or tells everything that is wrong with it. Nothing has happened yet.
    fn read(input: Value) -> Result<Self, Vec<Misfit>> {
        let pack: Self = read_all(input, schema::of::<Self>)?;
        match pack.misfits() {
            none if none.is_empty() => Ok(pack),
            misfits => Err(misfits),
        }
    }

    /// What is wrong with an input of the right shape.
    fn misfits(&self) -> Vec<Misfit> {
        Vec::new()
    }

    /// Does it, in a session that is there.
    fn run(self, cx: &PackContext<'_>) -> impl Future<Output = Result<Self::Output, PackFailure>> + Send;
}

/// Who lends credentials: `${vault:NAME}` and `${vault:NAME#field}`.
pub trait Credentials: Send + Sync {
    /// The value, if it exists and the caller may use it. May wait for the disk.
    fn reveal(&self, reference: &Reference) -> Result<SecretText, Fault>;
}

/// Where a pack leaves files.
pub trait Artifacts: Send + Sync {
    /// Keeps a file and says where it is.
    fn keep(&self, extension: &str, mime_type: &'static str, bytes: &[u8]) -> Result<Artifact, Fault>;
}

/// A file that a pack left.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Artifact {
    /// Its name in the store.
    pub artifact_key: String,
    /// Where to fetch it, for a while.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_url: Option<String>,
    /// Where it is on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<std::path::PathBuf>,
    /// How many bytes.
    pub size: usize,
}

/// Who is told of every action.
pub trait Witness: Send + Sync {
    /// One action is over.
    fn saw(&self, action: &Witnessed<'_>);
}

/// One action of a pack, without anything secret.
#[derive(Debug)]
pub struct Witnessed<'a> {
    /// Which one, from 0; the opening of the first page has none.
    pub index: Option<usize>,
    /// What it is called: `click`.
    pub action: &'static str,
    /// What it was done to: a selector, an address.
    pub to: Option<&'a str>,
    /// How long it took.
    pub took: Duration,
    /// Why it failed.
    pub fault: Option<&'a Fault>,
}

/// What a pack has at hand.
pub struct PackContext<'a> {
    /// Where it works.
    pub session: Arc<Session>,
    /// When the whole call must be over.
    pub deadline: Deadline,
    /// How long one action may wait.
    pub action_time: Duration,
    /// Who lends credentials.
    pub credentials: Arc<dyn Credentials>,
    /// Where files go.
    pub artifacts: &'a dyn Artifacts,
    /// Who is told of every action.
    pub witness: &'a dyn Witness,
}

impl std::fmt::Debug for PackContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PackContext").field("session", &self.session.name()).finish_non_exhaustive()
    }
}

impl<'a> PackContext<'a> {
    /// Around a session.
    pub fn new(
        session: Arc<Session>,
        deadline: Deadline,
        action_time: Duration,
        credentials: Arc<dyn Credentials>,
        artifacts: &'a dyn Artifacts,
        witness: &'a dyn Witness,
    ) -> Self {
        Self { session, deadline, action_time, credentials, artifacts, witness }
    }

    /// The deadline of one action.
    pub fn action_deadline(&self) -> Deadline {
        self.deadline.at_most(self.action_time)
    }

    /// A text with credentials in place of their placeholders. The session knows them from now on: none of them may come
    /// out of it again, in this call or a later one.
    pub async fn filled(&self, text: &str) -> Result<SecretText, Fault> {
        if placeholders(text).is_ok_and(|names| names.is_empty()) {
            return Ok(SecretText::new(text.to_owned()));
        }
        let (credentials, session, text) = (self.credentials.clone(), self.session.clone(), text.to_owned());
        // A vault may wait for the disk, or for a keyring that asks its owner first.
        let filling = tokio::task::spawn_blocking(move || fill(&text, &*credentials, &session));
        filling.await.map_err(|error| Fault::new(Kind::Internal, error.to_string()))?
    }

    /// Tells the witness, whatever came of it.
    pub(crate) async fn witnessed<T>(
        &self,
        index: Option<usize>,
        action: &'static str,
        to: Option<&str>,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, Fault> {
        let mut told = Told { cx: self, index, action, to, began: Instant::now(), is_over: false };
        let done = work.await;
        told.tell(done.as_ref().err());
        done
    }
}

fn fill(text: &str, credentials: &dyn Credentials, session: &Session) -> Result<SecretText, Fault> {
    let filled = substitute(text, |reference| {
        let value = credentials.reveal(reference)?;
        session.lend(&reference.to_string(), value.reveal()).map_err(|error| {
            Fault::new(Kind::MissingSecret, format!("the credential {reference} cannot be used: {error}"))
                .hint("values that could not be masked are not typed: store a longer one")
        })?;
        Ok(value)
    });
    filled.map_err(|error| match error {
        SubstituteError::Malformed(malformed) => Fault::new(Kind::Usage, malformed.to_string()),
        SubstituteError::Resolve(fault) => fault,
    })
}

/// An action that somebody is to be told of. One that was broken off because nobody waits any more is told as well.
struct Told<'a> {
    cx: &'a PackContext<'a>,
    index: Option<usize>,
    action: &'static str,
    to: Option<&'a str>,
    began: Instant,
    is_over: bool,
}

impl Told<'_> {
    fn tell(&mut self, fault: Option<&Fault>) {
        self.is_over = true;
        let Self { cx, index, action, to, .. } = *self;
        // The page may say in its own words what was typed into it, and the caller may have written it down.
        let secrets = cx.session.lent();
        let to = to.map(|to| secrets.mask(to));
        let fault = fault.map(|fault| masked(fault.clone(), &secrets));
        let took = self.began.elapsed();
        cx.witness.saw(&Witnessed { index, action, to: to.as_deref(), took, fault: fault.as_ref() });
    }
}

impl Drop for Told<'_> {
    fn drop(&mut self) {
        if !self.is_over {
            self.tell(Some(&Fault::new(Kind::Cancelled, "nobody waits for it any more")));
        }
    }
}

/// The steps of a pack that has its own, counted as they are done.
pub(super) struct Steps<'a> {
    cx: &'a PackContext<'a>,
    done: usize,
}

impl<'a> Steps<'a> {
    pub fn new(cx: &'a PackContext<'a>) -> Self {
        Self { cx, done: 0 }
    }

    /// Does the next one. What fails says how many were done before.
    pub async fn take<T>(
        &mut self,
        action: &'static str,
        to: &str,
        work: impl Future<Output = Result<T, Fault>>,
    ) -> Result<T, PackFailure> {
        let done = self.cx.witnessed(Some(self.done), action, Some(to), work).await;
        let done = done.map_err(|fault| PackFailure::from(fault).after(self.done))?;
        self.done += 1;
        Ok(done)
    }
}

/// Why a pack did not come to its end.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct PackFailure {
    /// As the caller is told.
    pub code: PackCode,
    /// What the caller is told.
    pub message: String,
    /// How many steps were done before, where there are steps.
    pub steps_completed: Option<usize>,
    /// Requests of the page that the egress guard refused until then.
    pub blocked_requests: Vec<Blocked>,
    /// What failed underneath; for the audit, not for the caller.
    pub cause: Option<Box<Fault>>,
}

impl PackFailure {
    /// A failure of the errand as a whole.
    pub fn new(code: PackCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            steps_completed: None,
            blocked_requests: Vec::new(),
            cause: None,
        }
    }

    /// What callers are told: the same over HTTP, MCP and on the command line.
    pub fn envelope(&self) -> Map<String, Value> {
        let mut envelope = Map::new();
        envelope.insert("error".to_owned(), self.code.name().into());
        envelope.insert("message".to_owned(), self.message.clone().into());
        if let Some(steps) = self.steps_completed {
            envelope.insert("steps_completed".to_owned(), steps.into());
        }
        if !self.blocked_requests.is_empty() {
            envelope.insert("blocked_requests".to_owned(), json!(self.blocked_requests));
        }
        envelope
    }

    /// The same after so many steps.
    #[must_use]
    pub fn after(mut self, steps: usize) -> Self {
        self.steps_completed = Some(steps);
        self
    }
}

impl From<Fault> for PackFailure {
    fn from(fault: Fault) -> Self {
        Self {
            code: fault.kind.pack_code(),
            message: fault.message.clone(),
            steps_completed: None,
            blocked_requests: Vec::new(),
            cause: Some(Box::new(fault)),
        }
    }
}

/// A pack under way.
pub(crate) type Running<'a> = Pin<Box<dyn Future<Output = Result<Value, PackFailure>> + Send + 'a>>;

/// A pack whose input was read.
type Ready = Box<dyn for<'a> FnOnce(&'a PackContext<'_>) -> Running<'a> + Send>;

/// A pack without its type.
pub struct PackEntry {
    /// `browser.interact`
    pub name: &'static str,
    /// `browser_interact`
    pub tool: &'static str,
    /// What it does.
    pub description: &'static str,
    /// What goes in.
    pub input_schema: fn() -> Map<String, Value>,
    /// What comes out.
    pub output_schema: fn() -> Map<String, Value>,
    filled: &'static [&'static str],
    prepare: fn(Value) -> Result<Ready, Vec<Misfit>>,
}

impl std::fmt::Debug for PackEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// An errand that was understood and can begin.
pub struct Prepared {
    ready: Ready,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Prepared")
    }
}

impl PackEntry {
    pub(crate) const fn of<P: Pack + 'static>() -> Self {
        Self {
            name: P::NAME,
            tool: P::TOOL,
            description: P::DESCRIPTION,
            input_schema: schema::of::<P>,
            output_schema: schema::of_output::<P::Output>,
            filled: P::FILLED,
            prepare: |input| {
                let pack = P::read(input)?;
                Ok(Box::new(move |cx| Box::pin(finish(pack, cx))))
            },
        }
    }

    /// Reads an input. What is wrong with it is told before anything happens.
    pub fn prepare(&self, mut input: Value) -> Result<Prepared, PackFailure> {
        whole_numbers(&mut input);
        let mut misplaced = Vec::new();
        find_misplaced(&input, self.filled, &mut String::new(), &mut misplaced);
        if !misplaced.is_empty() {
            return Err(self.refuse(&misplaced));
        }
        let misshapen = shape::misshapen(&Value::Object((self.input_schema)()), &input, "");
        if !misshapen.is_empty() {
            return Err(self.refuse(&misshapen));
        }
        let ready = (self.prepare)(input).map_err(|misfits| self.refuse(&misfits))?;
        Ok(Prepared { ready })
    }

    fn refuse(&self, misfits: &[Misfit]) -> PackFailure {
        PackFailure::new(PackCode::InvalidInput, told(misfits))
    }
}

/// A placeholder that nobody fills would be used as it is written, and shown to whoever is on the other side.
fn find_misplaced(value: &Value, filled: &[&str], pointer: &mut String, found: &mut Vec<Misfit>) {
    let length = pointer.len();
    let mut below = |name: &str, value: &Value| {
        pointer.push('/');
        pointer.push_str(name);
        find_misplaced(value, filled, pointer, found);
        pointer.truncate(length);
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members.iter().filter(|(name, _)| !filled.contains(&name.as_str())) {
                below(name, value);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                below(&index.to_string(), item);
            }
        }
        Value::String(text) if text.contains("${vault:") => {
            let message = "a credential cannot stand here; it is only ever typed into a field".to_owned();
            found.push(Misfit::value(pointer.clone(), message));
        }
        _ => {}
    }
}

impl Prepared {
    /// Does it. Nothing that was lent comes out.
    pub async fn run(self, cx: &PackContext<'_>) -> Result<Value, PackFailure> {
        (self.ready)(cx).await
    }
}

async fn finish<P: Pack>(pack: P, cx: &PackContext<'_>) -> Result<Value, PackFailure> {
    let before = cx.session.refusals();
    let done = pack.run(cx).await;
    let secrets = cx.session.lent();
    let done =
        done.map_err(|failure| PackFailure { blocked_requests: blocked_since(cx, &before), ..failure });
    let output = done.map_err(|failure| masked_failure(failure, &secrets, cx))?;
    let mut output = serde_json::to_value(output)
        .map_err(|error| PackFailure::new(PackCode::Internal, format!("its output is no JSON: {error}")))?;
    mask_output(&mut output, &secrets);
    Ok(output)
}

/// When the time of the whole call is over, that is the reason, whichever action felt it.
fn masked_failure(mut failure: PackFailure, secrets: &Secrets, cx: &PackContext<'_>) -> PackFailure {
    if cx.deadline.passed() && failure.code == PackCode::HandlerFailed {
        failure.code = PackCode::Timeout;
        let limit = cx.deadline.total().as_millis();
        failure.message = format!("the time of the session, {limit} ms, was over: {}", failure.message);
    }
    failure.message = secrets.mask(&failure.message).into_owned();
    for blocked in &mut failure.blocked_requests {
        blocked.url = secrets.mask(&blocked.url).into_owned();
        blocked.reason = secrets.mask(&blocked.reason).into_owned();
    }
    failure.cause = failure.cause.map(|cause| Box::new(masked(*cause, secrets)));
    failure
}

fn masked(mut fault: Fault, secrets: &Secrets) -> Fault {
    fault.message = secrets.mask(&fault.message).into_owned();
    for hint in &mut fault.hints {
        *hint = secrets.mask(hint).into_owned();
    }
    fault
}

/// Pictures are their bytes, in which no text is found.
const PICTURES: &str = "screenshots";

fn mask_output(output: &mut Value, secrets: &Secrets) {
    let pictures = output.as_object_mut().and_then(|members| members.get_mut(PICTURES)).map(Value::take);
    mask(output, secrets);
    if let Some(pictures) = pictures {
        output[PICTURES] = pictures;
    }
}

fn mask(value: &mut Value, secrets: &Secrets) {
    match value {
        Value::String(text) => *text = secrets.mask(text).into_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Value::Object(members) => {
            let taken = std::mem::take(members);
            *members = taken
                .into_iter()
                .map(|(name, mut value)| {
                    mask(&mut value, secrets);
                    (secrets.mask(&name).into_owned(), value)
                })
                .collect();
        }
        _ => {}
    }
}
