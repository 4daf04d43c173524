//! How much room a file system has.

use std::path::Path;

/// Room on a file system, in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Space {
    /// What this user can still use.
    pub free: u64,
    pub total: u64,
}

/// The room where a path is, or will be once it exists.
#[cfg(unix)]
pub(crate) fn space(path: &Path) -> Option<Space> {
    let stat = path.ancestors().find_map(|dir| rustix::fs::statvfs(dir).ok())?;
    Some(Space { free: stat.f_bavail * stat.f_frsize, total: stat.f_blocks * stat.f_frsize })
}

/// Not known on this system.
#[cfg(not(unix))]
pub(crate) fn space(_path: &Path) -> Option<Space> {
    None
}

/// `1.4 GB`, for people.
pub(crate) fn human(bytes: u64) -> String {
    let units = ["B", "kB", "MB", "GB", "TB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1000.0 && unit + 1 < units.len() {
        value /= 1000.0;
        unit += 1;
    }
    if value >= 10.0 || unit == 0 {
        format!("{value:.0} {}", units[unit])
    } else {
        format!("{value:.1} {}", units[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_read_well() {
        assert_eq!(human(12), "12 B");
        assert_eq!(human(1_440_000_000), "1.4 GB");
        assert_eq!(human(64 << 20), "67 MB");
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_does_not_exist_yet_has_its_parents_room() {
        assert!(space("/tmp/not/there/yet".as_ref()).unwrap().total > 0);
    }
}
