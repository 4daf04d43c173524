//! Playbooks: what the runner adds to the calls that it makes, and how soon a large file is understood.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::mcp::Server;
use super::{Case, interleave, timed};
use crate::bench::Bench;
use crate::measure::{Amount, Limit, Row, Samples};
use crate::options::ROUNDS;

const STEPS: Limit = Limit::Times(1.3);
const WORKERS: Limit = Limit::Times(1.5);
const CHECK: Limit = Limit::Under(Amount::Milliseconds(200.0));

pub struct Playbook;

impl Case for Playbook {
    fn name(&self) -> &'static str {
        "playbook"
    }

    fn about(&self) -> &'static str {
        "100 steps and 50 playbooks, against the same calls made raw; reading 10,000 steps"
    }

    fn run(&self, bench: &mut Bench) -> Result<Vec<Row>> {
        if bench.subject.is_none() {
            return Ok(vec![row("100 steps", None, None, STEPS)]);
        }
        Ok(vec![steps(bench)?, workers(bench)?, check(bench)?])
    }
}

fn row(what: &str, floor: Option<Amount>, ours: Option<Amount>, limit: Limit) -> Row {
    Row { case: "playbook".into(), what: what.into(), floor, ours, limit }
}

/// What a scenario does again and again: a field, a button, a look, a judgement.
fn calls(count: usize) -> Vec<(&'static str, Value)> {
    let four = [
        ("fill_form", json!({ "fields": { "#field": "Ada" } })),
        ("interact", json!({ "ref": "#go" })),
        ("javascript_tool", json!({ "code": "document.title" })),
        ("oc_assert", json!({ "contract": { "kind": "dom_text", "selector": "#text", "pattern": "." } })),
    ];
    four.into_iter().cycle().take(count).collect()
}

/// A playbook that opens a page and makes these calls.
fn playbook(url: &str, calls: &[(&str, Value)]) -> String {
    let verb = |tool: &str| if tool == "oc_assert" { "assert".to_owned() } else { tool.to_owned() };
    let step = |(tool, arguments): &(&str, Value)| json!({ verb(tool): arguments });
    let first = json!({ "navigate": { "url": url } });
    let steps: Vec<Value> = std::iter::once(first).chain(calls.iter().map(step)).collect();
    json!({ "steps": steps }).to_string()
}

fn write(bench: &Bench, name: &str, text: &str) -> Result<PathBuf> {
    let path = bench.scratch().join(name);
    fs_err::create_dir_all(path.parent().context("a folder")?)?;
    fs_err::write(&path, text)?;
    Ok(path)
}

/// 100 steps in the warm daemon, against the same calls to a warm server, one after the other.
fn steps(bench: &mut Bench) -> Result<Row> {
    let url = bench.site.url("/hands");
    bench.warm("/hands")?;
    let calls = calls(100);
    let file = write(bench, "steps.json", &playbook(&url, &calls))?;
    let file = file.to_string_lossy().into_owned();
    let server = std::cell::RefCell::new(Server::start(bench)?);
    let rounds = bench.options.rounds(ROUNDS).div_ceil(3);
    let [raw, ours, start] = interleave(
        bench,
        rounds,
        [
            &|_| Ok(Some(timed(|| make(&mut server.borrow_mut(), &url, &calls))?.0)),
            &|bench| {
                let run = bench.ours(&["playbook", "run", &file, "--reuse", "--json"])?;
                Ok(run.map(|run| run.elapsed))
            },
            &|bench| bench.process_start(),
        ],
    )?;
    let ours = ours.less(&start);
    Ok(row("100 steps, against the same calls over MCP", raw.median(), ours.median(), STEPS))
}

fn make(server: &mut Server, url: &str, calls: &[(&str, Value)]) -> Result<()> {
    server.call("navigate", json!({ "url": url }))?;
    calls.iter().try_for_each(|(tool, arguments)| server.call(tool, arguments.clone()))
}

/// 50 playbooks with 4 workers in the daemon, against four servers that make the calls of one worker each. Both have a
/// new session for each playbook, all in the daemon's one browser.
fn workers(bench: &mut Bench) -> Result<Row> {
    const TESTS: usize = 50;
    const WORKERS_AT_ONCE: usize = 4;
    let url = bench.site.url("/hands");
    let calls = calls(8);
    for number in 0..TESTS {
        write(bench, &format!("suite/{number}.playbook.json"), &playbook(&url, &calls))?;
    }
    let folder = bench.scratch().join("suite").to_string_lossy().into_owned();
    bench.warm("/hands")?;
    let workers = WORKERS_AT_ONCE.to_string();
    let mut ours = Samples::default();
    let mut raw = Samples::default();
    for _ in 0..bench.options.rounds(ROUNDS).div_ceil(5) {
        let line = ["playbook", "test", &folder, "--workers", &workers, "--reuse", "--json"];
        let run = bench.ours(&line)?.context("no product")?;
        let start = bench.process_start()?.unwrap_or_default();
        ours.push(run.elapsed.saturating_sub(start));
        raw.push(slowest(bench, &url, &calls, TESTS.div_ceil(WORKERS_AT_ONCE), WORKERS_AT_ONCE)?);
    }
    Ok(row(
        "50 playbooks with 4 workers, against the slowest worker's calls over MCP",
        raw.median(),
        ours.median(),
        WORKERS,
    ))
}

/// Several servers at once, each with the calls of so many playbooks; how long the slowest takes.
fn slowest(
    bench: &Bench,
    url: &str,
    calls: &[(&str, Value)],
    playbooks: usize,
    workers: usize,
) -> Result<Duration> {
    let start = |worker| {
        let session = format!("floor-{worker}");
        Server::start_with(bench, &["--session", &session, "--toolsets", "page,verbs"])
    };
    let mut servers = (0..workers).map(start).collect::<Result<Vec<_>>>()?;
    let one = |server: &mut Server| {
        make(server, url, calls)?;
        server.call("close", json!({}))
    };
    let one = &one;
    let took: Vec<Result<Duration>> = std::thread::scope(|threads| {
        let running: Vec<_> = servers
            .iter_mut()
            .map(|server| {
                threads.spawn(move || Ok(timed(|| (0..playbooks).try_for_each(|_| one(server)))?.0))
            })
            .collect();
        let failed = || Err(anyhow::anyhow!("a worker of the floor panicked"));
        running.into_iter().map(|thread| thread.join().unwrap_or_else(|_| failed())).collect()
    });
    let took = took.into_iter().collect::<Result<Vec<_>>>()?;
    took.into_iter().max().context("no workers")
}

/// From the start of the process to the verdict on 10,000 steps, without what starting it costs.
fn check(bench: &mut Bench) -> Result<Row> {
    let text: String = calls(10_000)
        .iter()
        .map(|(tool, arguments)| {
            let verb = if *tool == "oc_assert" { "assert" } else { tool };
            format!("- {verb}: {arguments}\n")
        })
        .collect();
    let file = write(bench, "large.yaml", &format!("steps:\n{text}"))?.to_string_lossy().into_owned();
    let rounds = bench.options.rounds(ROUNDS);
    let [ours, start] = interleave(
        bench,
        rounds,
        [&|bench| Ok(bench.ours(&["playbook", "check", &file])?.map(|run| run.elapsed)), &|bench| {
            bench.process_start()
        }],
    )?;
    Ok(row("reading and checking 10,000 steps", None, ours.less(&start).median(), CHECK))
}
