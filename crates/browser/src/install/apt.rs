//! Debian and Ubuntu, as root: the distribution's own `chromium`, and the libraries that Chrome for Testing needs.

use std::{path::PathBuf, process::Command, time::Duration};

use crate::{
    Error, Found, Machine, Notes, Source,
    error::last_words,
    find::find,
    run::{Ran, run},
    version::version,
};

/// Killing `apt-get` in the middle of an installation does harm, so it gets much time.
const LONGEST: Duration = Duration::from_secs(20 * 60);

/// What Chrome needs on a bare system. The linker only ever names the first missing library, so all are named here.
const LIBRARIES: [&str; 21] = [
    "fonts-liberation",
    "libatk-bridge2.0-0",
    "libatk1.0-0",
    "libatspi2.0-0",
    "libcairo2",
    "libcups2",
    "libdbus-1-3",
    "libdrm2",
    "libgbm1",
    "libglib2.0-0",
    "libnspr4",
    "libnss3",
    "libpango-1.0-0",
    "libx11-6",
    "libxcb1",
    "libxcomposite1",
    "libxdamage1",
    "libxext6",
    "libxfixes3",
    "libxkbcommon0",
    "libxrandr2",
];

/// The one that was renamed without a name that still leads to it: new name, old name.
const SOUND: [&str; 2] = ["libasound2t64", "libasound2"];

/// Commands for a person who lacks libraries.
pub(crate) fn library_fix(missing: &[String]) -> String {
    let sound =
        if missing.iter().any(|library| library.starts_with("libasound")) { " libasound2" } else { "" };
    format!("apt-get install -y --no-install-recommends {}{sound}", LIBRARIES.join(" "))
}

pub(super) fn install(machine: &Machine, notes: &dyn Notes) -> Result<Found, Error> {
    let apt = usable(machine)?;
    notes.note("Installing the distribution's Chromium with apt-get, because this is root and Chrome for Testing is not to be had.");
    notes.note("Running `apt-get update`, because package lists on fresh machines are missing or old.");
    if let Err(error) = apt.run(&["update"]) {
        // Old lists may still do; if not, the next step says why.
        notes.note(&error.to_string());
    }
    let mut last = None;
    for package in apt.packages() {
        match apt.install_browser(package, notes) {
            Ok(found) => return Ok(found),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| not_for("there is no package to try")))
}

/// Whether missing libraries can be installed for Chrome for Testing. Debian's own Chromium brings its libraries along
/// and is the better choice there; Ubuntu's is only a stub.
pub(super) fn can_add_libraries(machine: &Machine) -> bool {
    machine.is_ubuntu_like() && usable(machine).is_ok()
}

pub(super) fn install_libraries(machine: &Machine) -> Result<(), Error> {
    let apt = usable(machine)?;
    let _ = apt.run(&["update"]);
    let with = |sound| [&["install", "-y", "--no-install-recommends"], &LIBRARIES[..], &[sound]].concat();
    apt.run(&with(SOUND[0])).or_else(|_| apt.run(&with(SOUND[1]))).map(drop)
}

struct Apt<'a> {
    machine: &'a Machine,
    get: PathBuf,
}

fn usable(machine: &Machine) -> Result<Apt<'_>, Error> {
    if !machine.is_debian_like() {
        return Err(not_for("this is not Debian or Ubuntu"));
    }
    let get = machine.which("apt-get").ok_or_else(|| not_for("there is no apt-get on PATH"))?;
    if !machine.root {
        return Err(not_for("only root may install packages"));
    }
    Ok(Apt { machine, get })
}

fn not_for(why: &str) -> Error {
    Error::Helper { command: "apt-get install chromium".into(), why: why.into() }
}

impl Apt<'_> {
    /// Ubuntu's is called otherwise; its children may have either.
    fn packages(&self) -> &'static [&'static str] {
        if self.machine.is_ubuntu_like() { &["chromium", "chromium-browser"] } else { &["chromium"] }
    }

    fn install_browser(&self, package: &str, notes: &dyn Notes) -> Result<Found, Error> {
        let command = format!("apt-get install -y --no-install-recommends {package}");
        if self.is_stub(package) {
            let why = format!(
                "the package {package} is only a stub that installs a snap, which does not give a working browser here; \
                 install Google Chrome's .deb instead"
            );
            return Err(Error::Helper { command, why });
        }
        notes.note(&format!("Running `{command}`; this downloads about 100 MB."));
        self.run(&["install", "-y", "--no-install-recommends", package])?;
        let installed = find(&Machine { browser: None, ..self.machine.clone() }, None);
        match installed {
            Ok(found) if found.source == Source::System => version(&found.path).map(|_| found),
            _ => Err(Error::Helper {
                command,
                why: "it ran, but there is no browser now (a stub for a snap?)".into(),
            }),
        }
    }

    /// Asked before, because installing the stub waits long for a snap daemon that containers do not have.
    fn is_stub(&self, package: &str) -> bool {
        let cache = self.get.with_file_name("apt-cache");
        let depends = run(Command::new(cache).args(["depends", package]), Duration::from_secs(30));
        depends.is_ok_and(|ran| ran.stdout.lines().any(|line| line.trim_end().ends_with("Depends: snapd")))
    }

    fn run(&self, args: &[&str]) -> Result<Ran, Error> {
        let ran = run(
            Command::new(&self.get)
                .args(args)
                .args([
                    "-o",
                    "DPkg::Lock::Timeout=120",
                    "-o",
                    "Acquire::Retries=1",
                    "-o",
                    "Acquire::http::Timeout=20",
                ])
                .env("DEBIAN_FRONTEND", "noninteractive")
                .env("LC_ALL", "C"),
            LONGEST,
        )?;
        if ran.status.success() {
            return Ok(ran);
        }
        let errors: Vec<&str> = ran.stderr.lines().filter(|line| line.starts_with("E: ")).take(3).collect();
        let why = if errors.is_empty() { last_words(&ran.stderr) } else { errors.join("; ") };
        Err(Error::Helper { command: format!("apt-get {}", args.join(" ")), why })
    }
}
