//! What this crate's tests share: machines with nothing on them, little programs, and bounded waiting for something
//! to become true.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Mutex,
    thread,
    time::{Duration, Instant},
};

use crate::{Machine, Notes};

/// A machine without any browser, cache, name or network.
pub(crate) fn bare() -> Machine {
    Machine {
        path: Vec::new(),
        browser: None,
        places: Vec::new(),
        cache: None,
        playwright: None,
        puppeteer: None,
        home: None,
        temp: std::env::temp_dir(),
        root: false,
        os_release: String::new(),
        index_url: "http://127.0.0.1:9/index.json".into(),
        proxy: None,
    }
}

/// Writes an executable script. Another process does the writing: with many tests in one process, a file that this
/// one has just written may still be open for writing in a child that another test forks, and then cannot be executed.
pub(crate) fn program(path: &Path, text: &str) -> PathBuf {
    fs_err::create_dir_all(path.parent().unwrap()).unwrap();
    let write = "mkdir -p \"${1%/*}\" && cat > \"$1\" && chmod 755 \"$1\"";
    let mut writer =
        Command::new("sh").args(["-c", write, "sh"]).arg(path).stdin(Stdio::piped()).spawn().unwrap();
    writer.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    path.to_owned()
}

/// The real browser of the machine that the tests run on.
pub(crate) fn chromium() -> PathBuf {
    crate::find::find(&Machine::from_env(), None).expect("the tests need a browser: surehand install").path
}

/// Waits until something is so; tests fail when it does not become so in time.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !is_so() {
        assert!(Instant::now() < deadline, "still not so: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The numbers of the processes that have `text` on their command line.
#[cfg(target_os = "linux")]
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let has = |pid: &u32| {
        let line = fs_err::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(text)
    };
    let entries = fs_err::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(has).collect()
}

/// Notes that can be read afterwards.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    pub lines: Mutex<Vec<String>>,
    pub progress: Mutex<Vec<(u64, Option<u64>)>>,
}

impl Kept {
    pub(crate) fn text(&self) -> String {
        self.lines.lock().unwrap().join("\n")
    }
}

impl Notes for Kept {
    fn note(&self, line: &str) {
        self.lines.lock().unwrap().push(line.into());
    }

    fn progress(&self, _what: &str, done: u64, total: Option<u64>) {
        self.progress.lock().unwrap().push((done, total));
    }
}
