//! Launching a browser for the floor, and ending it on every path.

use std::io::pipe;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use command_fds::{CommandFdExt, FdMapping};
use serde_json::json;
use surehand_testkit::{processes, wait_until};

use super::wire::Wire;

/// What a browser is launched with.
#[derive(Debug, Clone)]
pub struct Launch {
    /// The program.
    pub program: PathBuf,
    /// Everything but the profile.
    pub arguments: Vec<String>,
}

impl Launch {
    /// Without a product whose arguments could be taken over.
    pub fn usual(program: &Path) -> Self {
        let mut arguments: Vec<String> = USUAL.iter().map(|each| (*each).to_owned()).collect();
        if rustix::process::geteuid().is_root() {
            arguments.push("--no-sandbox".to_owned());
        }
        Self { program: program.to_owned(), arguments }
    }

    /// As `pid` was launched: its arguments without the profile. The program stays the one that both sides were
    /// told to use, which may be a script that ends in the real one; so what the script adds comes twice.
    pub fn like(program: &Path, pid: u32) -> Self {
        let arguments = processes::args(pid).into_iter().skip(1);
        let arguments =
            arguments.filter(|each| !each.starts_with("--user-data-dir") && each != "about:blank");
        Self { program: program.to_owned(), arguments: arguments.collect() }
    }
}

const USUAL: &[&str] = &[
    "--headless",
    "--remote-debugging-pipe",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-breakpad",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
];

/// A running browser with a profile of its own; dropping it ends the one and removes the other.
#[derive(Debug)]
pub struct RawBrowser {
    // Before the child: closing the pipe already ends the browser.
    wire: Option<Wire>,
    child: Child,
    profile: PathBuf,
}

impl RawBrowser {
    /// Launches it with a fresh profile at `profile`, which must not exist.
    pub fn launch(launch: &Launch, profile: &Path) -> Result<Self> {
        fs_err::create_dir(profile)?;
        let (child_reads, to) = pipe()?;
        let (from, child_writes) = pipe()?;
        let mut command = Command::new(&launch.program);
        command
            .args(&launch.arguments)
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .fd_mappings(vec![
                FdMapping { parent_fd: OwnedFd::from(child_reads), child_fd: 3 },
                FdMapping { parent_fd: OwnedFd::from(child_writes), child_fd: 4 },
            ])?;
        let child = command.spawn().with_context(|| format!("cannot start {}", launch.program.display()))?;
        // The command still holds the child's ends: without this the pipe would outlive the browser.
        drop(command);
        Ok(Self { wire: Some(Wire::new(to, from)), child, profile: profile.to_owned() })
    }

    /// The connection.
    pub fn wire(&mut self) -> Result<&mut Wire> {
        self.wire.as_mut().context("the raw browser is closed")
    }

    /// Name and version.
    pub fn version(&mut self) -> Result<String> {
        let version = self.wire()?.value(None, "Browser.getVersion", &json!({}))?;
        Ok(version["product"].as_str().unwrap_or("unknown").to_owned())
    }
}

impl Drop for RawBrowser {
    fn drop(&mut self) {
        let started = Instant::now();
        let below = processes::descendants(self.child.id());
        self.wire = None;
        let limit = Duration::from_secs(5);
        if !wait_until(limit, || !matches!(self.child.try_wait(), Ok(None))) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
        // Its helpers end with it; they may still write into the profile until then.
        let left = limit.saturating_sub(started.elapsed()).max(Duration::from_secs(1));
        if !wait_until(left, || !below.iter().any(|pid| self.owns(*pid))) {
            for pid in below.into_iter().filter(|pid| self.owns(*pid)) {
                processes::kill(pid);
            }
        }
        let _ = wait_until(limit, || fs_err::remove_dir_all(&self.profile).is_ok() || !self.profile.exists());
    }
}

impl RawBrowser {
    /// Whether `pid`, seen below the browser before, still is what it was: the id may have been given away.
    fn owns(&self, pid: u32) -> bool {
        let profile = self.profile.to_string_lossy();
        processes::alive(pid) && processes::args(pid).iter().any(|each| each.contains(&*profile))
    }
}
