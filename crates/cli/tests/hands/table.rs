//! Running rows: several at a time, each worker with a session of its own.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::SHARED;
use crate::common::{Case, reference};
use crate::step::{Step, holds};

/// Name, page, command lines, an expression of the page, and what it must give.
pub type Row = (&'static str, &'static str, &'static [&'static str], &'static str, fn() -> Value);

/// Every page notes in `seen` what its row is about, what its frames tell, and counts in `acts` whatever a user can do to it.
const HEAD: &str = "<title>T</title><script>var seen=[],acts=0;function note(x){seen.push(x)}onmessage=e=>note(e.data);\
for(const t of ['pointerdown','mousedown','click','auxclick','contextmenu','keydown','beforeinput','input','change','dragstart'])\
addEventListener(t,()=>acts++,true)</script>";

/// Rows that wait leave the processor to others.
const WORKERS: usize = 2;

/// Runs all rows of a family and tells every one that fails.
pub fn check(family: &str, rows: &[Row]) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["files", "saved"] {
        fs_err::create_dir(folder.path().join(name)).unwrap();
    }
    for name in ["a.txt", "b.txt"] {
        fs_err::write(folder.path().join("files").join(name), name).unwrap();
    }
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (next, failures, folder) = (&next, &failures, folder.path());
            scope.spawn(move || {
                let name = format!("{family}-{worker}");
                let mut case = SHARED.case(&name);
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let ran = run(&case, row, folder);
                    if let Err(why) = &ran {
                        let why = format!("{}: {why}", row.0);
                        failures.lock().unwrap_or_else(PoisonError::into_inner).push(why);
                    }
                    if !matches!(ran, Ok(Left::Clean)) {
                        let soiled = std::mem::replace(&mut case, SHARED.case(&name));
                        drop(soiled);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(failures.is_empty(), "{} of {} rows fail:\n{}", failures.len(), rows.len(), failures.join("\n"));
}

/// How a row leaves its session.
enum Left {
    /// The next page may use it.
    Clean,
    /// With other tabs, held keys or another viewport.
    Soiled,
}

fn run(case: &Case, row: &Row, folder: &Path) -> Result<Left, String> {
    let (_, html, lines, expression, expected) = row;
    let url = case.site().url(&case.page(&format!("{HEAD}{html}")));
    ask(case, &["open".to_owned(), url])?;
    let (mut snapshot, mut left) = (String::new(), Left::Clean);
    for line in *lines {
        let step = Step::parse(line);
        let words = step.words(|word| filled_in(word, case, folder, &snapshot));
        let before = if step.may_act { Value::Null } else { evaluated(case, "acts")? };
        let answer = case.cli.json(&words).map_err(|error| format!("`{line}`: {error}"))?;
        let message = answer.value["error"]["message"].as_str().unwrap_or_default();
        if answer.error_code() != step.code
            || !message.contains(&filled_in(step.says, case, folder, &snapshot))
        {
            return Err(format!("`{line}` gave {}", answer.value));
        }
        if let Some(wanted) = step.answer {
            let wanted = filled_in(wanted, case, folder, &snapshot);
            let wanted: Value =
                serde_json::from_str(&wanted).map_err(|error| format!("{wanted}: {error}"))?;
            if !holds(answer.data(), &wanted) {
                return Err(format!("`{line}` answered {}", answer.data()));
            }
        }
        if !step.may_act && evaluated(case, "acts")? != before {
            return Err(format!("`{line}` failed as it should, but the page saw something of it"));
        }
        if step.soils() || !answer.data()["opened"].is_null() {
            left = Left::Soiled;
        }
        if let Some(text) = answer.data()["snapshot"].as_str() {
            snapshot = text.to_owned();
        }
    }
    // An action that leads elsewhere is done when the new document begins.
    ask(case, &["wait", "--load", "domcontentloaded"].map(ToOwned::to_owned))?;
    let seen = evaluated(case, expression)?;
    if seen == expected() { Ok(left) } else { Err(format!("{expression} is {seen}, not {}", expected())) }
}

fn filled_in(word: &str, case: &Case, folder: &Path, snapshot: &str) -> String {
    if let Some(part) = word.strip_prefix("@{").and_then(|rest| rest.strip_suffix('}')) {
        return reference(snapshot, part);
    }
    word.replace("{files}", &folder.join("files").to_string_lossy())
        .replace("{saved}", &folder.join("saved").to_string_lossy())
        .replace("{origin}", &case.site().url(""))
        .replace("{cross}", &case.site().cross_url(""))
}

fn evaluated(case: &Case, expression: &str) -> Result<Value, String> {
    Ok(ask(case, &["eval".to_owned(), expression.to_owned()])?["result"].clone())
}

/// The data of a command that must succeed.
fn ask(case: &Case, words: &[String]) -> Result<Value, String> {
    let answer = case.cli.json(words).map_err(|error| error.to_string())?;
    if answer.success() { Ok(answer.data().clone()) } else { Err(format!("{words:?}: {}", answer.value)) }
}
