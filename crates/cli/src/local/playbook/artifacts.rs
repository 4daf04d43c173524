//! What is kept of tests that failed: a folder for each attempt, with the report of it and what the page was like.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use surehand_playbook::suite::Test;
use surehand_report::{FailureEvidence, RunReport, TestReport};
use surehand_session::{Fault, Kind};

use super::run::write_report;
use crate::internal;

/// The report of an attempt.
const REPORT: &str = "run.json";
const SCREENSHOT: &str = "screenshot.png";
const SNAPSHOT: &str = "snapshot.txt";
const CONSOLE: &str = "console.txt";
const REQUESTS: &str = "failed-requests.txt";
const DIALOG: &str = "dialog.txt";

/// Everything that may be in such a folder, beside those of further steps.
const FILES: [&str; 6] = [SCREENSHOT, SNAPSHOT, CONSOLE, REQUESTS, DIALOG, REPORT];

/// Folders of further steps are called this and their numbers.
const STEP: &str = "step-";

/// See the module.
pub(super) struct Artifacts {
    folder: PathBuf,
    /// What the folders of each file are called; no two are the same.
    names: HashMap<PathBuf, String>,
}

impl Artifacts {
    /// Those of these tests, below a folder, without what an earlier run left there.
    pub fn begin(folder: &Path, tests: &[Test]) -> Result<Self, Fault> {
        sweep(folder).map_err(|error| {
            Fault::new(Kind::UnwritablePath, error.to_string())
                .hint("choose another folder for what is kept of failures: --artifacts DIR")
        })?;
        let (mut names, mut taken) = (HashMap::new(), HashSet::new());
        for test in tests {
            names.entry(test.file.clone()).or_insert_with(|| free_name(&test.file, &mut taken));
        }
        Ok(Self { folder: folder.to_owned(), names })
    }

    /// Keeps what is known of a test that failed, attempt by attempt.
    pub fn keep(&self, test: &TestReport) -> Result<(), Fault> {
        let Some(name) = self.names.get(Path::new(&test.file)) else { return Ok(()) };
        let attempts = test.earlier.iter().chain(&test.run).enumerate();
        for (number, run) in attempts.filter(|(_, run)| !run.summary.ok) {
            let folder = self.folder.join(format!("{name}-{}-{}", test.repeat, number + 1));
            keep_attempt(&folder, run)?;
        }
        Ok(())
    }
}

/// What the first failure left is in the folder itself, what others left in folders below it.
fn keep_attempt(folder: &Path, run: &RunReport) -> Result<(), Fault> {
    for (number, (step, evidence)) in run.evidence().enumerate() {
        let further = folder.join(format!("{STEP}{}", step.index));
        keep_evidence(if number == 0 { folder } else { &further }, evidence)?;
    }
    write_report(&folder.join(REPORT), &serde_json::to_string_pretty(run).map_err(internal)?)
}

fn keep_evidence(folder: &Path, evidence: &FailureEvidence) -> Result<(), Fault> {
    if let Some(picture) = &evidence.screenshot {
        write_report(&folder.join(SCREENSHOT), &picture.bytes)?;
    }
    let texts = [
        (SNAPSHOT, evidence.snapshot.clone().unwrap_or_default()),
        (CONSOLE, evidence.console.join("\n")),
        (REQUESTS, evidence.failed_requests.join("\n")),
        (DIALOG, evidence.dialog.clone().unwrap_or_default()),
    ];
    for (name, text) in texts.iter().filter(|(_, text)| !text.is_empty()) {
        write_report(&folder.join(name), text)?;
    }
    Ok(())
}

/// Removes what an earlier run left. Somebody may have chosen a folder with other things in it: only our own files go, and
/// folders that are empty then.
fn sweep(folder: &Path) -> std::io::Result<()> {
    for attempt in folders(folder)?.into_iter().filter(|attempt| is_ours(attempt)) {
        for step in folders(&attempt)? {
            if step.file_name().is_some_and(|name| name.to_string_lossy().starts_with(STEP)) {
                sweep_files(&step)?;
            }
        }
        sweep_files(&attempt)?;
    }
    Ok(())
}

/// Is there a report in it? Other programs call a file `run.json`, too.
fn is_ours(attempt: &Path) -> bool {
    let report = fs_err::read(attempt.join(REPORT)).ok();
    let report = report.and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    report.is_some_and(|report| report["steps"].is_array() && report["summary"].is_object())
}

fn sweep_files(folder: &Path) -> std::io::Result<()> {
    for file in FILES.map(|name| folder.join(name)) {
        match fs_err::remove_file(file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    // Whatever else is in it is somebody's.
    let _ = fs_err::remove_dir(folder);
    Ok(())
}

/// The folders in a folder; none if that does not exist. Links are not followed.
fn folders(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match fs_err::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    Ok(found)
}

/// The path of a test as the name of one folder that no other test has.
fn free_name(file: &Path, taken: &mut HashSet<String>) -> String {
    let name = safe_name(&file.to_string_lossy());
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    // Some file systems know no difference between capital and small letters.
    let mut names = std::iter::once(name.clone()).chain(numbered);
    names.find(|name| taken.insert(name.to_lowercase())).unwrap_or_default()
}

fn safe_name(file: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let name = file.split(".playbook.").next().unwrap_or(file);
    let name: String = name.chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    match name.trim_start_matches('-') {
        "" => "test".to_owned(),
        // Names that are longer are none to a file system.
        plain => plain.chars().take(LONGEST_NAME).collect(),
    }
}

const LONGEST_NAME: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_test_has_a_name_of_its_own() {
        let mut taken = HashSet::new();
        let files = ["a/b.playbook.yaml", "a/b.playbook.yml", "a-b.playbook.yaml", "A b.yaml", "../x.json"];
        let names: Vec<_> = files.iter().map(|file| free_name(Path::new(file), &mut taken)).collect();
        assert_eq!(names, ["a-b", "a-b_2", "a-b_3", "A-b-yaml", "x-json"]);
    }

    #[test]
    fn only_what_an_earlier_run_left_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write_report(&root.path().join(name), text).unwrap();
        for name in ["old-1-1/screenshot.png", "old-1-1/step-4/console.txt"] {
            write(name, "x");
        }
        let others = ["mine/notes.txt", "kept-1-1/mine.txt", "run.json", "release-1-2/run.json"];
        others.iter().for_each(|name| write(name, "{}"));
        for attempt in ["old-1-1", "kept-1-1"] {
            write(&format!("{attempt}/run.json"), r#"{"steps":[],"summary":{}}"#);
        }
        sweep(root.path()).unwrap();
        assert!(!root.path().join("old-1-1").exists() && !root.path().join("kept-1-1/run.json").exists());
        assert!(others.iter().all(|name| root.path().join(name).exists()));
        sweep(&root.path().join("none")).unwrap();
    }
}
