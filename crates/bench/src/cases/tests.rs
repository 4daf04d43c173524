//! The harness with a real raw browser and a made-up product.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::bail;
use clap::Parser;
use serde_json::{Value, json};
use surehand_testkit::{TempHome, processes, wait_until};

use super::*;
use crate::daemon::Asked;
use crate::measure::{Amount, Verdict};
use crate::options::{Options, usual_browser};
use crate::ours::{Called, Subject};
use crate::pages;

/// Answers as the product would, in no time, and remembers what it was asked.
struct Fake {
    calls: RefCell<Vec<String>>,
    url: RefCell<String>,
    clicks: Cell<u32>,
    pace: Duration,
    skips: usize,
}

impl Fake {
    fn boxed(pace: Duration, skips: usize) -> Box<Self> {
        Box::new(Self {
            calls: RefCell::default(),
            url: RefCell::default(),
            clicks: Cell::default(),
            pace,
            skips,
        })
    }
}

impl Subject for Fake {
    fn binary(&self) -> &Path {
        Path::new("/proc/self/exe")
    }

    fn call(&self, session: Option<&str>, arguments: &[&str]) -> Result<Called> {
        self.calls.borrow_mut().push(format!("{} {}", session.unwrap_or("-"), arguments.join(" ")));
        let (elapsed, stdout) = match arguments {
            ["--version"] => (Duration::from_millis(1), "surehand 0".to_owned()),
            ["open", url] => {
                self.url.replace((*url).to_owned());
                (self.pace, String::new())
            }
            ["get", "url"] => (self.pace, self.url.borrow().clone()),
            ["snapshot", "-i"] => {
                let item = |i| format!("- link \"Item {i}\" [ref=e1]\n- button \"Buy {i}\" [ref=e2]\n");
                (self.pace, (self.skips..100).map(item).collect())
            }
            ["close"] => (self.pace, String::new()),
            other => bail!("unknown: {other:?}"),
        };
        Ok(Called { elapsed, stdout })
    }

    fn ask(&self, _: &str, command: &Value) -> Result<Asked> {
        let data = match command {
            _ if command.get("click").is_some() => {
                self.clicks.set(self.clicks.get() + 1);
                json!({})
            }
            _ if command["eval"]["script"] == "clicks" => json!({"result": self.clicks.get()}),
            _ if command.get("is").is_some() => json!({"visible": true}),
            other => bail!("unknown: {other}"),
        };
        Ok(Asked { elapsed: self.pace, answered: std::time::SystemTime::now(), data })
    }

    fn daemon(&self) -> Option<u32> {
        None
    }

    fn browser(&self) -> Option<u32> {
        None
    }

    fn shut_down(&self) -> Result<()> {
        Ok(())
    }
}

fn browser() -> Option<PathBuf> {
    Some(usual_browser()).filter(|path| path.exists())
}

fn bench(browser: &Path, subject: Option<Box<dyn Subject>>) -> (Bench, PathBuf) {
    let home = TempHome::new().unwrap();
    let root = home.root().to_owned();
    let options = Options::parse_from(["bench", "--runs", "2", "--browser", browser.to_str().unwrap()]);
    let mut bench = Bench::new(options, pages::serve().unwrap(), None, home);
    bench.launch().unwrap();
    bench.subject = subject;
    (bench, root)
}

#[test]
fn steps_take_turns_and_the_first_round_does_not_count() {
    let home = TempHome::new().unwrap();
    let options = Options::parse_from(["bench"]);
    let mut bench = Bench::new(options, pages::serve().unwrap(), None, home);
    let order = RefCell::new(vec![]);
    let step = |name: u64| {
        let order = &order;
        move |_: &mut Bench| {
            order.borrow_mut().push(name);
            Ok(Some(Duration::from_millis(name)))
        }
    };
    let [one, two] = interleave(&mut bench, 2, [&step(1), &step(2)]).unwrap();
    assert_eq!(order.into_inner(), [1, 2, 2, 1, 1, 2]);
    assert_eq!(one.median(), Some(Amount::Milliseconds(1.0)));
    assert_eq!(two.median(), Some(Amount::Milliseconds(2.0)));
}

#[test]
fn measures_a_made_up_product_and_leaves_nothing() {
    let Some(browser) = browser() else { return };
    let (mut bench, root) = bench(&browser, Some(Fake::boxed(Duration::from_millis(2), 0)));

    for (case, count) in
        [("get-url", 3), ("is-visible", 1), ("click", 1), ("snapshot-400", 2), ("second-session", 2)]
    {
        let case = all().into_iter().find(|each| each.name() == case).unwrap();
        let rows = case.run(&mut bench).unwrap();
        assert_eq!(rows.len(), count);
        // Only what was measured, not the verdict: the raw browser's pace is the machine's.
        assert!(rows[0].ours.is_some() && rows[0].floor.is_some(), "{rows:?}");
    }
    bench.subject = Some(Fake::boxed(Duration::from_secs(30), 0));
    assert_eq!(get_url::GetUrl.run(&mut bench).unwrap()[0].verdict(), Verdict::Over);
    bench.subject = Some(Fake::boxed(Duration::ZERO, 1));
    let error = snapshot::Snapshot { elements: 400 }.run(&mut bench).unwrap_err();
    assert!(error.to_string().contains("99 of 100"), "{error}");

    drop(bench);
    assert!(!root.exists());
    let is_left = || !processes::with_arg(&root.to_string_lossy()).is_empty();
    assert!(wait_until(Duration::from_secs(20), || !is_left()));
}

#[test]
fn a_floor_alone_has_no_verdict() {
    let Some(browser) = browser() else { return };
    let (mut bench, _) = bench(&browser, None);
    let rows = second_session::SecondSession.run(&mut bench).unwrap();
    assert!(rows.iter().all(|row| row.verdict() == Verdict::Reported && row.ours.is_none()));
    assert!(rows[0].floor.is_some());
}
