//! A running `surehand serve` on a port that the system chose, and who asks it: for every test file that needs a service.
#![allow(dead_code, reason = "each test file uses another part of this")]

pub mod http;

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use surehand_testkit::{Cli, processes, wait_for, wait_until};

pub use http::Answer;

/// How long something observable may take, far more than it needs.
pub const SOON: Duration = Duration::from_secs(20);

/// See the module. It is told to end when this goes, and everything that it started is gone then.
pub struct Service {
    pub cli: Cli,
    pub host: String,
    pub pid: u32,
    /// What it said until it listened.
    pub greeting: String,
    process: Mutex<Child>,
    said: Arc<Mutex<String>>,
    tokens: Mutex<HashMap<String, String>>,
}

impl Service {
    /// In the home of this one, with these arguments.
    pub fn start_in(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command();
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(arguments);
        Self::spawn(cli, command)
    }

    /// From a command line that ends in serving.
    pub fn spawn(cli: &Cli, mut command: Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect("a service");
        let mut lines = BufReader::new(process.stderr.take().unwrap());
        let (mut greeting, mut line) = (String::new(), String::new());
        let host = loop {
            line.clear();
            assert_ne!(lines.read_line(&mut line).unwrap(), 0, "it did not start: {greeting}");
            greeting += &line;
            if let Some(host) = line.trim().strip_prefix("http://") {
                break host.to_owned();
            }
        };
        let said = Arc::new(Mutex::new(greeting.clone()));
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                heard.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let (pid, process, tokens) = (process.id(), Mutex::new(process), Mutex::default());
        Self { cli: cli.clone(), host, pid, greeting, process, said, tokens }
    }

    /// All that it said.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// A token, made by the program itself.
    pub fn mint(&self, arguments: &[&str]) -> String {
        let run = self.cli.run(&[&["token", "mint"], arguments].concat()).unwrap();
        assert!(run.ok(), "{arguments:?}: {run:?}");
        run.stdout.trim().to_owned()
    }

    pub fn token(&self, subject: &str, scopes: &str) -> String {
        self.mint(&["--sub", subject, "--scope", scopes])
    }

    /// A token of that subject, for everything; the same one each time.
    pub fn token_of(&self, subject: &str) -> String {
        let known = self.tokens.lock().unwrap().get(subject).cloned();
        known.unwrap_or_else(|| {
            let token = self.token(subject, "admin");
            self.tokens.lock().unwrap().insert(subject.to_owned(), token.clone());
            token
        })
    }

    /// Asks with these headers and nothing more.
    pub fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        Answer::read(&mut http::send(&self.host, method, path, headers, body)).expect("an answer")
    }

    /// Asks with a token.
    pub fn ask_with(&self, token: &str, method: &str, path: &str, body: Option<&Value>) -> Answer {
        let body = body.map(Value::to_string).unwrap_or_default();
        let bearer = format!("Bearer {token}");
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
        ];
        self.ask(method, path, &headers, body.as_bytes())
    }

    /// The pack of the document, on a page.
    pub fn interact_with(&self, token: &str, url: &str, actions: &Value) -> Answer {
        let input = json!({ "url": url, "actions": actions });
        self.ask_with(token, "POST", "/api/v1/packs/browser.interact", Some(&input))
    }

    /// Tells it to end.
    pub fn terminate(&self) {
        assert!(processes::terminate(self.pid));
    }

    /// Waits until it has ended.
    pub fn ended(&self) -> Option<ExitStatus> {
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        wait_for(SOON, || process.try_wait().unwrap())
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let below = processes::descendants(self.pid);
        // The number of one that was waited for may be somebody else's by now.
        let runs = self
            .process
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .try_wait()
            .is_ok_and(|ended| ended.is_none());
        if runs {
            processes::terminate(self.pid);
        }
        let ended = self.ended();
        if ended.is_none() {
            processes::kill(self.pid);
            let _ = self.process.lock().unwrap_or_else(PoisonError::into_inner).wait();
        }
        let gone = wait_until(SOON, || !below.iter().any(|pid| processes::alive(*pid)));
        // A test that failed already says why.
        if !std::thread::panicking() {
            assert!(ended.is_some_and(|status| status.success()), "{ended:?}: {}", self.said());
            assert!(gone, "a process of the browser is left");
        }
    }
}
