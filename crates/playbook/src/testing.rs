//! Stand-ins for tests: a few tools, files that are texts.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::catalog::{Catalog, Finding, Unread};
use crate::parse::Loader;
use crate::problem::Problem;
use crate::source::Source;
use crate::vars::{Overrides, Secrets};
use crate::{Opened, open_source};

/// `click`, `fill` and `wait` on the command line; rules for a few tools.
pub(crate) struct Tools(Vec<String>);

impl Tools {
    pub(crate) fn new() -> Self {
        Self(["click", "fill", "wait", "reload"].map(str::to_owned).to_vec())
    }
}

impl Catalog for Tools {
    fn verbs(&self) -> &[String] {
        &self.0
    }

    fn words(&self, verb: &str, words: &[String]) -> Result<Value, Unread> {
        let unread = |message: String, word| Unread { message, word };
        match (verb, words) {
            ("click", [selector]) => Ok(json!({ "selector": selector })),
            ("fill", [selector, value]) => Ok(json!({ "selector": selector, "value": value })),
            ("wait", [ms]) => {
                let ms: u64 = ms.parse().map_err(|_| unread(format!("{ms:?} is no time"), Some(0)))?;
                Ok(json!({ "ms": ms }))
            }
            ("reload", []) => Ok(json!({})),
            _ => Err(unread(format!("{verb} does not take {} words", words.len()), None)),
        }
    }

    fn check(&self, tool: &str, arguments: &Value) -> Vec<Finding> {
        let (known, required): (&[&str], &[&str]) = match tool {
            "navigate" => (&["url", "tabId"], &["url"]),
            "read_page" => (&["mode"], &[]),
            "oc_assert" => return contract(arguments),
            "click" => (&["selector"], &["selector"]),
            "fill" => (&["selector", "value"], &["selector", "value"]),
            "wait" => (&["ms"], &["ms"]),
            "set" => {
                let is_known = arguments.pointer("/what/device/name").is_none_or(|name| *name == "Pixel 7");
                let finding = Finding::value("/what/device/name", "there is no such device");
                return if is_known { Vec::new() } else { vec![finding] };
            }
            _ => return Vec::new(),
        };
        let mut findings = Vec::new();
        for key in arguments.as_object().into_iter().flat_map(|object| object.keys()) {
            if !known.contains(&key.as_str()) {
                findings.push(Finding::key(format!("/{key}"), "there is no such argument"));
            }
        }
        for key in required.iter().filter(|key| arguments.get(key).is_none()) {
            findings.push(Finding::value(format!("/{key}"), "is missing"));
        }
        if let Some(mode) = arguments.get("mode").filter(|mode| **mode != "ax" && **mode != "html") {
            findings.push(Finding::value("/mode", format!("{mode} is neither ax nor html")));
        }
        findings
    }
}

fn contract(arguments: &Value) -> Vec<Finding> {
    match arguments.pointer("/contract/kind").and_then(Value::as_str) {
        Some("url" | "dom_text") => Vec::new(),
        Some(kind) => vec![Finding::value("/contract/kind", format!("there is no kind {kind:?}"))],
        None => vec![Finding::value("/contract/kind", "is missing")],
    }
}

/// Files that are texts.
pub(crate) struct Texts(HashMap<PathBuf, String>);

impl Texts {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        Self(files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())).collect())
    }
}

impl Loader for Texts {
    fn load(&self, path: &str, _from: &Source) -> Result<Source, Problem> {
        let path = Path::new(path);
        let text = self.0.get(path).ok_or_else(|| Problem::of_file("", "there is no such file"))?;
        Source::from_bytes(path, text.clone().into_bytes())
    }

    fn is_directory(&self, path: &str, _from: &Source) -> bool {
        path != "none"
    }
}

/// One secret.
pub(crate) struct Has(pub(crate) &'static str);

impl Secrets for Has {
    fn has(&self, name: &str) -> bool {
        name == self.0
    }
}

pub(crate) fn source(text: &str) -> Source {
    Source::from_bytes(Path::new("a.yaml"), text.into()).unwrap()
}

pub(crate) fn opened(text: &str, files: &[(&str, &str)], vars: &[&str]) -> Opened {
    let overrides = Overrides::parse(vars).unwrap();
    open_source(source(text), &Tools::new(), &Texts::new(files), &overrides, &Has("KEPT"))
}

/// The first line of each problem.
pub(crate) fn said(text: &str) -> Vec<String> {
    heads(&opened(text, &[], &[]))
}

pub(crate) fn heads(opened: &Opened) -> Vec<String> {
    let first = |problem: &Problem| problem.to_string().lines().next().unwrap_or_default().to_owned();
    opened.problems.iter().map(first).collect()
}
