//! The client side: connects to the daemon, starts it when there is none, and speaks its lines. Blocking and plain.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Duration;

use surehand_session::{Fault, Kind};

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
}

/// A daemon that is silent for this long is stuck: while a command runs it says so every two seconds.
const SILENCE: Duration = Duration::from_secs(10);

/// More daemons than this in one command means that they do not live.
const STARTS: usize = 4;

impl Client {
    /// For the daemon of this home.
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    /// Sends a request and returns the last line of the answer: an envelope, or [`Message::Text`].
    /// Starts the daemon if there is none.
    pub fn ask(&self, request: &Request, listener: &mut dyn Listener) -> Result<String, Fault> {
        for _ in 0..STARTS {
            let stream = match ipc::connect(&self.home.socket)? {
                Some(stream) => stream,
                None => match self.start_daemon()? {
                    Some(stream) => stream,
                    None => continue,
                },
            };
            match converse(stream, request, listener)? {
                Answer::Last(line) => return Ok(line),
                Answer::Replaced => {}
            }
        }
        Err(self.daemon_fails("it ends as soon as it starts"))
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
    let broken = |error: io::Error| match error.kind() {
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            let limit = SILENCE.as_secs();
            gone(&format!(
                "it has been silent for {limit} s and seems to be stopped; end its process and try again"
            ))
        }
        _ => gone(&error.to_string()),
    };
    let mut line =
        serde_json::to_string(request).map_err(|error| Fault::new(Kind::Internal, error.to_string()))?;
    line.push('\n');
    ipc::limit_silence(&stream, SILENCE).map_err(broken)?;
    stream.write_all(line.as_bytes()).map_err(broken)?;
    let mut reader = BufReader::with_capacity(64 * 1024, stream);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).map_err(broken)? == 0 {
            return Err(gone("it closed the connection"));
        }
        line.truncate(line.trim_end().len());
        // Only the last line is an envelope, and it may be large: it is passed on without being parsed here.
        if line.starts_with(r#"{"success":"#) {
            return Ok(Answer::Last(line));
        }
        match serde_json::from_str::<Message>(&line) {
            Ok(Message::Text { .. }) => return Ok(Answer::Last(line)),
            Ok(Message::Replaced) => return Ok(Answer::Replaced),
            Ok(message) => listener.hear(message),
            Err(_) if line == r#""replaced""# => return Ok(Answer::Replaced),
            Err(error) => return Err(gone(&format!("it said something unexpected ({error})"))),
        }
    }
}

fn gone(why: &str) -> Fault {
    Fault::new(Kind::DaemonUnreachable, format!("the daemon did not answer: {why}"))
        .hint("run the command again; a new daemon is started if needed")
}
