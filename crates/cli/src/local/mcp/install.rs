//! `mcp install`: writes the configuration of a client, keeping what is there.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use serde_json::{Value, json};
use surehand_session::{Fault, Kind};

use super::clients::{Client, Folders, NAME};
use super::json_text::{self, Node, Style};
use crate::config::Effective;
use crate::local::secrets;
use crate::local::tools::sets;
use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(super) struct Install {
    /// Which client
    #[arg(value_enum)]
    client: Client,
    /// Print what belongs into its file, and change nothing
    #[arg(long)]
    print: bool,
    /// Write the file of the project in the current folder instead of the user's
    #[arg(long)]
    project: bool,
    /// Which sets of tools, separated by commas [default: page]
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    toolsets: Vec<String>,
    /// KEY=value lines that agents may use as ${SECRET:KEY} without seeing the value
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

/// Members of another kind of entry, which contradict ours.
const CONTRADICTING: [&str; 3] = ["url", "httpUrl", "headers"];

/// What a file should become.
#[derive(Debug, PartialEq)]
enum Edit {
    /// It is like that already.
    Nothing,
    /// Text to write; was there another entry of our name?
    Write { text: String, replaced: bool },
    /// It cannot be changed without breaking something, and why.
    Impossible(String),
}

impl Install {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let client = self.client;
        let program = program()?;
        let arguments = self.arguments(config, printer)?;
        let path = client.file(&folders()?, self.project);
        let present = match read(&path) {
            // Printing needs nothing of the file.
            Err(_) if self.print => None,
            other => other?,
        };
        let (snippet, edit) = plan(client, &program, &arguments, present.as_deref());
        let data = |changed: bool| json!({ "client": client.id(), "path": path, "changed": changed, "snippet": snippet });
        let shown = path.display();
        if self.print {
            printer.note(&format!("for {}, in {shown}:", client.title()));
            return Ok(printer.result(&data(false), snippet.trim_end()));
        }
        match edit {
            Edit::Nothing => {
                Ok(printer.result(&data(false), &format!("nothing to change: {NAME} is in {shown} already")))
            }
            Edit::Write { text, replaced } => {
                write(&path, &text).map_err(|error| unwritable(&path, &error))?;
                let done = if replaced { "replaced another entry" } else { "added it" };
                let text = format!("{done} for {}: {shown}\nstart {0} anew to use it", client.title());
                Ok(printer.result(&data(true), &text))
            }
            Edit::Impossible(why) => {
                let text =
                    format!("{shown} stays as it is: {why}\nput this into it:\n\n{}", snippet.trim_end());
                let fault = Fault::new(Kind::BadFile, format!("{shown} was not changed: {why}"))
                    .hint("put the snippet into it by hand");
                Ok(printer.failed_result(&data(false), &text, fault))
            }
        }
    }
}

impl Install {
    /// What the client gives to the program. What would be refused then is refused now.
    fn arguments(&self, config: &Effective, printer: &Printer) -> Result<Vec<String>, Fault> {
        config.settings()?;
        let mut arguments = vec!["mcp".to_owned()];
        if !self.toolsets.is_empty() {
            sets(&self.toolsets)?;
            arguments.extend(["--toolsets".to_owned(), self.toolsets.join(",")]);
        }
        if let Some(path) = &self.secrets {
            secrets::read(Some(path), printer)?;
            let path = std::path::absolute(path).map_err(crate::internal)?;
            arguments.extend(["--secrets".to_owned(), as_text(path, "the file of secrets")?]);
        }
        arguments.extend(config.flag_words()?);
        Ok(arguments)
    }
}

/// This program, as a client must call it.
fn program() -> Result<String, Fault> {
    let program = std::env::current_exe().map_err(crate::internal)?;
    as_text(program, "this program")
}

fn as_text(path: PathBuf, what: &str) -> Result<String, Fault> {
    path.into_os_string().into_string().map_err(|path| {
        Fault::new(Kind::NotUtf8, format!("the path of {what} is not text: {}", path.display()))
            .hint("move it to another folder")
    })
}

fn folders() -> Result<Folders, Fault> {
    let folder = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = match folder("HOME") {
        Some(home) => home,
        None => etcetera::home_dir().map_err(|error| {
            Fault::new(Kind::Usage, format!("there is no home folder: {error}")).hint("set HOME")
        })?,
    };
    let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    let applications = if cfg!(windows) {
        folder("APPDATA").unwrap_or_else(|| home.join("AppData/Roaming"))
    } else if cfg!(target_os = "macos") {
        home.join("Library/Application Support")
    } else {
        config.clone()
    };
    Ok(Folders {
        home,
        config,
        applications,
        claude: folder("CLAUDE_CONFIG_DIR"),
        codex: folder("CODEX_HOME"),
        project: std::env::current_dir().map_err(crate::internal)?,
    })
}

/// The text of the file; `None` if it is not there or empty.
fn read(path: &Path) -> Result<Option<String>, Fault> {
    match fs_err::read_to_string(path) {
        Ok(text) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritable(path, &error)),
    }
}

/// What to show, and what to do with the file.
fn plan(client: Client, program: &str, arguments: &[String], present: Option<&str>) -> (String, Edit) {
    match client {
        Client::Codex => {
            let snippet = toml_snippet(program, arguments);
            let edit = match present {
                None => Edit::Write { text: snippet.clone(), replaced: false },
                Some(text) => edit_toml(text, program, arguments),
            };
            (snippet, edit)
        }
        _ => {
            let parsed = present.map(serde_json::from_str::<Value>);
            let value = parsed.as_ref().and_then(|parsed| parsed.as_ref().ok()).unwrap_or(&Value::Null);
            let way = client.way(value);
            let entry = client.entry(program, arguments, value);
            let whole = Node::nested(&way, Node::Object(entry.clone()));
            let snippet = format!("{}\n", whole.write(&Style::of(""), ""));
            let edit = match (present, &parsed) {
                (Some(text), Some(Ok(value))) => edit_json(text, value, &way, entry),
                (_, Some(Err(error))) => {
                    Edit::Impossible(format!("it has comments in it or is no JSON ({error})"))
                }
                _ => Edit::Write { text: snippet.clone(), replaced: false },
            };
            (snippet, edit)
        }
    }
}

fn edit_json(text: &str, before: &Value, way: &[&str], entry: Vec<(String, Node)>) -> Edit {
    let ours = entry.clone();
    let old = way.iter().try_fold(before, |value, name| value.get(name));
    let same = |(name, node): &(String, Node)| {
        let wanted = serde_json::from_str::<Value>(&node.write(&Style::of(""), "")).ok();
        // An environment that somebody filled in is theirs.
        let have = old.and_then(|old| old.get(name));
        have.is_some() && (name == "env" || have == wanted.as_ref())
    };
    let contradicts = CONTRADICTING.iter().any(|name| old.is_some_and(|old| old.get(name).is_some()));
    if ours.iter().all(same) && !contradicts {
        return Edit::Nothing;
    }
    // What somebody added to our entry (an environment, a time limit) stays.
    let mut members = entry;
    for (name, value) in json_text::members_at(text, way).unwrap_or_default() {
        match members.iter_mut().find(|(ours, _)| *ours == name) {
            Some((_, node)) if name == "env" => *node = Node::Text(value),
            Some(_) => {}
            None if CONTRADICTING.contains(&name.as_str()) => {}
            None => members.push((name, Node::Text(value))),
        }
    }
    let node = Node::Object(members);
    let written = serde_json::from_str::<Value>(&node.write(&Style::of(""), ""));
    let checked = json_text::set(text, way, &node).filter(|after| {
        let (Ok(after), Ok(entry)) = (serde_json::from_str::<Value>(after), &written) else { return false };
        let mut wanted = before.clone();
        set_value(&mut wanted, way, entry);
        after == wanted
    });
    match checked {
        Some(text) => Edit::Write { text, replaced: old.is_some() },
        None => Edit::Impossible(format!("{} is not an object there", way[..way.len() - 1].join("."))),
    }
}

fn set_value(value: &mut Value, way: &[&str], entry: &Value) {
    let Some((name, rest)) = way.split_first() else {
        *value = entry.clone();
        return;
    };
    if let Some(members) = value.as_object_mut() {
        let next = members.entry(*name).or_insert_with(|| json!({}));
        set_value(next, rest, entry);
    }
}

fn toml_snippet(program: &str, arguments: &[String]) -> String {
    let mut document = toml_edit::DocumentMut::new();
    set_toml(&mut document, program, arguments);
    document.to_string()
}

fn edit_toml(text: &str, program: &str, arguments: &[String]) -> Edit {
    let mut document = match text.parse::<toml_edit::DocumentMut>() {
        Ok(document) => document,
        Err(error) => return Edit::Impossible(format!("it is no TOML ({})", error.message())),
    };
    let entry = |document: &toml_edit::DocumentMut| {
        document.get("mcp_servers").and_then(|servers| servers.get(NAME)).map(ToString::to_string)
    };
    let old = entry(&document);
    if !set_toml(&mut document, program, arguments) {
        return Edit::Impossible(format!("mcp_servers.{NAME} is not a table there"));
    }
    if old.is_some() && old == entry(&document) {
        return Edit::Nothing;
    }
    Edit::Write { text: document.to_string(), replaced: old.is_some() }
}

/// Sets our entry, with comments and other keys kept; `false` if something on the way is no table.
fn set_toml(document: &mut toml_edit::DocumentMut, program: &str, arguments: &[String]) -> bool {
    use toml_edit::{Array, Item, Table, value};
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut servers = Table::new();
        servers.set_implicit(true);
        Item::Table(servers)
    });
    let Some(servers) = servers.as_table_like_mut() else { return false };
    let entry = servers.entry(NAME).or_insert_with(|| Item::Table(Table::new()));
    let Some(entry) = entry.as_table_like_mut() else { return false };
    for name in CONTRADICTING {
        entry.remove(name);
    }
    if entry.get("command").and_then(Item::as_str) != Some(program) {
        entry.insert("command", value(program));
    }
    let have = entry.get("args").and_then(Item::as_array);
    let same = have.is_some_and(|have| {
        have.len() == arguments.len()
            && have.iter().zip(arguments).all(|(have, wanted)| have.as_str() == Some(wanted))
    });
    if !same {
        entry.insert("args", value(arguments.iter().collect::<Array>()));
    }
    true
}

/// All or nothing: a file beside it takes its place. Links are followed and its rights are kept.
fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let path = match fs_err::canonicalize(path) {
        Ok(path) => path,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error),
    };
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    fs_err::create_dir_all(folder)?;
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    let rights = {
        use std::os::unix::fs::PermissionsExt;
        std::fs::Permissions::from_mode(0o666)
    };
    #[cfg(unix)]
    builder.permissions(rights);
    let mut file = builder.prefix(".surehand-").tempfile_in(folder)?;
    file.write_all(text.as_bytes())?;
    if let Ok(present) = fs_err::metadata(&path) {
        file.as_file().set_permissions(present.permissions())?;
        // A file that must not be written is not to be replaced either.
        fs_err::OpenOptions::new().append(true).open(&path)?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn unwritable(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(Kind::UnwritablePath, format!("{} cannot be changed: {error}", path.display()))
        .hint("`--print` shows what belongs into it")
}
