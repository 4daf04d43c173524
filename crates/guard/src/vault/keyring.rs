//! The keyring of the system, through the program that the system has for it: `secret-tool` on Linux (the Secret Service of
//! GNOME and KDE), `security` on macOS. Nothing secret is ever on a command line.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use zeroize::Zeroizing;

use super::key::{KeyError, VaultKey};

/// Where a key is expected, this says that it is in the keyring.
pub(super) const MARK: &str = "keyring";

/// One who is asked to unlock the keyring has this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place of one vault's key in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keyring {
    home: String,
}

impl Keyring {
    /// Of the vault in this home.
    pub fn of(home: &Path) -> Self {
        Self { home: home.to_string_lossy().into_owned() }
    }

    /// The key. That it is not there is a failure: something said that it is.
    pub fn read(&self) -> Result<VaultKey, KeyError> {
        let found = run(self.ask(), "")?;
        if found.is_empty() {
            let why = format!("it has no key for {}", self.home);
            return Err(KeyError::Keyring { why });
        }
        VaultKey::parse(&found, "the keyring")
    }

    /// Puts the key there, and sees that it is there.
    pub fn keep(&self, key: &VaultKey) -> Result<(), KeyError> {
        let (command, input) = self.store(key);
        run(command, &input)?;
        match self.read()?.id() == key.id() {
            true => Ok(()),
            false => Err(KeyError::Keyring { why: "it took the key, but gives another one".to_owned() }),
        }
    }

    /// Takes the key out.
    pub fn forget(&self) -> Result<(), KeyError> {
        run(self.clear(), "").map(drop)
    }
}

#[cfg(not(target_os = "macos"))]
impl Keyring {
    fn tool(&self, action: &[&str]) -> Command {
        let mut command = Command::new("secret-tool");
        command.args(action).args(["application", "surehand", "home", &self.home]);
        command
    }

    fn ask(&self) -> Command {
        self.tool(&["lookup"])
    }

    fn store(&self, key: &VaultKey) -> (Command, Zeroizing<String>) {
        let input = Zeroizing::new(key.to_hex().reveal().to_owned());
        (self.tool(&["store", "--label=Key of the Surehand vault"]), input)
    }

    fn clear(&self) -> Command {
        self.tool(&["clear"])
    }
}

#[cfg(target_os = "macos")]
impl Keyring {
    fn tool(&self, action: &str) -> Command {
        let mut command = Command::new("security");
        command.args([action, "-s", "surehand", "-a", &self.home]);
        command
    }

    fn ask(&self) -> Command {
        let mut command = self.tool("find-generic-password");
        command.arg("-w");
        command
    }

    /// It reads commands from its input, where nobody else sees them.
    fn store(&self, key: &VaultKey) -> (Command, Zeroizing<String>) {
        let mut command = Command::new("security");
        command.arg("-i");
        let home = self.home.replace('\\', "\\\\").replace('"', "\\\"");
        let hex = key.to_hex();
        let line = format!("add-generic-password -U -s surehand -a \"{home}\" -w {}\n", hex.reveal());
        (command, Zeroizing::new(line))
    }

    fn clear(&self) -> Command {
        self.tool("delete-generic-password")
    }
}

/// What the program says. One that fails without a word, or with the word of macOS for it, has nothing.
fn run(mut command: Command, input: &str) -> Result<Zeroizing<String>, KeyError> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => KeyError::Keyring {
            why: format!(
                "the program {program} is not there; on Debian it is in the package libsecret-tools"
            ),
        },
        _ => error.into(),
    })?;
    let answered = converse(&mut child, input);
    if answered.is_err() {
        // It may have ended by itself.
        let _ = child.kill();
    }
    let ended = child.wait()?;
    let (said, complaint) = answered?;
    let complaint = complaint.trim();
    if ended.success() || complaint.is_empty() || complaint.contains("could not be found") {
        return Ok(said);
    }
    Err(KeyError::Keyring { why: complaint.chars().take(300).collect() })
}

/// Tells it, and hears it out.
fn converse(child: &mut Child, input: &str) -> Result<(Zeroizing<String>, String), KeyError> {
    if let Some(mut stdin) = child.stdin.take() {
        match stdin.write_all(input.as_bytes()) {
            // It did not want to hear it, and says why.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            written => written?,
        }
    }
    let (Some(mut stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err(io::Error::other("the keyring's program has no output").into());
    };
    let (heard, hears) = channel();
    std::thread::spawn(move || {
        let (mut said, mut complaint) = (Zeroizing::new(String::new()), String::new());
        let read = stdout.read_to_string(&mut said).and_then(|_| stderr.read_to_string(&mut complaint));
        // Who gave up waiting does not hear it.
        let _ = heard.send(read.map(|_| (said, complaint)));
    });
    match hears.recv_timeout(PATIENCE) {
        Ok(answer) => Ok(answer?),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
            Err(KeyError::Keyring { why: format!("it did not answer within {} s", PATIENCE.as_secs()) })
        }
    }
}
