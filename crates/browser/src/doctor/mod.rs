//! What is right and wrong with this machine, each with the fix. Nothing here repairs anything.
//!
//! Only what this crate knows: browser, sandbox, fonts, room, leftovers, ports. The daemon's checks are the server's.

mod browser;
mod fonts;
mod ports;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;

use std::path::{Path, PathBuf};

use crate::{
    Machine,
    profile::leftovers,
    space::{human, space},
};

/// What the checks look at besides the machine.
#[derive(Debug, Clone)]
pub struct DoctorInput {
    /// The folder for fresh profiles.
    pub scratch: PathBuf,
    /// Surehand's home (sessions, journals).
    pub home: PathBuf,
    /// A browser that the user names, as for [`find`](crate::find::find).
    pub executable: Option<PathBuf>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// A stable name: `browser`, `start`, `sandbox`, `fonts`, `disk`, `shared-memory`, `leftovers`, `ports`.
    pub id: &'static str,
    /// How bad it is.
    pub status: Status,
    /// What is so.
    pub message: String,
    /// What to do about it.
    pub fix: Option<String>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// As it should be.
    Ok,
    /// Works, but not as well as it could.
    Warn,
    /// Does not work.
    Fail,
}

impl Check {
    fn new(id: &'static str, status: Status, message: impl Into<String>) -> Self {
        Check { id, status, message: message.into(), fix: None }
    }

    fn fix(self, fix: impl Into<String>) -> Self {
        Check { fix: Some(fix.into()), ..self }
    }
}

/// Runs all checks. Blocks, for as long as it takes to start the browser once; use `spawn_blocking`.
pub fn check(machine: &Machine, input: DoctorInput) -> Vec<Check> {
    let mut checks = browser::check(machine, &input);
    checks.push(fonts::check(machine));
    checks.push(disk(machine, &input));
    checks.extend(shared_memory(Path::new("/dev/shm")));
    checks.push(left_behind(&input.scratch));
    checks.extend(ports::check());
    checks
}

/// A profile grows to some ten megabytes, a long session's downloads and journals to more.
const LITTLE_ROOM: u64 = 1_000_000_000;
const NO_ROOM: u64 = 100_000_000;

fn disk(machine: &Machine, input: &DoctorInput) -> Check {
    let places = [("home", &input.home), ("profiles", &input.scratch), ("temporary files", &machine.temp)];
    let rooms: Vec<(String, u64)> = places
        .into_iter()
        .filter_map(|(what, dir)| {
            let free = space(dir)?.free;
            Some((format!("{} for {what} ({})", human(free), dir.display()), free))
        })
        .collect();
    let Some(least) = rooms.iter().map(|(_, free)| *free).min() else {
        return Check::new("disk", Status::Ok, "free room is not checked on this system");
    };
    let list = rooms.into_iter().map(|(text, _)| text).collect::<Vec<_>>().join(", ");
    let check = |status| Check::new("disk", status, format!("free: {list}"));
    match least {
        ..NO_ROOM => check(Status::Fail).fix("free some room; browsers crash on a full disk"),
        NO_ROOM..LITTLE_ROOM => check(Status::Warn).fix("free some room before long sessions"),
        _ => check(Status::Ok),
    }
}

fn shared_memory(dir: &Path) -> Option<Check> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let Some(space) = dir.is_dir().then(|| space(dir)).flatten() else {
        let check = Check::new("shared-memory", Status::Warn, format!("there is no {}", dir.display()));
        return Some(check.fix("mount a tmpfs there (docker run --shm-size=1g)"));
    };
    let message = format!("{} has {} free of {}", dir.display(), human(space.free), human(space.total));
    Some(if space.free < crate::launch::ENOUGH_SHARED_MEMORY {
        Check::new(
            "shared-memory",
            Status::Warn,
            format!("{message}; browsers use files instead, which is slower"),
        )
        .fix("give the container more (docker run --shm-size=1g)")
    } else {
        Check::new("shared-memory", Status::Ok, message)
    })
}

fn left_behind(scratch: &Path) -> Check {
    let dirs = leftovers(scratch);
    if dirs.is_empty() {
        return Check::new(
            "leftovers",
            Status::Ok,
            format!("no profiles of dead browsers in {}", scratch.display()),
        );
    }
    let names = dirs.iter().map(|dir| format!("'{}'", dir.display())).collect::<Vec<_>>().join(" ");
    Check::new(
        "leftovers",
        Status::Warn,
        format!("{} profiles whose owner is dead in {}", dirs.len(), scratch.display()),
    )
    .fix(format!("the next start of the daemon removes them; by hand: rm -r {names}"))
}
