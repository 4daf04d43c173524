//! A browser as somebody else would start it, and calls of the tools on it.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use surehand_browser::{Machine, find};
use surehand_cdp::protocol::target;
use surehand_cdp::{Connection, Transport};
use surehand_session::{Places, Sessions};
use surehand_testkit::wait_for;
use surehand_tools::direct::Endpoints;
use surehand_tools::{Answer, ToolContext, Toolset, call};
use surehand_verbs::{Context, Settings};

/// A browser that ends with the test.
pub struct Browser {
    process: Child,
    profile: tempfile::TempDir,
    pub port: u16,
}

impl Browser {
    pub fn start() -> Self {
        let program = find::find(&Machine::from_env(), None).expect("the tests need a browser").path;
        let profile = tempfile::tempdir().unwrap();
        let process = Command::new(program)
            .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
            .args(["--remote-debugging-port=0", "--disable-background-networking", "--disable-dev-shm-usage"])
            // Nobody is asked for a name that there is not: who answers that, and when, is up to the network.
            .arg("--host-resolver-rules=MAP *.invalid ~NOTFOUND")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let file = profile.path().join("DevToolsActivePort");
        let port = || {
            let text = fs_err::read_to_string(&file).ok()?;
            let (port, _) = text.split_once('\n').filter(|(_, path)| path.starts_with("/devtools/"))?;
            port.parse().ok()
        };
        let port = wait_for(Duration::from_secs(60), port).expect("the browser has a port");
        // It has one before it has its first tab.
        let tab = || has_a_tab(port).then_some(());
        wait_for(Duration::from_secs(60), tab).expect("the browser has a tab");
        Self { process, profile, port }
    }

    /// Another program that has a browser in it.
    pub fn start_app(program: &Path, folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let profile = tempfile::tempdir().unwrap();
        let process = Command::new(program)
            .args(["--no-sandbox", "--disable-gpu"])
            .arg(format!("--remote-debugging-port={port}"))
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg(folder)
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let answers = || TcpStream::connect(("127.0.0.1", port)).is_ok().then_some(());
        wait_for(Duration::from_secs(30), answers).expect("the app has a port");
        Self { process, profile, port }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Another client of the same browser.
    pub async fn other_client(&self) -> Connection {
        let file = self.profile.path().join("DevToolsActivePort");
        let text = fs_err::read_to_string(file).unwrap();
        let path = text.lines().nth(1).unwrap();
        let url = format!("ws://127.0.0.1:{}{path}", self.port);
        Connection::open(Transport::websocket(&url).await.unwrap(), None)
    }

    /// Opens a tab behind the tools' back.
    pub async fn open_tab(&self, url: &str) -> String {
        let create = target::CreateTarget { url: url.into(), ..Default::default() };
        let client = self.other_client().await;
        let id = client.browser().call(&create).await.unwrap().target_id;
        // All pages here have a title, which shows that they have come.
        loop {
            let targets = client.browser().call(&target::GetTargets::default()).await.unwrap().target_infos;
            if targets.iter().any(|one| one.target_id == id && !one.title.is_empty() && one.title != url) {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub async fn close_tab(&self, id: &str) {
        let close = target::CloseTarget { target_id: id.into() };
        let client = self.other_client().await;
        client.browser().call(&close).await.unwrap();
        // The browser answers before the tab is gone.
        loop {
            let targets = client.browser().call(&target::GetTargets::default()).await.unwrap().target_infos;
            if targets.iter().all(|one| one.target_id != id) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The tabs that somebody is attached to.
    pub async fn attached(&self) -> Vec<String> {
        let client = self.other_client().await;
        let targets = client.browser().call(&target::GetTargets::default()).await.unwrap().target_infos;
        targets.into_iter().filter(|one| one.attached).map(|one| one.target_id).collect()
    }
}

/// Whether a browser lists its first tab, with its address.
fn has_a_tab(port: u16) -> bool {
    let Ok(mut stream) = TcpStream::connect(("127.0.0.1", port)) else { return false };
    let request = format!("GET /json/list HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    if stream.write_all(request.as_bytes()).is_err() {
        return false;
    }
    let (mut answer, mut part) = (Vec::new(), [0; 4096]);
    // The list is the end of the answer; the connection stays.
    while !answer.trim_ascii_end().ends_with(b"]") {
        match stream.read(&mut part) {
            Ok(read @ 1..) => answer.extend_from_slice(&part[..read]),
            _ => return false,
        }
    }
    String::from_utf8_lossy(&answer).contains("\"url\": \"about:blank\"")
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Calls the tools on one browser, and looks at every answer for what must not be in it.
pub struct Caller {
    context: Arc<ToolContext>,
    browser_url: String,
    pub secret: Option<String>,
}

impl Caller {
    pub fn new(browser_url: &str) -> Self {
        Self::with(browser_url, Endpoints::default())
    }

    pub fn with(browser_url: &str, endpoints: Endpoints) -> Self {
        let nowhere = PathBuf::from("/nonexistent");
        let machine = Machine::from_env();
        let places =
            Places { scratch: nowhere.clone(), downloads: nowhere.clone(), journals: nowhere, machine };
        let verbs = Context {
            sessions: Arc::new(Sessions::new(places)),
            settings: Settings::default(),
            notes: Arc::new(()),
        };
        let context = Arc::new(ToolContext {
            verbs,
            borrowed: Arc::new(endpoints),
            secrets: Arc::default(),
            lender: Default::default(),
        });
        Self { context, browser_url: browser_url.to_owned(), secret: None }
    }

    pub async fn answer(&self, tool: &str, mut arguments: Value) -> (Answer, Duration) {
        if arguments.get("browser_url").is_none() {
            arguments["browser_url"] = json!(self.browser_url);
        }
        let started = Instant::now();
        let answer = call(&[Toolset::Direct], tool, arguments, &self.context).await.unwrap();
        println!("{tool} ({:?})\n{}\n", started.elapsed(), answer.text);
        if let Some(secret) = &self.secret {
            let all = format!("{} {:?}", answer.text, answer.structured);
            assert!(!all.contains(secret), "{tool} told the secret: {all}");
        }
        (answer, started.elapsed())
    }

    /// An answer that is no error.
    pub async fn text(&self, tool: &str, arguments: Value) -> String {
        let (answer, _) = self.answer(tool, arguments).await;
        assert!(!answer.is_error, "{}", answer.text);
        answer.text
    }

    /// An answer that is one, and quick: what is told at once and what is told within 4.5 s, on a machine that is busy,
    /// too, and long before a page would be given up.
    pub async fn error(&self, tool: &str, arguments: Value) -> String {
        let (answer, took) = self.answer(tool, arguments).await;
        assert!(answer.is_error, "{}", answer.text);
        assert!(took < Duration::from_secs(15), "{took:?}");
        answer.text
    }

    pub async fn go(&self, url: &str) {
        self.text("browser_navigate", json!({ "url": url })).await;
    }

    pub async fn snapshot(&self) -> String {
        self.text("browser_snapshot", json!({})).await
    }

    pub async fn click(&self, uid: u32) -> String {
        self.text("browser_click", json!({ "uid": uid })).await
    }

    pub async fn fill(&self, uid: u32, value: &str) -> String {
        self.text("browser_fill", json!({ "uid": uid, "value": value })).await
    }

    pub async fn eval(&self, expression: &str) -> String {
        self.text("browser_eval", json!({ "expression": expression })).await
    }
}

/// The number in front of what a snapshot shows as `role "name"`.
pub fn uid(snapshot: &str, what: &str) -> u32 {
    let line = snapshot.lines().find(|line| line.contains(what) && line.trim_start().starts_with('['));
    let line = line.unwrap_or_else(|| panic!("no {what} in\n{snapshot}"));
    line.trim_start().strip_prefix('[').unwrap().split(']').next().unwrap().parse().unwrap()
}
