//! Services for these tests: what they are asked again and again, and those that many tests share.

use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde_json::{Value, json};
use surehand_testkit::{Cli, Site, processes, wait_until};

use crate::common::fresh_cli;
use crate::serving::http;
pub use crate::serving::{Answer, SOON, Service};

/// Pages of these tests are on loopback, where nobody may go unless it is said.
const LOOPBACK: &str = "127.0.0.0/8,localhost";

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
        Self::start_allowed(&fresh_cli(), arguments)
    }

    /// In that home; its pages may go to loopback.
    pub fn start_allowed(cli: &Cli, arguments: &[&str]) -> Self {
        Self::start_in(cli, &[&["--egress-allow", LOOPBACK], arguments].concat())
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
        self.interact_with(&self.token_of("tester"), url, actions)
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
}

/// A site of pages.
pub fn pages(pages: &[(&str, &str)]) -> Site {
    let add = |site: surehand_testkit::SiteBuilder, (path, html): &(&str, &str)| {
        site.page(path, format!("<!doctype html><html lang=en><meta charset=utf-8>{html}"))
    };
    pages.iter().fold(Site::builder(), add).start().expect("a port on loopback")
}

/// Another for all: its actions do not wait long, and its sessions end soon, but not before what works is done.
pub fn quick() -> Arc<Service> {
    static RUNNING: Mutex<Weak<Service>> = Mutex::new(Weak::new());
    let mut running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    running.upgrade().unwrap_or_else(|| {
        let service = Service::start(&["--action-timeout", "2500", "--session-timeout", "12000"]);
        let service = Arc::new(service);
        *running = Arc::downgrade(&service);
        service
    })
}
