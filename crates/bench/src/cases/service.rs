//! The HTTP service: what it adds to the protocol's own calls, how it bears many callers, and what it leaves behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use surehand_testkit::processes;

use super::{Case, interleave, timed};
use crate::bench::Bench;
use crate::measure::{Amount, Limit, Row, Samples};
use crate::options::ROUNDS;
use crate::raw::{RawBrowser, RawPage};

const CALL: Limit = Limit::Times(2.0);
const SLOWEST: Limit = Limit::Times(4.0);
const MEMORY: Limit = Limit::Times(1.15);

const REQUESTS: usize = 200;
const AT_ONCE: usize = 16;
const SESSIONS: usize = 1000;

pub struct Service;

impl Case for Service {
    fn name(&self) -> &'static str {
        "service"
    }

    fn about(&self) -> &'static str {
        "browser.interact against the same calls raw; 200 requests, 16 at once; 1,000 sessions"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        if bench.subject.is_none() {
            return Ok(vec![row("browser.interact", None, None, CALL)]);
        }
        let url = bench.site.url("/login");
        let serving = Serving::start(bench)?;
        serving.interact(&url)?;
        let mut rows = vec![call(bench, &serving, &url)?];
        rows.extend(load(&serving, &url)?);
        rows.push(sessions(&serving)?);
        Ok(rows)
    }
}

fn row(what: &str, floor: Option<Amount>, ours: Option<Amount>, limit: Limit) -> Row {
    Row { case: "service".into(), what: what.into(), floor, ours, limit }
}

/// The document's example without its pause, against the same calls over the protocol.
fn call(bench: &mut Bench, serving: &Serving, url: &str) -> Result<Row> {
    bench.raw()?;
    let rounds = bench.options.rounds(ROUNDS);
    let [floor, ours] = interleave(
        bench,
        rounds,
        [
            &|bench| {
                let raw = bench.raw()?;
                Ok(Some(timed(|| raw_interact(raw, url))?.0))
            },
            &|_| Ok(Some(timed(|| serving.interact(url))?.0)),
        ],
    )?;
    Ok(row("7 actions of browser.interact, against the same calls raw", floor.median(), ours.median(), CALL))
}

/// The fewest calls that do the same: a context, a tab, a page, real keys and clicks, a picture, two readings.
fn raw_interact(raw: &mut RawBrowser, url: &str) -> Result<()> {
    let page = RawPage::open_isolated(raw)?;
    page.navigate(raw, url)?;
    page.click_on(raw, "#login-btn")?;
    for field in ["#username", "#password"] {
        page.evaluate(raw, &format!("document.querySelector('{field}').select()"))?;
        page.type_keys(raw, "demo")?;
    }
    page.click_on(raw, "#submit")?;
    page.screenshot(raw)?;
    let found = page.evaluate(raw, "document.body.innerText.includes('Welcome')")?;
    ensure!(found == true, "the raw side did not log in");
    page.evaluate(raw, "document.querySelector('h1').innerText")?;
    page.close(raw)
}

/// Many callers at once: none fails, none waits much longer than the others, and the memory does not grow.
fn load(serving: &Serving, url: &str) -> Result<Vec<Row>> {
    let burst = |requests: usize| -> Result<Samples> {
        let (next, times) = (AtomicUsize::new(0), Mutex::new(Samples::default()));
        std::thread::scope(|threads| -> Result<()> {
            let work = || -> Result<()> {
                while next.fetch_add(1, Ordering::Relaxed) < requests {
                    let (time, ()) = timed(|| serving.interact(url))?;
                    times.lock().map_err(|_| anyhow::anyhow!("a caller panicked"))?.push(time);
                }
                Ok(())
            };
            let callers: Vec<_> = (0..AT_ONCE).map(|_| threads.spawn(work)).collect();
            callers
                .into_iter()
                .try_for_each(|caller| caller.join().unwrap_or_else(|_| bail!("a caller panicked")))
        })?;
        times.into_inner().map_err(|_| anyhow::anyhow!("a caller panicked"))
    };
    burst(REQUESTS / 4)?;
    let before = serving.memory()?;
    let times = burst(REQUESTS)?;
    let after = serving.memory()?;
    Ok(vec![
        row(
            "200 requests, 16 at once: the slowest of 100, against the median",
            times.median(),
            times.percentile(99),
            SLOWEST,
        ),
        row("memory of the service after them, against before", Some(before), Some(after), MEMORY),
    ])
}

/// Sessions that come and go leave nothing behind.
fn sessions(serving: &Serving) -> Result<Row> {
    let one = || -> Result<()> {
        let made = serving.ask("POST", "/api/v1/sessions", "{}")?;
        let id = made["session_id"].as_str().context("no session_id")?.to_owned();
        serving.ask("DELETE", &format!("/api/v1/sessions/{id}"), "").map(drop)
    };
    (0..10).try_for_each(|_| one())?;
    let before = serving.belongings()?;
    let began = Instant::now();
    (0..SESSIONS).try_for_each(|_| one())?;
    let took = began.elapsed();
    // Renderers take a moment to go.
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut after = serving.belongings()?;
    while after != before && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(100));
        after = serving.belongings()?;
    }
    ensure!(after.is_at_most(&before), "1,000 sessions left something behind: {before:?} became {after:?}");
    let each = Amount::Milliseconds(took.as_secs_f64() * 1000.0 / SESSIONS as f64);
    Ok(row("a session made and ended, mean of 1,000 that left nothing behind", None, Some(each), Limit::None))
}

/// What a service has.
#[derive(Debug, PartialEq)]
struct Belongings {
    descriptors: usize,
    processes: usize,
    files: usize,
}

impl Belongings {
    /// A spare renderer or a late timer may come or go; a thousand may not.
    fn is_at_most(&self, before: &Self) -> bool {
        self.descriptors <= before.descriptors + 4
            && self.processes <= before.processes + 1
            && self.files <= before.files + 4
    }
}

/// A running service and a token for it.
struct Serving {
    process: Child,
    address: String,
    token: String,
    home: std::path::PathBuf,
}

impl Serving {
    fn start(bench: &Bench) -> Result<Self> {
        let subject = bench.subject.as_ref().context("no product")?;
        let allowed = bench.site.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
        let mut command = subject.command()?;
        let home = bench.scratch().join("service");
        let mut process = command
            .env("SUREHAND_HOME", &home)
            .args(["serve", "--listen", "127.0.0.1:0", "--egress-allow", &allowed, "--queue", "200"])
            .stderr(Stdio::piped())
            .spawn()?;
        let said = BufReader::new(process.stderr.take().context("no output")?);
        let address = said
            .lines()
            .map_while(Result::ok)
            .find_map(|line| Some(line.strip_prefix("http://")?.to_owned()));
        let address = address.context("the service did not say where it listens")?;
        let minted = subject
            .command()?
            .env("SUREHAND_HOME", &home)
            .args(["token", "mint", "--sub", "bench", "--scope", "packs:*,sessions:*"])
            .output()?;
        let token = String::from_utf8(minted.stdout)?.trim().to_owned();
        Ok(Self { process, address, token, home })
    }

    /// One request on a connection of its own; anything but success is an error.
    fn ask(&self, method: &str, path: &str, body: &str) -> Result<Value> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        let (address, token, length) = (&self.address, &self.token, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        ensure!(head.starts_with("HTTP/1.1 2"), "{}\n{body}", head.lines().next().unwrap_or_default());
        Ok(serde_json::from_str(body)?)
    }

    fn interact(&self, url: &str) -> Result<()> {
        let input = json!({ "url": url, "actions": [
            { "action": "click", "selector": "#login-btn" },
            { "action": "type", "selector": "#username", "value": "demo" },
            { "action": "type", "selector": "#password", "value": "demo" },
            { "action": "click", "selector": "#submit" },
            { "action": "screenshot" },
            { "action": "assert_text", "text": "Welcome" },
            { "action": "extract", "selector": "h1", "format": "text" },
        ] });
        let done = self.ask("POST", "/api/v1/packs/browser.interact", &input.to_string())?;
        ensure!(
            done["steps_completed"] == 7 && done["assertions_passed"] == true,
            "it did not log in: {done}"
        );
        Ok(())
    }

    fn memory(&self) -> Result<Amount> {
        processes::resident_bytes(self.process.id()).map(Amount::Bytes).context("its memory cannot be read")
    }

    fn belongings(&self) -> Result<Belongings> {
        let descriptors = fs_err::read_dir(format!("/proc/{}/fd", self.process.id()))?.count();
        Ok(Belongings {
            descriptors,
            processes: processes::descendants(self.process.id()).len(),
            files: fs_err::read_dir(&self.home)?.count()
                + fs_err::read_dir(self.home.join("profiles")).map_or(0, Iterator::count)
                + fs_err::read_dir(self.home.join("downloads")).map_or(0, Iterator::count),
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        processes::end(self.process.id(), Duration::from_secs(10));
        // It is gone, one way or the other.
        let _ = self.process.wait();
    }
}
