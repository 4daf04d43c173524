//! What is kept of tests that fail: for each failure, in a folder of its own, and nothing of earlier runs.
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::path::PathBuf;

use common::fresh_cli;
use surehand_testkit::{Cli, Run, Site};

struct Desk {
    cli: Cli,
    site: Site,
}

impl Desk {
    fn new() -> Self {
        let page = "<h1>Here</h1><button onclick='setTimeout(() => confirm(\"Really?\"))'>Ask</button>";
        Self { cli: fresh_cli(), site: Site::builder().page("/", page).start().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.cli.home().work().join(name)
    }

    /// A file whose steps begin at the site.
    fn write(&self, name: &str, steps: &str) {
        let path = self.path(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        let text = format!("steps:\n- navigate: {{ url: '{}' }}\n{steps}", self.site.url("/"));
        fs_err::write(path, text).unwrap();
    }

    fn test(&self, words: &str) -> Run {
        let words: Vec<&str> = words.split_whitespace().collect();
        self.cli.run(&[&["playbook", "test"], &words[..]].concat()).unwrap()
    }

    /// The folders below `playbook-results`, sorted.
    fn kept(&self) -> Vec<String> {
        let Ok(entries) = fs_err::read_dir(self.path("playbook-results")) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn read(&self, name: &str) -> String {
        fs_err::read_to_string(self.path("playbook-results").join(name)).unwrap()
    }
}

const FAILS: &str = "- assert: { kind: url, pattern: zzz }\n";

#[test]
fn every_test_has_a_folder_of_its_own_and_only_the_last_run_is_kept() {
    let desk = Desk::new();
    for name in ["a/b.playbook.yaml", "a/b.playbook.yml", "a-b.playbook.yaml"] {
        desk.write(name, FAILS);
    }
    let run = desk.test("a a/b.playbook.yaml ./a a-b.playbook.yaml --workers 2");
    assert!(run.stdout.contains("0 of 3 tests passed"), "a file is one test: {run:?}");
    assert_eq!(desk.kept(), ["a-b-1-1", "a-b_2-1-1", "a-b_3-1-1"]);
    fs_err::write(desk.path("playbook-results/notes.txt"), "mine").unwrap();
    desk.write("a-b.playbook.yaml", "");
    assert!(desk.test("a-b.playbook.yaml").ok());
    assert_eq!(desk.kept(), ["notes.txt"], "what failed before is gone, and nothing else");
}

#[test]
fn every_failure_leaves_what_can_be_had() {
    let desk = Desk::new();
    // The second step fails before a tool is called, the third in a branch.
    let steps = format!(
        "- get: [text, h1]\n  capture: words\n- {{ click: h1, timeout: '${{words}}' }}\n- parallel:\n  - [{{ open: '{}' }}, {{ click: '#none', timeout: 300 }}]\n{FAILS}",
        desk.site.url("/")
    );
    desk.write("all.playbook.yaml", &steps);
    assert_eq!(desk.test("all.playbook.yaml --continue-on-error").code, Some(1));
    assert_eq!(desk.kept(), ["all-1-1"]);
    for folder in ["all-1-1", "all-1-1/step-4", "all-1-1/step-5"] {
        assert!(desk.read(&format!("{folder}/snapshot.txt")).contains("Here"), "{folder}");
        assert!(desk.path("playbook-results").join(folder).join("screenshot.png").exists(), "{folder}");
    }
    let report = desk.read("all-1-1/run.json");
    assert!(report.contains("no element matches"), "the tool says why it ran out of time: {report}");
}

#[test]
fn an_open_dialog_is_told_and_does_not_hide_the_page() {
    let desk = Desk::new();
    let asked = "- click: button\n- eval: 'new Promise(done => setTimeout(done, 100))'\n- click: h1\n";
    desk.write("ask.playbook.yaml", asked);
    assert_eq!(desk.test("ask.playbook.yaml").code, Some(1));
    assert!(desk.read("ask-1-1/dialog.txt").contains("Really?"));
    assert!(desk.read("ask-1-1/snapshot.txt").contains("Here"));
    assert!(desk.path("playbook-results/ask-1-1/screenshot.png").exists());
    // Whoever cleans up may want to answer it.
    desk.write("ask.playbook.yaml", &format!("{asked}teardown:\n- dialog: accept\n"));
    let run = desk.test("ask.playbook.yaml");
    assert_eq!(run.stdout.matches("[FAIL] step").count(), 1, "{run:?}");
    assert!(desk.read("ask-1-1/dialog.txt").contains("Really?"));
}
