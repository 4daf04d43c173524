//! The client side: connects to the daemon, starts it when there is none, and speaks its lines. Blocking and plain.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use surehand_session::{Fault, Kind};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt};

use crate::home::Home;
use crate::ipc;
use crate::wire::{Message, Request};

/// Hears what the daemon says before the result.
pub trait Listener {
    /// A note, progress or log line.
    fn hear(&mut self, message: Message);
}

/// Hears nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Listener for Silent {
    fn hear(&mut self, _: Message) {}
}

/// A way to the daemon of one home.
#[derive(Debug, Clone)]
pub struct Client {
    home: Home,
    /// May it start a daemon where none runs?
    starts: bool,
}

/// A daemon that is silent for this long is stuck: while a command runs it says so every two seconds.
const SILENCE: Duration = Duration::from_secs(10);

/// More daemons than this in one command means that they do not live.
const STARTS: usize = 4;

impl Client {
    /// For the daemon of this home.
    pub fn new(home: Home) -> Self {
        Self { home, starts: true }
    }

    /// The same, but never starts a daemon: where none runs, asking is a fault.
    pub fn of_running(home: Home) -> Self {
        Self { home, starts: false }
    }

    /// Sends a request and returns the last line of the answer: an envelope, or [`Message::Text`].
    /// Starts the daemon if there is none.
    pub fn ask(&self, request: &Request, listener: &mut dyn Listener) -> Result<String, Fault> {
        for _ in 0..STARTS {
            let Some(stream) = self.connect()? else { continue };
            match converse(stream, request, listener)? {
                Answer::Last(line) => return Ok(line),
                Answer::Replaced => {}
            }
        }
        Err(self.daemon_fails("it ends as soon as it starts"))
    }

    /// The same without blocking a thread. Dropping the future hangs up, which stops the work in the daemon.
    pub(crate) async fn ask_async(&self, request: &Request) -> Result<String, Fault> {
        for _ in 0..STARTS {
            let client = self.clone();
            let connecting = tokio::task::spawn_blocking(move || client.connect());
            let Some(stream) = connecting.await.map_err(crate::internal)?? else { continue };
            match converse_async(stream, request).await? {
                Answer::Last(line) => return Ok(line),
                Answer::Replaced => {}
            }
        }
        Err(self.daemon_fails("it ends as soon as it starts"))
    }

    /// To the daemon that runs, or to one that is started; `None` if it has ended again already.
    fn connect(&self) -> Result<Option<ipc::ClientStream>, Fault> {
        match ipc::connect(&self.home.socket)? {
            Some(stream) => Ok(Some(stream)),
            None if self.starts => self.start_daemon(),
            None => Err(Fault::new(Kind::DaemonUnreachable, "no daemon is running")
                .hint("the first `surehand open` starts one")),
        }
    }

    /// The same, but `None` if no daemon runs.
    pub fn ask_running(&self, request: &Request) -> Result<Option<String>, Fault> {
        let Some(stream) = ipc::connect(&self.home.socket)? else { return Ok(None) };
        match converse(stream, request, &mut Silent)? {
            Answer::Last(line) => Ok(Some(line)),
            Answer::Replaced => Ok(None),
        }
    }

    /// Starts the daemon, one at a time: whoever waits for the lock finds it running.
    fn start_daemon(&self) -> Result<Option<ipc::ClientStream>, Fault> {
        self.home.create()?;
        let io = |error: io::Error| self.daemon_fails(&error.to_string());
        let lock =
            fs_err::OpenOptions::new().create(true).append(true).open(self.home.start_lock()).map_err(io)?;
        lock.file().lock().map_err(io)?;
        if let Some(stream) = ipc::connect(&self.home.socket)? {
            return Ok(Some(stream));
        }
        let program = std::env::current_exe().map_err(io)?;
        let log =
            fs_err::OpenOptions::new().create(true).append(true).open(self.home.log_file()).map_err(io)?;
        let mut child = Command::new(program)
            .arg("daemon")
            .arg("--root")
            .arg(&self.home.root)
            .arg("--socket")
            .arg(&self.home.socket)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log.into_file())
            .spawn()
            .map_err(io)?;
        // The daemon says one line when it listens, then closes its output.
        let mut said = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut said).map_err(io)?;
        }
        match said.trim_end() {
            "ready" => ipc::connect(&self.home.socket),
            "" => {
                Err(self.daemon_fails(&format!("it ended at once; see {}", self.home.log_file().display())))
            }
            why => Err(self.daemon_fails(why)),
        }
    }

    fn daemon_fails(&self, why: &str) -> Fault {
        Fault::new(Kind::DaemonUnreachable, format!("the daemon cannot be started: {why}"))
            .hint("`surehand doctor` looks at what it needs")
    }
}

enum Answer {
    Last(String),
    Replaced,
}

fn converse(
    mut stream: ipc::ClientStream,
    request: &Request,
    listener: &mut dyn Listener,
) -> Result<Answer, Fault> {
    let mut line =
        serde_json::to_string(request).map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    line.push('\n');
    ipc::limit_silence(&stream, SILENCE).map_err(broken)?;
    if let Err(error) = stream.write_all(line.as_bytes()) {
        return unheard(error);
    }
    let mut reader = BufReader::with_capacity(64 * 1024, stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).map_err(broken)? == 0 {
            return Err(gone("it closed the connection"));
        }
        match heard(line)? {
            Heard::Answer(answer) => return Ok(answer),
            Heard::Said(message) => listener.hear(message),
        }
    }
}

/// The same without blocking; what the daemon says before its answer is not of interest.
async fn converse_async(stream: ipc::ClientStream, request: &Request) -> Result<Answer, Fault> {
    let (reader, mut writer) = tokio::io::split(ipc::without_blocking(stream).map_err(broken)?);
    let mut line = serde_json::to_string(request).map_err(crate::internal)?;
    line.push('\n');
    let asking = async {
        writer.write_all(line.as_bytes()).await?;
        writer.flush().await
    };
    if let Err(error) = within_silence(asking).await {
        return unheard(error);
    }
    let mut reader = tokio::io::BufReader::new(reader);
    loop {
        let mut line = String::new();
        match within_silence(reader.read_line(&mut line)).await.map_err(broken)? {
            0 => return Err(gone("it closed the connection")),
            _ => {
                if let Heard::Answer(answer) = heard(line)? {
                    return Ok(answer);
                }
            }
        }
    }
}

async fn within_silence<T>(work: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    tokio::time::timeout(SILENCE, work).await.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
}

/// A request that was not taken.
fn unheard(error: io::Error) -> Result<Answer, Fault> {
    match error.kind() {
        // It was on its way out and has not read the request: another one will.
        io::ErrorKind::BrokenPipe => Ok(Answer::Replaced),
        _ => Err(broken(error)),
    }
}

fn broken(error: io::Error) -> Fault {
    match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            let limit = SILENCE.as_secs();
            gone(&format!(
                "it has been silent for {limit} s and seems to be stopped; end its process and try again"
            ))
        }
        _ => gone(&error.to_string()),
    }
}

enum Heard {
    Answer(Answer),
    Said(Message),
}

/// What a line of the daemon is. Only the last one is an envelope, and it may be large: it is not parsed here.
fn heard(mut line: String) -> Result<Heard, Fault> {
    line.truncate(line.trim_end().len());
    if line.starts_with(r#"{"success":"#) {
        return Ok(Heard::Answer(Answer::Last(line)));
    }
    match serde_json::from_str::<Message>(&line) {
        Ok(Message::Text { .. }) => Ok(Heard::Answer(Answer::Last(line))),
        Ok(Message::Replaced) => Ok(Heard::Answer(Answer::Replaced)),
        Ok(message) => Ok(Heard::Said(message)),
        Err(error) => Err(gone(&format!("it said something unexpected ({error})"))),
    }
}

fn gone(why: &str) -> Fault {
    Fault::new(Kind::DaemonUnreachable, format!("the daemon did not answer: {why}"))
        .hint("run the command again; a new daemon is started if needed")
}
