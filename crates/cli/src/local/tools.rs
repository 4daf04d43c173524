//! `tools`, `tool` and `status`: the tools of the MCP server from the shell.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use surehand_guard::Secrets;
use surehand_server::secrets::Keeper;
use surehand_server::{Client, ErrorBody, Home, Request, Task, version};
use surehand_session::{Fault, Kind};
use surehand_tools::{Answer, Image, Spec, Toolset, specs};

use super::secrets;
use crate::config::Effective;
use crate::printer::{Printer, Progress};

/// Arguments of `tools`.
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// Only this tool, with the schema of its arguments
    name: Option<String>,
    /// Which sets of tools, separated by commas
    #[arg(long, value_name = "SETS", value_delimiter = ',')]
    toolsets: Vec<String>,
}

/// Arguments of `tool`.
#[derive(Debug, Args)]
pub(crate) struct Tool {
    /// Its name
    name: String,
    /// Its arguments, a JSON object
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,
    /// KEY=value lines; ${SECRET:KEY} in the arguments becomes the value, and the value is masked in the answer
    #[arg(long, value_name = "FILE")]
    secrets: Option<PathBuf>,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The browser's address [default: SUREHAND_BROWSER_URL, else http://127.0.0.1:9222]
    browser_url: Option<String>,
}

/// The sets of these names; all of them without any.
pub(crate) fn sets(names: &[String]) -> Result<Vec<Toolset>, Fault> {
    if names.is_empty() {
        return Ok(Toolset::ALL.to_vec());
    }
    names.iter().map(|name| Toolset::named(name)).collect()
}

impl Tools {
    pub fn run(&self, printer: &Printer) -> Result<ExitCode, Fault> {
        let mut all = specs(&sets(&self.toolsets)?);
        if let Some(name) = &self.name {
            all.retain(|spec| spec.name == *name);
            if all.is_empty() {
                return Err(Fault::new(Kind::UnknownTool, format!("there is no tool {name:?}"))
                    .hint("see them with `surehand tools`"));
            }
        }
        let listed: Vec<Value> = all.iter().map(listing).collect();
        let total: u64 = listed.iter().filter_map(|one| one["bytes"].as_u64()).sum();
        let mut lines: Vec<String> = listed.iter().map(line).collect();
        if self.name.is_some() {
            lines.extend(listed.iter().map(|one| format!("{:#}", one["inputSchema"])));
        } else {
            lines.push(format!("{} tools, {total} bytes", listed.len()));
        }
        Ok(printer.result(&json!({ "tools": listed, "bytes": total }), &lines.join("\n")))
    }
}

/// What a client is told of a tool, and how much that is.
fn listing(spec: &Spec) -> Value {
    let bytes = surehand_server::mcp::listed_size(spec);
    json!({ "name": spec.name, "description": spec.description, "bytes": bytes, "inputSchema": spec.input_schema })
}

fn line(tool: &Value) -> String {
    let text = |field: &str| tool[field].as_str().unwrap_or_default().to_owned();
    format!("{:<20} {:>5} B  {}", text("name"), tool["bytes"], text("description"))
}

impl Tool {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let arguments: Value = serde_json::from_str(&self.arguments).map_err(|error| {
            Fault::new(Kind::Usage, format!("the arguments are no JSON: {error}"))
                .hint(format!("surehand tool {} '{{\"url\": \"http://127.0.0.1:8000\"}}'", self.name))
        })?;
        let secrets = secrets::read(self.secrets.as_deref(), printer)?.unwrap_or_default();
        call(&self.name, arguments, secrets, config, printer)
    }
}

impl Status {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let named = self.browser_url.clone().or_else(|| std::env::var("SUREHAND_BROWSER_URL").ok());
        let url = named.unwrap_or_else(|| "http://127.0.0.1:9222".to_owned());
        call("browser_list", json!({ "browser_url": url }), Arc::default(), config, printer)
    }
}

/// Calls a tool in the daemon, so that tabs and numbers live on between calls.
fn call(
    name: &str,
    mut arguments: Value,
    secrets: Arc<Secrets>,
    config: &Effective,
    printer: &Printer,
) -> Result<ExitCode, Fault> {
    let home = Home::from_env()?;
    let keeper = Keeper::of_local(&home, secrets);
    let secrets = keeper.resolve(name, &mut arguments)?;
    let toolsets = Toolset::ALL.iter().map(|set| set.name().to_owned()).collect();
    let settings = Box::new(config.settings()?);
    let known = (*secrets).clone().into();
    let task = Task::Tool { name: name.to_owned(), arguments, toolsets, settings, secrets: known };
    let log = std::env::var("SUREHAND_LOG").ok().filter(|filter| !filter.is_empty());
    let request = Request { version: version(), task, log };
    let mut progress = Progress::masked(*printer, secrets.clone());
    let asked = Client::new(home).ask(&request, &mut progress);
    let called = asked.and_then(|line| surehand_server::read_answer(&line));
    let answer = keeper.mask(&secrets, called)?;
    if answer.is_error {
        return Err(fault_of(answer));
    }
    let mut result = json!({ "text": answer.text, "structured": answer.structured });
    let mut text = answer.text;
    if let Some(image) = &answer.image {
        let path = keep(image)?;
        text.push_str(&format!("\npicture: {}", path.display()));
        result["image"] = json!({ "path": path, "mimeType": image.mime_type });
    }
    Ok(printer.result(&result, &text))
}

/// A shell shows no pictures: it is written to a file of its own, which only its owner reads.
fn keep(image: &Image) -> Result<PathBuf, Fault> {
    let ending = image.mime_type.rsplit('/').next().unwrap_or("png");
    let write = || {
        let mut file =
            tempfile::Builder::new().prefix("surehand-").suffix(&format!(".{ending}")).tempfile()?;
        file.write_all(&image.bytes)?;
        file.keep().map(|(_, path)| path).map_err(|error| error.error)
    };
    write().map_err(|error: std::io::Error| {
        Fault::new(Kind::UnwritablePath, format!("the picture cannot be written: {error}"))
            .hint("give a file with path")
    })
}

/// A failure of a tool is one of the command, too: with the tool's own code where it has one.
fn fault_of(answer: Answer) -> Fault {
    let error = answer.structured.and_then(|mut body| body.get_mut("error").map(Value::take));
    match error.and_then(|error| serde_json::from_value::<ErrorBody>(error).ok()) {
        Some(error) => error.into(),
        None => Fault::new(Kind::ToolFailed, answer.text),
    }
}
