//! `vault`: credentials that packs, playbooks and agents may use but not see.

use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

use clap::{Args, Subcommand};
use serde_json::json;
use surehand_guard::vault::{
    KeyError, KeySources, Kind as CredentialKind, NewCredential, SecretText, SecretValue,
};
use surehand_server::{Home, Safe, vault_fault};
use surehand_session::{Fault, Kind};
use surehand_store::UsageFilter;

use crate::printer::Printer;

/// Arguments.
#[derive(Debug, Args)]
pub(crate) struct VaultCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Store a credential; what is secret is read from standard input, never from the command line
    Set(Set),
    /// List the credentials, without their values
    List,
    /// Let a subject of tokens use a credential; without a grant nobody but you may
    Grant(Grant),
    /// Take a grant back
    Revoke(Grant),
    /// Delete a credential
    #[command(alias = "remove")]
    Rm {
        /// Its name
        name: String,
    },
    /// Show who may use a credential
    Grants {
        /// Its name
        name: String,
    },
    /// Show when credentials were used, and by whom
    Usage {
        /// Only this one
        name: Option<String>,
    },
    /// Seal everything with a new key
    Rekey,
    /// Show where the key of the vault is, or move it
    Key {
        /// Into the keyring of the system, or back into its file
        #[arg(long, value_name = "PLACE")]
        move_to: Option<Destination>,
    },
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Destination {
    Keyring,
    File,
}

#[derive(Debug, Args)]
struct Set {
    /// Its name: letters, digits, _ . and -
    name: String,
    /// login, cookie, api_key, oauth or ssh
    #[arg(long = "type", value_name = "TYPE", default_value = "api_key")]
    kind: CredentialKind,
    /// Where it belongs, e.g. shop.example
    #[arg(long, value_name = "HOST")]
    host: Option<String>,
    /// A field that is no secret, e.g. username=ada; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = field)]
    field: Vec<(String, String)>,
    /// A field whose value is the next line of standard input, e.g. password; may be given several times
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
}

#[derive(Debug, Args)]
struct Grant {
    /// The credential
    name: String,
    /// Whose tokens; * for everybody's
    subject: String,
    /// Only through this program
    #[arg(long, value_name = "CLIENT", default_value = "")]
    client: String,
}

fn field(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it like username=ada")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl VaultCommand {
    pub fn run(self, printer: &Printer) -> Result<ExitCode, Fault> {
        let safe = Safe::of(&Home::from_env()?);
        match self.action {
            Action::Set(set) => set.run(&safe, printer),
            Action::List => {
                let names = safe.vault()?.names().map_err(vault_fault)?;
                let line = |one: &surehand_guard::vault::Credential| {
                    let fields = if one.fields.is_empty() {
                        String::new()
                    } else {
                        format!("  #{}", one.fields.join(" #"))
                    };
                    format!("{}  {}{fields}", one.name, one.kind)
                };
                let lines: Vec<String> = names.iter().map(line).collect();
                Ok(printer.result(&json!({ "credentials": names }), &lines.join("\n")))
            }
            Action::Grant(grant) => {
                let Grant { name, subject, client } = grant;
                let new = safe.vault()?.grant(&name, &subject, &client).map_err(vault_fault)?;
                let text = format!("{subject} may use {name}");
                Ok(printer.result(
                    &json!({ "name": name, "subject": subject, "client": client, "new": new }),
                    &text,
                ))
            }
            Action::Revoke(grant) => {
                let Grant { name, subject, client } = grant;
                if !safe.vault()?.revoke(&name, &subject, &client).map_err(vault_fault)? {
                    return Err(Fault::new(Kind::NoItem, format!("{subject} has no such grant for {name}"))
                        .hint(format!("see them with `surehand vault grants {name}`")));
                }
                let text = format!("{subject} may not use {name} any more");
                Ok(printer.result(&json!({ "name": name, "subject": subject, "client": client }), &text))
            }
            Action::Rm { name } => {
                safe.vault()?.remove(&name).map_err(vault_fault)?;
                Ok(printer.result(&json!({ "removed": name }), &format!("removed {name}")))
            }
            Action::Grants { name } => {
                let grants = safe.vault()?.grants(&name).map_err(vault_fault)?;
                let lines: Vec<String> = grants
                    .iter()
                    .map(|grant| format!("{}  {}", grant.subject, grant.client).trim().to_owned())
                    .collect();
                Ok(printer.result(&json!({ "grants": grants }), &lines.join("\n")))
            }
            Action::Usage { name } => {
                let filter = UsageFilter { name, ..UsageFilter::default() };
                let rows = safe.vault()?.usage(&filter).map_err(vault_fault)?;
                let lines: Vec<String> = rows
                    .iter()
                    .map(|row| {
                        let entry = &row.entry;
                        let outcome = json!(entry.outcome);
                        let outcome = outcome.as_str().unwrap_or_default();
                        format!("{}  {}  {}  {outcome}", entry.ts, entry.name, entry.subject)
                    })
                    .collect();
                Ok(printer.result(&json!({ "usage": rows }), &lines.join("\n")))
            }
            Action::Rekey => {
                let count = safe.vault()?.rotate(&safe.key_sources()).map_err(vault_fault)?;
                Ok(printer.result(&json!({ "credentials": count }), &format!("sealed {count} anew")))
            }
            Action::Key { move_to } => key(&safe.key_sources(), move_to, printer),
        }
    }
}

/// Where the key is, after it was moved if that is wanted.
fn key(sources: &KeySources, to: Option<Destination>, printer: &Printer) -> Result<ExitCode, Fault> {
    let refused = |error: KeyError| vault_fault(error.into());
    let moved = match to {
        _ if sources.place().map_err(refused)?.is_none() => None,
        Some(Destination::Keyring) => Some(sources.move_to_keyring()),
        Some(Destination::File) => Some(sources.move_to_file()),
        None => sources.find().transpose(),
    };
    let key = moved.transpose().map_err(refused)?;
    let (Some(key), Some(place)) = (key, sources.place().map_err(refused)?) else {
        let text = "there is no key yet; the first credential makes one";
        return Ok(printer.result(&json!({ "place": null }), text));
    };
    let text = format!("key {} is in {place}", key.id());
    Ok(printer.result(&json!({ "key_id": key.id(), "place": place.to_string() }), &text))
}

impl Set {
    fn run(self, safe: &Safe, printer: &Printer) -> Result<ExitCode, Fault> {
        let value = self.value()?;
        let new = NewCredential { name: self.name, kind: self.kind, host: self.host, value };
        let made = safe.vault_to_fill()?.set(new).map_err(vault_fault)?;
        let text = format!(
            "stored {}; let somebody use it with `surehand vault grant {} SUBJECT`",
            made.name, made.name
        );
        let value = serde_json::to_value(&made).map_err(crate::internal)?;
        Ok(printer.result(&value, &text))
    }

    fn value(&self) -> Result<SecretValue, Fault> {
        if self.field.is_empty() && self.secret.is_empty() {
            return Ok(SecretValue::Text(line("value")?));
        }
        let plain = self.field.iter().map(|(name, value)| Ok((name.clone(), SecretText::new(value.clone()))));
        let secret = self.secret.iter().map(|name| Ok((name.clone(), line(name)?)));
        Ok(SecretValue::Fields(plain.chain(secret).collect::<Result<_, Fault>>()?))
    }
}

/// The next line of standard input. On a terminal it is asked for, and not shown.
fn line(what: &str) -> Result<SecretText, Fault> {
    let input = std::io::stdin();
    let unreadable =
        |error: std::io::Error| Fault::new(Kind::BadFile, format!("{what} cannot be read: {error}"));
    let _hidden = input.is_terminal().then(|| {
        let mut out = std::io::stderr();
        // Who cannot see the question can still answer it.
        let _ = write!(out, "{what}: ").and_then(|()| out.flush());
        hide_typing()
    });
    let mut text = String::new();
    input.lock().read_line(&mut text).map_err(unreadable)?;
    let length = text.trim_end_matches(['\n', '\r']).len();
    text.truncate(length);
    if text.is_empty() {
        return Err(Fault::new(Kind::Usage, format!("there is no line for {what}"))
            .hint("pipe it in: printf '%s\\n' \"$PASSWORD\" | surehand vault set …"));
    }
    Ok(SecretText::new(text))
}

/// What is typed is not shown until this is dropped.
#[cfg(unix)]
struct Hidden(Option<rustix::termios::Termios>);

#[cfg(unix)]
fn hide_typing() -> Hidden {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let input = std::io::stdin();
    let before = tcgetattr(&input).ok();
    if let Some(before) = &before {
        let mut silent = before.clone();
        silent.local_modes.remove(LocalModes::ECHO);
        // A terminal that cannot do that shows what is typed.
        let _ = tcsetattr(&input, OptionalActions::Now, &silent);
    }
    Hidden(before)
}

#[cfg(unix)]
impl Drop for Hidden {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            let _ =
                rustix::termios::tcsetattr(std::io::stdin(), rustix::termios::OptionalActions::Now, before);
            let _ = writeln!(std::io::stderr());
        }
    }
}

#[cfg(not(unix))]
fn hide_typing() {}
