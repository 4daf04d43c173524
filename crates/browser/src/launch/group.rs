//! The system's side of owning a browser: its process group, who we are, how much shared memory there is.

#[cfg(unix)]
mod system {
    use rustix::process::{Pid, Signal, kill_process_group};

    /// Ends every process of the group that the browser leads.
    ///
    /// The leader must not have been waited for yet: until then nobody else can get its number.
    pub(in crate::launch) fn kill(leader: u32) {
        if let Some(pid) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(pid, Signal::KILL);
        }
    }

    /// Ends what is left of the group right after its leader was waited for: a helper that is slow to notice would
    /// make the profile directory again. The number cannot belong to others yet: it stays taken while the group has
    /// members, and numbers come round only after all others.
    pub(in crate::launch) fn kill_rest(leader: u32) {
        kill(leader);
    }

    pub(in crate::launch) fn is_root() -> bool {
        rustix::process::geteuid().is_root()
    }

    /// Bytes of shared memory, where the system has a file system for it.
    pub(in crate::launch) fn shared_memory() -> Option<u64> {
        crate::space::space("/dev/shm".as_ref()).map(|space| space.free).filter(|_| cfg!(target_os = "linux"))
    }
}

#[cfg(not(unix))]
mod system {
    /// Ends the browser and its children.
    pub(in crate::launch) fn kill(leader: u32) {
        let _ =
            std::process::Command::new("taskkill").args(["/T", "/F", "/PID", &leader.to_string()]).output();
    }

    /// Numbers are reused at once here, so helpers are left to end by themselves.
    pub(in crate::launch) fn kill_rest(_leader: u32) {}

    pub(in crate::launch) fn is_root() -> bool {
        false
    }

    pub(in crate::launch) fn shared_memory() -> Option<u64> {
        None
    }
}

pub(super) use system::{is_root, kill, kill_rest, shared_memory};
