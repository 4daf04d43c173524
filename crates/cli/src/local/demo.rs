//! `demo`: a small site of its own, driven step by step.

mod site;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use serde_json::Value;
use surehand_session::{Fault, Kind};
use surehand_verbs::{Settings, join_words, parse_line};

use crate::config::Effective;
use crate::printer::Printer;
use crate::{internal, remote};

/// Where to put the picture.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Where to write the screenshot
    #[arg(long, value_name = "PATH", default_value = "demo.png")]
    pub screenshot: PathBuf,
}

impl Demo {
    pub fn run(&self, config: &Effective, printer: &Printer) -> Result<ExitCode, Fault> {
        let site = site::Site::start().map_err(internal)?;
        let mut settings = config.settings()?;
        settings.session = format!("demo-{}", std::process::id());
        settings.json = true;
        // If this process is killed in the middle, its session does not stay for long.
        settings.options.idle_timeout = Some(60_000);
        let mut show = Show { printer, settings, steps: Vec::new() };
        let driven = self.drive(&mut show, &site.url());
        // The session goes in any case; a failure to end it must not hide why the demo failed.
        let closed = show.step(&["close"]);
        driven.and(closed)?;
        let picture = std::path::absolute(&self.screenshot).map_err(internal)?;
        let text = format!("\nIt works. The screenshot is {}", picture.display());
        Ok(printer.result(&serde_json::json!({ "steps": show.steps, "screenshot": picture }), &text))
    }

    fn drive(&self, show: &mut Show<'_>, url: &str) -> Result<(), Fault> {
        show.step(&["open", url])?;
        let snapshot = show.step(&["snapshot", "-i"])?;
        let email = reference(&snapshot, "textbox", "Email")?;
        let plan = reference(&snapshot, "button", "Sign up")?;
        show.step(&["fill", &email, "ada@example.com"])?;
        show.step(&["click", &plan])?;
        let greeting = show.step(&["get", "text", "h1"])?;
        if greeting["text"] != "Welcome, ada@example.com" {
            return Err(Fault::new(
                Kind::Internal,
                format!("the page shows {} instead of a welcome", greeting["text"]),
            ));
        }
        let picture = self.screenshot.to_string_lossy();
        show.step(&["screenshot", &picture])?;
        Ok(())
    }
}

struct Show<'a> {
    printer: &'a Printer,
    settings: Settings,
    steps: Vec<Value>,
}

impl Show<'_> {
    /// Runs a command line, prints it and what came of it, and returns its data.
    fn step(&mut self, words: &[&str]) -> Result<Value, Fault> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let shown = format!("$ surehand {}", join_words(&words));
        let answer = remote::ask(parse_line(&words)?, self.settings.clone(), self.printer)?;
        let answer: Value = serde_json::from_str(&answer).map_err(internal)?;
        if answer["success"] != true {
            let code = answer["error"]["code"].as_str().and_then(Kind::from_code).unwrap_or(Kind::Internal);
            let message = answer["error"]["message"].as_str().unwrap_or_default();
            return Err(Fault::new(code, format!("{shown}\n{message}")));
        }
        let data = answer["data"].clone();
        if !self.printer.is_json() {
            self.printer.line(&format!("{shown}\n{}", summary(&data)));
        }
        self.steps.push(serde_json::json!({ "command": words, "data": data }));
        Ok(data)
    }
}

fn summary(data: &Value) -> String {
    if let Some(snapshot) = data["snapshot"].as_str() {
        return indent(snapshot.trim_end());
    }
    let fields = data.as_object().into_iter().flatten().map(|(key, value)| match value {
        Value::String(text) => format!("{key}: {text}"),
        other => format!("{key}: {other}"),
    });
    indent(&fields.collect::<Vec<_>>().join("\n"))
}

fn indent(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// The reference of an element in a snapshot.
fn reference(snapshot: &Value, role: &str, name: &str) -> Result<String, Fault> {
    let found = snapshot["refs"]
        .as_object()
        .into_iter()
        .flatten()
        .find(|(_, facts)| facts["role"] == role && facts["name"] == name);
    match found {
        Some((reference, _)) => Ok(format!("@{reference}")),
        None => Err(Fault::new(Kind::Internal, format!("the snapshot lacks the {role} {name:?}"))),
    }
}
