//! `cargo xtask protocol`: the Rust types of the CDP members that Surehand uses.
//!
//! `members.txt` says which, `protocol.json` is what a browser said about them, and
//! `crates/cdp/src/protocol` follows from both. All three are committed.

mod browser;
mod generate;
mod members;
mod names;
mod reach;
mod schema;
mod trim;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use self::members::Members;
use self::schema::Protocol;

const MEMBERS: &str = "crates/cdp/protocol/members.txt";
const SOURCE: &str = "crates/cdp/protocol/protocol.json";
const OUTPUT: &str = "crates/cdp/src/protocol";

#[derive(Debug, clap::Args)]
pub struct Args {
    /// Use the committed protocol.json instead of asking a browser (SUREHAND_BROWSER, else chromium).
    #[arg(long)]
    offline: bool,
    /// Change nothing; fail when the committed files do not follow from members.txt and protocol.json.
    #[arg(long, conflicts_with = "offline")]
    check: bool,
}

pub fn run(args: &Args, root: &Path) -> Result<()> {
    let source = if args.offline || args.check { committed(root)? } else { browser::describe()? };
    let files = build(&source, root)?;
    let stale = stale(&files, root)?;
    if args.check {
        ensure!(stale.is_empty(), "run `cargo xtask protocol --offline`: {} stale", stale.join(", "));
        return Ok(());
    }
    for name in &stale {
        let path = root.join(name);
        match files.get(name) {
            Some(text) => {
                if let Some(parent) = path.parent() {
                    fs_err::create_dir_all(parent)?;
                }
                fs_err::write(path, text)?;
            }
            None => fs_err::remove_file(path)?,
        }
    }
    crate::say(&format!("{}: {} files changed", source.browser, stale.len()));
    Ok(())
}

fn committed(root: &Path) -> Result<Protocol> {
    let path = root.join(SOURCE);
    serde_json::from_str(&fs_err::read_to_string(&path)?).with_context(|| path.display().to_string())
}

/// Everything that is committed besides the list, as it should be: path within the workspace → text.
fn build(source: &Protocol, root: &Path) -> Result<BTreeMap<String, String>> {
    let members = Members::parse(&fs_err::read_to_string(root.join(MEMBERS))?)?;
    let protocol = trim::trim(source, &members).with_context(|| {
        let hint = "a new entry needs `cargo xtask protocol` without `--offline`";
        format!("members.txt does not fit the protocol of {}; {hint}", source.browser)
    })?;
    let mut files = BTreeMap::new();
    for (name, text) in generate::generate(&protocol, &members)? {
        files.insert(format!("{OUTPUT}/{name}"), formatted(&text, root).with_context(|| name)?);
    }
    files.insert(SOURCE.to_owned(), protocol.to_text()?);
    Ok(files)
}

/// Files that differ from what they should be, are missing, or should not be there.
fn stale(files: &BTreeMap<String, String>, root: &Path) -> Result<Vec<String>> {
    let differs = |(name, text): &(&String, &String)| {
        fs_err::read_to_string(root.join(name)).ok().as_ref() != Some(*text)
    };
    let mut stale: Vec<String> = files.iter().filter(differs).map(|(name, _)| name.clone()).collect();
    if root.join(OUTPUT).is_dir() {
        for entry in fs_err::read_dir(root.join(OUTPUT))? {
            let name = format!("{OUTPUT}/{}", entry?.file_name().display());
            if !files.contains_key(&name) {
                stale.push(name);
            }
        }
    }
    Ok(stale)
}

/// rustfmt with the workspace's own settings, so that `cargo fmt` never makes a generated file stale.
fn formatted(text: &str, root: &Path) -> Result<String> {
    let mut child = Command::new("rustfmt")
        .args(["--edition", "2024", "--emit", "stdout", "--config-path"])
        .arg(root.join("rustfmt.toml"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start rustfmt")?;
    // rustfmt reads all of its input before it writes, so a full pipe cannot hold both up.
    child.stdin.take().context("rustfmt has no stdin")?.write_all(text.as_bytes())?;
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!("rustfmt: {}", output.status);
    }
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guards the committed types: a changed list or a hand edit without `cargo xtask protocol` fails here.
    #[test]
    fn committed_protocol_is_current() {
        let root = crate::workspace_root();
        let files = build(&committed(&root).unwrap(), &root).unwrap();
        assert_eq!(
            stale(&files, &root).unwrap(),
            Vec::<String>::new(),
            "run `cargo xtask protocol --offline`"
        );
    }
}
