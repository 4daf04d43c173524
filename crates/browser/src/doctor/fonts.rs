//! Are there fonts, or will every letter in a screenshot be a box.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use super::{Check, Status};
use crate::{Machine, run::run};

const KINDS: [&str; 4] = ["ttf", "otf", "ttc", "pfb"];

pub(super) fn check(machine: &Machine) -> Check {
    if !cfg!(target_os = "linux") {
        return Check::new("fonts", Status::Ok, "the system brings its own");
    }
    match machine.which("fc-list") {
        Some(fc_list) => judge(machine, &|filter| listed(&fc_list, filter)),
        // Without fontconfig's tool nobody can tell which letters a font has.
        None => judge(machine, &|filter| if filter.is_empty() { in_folders(machine) } else { 1 }),
    }
}

fn judge(machine: &Machine, count: &dyn Fn(&str) -> usize) -> Check {
    let install = |packages: &str| {
        if machine.is_debian_like() {
            format!("apt-get install -y {packages}")
        } else {
            format!("install fonts with your system's packages (on Debian: {packages})")
        }
    };
    let fonts = count("");
    if fonts == 0 {
        return Check::new(
            "fonts",
            Status::Warn,
            "there is no font, so pages have no readable text in screenshots",
        )
        .fix(install("fonts-liberation fonts-noto-cjk fonts-noto-color-emoji"));
    }
    let scripts = [
        (":lang=zh", "Chinese, Japanese and Korean", "fonts-noto-cjk"),
        (":charset=1f600", "emoji", "fonts-noto-color-emoji"),
    ];
    let missing: Vec<_> = scripts.into_iter().filter(|(filter, ..)| count(filter) == 0).collect();
    if missing.is_empty() {
        return Check::new("fonts", Status::Ok, format!("{fonts} found"));
    }
    let names = missing.iter().map(|(_, name, _)| *name).collect::<Vec<_>>().join(" and ");
    let packages = missing.iter().map(|(.., package)| *package).collect::<Vec<_>>().join(" ");
    Check::new("fonts", Status::Ok, format!("{fonts} found, but none for {names}: these show as boxes"))
        .fix(install(&packages))
}

fn listed(fc_list: &Path, filter: &str) -> usize {
    let mut command = Command::new(fc_list);
    command.args((!filter.is_empty()).then_some(filter));
    run(&mut command, Duration::from_secs(20)).map_or(0, |ran| ran.stdout.lines().count())
}

fn in_folders(machine: &Machine) -> usize {
    let system = ["/usr/share/fonts", "/usr/local/share/fonts"].map(PathBuf::from);
    let own = machine.home.iter().flat_map(|home| [home.join(".local/share/fonts"), home.join(".fonts")]);
    system.into_iter().chain(own).map(|dir| font_files(&dir, 5)).sum()
}

fn font_files(dir: &Path, depth: usize) -> usize {
    let Ok(entries) = fs_err::read_dir(dir) else { return 0 };
    let is_font = |path: &Path| {
        path.extension().is_some_and(|end| KINDS.iter().any(|kind| end.eq_ignore_ascii_case(kind)))
    };
    entries
        .flatten()
        .map(|entry| match entry.path() {
            path if path.is_dir() && depth > 0 => font_files(&path, depth - 1),
            path => usize::from(is_font(&path)),
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_font_and_missing_scripts_are_told_with_their_packages() {
        let machine = Machine { os_release: "ID=debian".into(), ..Machine::from_env() };
        let none = judge(&machine, &|_| 0);
        assert_eq!(none.status, Status::Warn);
        assert!(none.fix.unwrap().starts_with("apt-get install -y fonts-liberation"));
        let latin = judge(&machine, &|filter| usize::from(filter.is_empty()));
        assert_eq!(latin.fix.as_deref(), Some("apt-get install -y fonts-noto-cjk fonts-noto-color-emoji"));
        assert_eq!(judge(&machine, &|_| 3).fix, None);
    }

    #[test]
    fn font_files_are_counted_in_folders_below() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(dir.path().join("truetype/x")).unwrap();
        fs_err::write(dir.path().join("truetype/x/A.TTF"), "").unwrap();
        fs_err::write(dir.path().join("readme.txt"), "").unwrap();
        assert_eq!(font_files(dir.path(), 5), 1);
    }
}
