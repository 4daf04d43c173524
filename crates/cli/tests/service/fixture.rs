//! A service of its own home on a port that the system chose, its tokens, and what it said.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use serde_json::{Value, json};
use surehand_testkit::{Cli, Site, processes, wait_for, wait_until};

use crate::common::{BINARY, fresh_cli};
use crate::http::{self, Answer};

/// Pages of these tests are on loopback, where nobody may go unless it is said.
const LOOPBACK: &str = "127.0.0.0/8,localhost";

/// How long something observable may take, far more than it needs.
pub const SOON: Duration = Duration::from_secs(20);

/// A running service. It is told to end when this goes, and everything that it started is gone then.
pub struct Service {
    pub cli: Cli,
    pub host: String,
    process: Mutex<Child>,
    pid: u32,
    said: Arc<Mutex<String>>,
    /// What it said until it listened.
    pub greeting: String,
    tokens: Mutex<HashMap<String, String>>,
}

/// One service for all tests that do not mind each other. The last of them ends it.
pub fn shared() -> Arc<Service> {
    static RUNNING: Mutex<Weak<Service>> = Mutex::new(Weak::new());
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let service = Arc::new(Service::start(&[]));
        *running = Arc::downgrade(&service);
        service
    })
}

impl Service {
    /// With a fresh home and these arguments.
    pub fn start(arguments: &[&str]) -> Self {
        Self::start_in(&fresh_cli(), arguments)
    }

    pub fn start_in(cli: &Cli, arguments: &[&str]) -> Self {
        let mut command = cli.command();
        command.args(["serve", "--listen", "127.0.0.1:0", "--egress-allow", LOOPBACK]).args(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().expect(BINARY);
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
        let said = Arc::<Mutex<String>>::default();
        let heard = said.clone();
        std::thread::spawn(move || {
            for line in lines.lines().map_while(Result::ok) {
                let mut heard = heard.lock().unwrap();
                heard.push_str(&line);
                heard.push('\n');
            }
        });
        let pid = process.id();
        let (process, tokens) = (Mutex::new(process), Mutex::default());
        Self { cli: cli.clone(), host, process, pid, said, greeting, tokens }
    }

    /// What it said since it listens.
    pub fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// The browser itself, not its helpers.
    pub fn browser(&self) -> Option<u32> {
        let is_main = |pid: &u32| {
            let args = processes::args(*pid);
            args.iter().any(|arg| arg.starts_with("--user-data-dir"))
                && !args.iter().any(|arg| arg.starts_with("--type="))
        };
        processes::descendants(self.pid).into_iter().find(is_main)
    }

    /// A token, made by the program itself.
    pub fn mint(&self, arguments: &[&str]) -> String {
        let run = self.cli.run(&[&["token", "mint"], arguments].concat()).unwrap();
        assert!(run.ok(), "{arguments:?}: {run:?}");
        run.stdout.trim().to_owned()
    }

    /// A token of that subject, for everything.
    pub fn token_of(&self, subject: &str) -> String {
        let known = self.tokens.lock().unwrap().get(subject).cloned();
        known.unwrap_or_else(|| {
            let token = self.mint(&["--sub", subject, "--scope", "admin"]);
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
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        self.ask(method, path, &headers, body.as_bytes())
    }

    /// Asks as somebody who may do everything.
    pub fn get(&self, path: &str) -> Answer {
        self.ask_with(&self.token_of("tester"), "GET", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.ask_with(&self.token_of("tester"), "POST", path, Some(body))
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.ask_with(&self.token_of("tester"), "DELETE", path, None)
    }

    /// Runs a pack.
    pub fn pack(&self, name: &str, input: &Value) -> Answer {
        self.pack_as("tester", name, input)
    }

    pub fn pack_as(&self, subject: &str, name: &str, input: &Value) -> Answer {
        let path = format!("/api/v1/packs/{name}");
        self.ask_with(&self.token_of(subject), "POST", &path, Some(input))
    }

    /// The pack of the document, on a page.
    pub fn interact(&self, url: &str, actions: &Value) -> Answer {
        self.pack("browser.interact", &json!({ "url": url, "actions": actions }))
    }

    /// The same, whose answer is read later, or never.
    pub fn begin(&self, subject: &str, url: &str, actions: &Value) -> TcpStream {
        let body = json!({ "url": url, "actions": actions }).to_string();
        let bearer = format!("Bearer {}", self.token_of(subject));
        let headers = [("Authorization", bearer.as_str())];
        http::send(&self.host, "POST", "/api/v1/packs/browser.interact", &headers, body.as_bytes())
    }

    /// How many work and how many wait.
    pub fn load(&self) -> (u64, u64) {
        let ready = self.ask("GET", "/readyz", &[], b"").json();
        (ready["working"].as_u64().unwrap(), ready["waiting"].as_u64().unwrap())
    }

    #[track_caller]
    pub fn wait_for_load(&self, working: u64, waiting: u64) {
        let held = wait_until(SOON, || self.load() == (working, waiting));
        assert!(held, "{:?} instead of {:?}", self.load(), (working, waiting));
    }

    /// Rows of the audit, newest first.
    pub fn audit(&self, query: &str) -> Vec<Value> {
        let rows = self.get(&format!("/api/v1/audit?limit=1000&{query}")).ok();
        rows["entries"].as_array().unwrap().clone()
    }

    /// A number of the metrics.
    pub fn metric(&self, name: &str) -> f64 {
        let text = self.ask("GET", "/metrics", &[], b"").text();
        let line = text.lines().find(|line| line.split(' ').next() == Some(name));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0.0)
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

/// A site of pages.
pub fn pages(pages: &[(&str, &str)]) -> Site {
    let add = |site: surehand_testkit::SiteBuilder, (path, html): &(&str, &str)| {
        site.page(path, format!("<!doctype html><html lang=en><meta charset=utf-8>{html}"))
    };
    pages.iter().fold(Site::builder(), add).start().expect("a port on loopback")
}

/// Another for all: its actions do not wait long, and its sessions end soon.
pub fn quick() -> Arc<Service> {
    static RUNNING: Mutex<Weak<Service>> = Mutex::new(Weak::new());
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let service = Service::start(&["--action-timeout", "1000", "--session-timeout", "6000"]);
        let service = Arc::new(service);
        *running = Arc::downgrade(&service);
        service
    })
}
