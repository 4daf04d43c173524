//! The MCP server over standard input and output: what it adds to one call, how soon it is there, what it keeps in memory.

use std::cell::RefCell;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use surehand_testkit::processes;

use super::{Case, cheap_rounds, interleave, open_hands, timed};
use crate::bench::Bench;
use crate::measure::{Amount, Limit, Row, Samples};
use crate::options::ROUNDS;

const CALL: Limit = Limit::Above(1.0);
const START: Limit = Limit::Under(Amount::Milliseconds(50.0));
const MEMORY: Limit = Limit::Under(Amount::Bytes(30_000_000));

pub struct Mcp;

impl Case for Mcp {
    fn name(&self) -> &'static str {
        "mcp"
    }

    fn about(&self) -> &'static str {
        "tools over stdio against raw Runtime.evaluate; start to the first list; memory"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        if bench.subject.is_none() {
            return Ok(vec![row("tools over stdio", None, None, CALL)]);
        }
        let mut rows = vec![start(bench)?];
        let page = open_hands(bench)?;
        let server = RefCell::new(Server::start(bench)?);
        let url = bench.site.url("/hands");
        server.borrow_mut().call("navigate", json!({ "url": url }))?;
        let calls = [
            (
                "javascript_tool, against one raw Runtime.evaluate",
                "javascript_tool",
                json!({ "code": TEXT }),
                TEXT,
            ),
            (
                "read_page of HTML, against the raw evaluate of it",
                "read_page",
                json!({ "mode": "html" }),
                HTML,
            ),
        ];
        for (what, tool, arguments, expression) in calls {
            let rounds = cheap_rounds(bench);
            let [floor, ours] = interleave(
                bench,
                rounds,
                [
                    &|bench| {
                        let raw = bench.raw()?;
                        Ok(Some(timed(|| page.evaluate(raw, expression))?.0))
                    },
                    &|_| Ok(Some(timed(|| server.borrow_mut().call(tool, arguments.clone()))?.0)),
                ],
            )?;
            rows.push(row(what, floor.median(), ours.median(), CALL));
        }
        let resident =
            processes::resident_bytes(server.borrow().process.id()).context("its memory cannot be read")?;
        rows.push(row(
            "resident memory of a server that was used",
            None,
            Some(Amount::Bytes(resident)),
            MEMORY,
        ));
        page.close(bench.raw()?)?;
        Ok(rows)
    }
}

const TEXT: &str = "document.querySelector('#text').innerText";
const HTML: &str = "document.documentElement.outerHTML";

fn row(what: &str, floor: Option<Amount>, ours: Option<Amount>, limit: Limit) -> Row {
    Row { case: "mcp".into(), what: what.into(), floor, ours, limit }
}

/// From the start of the process to the first list of tools.
fn start(bench: &Bench) -> Result<Row> {
    let mut samples = Samples::default();
    for _ in 0..bench.options.rounds(ROUNDS) {
        samples.push(Server::start(bench)?.ready);
    }
    Ok(row("start to the first tools/list", None, samples.median(), START))
}

/// A client and the server that it started.
pub(super) struct Server {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    asked: u64,
    ready: Duration,
}

impl Server {
    pub fn start(bench: &Bench) -> Result<Self> {
        Self::start_with(bench, &[])
    }

    pub fn start_with(bench: &Bench, options: &[&str]) -> Result<Self> {
        let subject = bench.subject.as_ref().context("no product")?;
        let began = Instant::now();
        let mut command = subject.command()?;
        let mut process = command
            .arg("mcp")
            .args(options)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let to = process.stdin.take();
        let from = BufReader::new(process.stdout.take().context("no output")?);
        let mut server = Self { process, to, from, asked: 0, ready: Duration::ZERO };
        let who = json!({ "name": "bench", "version": "1" });
        server.ask(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who }),
        )?;
        server.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
        server.ask("tools/list", &json!({}))?;
        server.ready = began.elapsed();
        Ok(server)
    }

    fn write(&mut self, message: &Value) -> Result<()> {
        let to = self.to.as_mut().context("its input is closed")?;
        to.write_all(format!("{message}\n").as_bytes())?;
        Ok(to.flush()?)
    }

    fn ask(&mut self, method: &str, params: &Value) -> Result<Value> {
        self.asked += 1;
        let id = self.asked;
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line)? == 0 {
                bail!("the server hung up");
            }
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }

    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<()> {
        let answer = self.ask("tools/call", &json!({ "name": tool, "arguments": arguments }))?;
        ensure!(answer["result"]["isError"] == false, "{tool}: {answer}");
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.to.take());
        processes::end(self.process.id(), Duration::from_secs(10));
        // It is gone: only its number is given back.
        let _ = self.process.wait();
    }
}
