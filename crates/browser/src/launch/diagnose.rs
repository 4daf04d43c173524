//! Why a browser ended by itself, read from its exit status and its last words.

use std::process::ExitStatus;

use crate::error::{Exit, last_words};

/// Chromium's exit code for a profile that another process holds (`RESULT_CODE_PROFILE_IN_USE`).
const PROFILE_IN_USE: i32 = 21;

pub(crate) fn exit(status: ExitStatus, stderr: &str) -> Exit {
    let libraries = missing_libraries(stderr);
    if !libraries.is_empty() {
        let fix = crate::install::library_fix(&libraries);
        return Exit::MissingLibraries { libraries, fix };
    }
    let said = |any: &[&str]| any.iter().any(|words| stderr.contains(words));
    if said(&[
        "No usable sandbox",
        "Running as root without --no-sandbox",
        "setuid sandbox is not running as root",
        "The SUID sandbox helper binary was found, but is not configured correctly",
        "Failed to move to new namespace",
    ]) {
        Exit::NoSandbox
    } else if status.code() == Some(PROFILE_IN_USE)
        || said(&["Opening in existing browser session", "profile appears to be in use", "ProcessSingleton"])
    {
        Exit::ProfileInUse
    } else if said(&[
        "Missing X server or $DISPLAY",
        "cannot open display",
        "Failed to connect to Wayland display",
    ]) {
        Exit::NoDisplay
    } else if status.code().is_none() {
        Exit::Killed { said: last_words(stderr) }
    } else {
        Exit::Other { said: last_words(stderr) }
    }
}

/// The libraries that the dynamic linker (glibc's or musl's) could not find.
pub(crate) fn missing_libraries(stderr: &str) -> Vec<String> {
    let mut missing: Vec<String> = stderr
        .lines()
        .filter_map(|line| {
            let rest = line.split_once("error while loading shared libraries: ").map(|(_, rest)| rest);
            let rest =
                rest.or_else(|| line.split_once("Error loading shared library ").map(|(_, rest)| rest))?;
            rest.split_once(':').map(|(library, _)| library.trim().to_owned())
        })
        .collect();
    missing.dedup();
    missing
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn code(code: i32) -> ExitStatus {
        ExitStatus::from_raw(code << 8)
    }

    #[test]
    fn missing_libraries_are_named_with_the_package_that_has_them() {
        let said = "/c/chrome: error while loading shared libraries: libnss3.so: cannot open shared object file: No such file\n";
        let Exit::MissingLibraries { libraries, fix } = exit(code(127), said) else { panic!() };
        assert_eq!(libraries, ["libnss3.so"]);
        assert!(fix.starts_with("apt-get install -y "), "{fix}");
        assert!(fix.contains("libnss3"), "{fix}");
    }

    #[test]
    fn each_known_end_has_its_own_reason() {
        let zygote = "[1:1:ERROR:zygote_host_impl_linux.cc(129)] No usable sandbox! If you are running on Ubuntu 23.10+";
        assert_eq!(exit(ExitStatus::from_raw(5), zygote), Exit::NoSandbox);
        let root =
            "ERROR:zygote_host_impl_linux.cc(101)] Running as root without --no-sandbox is not supported.";
        assert_eq!(exit(code(1), root), Exit::NoSandbox);
        assert_eq!(exit(code(21), ""), Exit::ProfileInUse);
        assert_eq!(exit(code(0), "Opening in existing browser session.\n"), Exit::ProfileInUse);
        assert_eq!(
            exit(code(1), "ozone_platform_x11.cc(249)] Missing X server or $DISPLAY\n"),
            Exit::NoDisplay
        );
        assert!(matches!(exit(ExitStatus::from_raw(9), ""), Exit::Killed { .. }));
        assert_eq!(exit(code(7), "first\nlast\n\n"), Exit::Other { said: "last".into() });
    }
}
