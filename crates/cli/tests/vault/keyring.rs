//! The vault's key in the keyring of the system: a real one, with a bus of its own.

use std::process::Command;

use surehand_testkit::Cli;

use crate::common::{BINARY, fresh_cli};

/// Runs these lines where the keyring is unlocked, and nothing of the user's own is touched.
fn in_desktop(cli: &Cli, lines: &str) -> String {
    let own = cli.home().work().join("desktop");
    fs_err::create_dir_all(&own).unwrap();
    let mut command = Command::new("dbus-run-session");
    let environment = cli.command();
    for (name, value) in environment.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("XDG_RUNTIME_DIR", &own).env("XDG_DATA_HOME", &own).env("HOME", &own);
    let unlock = "printf open | gnome-keyring-daemon --unlock --components=secrets >/dev/null";
    command.args(["--", "sh", "-ec", &format!("{unlock}\n{lines}")]);
    let output = command.output().expect("dbus-run-session, of Debian's package dbus");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

#[test]
#[ignore = "wants gnome-keyring, libsecret-tools and dbus"]
fn the_key_moves_into_the_keyring_and_back() {
    let cli = fresh_cli();
    let said = in_desktop(
        &cli,
        &format!(
            "printf 'hunter2hunter2\\n' | {BINARY} vault set code
             {BINARY} vault key
             {BINARY} vault key --move-to keyring
             cat $SUREHAND_HOME/vault.key
             printf 'hunter3hunter3\\n' | {BINARY} vault set other
             {BINARY} vault rekey && exit 1
             {BINARY} vault key --move-to file
             {BINARY} vault rekey
             secret-tool lookup application surehand home $SUREHAND_HOME && exit 1
             {BINARY} vault list"
        ),
    );
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[1].ends_with("vault.key"), "{said}");
    assert!(lines[2].ends_with("is in the keyring of the system"), "{said}");
    assert_eq!(lines[1].split(" is in ").next(), lines[2].split(" is in ").next(), "{said}");
    assert_eq!(lines[3], "keyring");
    assert_eq!(&lines[4..6], [lines[4], lines[1]], "{said}");
    assert!(lines[4].starts_with("stored other") && lines[6] == "sealed 2 anew", "{said}");
    // Without a keyring the vault stays closed, and says why.
    fs_err::write(cli.home().path().join("vault.key"), "keyring\n").unwrap();
    let run = cli.run(&["vault", "key"]).unwrap();
    assert!(!run.ok() && run.stderr.contains("the keyring of the system: "), "{run:?}");
}
