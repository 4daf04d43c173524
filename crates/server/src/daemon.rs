//! The daemon itself: accepts clients, runs their commands, ends idle sessions and then itself.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use surehand_browser::{Notes, profile};
use surehand_session::{Fault, Kind, Sessions};
use surehand_tools::direct::Endpoints;
use surehand_tools::{AnswerBody, ToolContext, Toolset};
use surehand_verbs::{Command, Context, Settings};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::sync::{Notify, mpsc};

use crate::home::Home;
use crate::ipc::{self, ServerStream};
use crate::log;
use crate::wire::{Envelope, Message, Request, Task, version};

/// Why a daemon did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DaemonError {
    /// Files or sockets.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The home cannot be used.
    #[error("{0}")]
    Home(#[from] Fault),
    /// There is one already.
    #[error("another daemon is running")]
    Running,
}

/// A daemon without a session waits this long for the next command.
const LINGER: Duration = Duration::from_secs(60);

/// A daemon that ends has closed its browsers within this.
const HANDOVER: Duration = Duration::from_secs(15);

/// Idle sessions are looked for at least this often.
const LOOK: Duration = Duration::from_secs(30);

/// How often a client that waits is told that its command is under way.
pub(crate) const HEARTBEAT: Duration = Duration::from_secs(2);

/// A request is a command line, not a film.
const LONGEST_REQUEST: u64 = 256 * 1024 * 1024;

/// Runs the daemon of this home until nobody needs it. Says `ready` on standard output when it listens.
pub fn run(home: &Home) -> Result<(), DaemonError> {
    ipc::detach()?;
    home.create()?;
    let _lock = take_lock(home)?;
    let taps = log::install();
    ipc::raise_descriptor_limit();
    fs_err::create_dir_all(home.scratch())?;
    let swept = profile::sweep(&home.scratch());
    tracing::info!("swept {swept:?}");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(serve(home, taps));
    // A command that is stuck in a blocking call must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    served
}

/// The lock is free, or its holder is on its way out and ends its browsers first.
fn take_lock(home: &Home) -> Result<fs_err::File, DaemonError> {
    let lock = fs_err::OpenOptions::new().create(true).append(true).open(home.daemon_lock())?;
    let since = Instant::now();
    while lock.file().try_lock().is_err() {
        if since.elapsed() > HANDOVER {
            return Err(DaemonError::Running);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(lock)
}

async fn serve(home: &Home, taps: log::Taps) -> Result<(), DaemonError> {
    let downloads = home.own_downloads()?;
    let server = ipc::Server::bind(&home.socket)?;
    fs_err::write(home.pid_file(), std::process::id().to_string())?;
    say_ready()?;
    let places = home.places(downloads.path().to_owned());
    let daemon = Arc::new(Daemon {
        sessions: Arc::new(Sessions::new(places)),
        borrowed: Arc::default(),
        lender: crate::lender::local(home),
        taps,
        busy: AtomicUsize::new(0),
        quit: Notify::new(),
        used: Notify::new(),
    });
    tokio::select! {
        result = daemon.clone().accept(server) => result?,
        () = daemon.quit.notified() => {}
        () = daemon.idle() => {}
        ended = ipc::daemon_asked_to_end() => ended?,
    }
    // First the socket, so that the next command starts a new daemon instead of finding this one on its way out.
    let _ = fs_err::remove_file(&home.socket);
    daemon.sessions.close_all().await;
    let _ = fs_err::remove_file(home.pid_file());
    Ok(())
}

fn say_ready() -> io::Result<()> {
    let mut out = io::stdout();
    out.write_all(b"ready\n")?;
    out.flush()?;
    ipc::silence_stdout()
}

struct Daemon {
    sessions: Arc<Sessions>,
    /// Browsers that calls of direct tools named.
    borrowed: Arc<Endpoints>,
    /// What packs borrow.
    lender: surehand_tools::packs::Lender,
    taps: log::Taps,
    /// Requests under way.
    busy: AtomicUsize,
    quit: Notify,
    /// A request ended: what is idle may have changed.
    used: Notify,
}

impl Daemon {
    async fn accept(self: Arc<Self>, server: ipc::Server) -> io::Result<()> {
        loop {
            let stream = server.accept().await?;
            let daemon = self.clone();
            tokio::spawn(async move {
                daemon.busy.fetch_add(1, Ordering::SeqCst);
                if let Err(error) = daemon.serve_client(stream).await {
                    tracing::debug!("a client went away: {error}");
                }
                daemon.busy.fetch_sub(1, Ordering::SeqCst);
                daemon.used.notify_one();
            });
        }
    }

    /// Ends idle sessions; returns when the daemon itself has been without sessions and requests for a while.
    async fn idle(&self) {
        loop {
            let next = self.sessions.next_idle().unwrap_or(LINGER).clamp(Duration::from_millis(20), LOOK);
            tokio::select! {
                () = tokio::time::sleep(next) => {}
                () = self.used.notified() => continue,
            }
            for name in self.sessions.close_idle().await {
                tracing::info!("closed the idle session {name:?}");
            }
            if !self.is_unused() {
                continue;
            }
            tokio::select! {
                () = tokio::time::sleep(LINGER) => if self.is_unused() { return },
                () = self.used.notified() => {}
            }
        }
    }

    fn is_unused(&self) -> bool {
        self.busy.load(Ordering::SeqCst) == 0 && self.sessions.is_empty()
    }

    /// One client: requests one after the other until it hangs up.
    async fn serve_client(&self, stream: ServerStream) -> io::Result<()> {
        let (reader, mut writer) = tokio::io::split(stream);
        let mut reader = BufReader::new(reader);
        loop {
            let mut line = Vec::new();
            let read = (&mut reader).take(LONGEST_REQUEST).read_until(b'\n', &mut line).await?;
            if read == 0 {
                return Ok(());
            }
            let (messages, mut queued) = mpsc::unbounded_channel();
            let answering = self.answer(&line, messages);
            tokio::pin!(answering);
            let mut heartbeat = tokio::time::interval_at(tokio::time::Instant::now() + HEARTBEAT, HEARTBEAT);
            // Notes go out while the command runs, and a client that hangs up cancels it. One that asks for more already is
            // there.
            let mut has_more = false;
            let last = loop {
                tokio::select! {
                    biased;
                    Some(message) = queued.recv() => send_message(&mut writer, &message).await?,
                    last = &mut answering => break last,
                    _ = heartbeat.tick() => send_message(&mut writer, &Message::Alive).await?,
                    more = reader.fill_buf(), if !has_more => match more?.is_empty() {
                        true => return Ok(()),
                        false => has_more = true,
                    },
                }
            };
            while let Ok(message) = queued.try_recv() {
                send_message(&mut writer, &message).await?;
            }
            let Some(last) = last else {
                send_message(&mut writer, &Message::Replaced).await?;
                self.quit.notify_one();
                return Ok(());
            };
            writer.write_all(last.as_bytes()).await?;
            writer.write_all(b"\n").await?;
        }
    }

    /// The last line of the answer; `None` when this daemon makes room for one of another version.
    async fn answer(&self, line: &[u8], messages: mpsc::UnboundedSender<Message>) -> Option<String> {
        let request = match read_request(line) {
            Ok(request) => request,
            Err(fault) => return Some(Envelope::failure(fault)),
        };
        let ends_everything =
            matches!(&request.task, Task::Run { command, .. } if matches!(**command, Command::Close(_)));
        if request.version != version() && !ends_everything {
            // The one that asks is busy, too.
            if self.sessions.is_empty() && self.busy.load(Ordering::SeqCst) == 1 {
                return None;
            }
            return Some(Envelope::failure(other_version(&request.version)));
        }
        let _tap = request.log.as_deref().map(|filter| self.taps.open(filter, messages.clone()));
        match request.task {
            Task::Run { command, settings } => Some(self.execute(*command, *settings, messages).await),
            Task::Tool { name, arguments, toolsets, settings, secrets } => {
                // They are known before anything can be logged about the call.
                let secrets = match secrets.try_into() {
                    Ok(secrets) => self.taps.veil(secrets),
                    Err(error) => return Some(Envelope::failure(crate::internal(error))),
                };
                let verbs = self.context(*settings, messages);
                let (borrowed, lender) = (self.borrowed.clone(), self.lender.clone());
                let cx = ToolContext { verbs, borrowed, lender, secrets };
                Some(call_tool(&name, arguments, &toolsets, &cx).await)
            }
            Task::Status => Some(self.status().await),
        }
    }

    fn context(&self, settings: Settings, messages: mpsc::UnboundedSender<Message>) -> Context {
        Context { sessions: self.sessions.clone(), settings, notes: Arc::new(NotesTo(messages)) }
    }

    async fn execute(
        &self,
        command: Command,
        settings: Settings,
        messages: mpsc::UnboundedSender<Message>,
    ) -> String {
        let as_json = settings.json;
        let cx = self.context(settings, messages);
        match command.execute(&cx).await {
            Err(fault) => Envelope::failure(fault),
            Ok(output) if as_json => Envelope::success(output.as_ref()),
            Ok(output) => {
                let text =
                    Message::Text { text: output.text(), aside: output.note(), failed: output.failed() };
                serde_json::to_string(&text).unwrap_or_default()
            }
        }
    }

    async fn status(&self) -> String {
        let sessions = serde_json::to_value(self.sessions.infos()).unwrap_or_default();
        let data =
            serde_json::json!({ "pid": std::process::id(), "version": version(), "sessions": sessions });
        Envelope::data(&data)
    }
}

async fn call_tool(
    name: &str,
    arguments: serde_json::Value,
    toolsets: &[String],
    cx: &ToolContext,
) -> String {
    let toolsets: Vec<Toolset> = toolsets.iter().filter_map(|set| Toolset::named(set).ok()).collect();
    let calling = surehand_tools::call(&toolsets, name, arguments, cx);
    // Another call may have put in what this one would tell.
    match crate::secrets::veiled(&cx.verbs.sessions, &cx.verbs.settings.session, calling).await {
        Ok(answer) => Envelope::data(&AnswerBody::from(answer)),
        Err(fault) => Envelope::failure(fault),
    }
}

fn read_request(line: &[u8]) -> Result<Request, Fault> {
    let garbage = |why: String| {
        Fault::new(Kind::BadRequest, format!("this is not a request: {why}"))
            .hint("the daemon speaks only with the surehand program of its own version")
    };
    let text = std::str::from_utf8(line).map_err(|error| garbage(error.to_string()))?;
    // Another version may have other commands: its version is read before the rest.
    let head: Head = serde_json::from_str(text).map_err(|error| garbage(error.to_string()))?;
    match serde_json::from_str(text) {
        Ok(request) => Ok(request),
        Err(_) if head.version != version() => {
            Ok(Request { version: head.version, task: Task::Status, log: None })
        }
        Err(error) => Err(garbage(error.to_string())),
    }
}

#[derive(serde::Deserialize)]
struct Head {
    version: String,
}

fn other_version(client: &str) -> Fault {
    let message = format!("the daemon is version {}, this is version {client}, and it is at work", version());
    Fault::new(Kind::VersionMismatch, message)
        .hint("end its sessions with `surehand close --all`; the next command then starts a new daemon")
}

async fn send_message(writer: &mut (impl AsyncWriteExt + Unpin), message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    writer.write_all(&line).await
}

struct NotesTo(mpsc::UnboundedSender<Message>);

impl Notes for NotesTo {
    fn note(&self, line: &str) {
        // A client that went away needs no notes.
        let _ = self.0.send(Message::Note(line.to_owned()));
    }

    fn progress(&self, what: &str, done: u64, total: Option<u64>) {
        let _ = self.0.send(Message::Progress { what: what.to_owned(), done, total });
    }
}
