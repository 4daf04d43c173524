//! A look at the live processes of this machine, through `/proc`, and ending one by its id.
//!
//! Only Linux is looked at; elsewhere every question is answered with "none", so that callers still build.
//! Zombies count as gone: where nobody reaps orphans they would otherwise look alive for ever.

use std::time::Duration;

use crate::wait_until;

/// Live processes, other than this one, whose command line (arguments joined by spaces) contains `substring`.
#[must_use]
pub fn with_arg(substring: &str) -> Vec<u32> {
    select(|pid| args(pid).join(" ").contains(substring))
}

/// Live processes, other than this one, that were started with exactly `name=value` in their environment.
#[must_use]
pub fn with_env(name: &str, value: &str) -> Vec<u32> {
    let entry = format!("{name}={value}");
    select(|pid| environment(pid).contains(&entry))
}

/// Every live process below `ancestor`, in no particular order.
#[must_use]
pub fn descendants(ancestor: u32) -> Vec<u32> {
    let parents: Vec<(u32, u32)> = all().into_iter().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let mut found = vec![];
    let mut open = vec![ancestor];
    while let Some(above) = open.pop() {
        for (pid, _) in parents.iter().filter(|(_, parent)| *parent == above) {
            found.push(*pid);
            open.push(*pid);
        }
    }
    found
}

/// Whether `pid` is a live process.
#[must_use]
pub fn alive(pid: u32) -> bool {
    stat_fields(pid)
        .is_some_and(|fields| !matches!(fields.first().map(String::as_str), Some("Z" | "X") | None))
}

/// The arguments of `pid`, the program first; empty if it is gone.
#[must_use]
pub fn args(pid: u32) -> Vec<String> {
    zero_separated(pid, "cmdline")
}

/// The environment that `pid` was started with, as `NAME=value`; empty if it is gone or not ours to read.
#[must_use]
pub fn environment(pid: u32) -> Vec<String> {
    zero_separated(pid, "environ")
}

/// The parent of `pid`.
#[must_use]
pub fn parent(pid: u32) -> Option<u32> {
    stat_fields(pid)?.get(1)?.parse().ok()
}

/// When `pid` started, in clock ticks since boot: together with the id it names one process for good.
#[must_use]
pub fn start_time(pid: u32) -> Option<u64> {
    stat_fields(pid)?.get(19)?.parse().ok()
}

/// Resident memory of `pid` (`VmRSS`), in bytes.
#[must_use]
pub fn resident_bytes(pid: u32) -> Option<u64> {
    let status = fs_err::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Asks `pid` to end (SIGTERM); false if it could not be asked.
pub fn terminate(pid: u32) -> bool {
    signal::send(pid, signal::Kind::Terminate)
}

/// Ends `pid` at once (SIGKILL); false if it could not be ended.
pub fn kill(pid: u32) -> bool {
    signal::send(pid, signal::Kind::Kill)
}

/// Makes `pid` hang as it is (SIGSTOP); false if it could not be stopped.
pub fn stop(pid: u32) -> bool {
    signal::send(pid, signal::Kind::Stop)
}

/// Ends `pid`: asks first, insists after `grace`; says whether it is gone.
pub fn end(pid: u32, grace: Duration) -> bool {
    terminate(pid);
    if wait_until(grace, || !alive(pid)) {
        return true;
    }
    kill(pid);
    wait_until(Duration::from_secs(10), || !alive(pid))
}

fn select(matches: impl Fn(u32) -> bool) -> Vec<u32> {
    let own = std::process::id();
    all().into_iter().filter(|pid| *pid != own && matches(*pid)).collect()
}

fn all() -> Vec<u32> {
    let Ok(entries) = fs_err::read_dir("/proc") else { return vec![] };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn zero_separated(pid: u32, file: &str) -> Vec<String> {
    let bytes = fs_err::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    // An argument may be empty: only the terminator of the last one is dropped.
    match text.strip_suffix('\0').unwrap_or(&text) {
        "" => vec![],
        list => list.split('\0').map(str::to_owned).collect(),
    }
}

/// The fields of `/proc/PID/stat` after the name, which is in parentheses and may hold anything: state, parent, ….
fn stat_fields(pid: u32) -> Option<Vec<String>> {
    let stat = fs_err::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

mod signal {
    #[derive(Clone, Copy)]
    pub enum Kind {
        Terminate,
        Kill,
        Stop,
    }

    #[cfg(unix)]
    pub fn send(pid: u32, kind: Kind) -> bool {
        use rustix::process::{Pid, Signal, kill_process};
        let signal = match kind {
            Kind::Terminate => Signal::TERM,
            Kind::Kill => Signal::KILL,
            Kind::Stop => Signal::STOP,
        };
        // Zero and negative ids would address whole groups.
        let Some(pid) = i32::try_from(pid).ok().filter(|pid| *pid > 1).and_then(Pid::from_raw) else {
            return false;
        };
        kill_process(pid, signal).is_ok()
    }

    #[cfg(not(unix))]
    pub fn send(_pid: u32, _kind: Kind) -> bool {
        false
    }
}

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    /// A child that is ended and reaped even when an assertion fails.
    struct Sleeper(Child);

    impl Sleeper {
        fn start(seconds: &str) -> Self {
            Self(Command::new("sleep").arg(seconds).env("SUREHAND_KIT_MARK", seconds).spawn().unwrap())
        }
    }

    /// A number of seconds that no other run of these tests sleeps.
    fn own_seconds(whole: u32) -> String {
        format!("{whole}.{}5", std::process::id())
    }

    impl Drop for Sleeper {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    #[test]
    fn finds_a_process_by_argument_and_environment() {
        let seconds = own_seconds(31);
        let sleeper = Sleeper::start(&seconds);
        let pid = sleeper.0.id();
        assert!(wait_until(Duration::from_secs(10), || with_arg(&format!("sleep {seconds}")) == [pid]));
        assert!(wait_until(Duration::from_secs(10), || with_env("SUREHAND_KIT_MARK", &seconds) == [pid]));
        assert!(!with_env("SUREHAND_KIT_MARK", &seconds[..seconds.len() - 1]).contains(&pid));
        assert!(descendants(std::process::id()).contains(&pid));
        assert!(alive(pid));
        assert!(start_time(pid).is_some_and(|ticks| ticks > 0));
        assert!(resident_bytes(pid).is_some_and(|bytes| bytes > 0));
    }

    #[test]
    fn a_zombie_is_gone() {
        let seconds = own_seconds(27);
        let sleeper = Sleeper::start(&seconds);
        let pid = sleeper.0.id();
        assert!(end(pid, Duration::from_secs(5)));
        assert!(!alive(pid));
        assert!(with_arg(&format!("sleep {seconds}")).is_empty());
    }

    #[test]
    fn refuses_to_signal_groups() {
        assert!(!terminate(0));
        assert!(!kill(1));
        assert!(!kill(u32::MAX));
    }
}
