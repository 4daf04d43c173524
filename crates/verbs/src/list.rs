//! The list of all verbs, and what follows from it.

use std::path::Path;
use std::pin::Pin;
use std::time::{Duration, Instant};

use clap::Subcommand;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use surehand_session::{Done, Fault, Named, has_references};

use crate::verb::Verb;
use crate::{Context, Effect, Flaw, Output};

macro_rules! verbs {
    ($($module:ident :: $verb:ident,)*) => {
        $(pub(crate) mod $module;)*

        /// A command: a verb and its arguments.
        #[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Command {
            $(#[allow(missing_docs, reason = "documented where the verb is")] $verb($module::$verb),)*
        }

        impl Command {
            /// What it does to the world.
            pub fn effect(&self) -> Effect {
                match self { $(Command::$verb(_) => <$module::$verb as Verb>::EFFECT,)* }
            }

            /// What is wrong with its arguments, as far as that can be known before it runs.
            pub fn flaws(&self) -> Vec<Flaw> {
                let mut flaws = match self { $(Command::$verb(verb) => verb.flaws(),)* };
                let written = self.written();
                let arguments = written.as_object().and_then(|tagged| tagged.values().next());
                flaws.extend(arguments.map(Flaw::of_selectors).unwrap_or_default());
                flaws
            }

            /// Is it a step of a recording?
            pub fn is_step(&self) -> bool {
                match self { $(Command::$verb(verb) => verb.is_step(),)* }
            }

            /// Does it want what stands on standard input?
            pub fn wants_stdin(&self) -> bool {
                match self { $(Command::$verb(verb) => verb.wants_stdin(),)* }
            }

            /// Takes what stood on standard input.
            pub fn take_stdin(&mut self, text: String) {
                match self { $(Command::$verb(verb) => verb.take_stdin(text),)* }
            }

            /// Shows every verb to a visitor, in the order of the list.
            pub fn visit_all(visitor: &mut impl VerbVisitor) {
                let grammar = Command::augment_subcommands(clap::Command::new("surehand"));
                let mut words = grammar.get_subcommands();
                $(
                    let facts = words.next().map(VerbFacts::of).unwrap_or_default();
                    visitor.visit::<$module::$verb>(facts);
                )*
            }

            /// Runs it. Every front comes through here.
            pub fn execute(self, cx: &Context) -> Executing<'_> {
                let written = self.written();
                match self { $(Command::$verb(verb) => Box::pin(guarded(verb, written, cx)),)* }
            }
        }
    };
}

impl Command {
    /// As JSON: its name and, in there, the arguments that were given.
    pub fn written(&self) -> Value {
        let mut written = serde_json::to_value(self).unwrap_or_default();
        drop_nulls(&mut written);
        written
    }
}

/// What was not given is not written.
fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, value| !value.is_null());
            members.values_mut().for_each(drop_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Hears of every verb.
pub trait VerbVisitor {
    /// A verb.
    fn visit<V: Verb + schemars::JsonSchema>(&mut self, facts: VerbFacts);
}

/// How a verb is called, and what it does in a line.
#[derive(Debug, Clone, Default)]
pub struct VerbFacts {
    /// As it is written.
    pub name: String,
    /// The first line of its help.
    pub about: String,
}

impl VerbFacts {
    fn of(grammar: &clap::Command) -> Self {
        let about = grammar.get_about().map(ToString::to_string).unwrap_or_default();
        Self { name: grammar.get_name().to_owned(), about }
    }
}

/// A command under way. Its type is named because `batch` runs commands, and is one.
type Executing<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Output>, Fault>> + Send + 'a>>;

/// What holds for all verbs is checked here, once.
async fn guarded<V: Verb>(verb: V, mut written: Value, cx: &Context) -> Result<Box<dyn Output>, Fault> {
    make_absolute(&mut written, V::PATHS, &cx.settings.cwd);
    let named = if V::NOTED { name_references(&written, cx).await } else { Named::default() };
    let began = Instant::now();
    let ran = checked(verb, cx).await;
    if V::NOTED {
        let output = ran.as_ref().ok();
        let ok = output.is_some_and(|output| !output.failed());
        let told = output.filter(|_| V::RESULT_NOTED);
        let result = told.and_then(|output| serde_json::from_str(output.json().ok()?.get()).ok());
        note(written, named, ok, result, began.elapsed(), cx).await;
    }
    ran
}

/// Who reads the journal may be in another folder.
fn make_absolute(written: &mut Value, pointers: &[&str], cwd: &Path) {
    let Some(arguments) = written.as_object_mut().and_then(|tagged| tagged.values_mut().next()) else {
        return;
    };
    let absolute = |path: &mut Value| {
        if let Value::String(text) = path {
            *text = cwd.join(&*text).to_string_lossy().into_owned();
        }
    };
    for pointer in pointers {
        match arguments.pointer_mut(pointer) {
            Some(Value::Array(paths)) => paths.iter_mut().for_each(absolute),
            Some(path) => absolute(path),
            None => {}
        }
    }
}

/// What the references mean that it is called with. Afterwards the page may be another one.
async fn name_references(written: &Value, cx: &Context) -> Named {
    if !has_references(written) {
        return Named::default();
    }
    match cx.session().await {
        Ok(session) => session.name_references(written, &cx.deadline()).await,
        Err(_) => Named::default(),
    }
}

/// Writes into the journal of the session what was done in it.
async fn note(written: Value, named: Named, ok: bool, result: Option<Value>, took: Duration, cx: &Context) {
    let (Ok(session), Value::Object(tagged)) = (cx.session().await, written) else { return };
    if let Some((what, arguments)) = tagged.into_iter().next() {
        session.note(Done { what: &what, arguments, named, ok, took, result: result.as_ref() });
    }
}

async fn checked<V: Verb>(verb: V, cx: &Context) -> Result<Box<dyn Output>, Fault> {
    let session = cx.session().await.ok();
    let _running = session.as_ref().map(surehand_session::Session::begin);
    if let Some(tab) = session.as_ref().and_then(|session| session.active_tab().ok()) {
        if V::BLOCKED_BY_DIALOG
            && let Some(dialog) = tab.page.dialog()
        {
            return Err(surehand_page::Error::DialogOpen(dialog).into());
        }
        if matches!(V::EFFECT, Effect::Acts | Effect::Navigates) {
            tab.page.begin_action();
        }
    }
    match (verb.run(cx).await, session) {
        (Ok(output), _) => Ok(Box::new(output)),
        (Err(fault), Some(session)) => Err(session.name_matches(fault)),
        (Err(fault), None) => Err(fault),
    }
}

verbs! {
    open::Open,
    back::Back,
    forward::Forward,
    reload::Reload,
    snapshot::Snapshot,
    click::Click,
    dblclick::Dblclick,
    hover::Hover,
    focus::Focus,
    fill::Fill,
    clear::Clear,
    type_text::Type,
    press::Press,
    keydown::Keydown,
    keyup::Keyup,
    keyboard::Keyboard,
    check::Check,
    uncheck::Uncheck,
    select::Select,
    drag::Drag,
    upload::Upload,
    download::Download,
    scroll::Scroll,
    scrollintoview::Scrollintoview,
    mouse::Mouse,
    tap::Tap,
    swipe::Swipe,
    find::Find,
    frame::Frame,
    get::Get,
    is::Is,
    eval::Eval,
    screenshot::Screenshot,
    pdf::Pdf,
    wait::Wait,
    tab::Tab,
    dialog::Dialog,
    set::Set,
    console::Console,
    errors::Errors,
    network::Network,
    cookies::Cookies,
    storage::Storage,
    state::State,
    pushstate::Pushstate,
    window::Window,
    session::Session,
    connect::Connect,
    close::Close,
    batch::Batch,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn written<V: Verb>(verb: &str, arguments: Value) -> Value {
        let mut written = json!({ verb: arguments });
        make_absolute(&mut written, V::PATHS, Path::new("/home/ada"));
        written[verb].take()
    }

    #[cfg(unix)]
    #[test]
    fn paths_are_written_down_as_they_are_meant() {
        assert_eq!(
            written::<upload::Upload>("upload", json!({ "selector": "a", "files": ["b.txt", "/tmp/c"] })),
            json!({ "selector": "a", "files": ["/home/ada/b.txt", "/tmp/c"] })
        );
        assert_eq!(
            written::<download::Download>("download", json!({ "selector": "a", "path": "b/" })),
            json!({ "selector": "a", "path": "/home/ada/b/" })
        );
        assert_eq!(
            written::<state::State>("state", json!({ "action": { "load": { "path": "s.json" } } })),
            json!({ "action": { "load": { "path": "/home/ada/s.json" } } })
        );
        assert_eq!(written::<wait::Wait>("wait", json!({ "text": "x" })), json!({ "text": "x" }));
    }
}
