//! DNS rebinding with a real browser: a name that first leads where a page may go and then elsewhere leads nowhere then,
//! whatever the page tries.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]
#![cfg(target_os = "linux")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use surehand_browser::{Machine, Notes};
use surehand_guard::egress::{EgressPolicy, Otherwise, Resolve, Resolving};
use surehand_page::{Deadline, LoadState};
use surehand_session::{Egress, Fault, Kind, Places, Session, SessionOptions, Sessions};

/// Far more than anything here takes.
const LONG: Duration = Duration::from_secs(20);

/// Answers of names, one after another; the last one stays.
#[derive(Debug, Default)]
struct Names(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl Names {
    fn say(&self, name: &str, answers: &[&[&str]]) {
        let read = |answer: &&[&str]| answer.iter().map(|address| address.parse().unwrap()).collect();
        let answers = answers.iter().rev().map(read).collect();
        self.0.lock().unwrap().insert(name.to_owned(), answers);
    }
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> Resolving<'a> {
        let mut names = self.0.lock().unwrap();
        let answer = match names.get_mut(name) {
            None => Err(std::io::ErrorKind::NotFound.into()),
            Some(left) if left.len() > 1 => Ok(left.pop().unwrap()),
            Some(left) => Ok(left[0].clone()),
        };
        Box::pin(async move { answer })
    }
}

/// A server that answers everything with one page, and what it was asked for; `connected` for a connection.
struct Server(Arc<Mutex<Vec<String>>>);

impl Server {
    fn serve(listener: TcpListener, keeps: bool) -> Self {
        let heard = Arc::<Mutex<Vec<String>>>::default();
        let hears = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                hears.lock().unwrap().push("connected".to_owned());
                let hears = hears.clone();
                std::thread::spawn(move || answer(stream, keeps, &hears));
            }
        });
        Self(heard)
    }

    fn heard(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    /// The paths that it was asked for.
    fn asked(&self) -> Vec<String> {
        let heard = self.heard();
        heard.iter().filter_map(|line| line.split(' ').nth(1)).map(str::to_owned).collect()
    }
}

const PAGE: &str =
    "<title>Page</title><form method=post action=/form><input name=a value=b><button>x</button></form>";

fn answer(mut stream: TcpStream, keeps: bool, heard: &Mutex<Vec<String>>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    while let Some(Ok(first)) = lines.next() {
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        heard.lock().unwrap().push(first);
        let connection = if keeps { "keep-alive" } else { "close" };
        let head =
            format!("Content-Type: text/html\r\nContent-Length: {}\r\nConnection: {connection}", PAGE.len());
        if write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{PAGE}").is_err() || !keeps {
            return;
        }
    }
}

/// A server at 127.0.0.2, which may be reached, and a trap behind the same port at 127.0.0.1, which may not.
struct World {
    port: u16,
    good: Server,
    trap: Server,
    names: Arc<Names>,
    sessions: Arc<Sessions>,
    _home: tempfile::TempDir,
}

impl World {
    fn new(keeps: bool) -> Self {
        let (good, trap) = (0..50)
            .find_map(|_| {
                let good = TcpListener::bind("127.0.0.2:0").unwrap();
                let port = good.local_addr().unwrap().port();
                Some((good, TcpListener::bind(("127.0.0.1", port)).ok()?))
            })
            .expect("a port that is free on both");
        let (home, names) = (tempfile::tempdir().unwrap(), Arc::<Names>::default());
        let places = Places {
            scratch: home.path().join("profiles"),
            downloads: home.path().join("downloads"),
            journals: home.path().join("journals"),
            machine: Machine::from_env(),
        };
        Self {
            port: good.local_addr().unwrap().port(),
            good: Server::serve(good, keeps),
            trap: Server::serve(trap, false),
            sessions: Arc::new(Sessions::new(places).with_resolver(names.clone())),
            names,
            _home: home,
        }
    }

    async fn session(&self) -> Arc<Session> {
        let policy = EgressPolicy::parse(["127.0.0.2/32"], [""; 0], Otherwise::Allow).unwrap();
        let egress = Some(Egress { policy, max_bytes: None });
        let notes: Arc<dyn Notes> = Arc::new(());
        let options = SessionOptions { egress, ..Default::default() };
        self.sessions.open("guarded", &options, &notes).await.unwrap()
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    #[track_caller]
    fn trap_is_untouched(&self, after: &str) {
        assert_eq!(self.trap.heard(), [""; 0], "after {after}");
    }
}

async fn open(session: &Session, url: &str) -> Result<(), Fault> {
    let tab = session.some_tab().await?;
    let going = session.going_to(url)?;
    let opened = tab.page.open(url, LoadState::Load, &Deadline::after(LONG)).await;
    going.arrived(&tab, opened.map_err(Fault::from)).map(drop)
}

async fn run(session: &Session, script: &str) -> Value {
    let tab = session.active_tab().unwrap();
    let evaluated = tab.page.evaluate(script, &Deadline::after(LONG)).await.unwrap();
    serde_json::from_str(evaluated.result.get()).unwrap()
}

#[track_caller]
fn must_be_denied(opened: Result<(), Fault>, what: &str) {
    let fault = opened.expect_err(what);
    assert_eq!(fault.kind, Kind::EgressDenied, "{what}: {fault}");
    assert!(!fault.message.contains("127.0.0.1"), "where a name leads is not told: {fault}");
}

/// What a page can ask of its own origin, each with how it ends.
const EVERYTHING: &str = r"(async () => {
  const ended = (thing, ...events) => new Promise(done => events.forEach(event => thing.addEventListener(event, () => done(event))));
  const frame = document.createElement('iframe');
  frame.src = '/frame';
  document.body.append(frame);
  await ended(frame, 'load');
  const said = frame.contentDocument.body.innerText;
  const statuses = {};
  for (const [path, options] of [['/fetch', {}], ['/post', { method: 'POST', body: 'x' }], ['/head', { method: 'HEAD' }]])
    statuses[path] = (await fetch(path, { cache: 'no-store', ...options })).status;
  const socket = await ended(new WebSocket(location.origin.replace('http', 'ws') + '/socket'), 'open', 'close');
  const image = await ended(Object.assign(new Image(), { src: '/image' }), 'load', 'error');
  const events = await ended(new EventSource('/events'), 'open', 'error');
  return { said, statuses, socket, image, events };
})()";

#[tokio::test(flavor = "multi_thread")]
async fn a_name_that_changes_its_mind_leads_nowhere() {
    let world = World::new(false);
    world.names.say("evil.example", &[&["127.0.0.2"], &["127.0.0.1"]]);
    let session = world.session().await;
    open(&session, &world.url("evil.example", "/first")).await.unwrap();
    assert_eq!(run(&session, "document.title").await, "Page");

    let ends = run(&session, EVERYTHING).await;
    assert!(ends["said"].as_str().unwrap().starts_with("egress denied: "), "{ends}");
    assert_eq!(ends["statuses"], serde_json::json!({ "/fetch": 403, "/post": 403, "/head": 403 }), "{ends}");
    assert_eq!(
        (ends["socket"].as_str(), ends["image"].as_str(), ends["events"].as_str()),
        (Some("close"), Some("error"), Some("error")),
        "{ends}"
    );
    world.trap_is_untouched("what a page asks for");

    run(&session, "document.querySelector('button').click()").await;
    let tab = session.active_tab().unwrap();
    tab.page.wait_for_text("egress denied", &Deadline::after(LONG)).await.unwrap();
    world.trap_is_untouched("a form");
    for host in ["evil.example", "EVIL.example."] {
        must_be_denied(open(&session, &world.url(host, "/again")).await, host);
    }
    let tls = world.url("evil.example", "/tls").replace("http:", "https:");
    must_be_denied(open(&session, &tls).await, "https");
    world.trap_is_untouched("navigations");
    assert_eq!(world.good.asked(), ["/first"], "everything else was refused");
}

/// A connection that was judged may be used on: it leads where it led.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_that_is_kept_stays_with_its_server() {
    let world = World::new(true);
    world.names.say("evil.example", &[&["127.0.0.2"], &["127.0.0.1"]]);
    let session = world.session().await;
    open(&session, &world.url("evil.example", "/first")).await.unwrap();
    let together = "Promise.all([...Array(12).keys()].map(n => fetch('/f' + n, { cache: 'no-store' }).then(r => r.status)))";
    let statuses = run(&session, together).await;
    let statuses = statuses.as_array().unwrap();
    assert!(statuses.iter().all(|status| *status == 200 || *status == 403), "{statuses:?}");
    assert!(statuses.iter().any(|status| *status == 403), "more than one connection is needed: {statuses:?}");
    world.trap_is_untouched("a kept connection");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_address_of_a_name_must_be_allowed() {
    let world = World::new(false);
    for (name, answer) in [
        ("mixed.example", &["127.0.0.2", "127.0.0.1"][..]),
        ("turned.example", &["127.0.0.1", "127.0.0.2"]),
        ("mapped.example", &["::ffff:127.0.0.1"]),
        ("carried.example", &["127.0.0.2", "64:ff9b::7f00:1"]),
        ("six.example", &["::1"]),
        ("zero.example", &["0.0.0.0"]),
    ] {
        world.names.say(name, &[answer]);
    }
    world.names.say("good.example", &[&["::ffff:127.0.0.2"]]);
    let session = world.session().await;
    for name in [
        "mixed.example",
        "turned.example",
        "mapped.example",
        "carried.example",
        "six.example",
        "zero.example",
    ] {
        must_be_denied(open(&session, &world.url(name, "/")).await, name);
    }
    assert_eq!(world.good.asked(), [""; 0]);
    open(&session, &world.url("good.example", "/mapped")).await.unwrap();
    assert!(world.good.asked().contains(&"/mapped".to_owned()));
    world.trap_is_untouched("names with several addresses");
}
