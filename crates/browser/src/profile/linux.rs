//! Linux: the processes that use a profile are those that have exactly it on their command line.

use std::{
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::Path,
};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Ends our user's processes that were started with `--user-data-dir=<dir>`.
pub(super) fn end(dir: &Path) {
    let Ok(processes) = fs_err::read_dir("/proc") else { return };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    for pid in numbers.filter_map(Pid::from_raw) {
        end_if_user(pid, dir);
    }
}

/// The handle is taken before the look, so that the process looked at is the one that ends, whatever happens to its
/// number in between.
fn end_if_user(pid: Pid, dir: &Path) {
    if !uses(pid, dir) {
        return;
    }
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if uses(pid, dir) {
        tracing::info!(target: "browser", pid = pid.as_raw_nonzero(), dir = %dir.display(), "ending a leftover browser");
        let _ = pidfd_send_signal(&handle, Signal::KILL);
    }
}

fn uses(pid: Pid, dir: &Path) -> bool {
    let process = format!("/proc/{}", pid.as_raw_nonzero());
    let ours = fs_err::metadata(&process).is_ok_and(|meta| meta.uid() == rustix::process::geteuid().as_raw());
    ours && fs_err::read(format!("{process}/cmdline")).is_ok_and(|line| {
        line.split(|byte| *byte == 0).any(|arg| {
            arg.strip_prefix(b"--user-data-dir=").is_some_and(|value| value == dir.as_os_str().as_bytes())
        })
    })
}
