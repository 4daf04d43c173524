//! Is there a browser, does it start, and does its sandbox work.

use std::{
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use super::{Check, DoctorInput, Status};
use crate::{
    Error, Exit, Found, Machine, find::find, launch::explain_exit, profile::TempProfile, run::run,
    version::version,
};

const LONGEST_START: Duration = Duration::from_secs(30);

pub(super) fn check(machine: &Machine, input: &DoctorInput) -> Vec<Check> {
    let found = match find(machine, input.executable.as_deref()) {
        Ok(found) => found,
        Err(error) => {
            return vec![Check::new("browser", Status::Fail, error.to_string()).fix(fix_of(&error))];
        }
    };
    let mut checks = vec![match version(&found.path) {
        Ok(version) => Check::new("browser", Status::Ok, described(&found, &version)),
        Err(error) => Check::new("browser", Status::Fail, error.to_string()).fix(fix_of(&error)),
    }];
    if checks[0].status == Status::Ok {
        checks.extend(starts(machine, &found, &input.scratch));
    }
    checks
}

fn described(found: &Found, version: &str) -> String {
    let version = if version.is_empty() { found.product.to_string() } else { version.to_owned() };
    format!("{version} at {} ({})", found.path.display(), found.source)
}

fn fix_of(error: &Error) -> String {
    match error {
        Error::Exited { why: Exit::MissingLibraries { fix, .. }, .. } => fix.clone(),
        Error::NamedBrowser { origin, .. } => format!("correct {origin}, or leave it out"),
        _ => "surehand install".into(),
    }
}

/// Starts the browser for one empty page, first with its sandbox where that can be.
fn starts(machine: &Machine, found: &Found, scratch: &Path) -> Vec<Check> {
    let off =
        |why: &str, fix: &str| Check::new("sandbox", Status::Warn, format!("off, because {why}")).fix(fix);
    let sandbox = if machine.root {
        off("this is root, for whom Chromium cannot use it", "run Surehand as another user")
    } else {
        match trial(found, scratch, true) {
            Ok(time) => return vec![start_ok(time), Check::new("sandbox", Status::Ok, "works")],
            Err(error) if error.is_sandbox_failure() => off(
                "this system does not let Chromium use it",
                "allow user namespaces (sysctl kernel.unprivileged_userns_clone=1, or \
                 kernel.apparmor_restrict_unprivileged_userns=0; in a container, a seccomp profile that allows them)",
            ),
            Err(error) => return vec![start_failed(&error)],
        }
    };
    let start = match trial(found, scratch, false) {
        Ok(time) => start_ok(time),
        Err(error) => start_failed(&error),
    };
    vec![start, sandbox]
}

fn start_ok(time: Duration) -> Check {
    Check::new(
        "start",
        Status::Ok,
        format!("it started and showed an empty page within {} ms", time.as_millis()),
    )
}

fn start_failed(error: &Error) -> Check {
    Check::new("start", Status::Fail, error.to_string()).fix(fix_of(error))
}

fn trial(found: &Found, scratch: &Path, sandbox: bool) -> Result<Duration, Error> {
    let profile = TempProfile::create(scratch)?;
    let mut command = Command::new(&found.path);
    command
        .args([
            "--headless",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
        ])
        .args([
            "--disable-sync",
            "--disable-breakpad",
            "--password-store=basic",
            "--use-mock-keychain",
            "--disable-gpu",
        ])
        .arg(format!("--user-data-dir={}", profile.path().display()))
        .args((!sandbox).then_some("--no-sandbox"))
        .args(["--dump-dom", "about:blank"]);
    let started = Instant::now();
    let ran = run(&mut command, LONGEST_START);
    let time = started.elapsed();
    if let Err(error) = profile.remove() {
        tracing::debug!(target: "browser", %error, "the trial's profile stays until the next sweep");
    }
    let ran = ran?;
    if ran.status.success() && ran.stdout.contains("<html") {
        return Ok(time);
    }
    Err(Error::Exited {
        path: found.path.clone(),
        status: ran.status.to_string(),
        why: explain_exit(ran.status, &ran.stderr),
        stderr: ran.stderr,
    })
}
