//! What a tool is, the sets of tools, and the one way to call one.

use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use surehand_guard::SecretPlaces;
use surehand_guard::Secrets;
use surehand_page::Deadline;
use surehand_session::{Done, Fault, Kind, Named, Session, Tab, has_references};
use surehand_verbs::{Context, Hints};

use crate::check::{Misfit, cut, members, read_all, refusal, whole_numbers};
use crate::packs::{self, Pack, PackEntry};
use crate::{Answer, direct, dynamic, page, schema, verbs, wording};

/// What a tool has at hand.
#[derive(Debug)]
pub struct ToolContext {
    /// Sessions, settings, notes.
    pub verbs: Context,
    /// Browsers that somebody else started and that calls named.
    pub borrowed: Arc<direct::Endpoints>,
    /// What packs borrow.
    pub lender: packs::Lender,
    /// What the caller must not see. Whole answers are masked on their way out; what a tool cuts it masks before.
    pub secrets: Arc<Secrets>,
}

impl ToolContext {
    /// The session, made if it is not there, and the tab that is meant: the one with this id or label, else the active
    /// one, opened if there is none.
    pub async fn tab(&self, tab_id: Option<&str>) -> Result<(Arc<Session>, Tab), Fault> {
        let session = self.verbs.open_session().await?;
        let tab = match tab_id {
            Some(id) => session.tabs().find(id)?,
            None => session.some_tab().await?,
        };
        Ok((session, tab))
    }

    /// The deadline of a call: as long as it says, else as long as the front says, else as usual.
    pub fn deadline(&self, asked_ms: Option<u64>, usual: Duration) -> Deadline {
        let limit = asked_ms.or(self.verbs.settings.timeout).map_or(usual, Duration::from_millis);
        Deadline::after(limit)
    }

    /// What the references mean that a tool is called with. Afterwards the page may be another one.
    async fn name_references(&self, arguments: &Value) -> Named {
        match self.verbs.session().await {
            Ok(session) => session.name_references(arguments, &self.verbs.deadline()).await,
            Err(_) => Named::default(),
        }
    }

    /// Writes into the journal of the session what was done in it. Verbs do that themselves.
    async fn note(&self, what: &str, mut arguments: Value, named: Named, answer: &Answer, took: Duration) {
        let Ok(session) = self.verbs.session().await else { return };
        session.hide_secrets(&self.secrets);
        let result = answer.structured.as_ref();
        write_whole_paths(&mut arguments, result);
        session.note(Done { what, arguments, named, ok: !answer.is_error, took, result });
    }

    /// A page with an open dialog cannot be worked on; the fault names the dialog.
    pub fn refuse_dialog(&self, tab: &Tab) -> Result<(), Fault> {
        match tab.page.dialog() {
            Some(dialog) => Err(surehand_page::Error::DialogOpen(dialog).into()),
            None => Ok(()),
        }
    }
}

/// Who reads the journal may be in another folder: files of fields are written down as the answer tells them.
fn write_whole_paths(arguments: &mut Value, result: Option<&Value>) {
    let uploaded = result.and_then(|result| result.get("uploaded")).and_then(Value::as_object);
    for (field, files) in uploaded.into_iter().flatten() {
        if let Some(written) = arguments.get_mut("fields").and_then(|fields| fields.get_mut(field)) {
            *written = files.clone();
        }
    }
}

/// One tool: its arguments are the type itself.
pub trait Tool: DeserializeOwned + JsonSchema + Send {
    /// How it is called.
    const NAME: &'static str;
    /// What it does, for a model: one or two sentences.
    const DESCRIPTION: &'static str;
    /// See [`Hints`].
    const HINTS: Hints;
    /// Where secrets may stand in its arguments.
    const SECRETS: SecretPlaces = &[];
    /// Are its answers structured, with the tab they are about?
    const STRUCTURED: bool = false;
    /// Is a call of it a step of a recording? What only looks is done again by nobody.
    const IS_STEP: bool = !Self::HINTS.read_only;

    /// What they look like then.
    fn answer_schema() -> Map<String, Value> {
        schema::of_answer()
    }

    /// What is wrong with arguments of the right shape, and can be known before they are used: a call is refused.
    fn misfits(&self) -> Vec<Misfit> {
        Vec::new()
    }

    /// What a call would answer that its arguments are wrong about, and a check can tell before.
    fn doubts(&self) -> Vec<Misfit> {
        Vec::new()
    }

    /// Does it.
    fn call(self, cx: &ToolContext) -> impl Future<Output = Result<Answer, Fault>> + Send;
}

/// A tool, as a listing shows it.
#[derive(Debug, Clone)]
pub struct Spec {
    /// How it is called.
    pub name: Cow<'static, str>,
    /// What it does.
    pub description: Cow<'static, str>,
    /// See [`Hints`].
    pub hints: Hints,
    /// Where secrets may stand in its arguments.
    pub secrets: SecretPlaces,
    /// The schema of its arguments.
    pub input_schema: Map<String, Value>,
    /// The schema of its structured answers, if it has any.
    pub output_schema: Option<Map<String, Value>>,
}

/// A set of tools that is offered or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Toolset {
    /// The nine tools that playbooks call.
    Page,
    /// Seven tools on a browser that somebody else started.
    Direct,
    /// Every verb of the command line.
    Verbs,
    /// Whole errands in one call.
    Packs,
    /// The one tool by which a client chooses its sets.
    Dynamic,
}

/// A call under way.
pub(crate) type Calling<'a> = Pin<Box<dyn Future<Output = Result<Answer, Fault>> + Send + 'a>>;

/// A tool without its type.
pub(crate) struct Entry {
    pub spec: fn() -> Spec,
    pub call: for<'a> fn(Value, &'a ToolContext) -> Result<Calling<'a>, Fault>,
    pub check: fn(Value) -> Vec<Misfit>,
    pub name: &'static str,
    pub secrets: SecretPlaces,
    pub is_step: bool,
}

impl Entry {
    pub(crate) const fn of<T: Tool + 'static>() -> Self {
        Self {
            name: T::NAME,
            secrets: T::SECRETS,
            is_step: T::IS_STEP,
            spec: || Spec {
                name: T::NAME.into(),
                description: T::DESCRIPTION.into(),
                hints: T::HINTS,
                secrets: T::SECRETS,
                input_schema: schema::of::<T>(),
                output_schema: T::STRUCTURED.then(T::answer_schema),
            },
            call: |arguments, cx| Ok(Box::pin(read::<T>(arguments)?.call(cx))),
            check: |arguments| match read_all::<T>(arguments, schema::of::<T>) {
                Ok(tool) => tool.misfits().into_iter().chain(tool.doubts()).collect(),
                Err(misfits) => misfits,
            },
        }
    }
}

impl Entry {
    pub(crate) const fn of_pack<P: Pack + 'static>() -> Self {
        Self {
            name: P::TOOL,
            secrets: &[],
            is_step: true,
            spec: || Spec {
                name: P::TOOL.into(),
                description: P::DESCRIPTION.into(),
                hints: Hints::NAVIGATES,
                secrets: &[],
                input_schema: schema::of::<P>(),
                output_schema: Some(schema::of_output::<P::Output>()),
            },
            call: |input, cx| Ok(Box::pin(packs::answer(const { &PackEntry::of::<P>() }, input, cx))),
            check: |input| P::read(input).err().unwrap_or_default(),
        }
    }
}

/// The arguments of a tool from JSON, or everything that does not fit in them.
pub(crate) fn read<T: Tool>(arguments: Value) -> Result<T, Fault> {
    let misfits = match read_all::<T>(arguments, schema::of::<T>) {
        Ok(tool) => match tool.misfits() {
            none if none.is_empty() => return Ok(tool),
            misfits => misfits,
        },
        Err(misfits) => misfits,
    };
    Err(refusal(T::NAME, &misfits, members(&schema::of::<T>())))
}

impl Toolset {
    /// All sets.
    pub const ALL: &[Self] =
        &[Toolset::Page, Toolset::Direct, Toolset::Verbs, Toolset::Packs, Toolset::Dynamic];

    /// As it is written.
    pub fn name(self) -> &'static str {
        match self {
            Toolset::Page => "page",
            Toolset::Direct => "direct",
            Toolset::Verbs => "verbs",
            Toolset::Packs => "packs",
            Toolset::Dynamic => "dynamic",
        }
    }

    /// The set of that name.
    pub fn named(name: &str) -> Result<Self, Fault> {
        Self::ALL.iter().copied().find(|set| set.name() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|set| set.name()).collect();
            Fault::new(Kind::Usage, format!("there is no tool set {name:?}"))
                .hint(format!("there are {}", known.join(", ")))
        })
    }

    pub(crate) fn entries(self) -> &'static [Entry] {
        match self {
            Toolset::Page => page::TOOLS,
            Toolset::Direct => direct::TOOLS,
            Toolset::Verbs => &[],
            Toolset::Packs => packs::TOOLS,
            Toolset::Dynamic => const { &[Entry::of::<dynamic::Toolsets>()] },
        }
    }
}

/// The tools of some sets.
pub fn specs(sets: &[Toolset]) -> Vec<Spec> {
    sets.iter().flat_map(|set| set.specs()).collect()
}

impl Toolset {
    fn specs(self) -> Vec<Spec> {
        match self {
            Toolset::Verbs => verbs::specs().to_vec(),
            set => set.entries().iter().map(|entry| (entry.spec)()).collect(),
        }
    }
}

/// Calls a tool of some sets by its name. A failure of the tool is an answer; a fault means that it could not be called.
pub async fn call(
    sets: &[Toolset],
    name: &str,
    mut arguments: Value,
    cx: &ToolContext,
) -> Result<Answer, Fault> {
    whole_numbers(&mut arguments);
    let entry = sets.iter().flat_map(|set| set.entries()).find(|entry| entry.name == name);
    let noted = page::TOOLS.iter().any(|tool| tool.name == name).then(|| arguments.clone());
    let named = match &noted {
        Some(arguments) if has_references(arguments) => cx.name_references(arguments).await,
        _ => Named::default(),
    };
    let began = Instant::now();
    let is_direct = || direct::TOOLS.iter().any(|tool| tool.name == name);
    let called = match entry {
        Some(_) if cx.verbs.settings.options.egress.is_some() && is_direct() => Err(unguarded()),
        Some(entry) => match (entry.call)(arguments, cx) {
            Ok(calling) => calling.await,
            Err(fault) => Err(fault),
        },
        None if sets.contains(&Toolset::Verbs) && verbs::specs().iter().any(|spec| spec.name == name) => {
            verbs::call(name, arguments, cx).await
        }
        None => return Err(unknown(sets, name)),
    };
    let answer = match called {
        Ok(answer) => answer,
        Err(fault) => {
            let said_by = if entry.is_some() { Toolset::Page } else { Toolset::Verbs };
            Answer::failure(&wording::of(cx.verbs.name_matches(fault).await, said_by))
        }
    };
    if let Some(arguments) = noted {
        cx.note(name, arguments, named, &answer, began.elapsed()).await;
    }
    Ok(answer)
}

/// Everything that does not fit in the arguments of a tool, without calling it. Nothing is said about unknown tools.
pub fn check(sets: &[Toolset], name: &str, mut arguments: Value) -> Vec<Misfit> {
    whole_numbers(&mut arguments);
    match sets.iter().flat_map(|set| set.entries()).find(|entry| entry.name == name) {
        Some(entry) => (entry.check)(arguments),
        None if sets.contains(&Toolset::Verbs) => verbs::check(name, arguments),
        None => Vec::new(),
    }
}

/// Is such a call a step of a recording, or did it only look?
pub fn is_step(name: &str, arguments: &Value) -> bool {
    match Toolset::Page.entries().iter().find(|entry| entry.name == name) {
        Some(entry) => entry.is_step,
        None => verbs::is_step(name, arguments),
    }
}

/// The guard holds only browsers that were started for it.
fn unguarded() -> Fault {
    Fault::new(Kind::Usage, "a browser that somebody else started cannot be guarded")
        .hint("use the tools of the page set, or leave --egress out")
}

fn unknown(sets: &[Toolset], name: &str) -> Fault {
    let known: Vec<_> = specs(sets).into_iter().map(|spec| spec.name).collect();
    Fault::new(Kind::UnknownTool, format!("there is no tool {:?}", cut(name)))
        .hint(format!("there are {}", known.join(", ")))
}
