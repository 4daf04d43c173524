//! Where tools run: in this process, or in the daemon, where a person's sessions are.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use surehand_browser::Notes;
use surehand_guard::Secrets;
use surehand_session::{Fault, Lease, Sessions};
use surehand_tools::direct::Endpoints;
use surehand_tools::packs::{self, Lender, PackEntry, PackFailure};
use surehand_tools::{Answer, AnswerBody, ToolContext, Toolset};
use surehand_verbs::{Context, Settings};

use crate::client::Client;
use crate::home::Home;
use crate::lender;
use crate::secrets::{self, Keeper, MaskedNotes};
use crate::wire::{ErrorBody, Request, Task, version};

/// See the module. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Executor {
    place: Place,
    keeper: Arc<Keeper>,
}

#[derive(Debug, Clone)]
enum Place {
    /// In this process.
    Here { sessions: Arc<Sessions>, borrowed: Arc<Endpoints>, lender: Lender },
    /// In the daemon.
    Daemon(Client),
}

impl Executor {
    /// In this process. What it downloads is in `scratch`, which is its own.
    pub fn here(home: &Home, scratch: &Path, secrets: Arc<Secrets>) -> Result<Self, Fault> {
        home.create()?;
        let sessions = Arc::new(Sessions::new(home.places(scratch.join("downloads"))));
        Ok(Self::of(sessions, lender::local(home), secrets))
    }

    /// In this process, with sessions that somebody has already.
    pub(crate) fn over(sessions: Arc<Sessions>, lender: Lender) -> Self {
        Self::of(sessions, lender, Arc::default())
    }

    fn of(sessions: Arc<Sessions>, lender: Lender, secrets: Arc<Secrets>) -> Self {
        let keeper = Arc::new(Keeper::new(secrets, lender.credentials.clone()));
        Self { place: Place::Here { sessions, borrowed: Arc::default(), lender }, keeper }
    }

    /// In the daemon of this home.
    pub fn daemon(home: &Home, secrets: Arc<Secrets>) -> Self {
        let keeper = Arc::new(Keeper::of_local(home, secrets));
        Self { place: Place::Daemon(Client::new(home.clone())), keeper }
    }

    /// In the daemon of this home, which must be running.
    pub fn running_daemon(home: &Home, secrets: Arc<Secrets>) -> Result<Self, Fault> {
        let client = Client::of_running(home.clone());
        let status = Request { version: version(), task: Task::Status, log: None };
        client.ask(&status, &mut crate::client::Silent)?;
        Ok(Self { place: Place::Daemon(client), keeper: Arc::new(Keeper::of_local(home, secrets)) })
    }

    /// The same with secrets that a client told, beside its own: a value in the form in which `_meta` carries it.
    pub(crate) fn told(&self, secrets: &Value) -> Result<Self, Fault> {
        Ok(Self { place: self.place.clone(), keeper: Arc::new(self.keeper.told(secrets)?) })
    }

    /// Calls a tool: secrets go in, and whatever comes back is masked. Dropping the future stops its work.
    pub async fn call(
        &self,
        toolsets: &[Toolset],
        name: &str,
        arguments: Value,
        settings: Settings,
        notes: Arc<dyn Notes>,
    ) -> Result<Answer, Fault> {
        let (secrets, arguments) = match self.keeper.resolve_aside(name, arguments).await {
            Ok(resolved) => resolved,
            // Like any failure of a tool, it is an answer.
            Err(fault) => return self.keeper.mask_all(Ok(Answer::failure(&fault))),
        };
        let notes = Arc::new(MaskedNotes { secrets: secrets.clone(), to: notes });
        let called = self.place.call(toolsets, name, arguments, settings, notes, &secrets).await;
        self.keeper.mask(&secrets, called)
    }

    /// Runs a pack in a session of its own. Only in this process.
    pub async fn run_pack(
        &self,
        pack: &PackEntry,
        input: Value,
        settings: Settings,
    ) -> Result<Value, PackFailure> {
        let Place::Here { sessions, borrowed, lender } = &self.place else {
            return Err(crate::internal("packs run in the process that has the sessions").into());
        };
        let verbs = Context { sessions: sessions.clone(), settings, notes: Arc::new(()) };
        let (borrowed, lender, secrets) = (borrowed.clone(), lender.clone(), self.keeper.secrets());
        packs::run(pack, input, &ToolContext { verbs, borrowed, lender, secrets }).await
    }

    /// Ends a session.
    pub async fn close(&self, settings: &Settings) {
        match &self.place {
            Place::Here { sessions, .. } => _ = sessions.close(&settings.session).await,
            Place::Daemon(client) => {
                let close = surehand_verbs::parse_line(&["close".to_owned()]);
                let Ok(command) = close.map(Box::new) else { return };
                let task = Task::Run { command, settings: Box::new(settings.clone()) };
                // A daemon that is gone has no sessions any more.
                let _ = client.ask_async(&Request { version: version(), task, log: None }).await;
            }
        }
    }

    /// Keeps the browser of this process between sessions; `None` where the sessions are the daemon's.
    pub fn keep_warm(&self) -> Option<Lease> {
        match &self.place {
            Place::Here { sessions, .. } => Some(sessions.keep_warm()),
            Place::Daemon(_) => None,
        }
    }

    /// Ends all sessions of this process.
    pub async fn close_all(&self) {
        if let Place::Here { sessions, .. } = &self.place {
            sessions.close_all().await;
        }
    }
}

impl Place {
    async fn call(
        &self,
        toolsets: &[Toolset],
        name: &str,
        arguments: Value,
        settings: Settings,
        notes: Arc<dyn Notes>,
        secrets: &Arc<Secrets>,
    ) -> Result<Answer, Fault> {
        match self {
            Self::Here { sessions, borrowed, lender } => {
                let verbs = Context { sessions: sessions.clone(), settings, notes };
                let (borrowed, lender) = (borrowed.clone(), lender.clone());
                let cx = ToolContext { verbs, borrowed, lender, secrets: secrets.clone() };
                let calling = surehand_tools::call(toolsets, name, arguments, &cx);
                secrets::veiled(sessions, &cx.verbs.settings.session, calling).await
            }
            Self::Daemon(client) => {
                let task = Task::Tool {
                    name: name.to_owned(),
                    arguments,
                    toolsets: toolsets.iter().map(|set| set.name().to_owned()).collect(),
                    settings: Box::new(settings),
                    secrets: (**secrets).clone().into(),
                };
                let request = Request { version: version(), task, log: None };
                let line = client.ask_async(&request).await?;
                read_answer(&line)
            }
        }
    }
}

/// The answer of a tool in the last line of the daemon.
pub fn read_answer(line: &str) -> Result<Answer, Fault> {
    #[derive(serde::Deserialize)]
    struct Envelope {
        data: Option<AnswerBody>,
        error: Option<ErrorBody>,
    }
    let envelope: Envelope = serde_json::from_str(line).map_err(crate::internal)?;
    match (envelope.data, envelope.error) {
        (Some(body), _) => Answer::try_from(body).map_err(crate::internal),
        (None, Some(error)) => Err(error.into()),
        (None, None) => Err(crate::internal("the daemon gave no answer")),
    }
}
