//! The keys at the top of a playbook.

use std::net::SocketAddr;
use std::sync::Arc;

use super::File;
use super::fields::Fields;
use crate::document::{Playbook, Serve, Served, Step, Text, Viewport};
use crate::node::{Node, Value};
use crate::source::Position;

const KEYS: [&str; 8] = ["name", "vars", "viewport", "device", "serve", "setup", "steps", "teardown"];

/// The variable that gets the address of what is served, if nothing else is said.
const SERVED_AS: &str = "base_url";

/// How long a server may take to answer, if nothing else is said.
const SERVE_TIMEOUT_MS: u64 = 30_000;

/// Larger windows are a mistake.
const WIDEST: u32 = 10_000;

impl File<'_, '_> {
    pub(super) fn playbook(&mut self, tree: Node) -> Option<Playbook> {
        let (at, sort) = (tree.at, tree.sort());
        let example = "the least there can be is\nsteps:\n  - navigate: { url: https://example.com }";
        let mut fields = match tree.value {
            Value::Map(entries) => Fields::new(entries),
            Value::Null => {
                self.wrong_with(Position::START, "the file is empty", example);
                return None;
            }
            _ => {
                self.wrong_with(at, format!("a playbook is a mapping with `steps`, not {sort}"), example);
                return None;
            }
        };
        let name = fields.take("name").and_then(|(_, node)| self.text(node, "`name`")).map(|name| name.text);
        let vars = fields.take("vars").map(|(_, node)| self.variables(node, "`vars`")).unwrap_or_default();
        let viewport = fields.take("viewport").and_then(|(_, node)| self.viewport(node));
        let device = fields.take("device").and_then(|(_, node)| self.fixed(node, "`device`"));
        let serve = fields.take("serve").and_then(|(_, node)| self.serve(node));
        let setup = self.phase(&mut fields, "setup");
        let steps = self.phase(&mut fields, "steps");
        let teardown = self.phase(&mut fields, "teardown");
        if steps.is_none() {
            self.wrong_with(at, "`steps` is missing", example);
        }
        self.no_more(fields, "a playbook", &KEYS);
        Some(Playbook {
            source: Arc::clone(&self.source),
            name,
            vars,
            viewport,
            device,
            serve,
            setup: setup.unwrap_or_default(),
            steps: steps.unwrap_or_default(),
            teardown: teardown.unwrap_or_default(),
            uncertain: std::mem::take(&mut self.uncertain),
        })
    }

    fn phase(&mut self, fields: &mut Fields, key: &str) -> Option<Vec<Step>> {
        let (_, node) = fields.take(key)?;
        let prefix = if key == "steps" { "step ".to_owned() } else { format!("{key} step ") };
        Some(self.steps(node, &format!("`{key}`"), &prefix))
    }

    fn viewport(&mut self, node: Node) -> Option<Viewport> {
        let Text { text, at } = self.text(node, "`viewport`")?;
        let side = |side: &str| side.trim().parse().ok().filter(|pixels| (1..=WIDEST).contains(pixels));
        let size = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
        if size.is_none() {
            self.wrong(at, format!("`viewport` is WIDTHxHEIGHT in pixels such as 1280x720, not {text:?}"));
        }
        size.map(|(width, height)| Viewport { width, height, at })
    }

    fn serve(&mut self, node: Node) -> Option<Serve> {
        let at = node.at;
        let Value::Map(entries) = node.value else {
            let Value::String(_) = node.value else {
                self.uncertain.push(SERVED_AS.to_owned());
                self.wrong(
                    at,
                    format!(
                        "`serve` is a directory or a mapping with `dir` or `command`, not {}",
                        node.sort()
                    ),
                );
                return None;
            };
            let directory = self.directory(node, "`serve`");
            if directory.is_none() {
                self.uncertain.push(SERVED_AS.to_owned());
            }
            let directory = directory?;
            return Some(Serve { what: Served::Directory(directory), var: SERVED_AS.to_owned(), at });
        };
        let mut fields = Fields::new(entries);
        let var = match fields.take("var") {
            Some((_, node)) => {
                self.text(node, "`var`").and_then(|name| self.variable_name(&name.text, name.at))
            }
            None => Some(SERVED_AS.to_owned()),
        };
        let what = self.served(&mut fields, at);
        self.no_more(fields, "`serve`", &["dir", "command", "url", "timeout", "var"]);
        if what.is_none() {
            self.uncertain.extend(var.clone());
        }
        Some(Serve { what: what?, var: var?, at })
    }

    fn served(&mut self, fields: &mut Fields, at: Position) -> Option<Served> {
        let (directory, command) = (fields.take("dir"), fields.take("command"));
        let (url, timeout) = (fields.take("url"), fields.take("timeout"));
        match (directory, command) {
            (Some((_, directory)), None) => {
                for (key, _) in url.iter().chain(&timeout) {
                    self.wrong(key.at, format!("{:?} is for `command`, not for `dir`", key.text));
                }
                self.directory(directory, "`dir`").map(Served::Directory)
            }
            (None, Some((_, command))) => {
                let command = self.text(command, "`command`");
                if url.is_none() {
                    self.wrong(at, "`serve` with a `command` needs the `url` where it answers");
                }
                let url = url.and_then(|(_, node)| self.fixed(node, "`url`"));
                let url = url.and_then(|url| self.loopback(url));
                let timeout_ms = match timeout {
                    Some((_, node)) => self.whole(&node, "`timeout`", 1, u64::MAX),
                    None => Some(SERVE_TIMEOUT_MS),
                };
                Some(Served::Command { command: command?, url: url?, timeout_ms: timeout_ms? })
            }
            (Some(_), Some((key, _))) => {
                self.wrong(key.at, "`serve` has either `dir` or `command`, not both");
                None
            }
            (None, None) => {
                self.wrong(at, "`serve` needs `dir` or `command`");
                None
            }
        }
    }

    /// A directory that is there, relative to the playbook.
    fn directory(&mut self, node: Node, what: &str) -> Option<Text> {
        let directory = self.fixed(node, what)?;
        if !self.session.loader.is_directory(&directory.text, &self.source) {
            self.wrong(directory.at, format!("{what} is a directory, and {:?} is none", directory.text));
            return None;
        }
        Some(directory)
    }

    /// An address of this machine.
    fn loopback(&mut self, url: Text) -> Option<Text> {
        let authority = url.text.strip_prefix("http://").and_then(|rest| rest.split(['/', '?', '#']).next());
        let authority = authority.map(|authority| authority.replace("localhost", "127.0.0.1"));
        let address = authority.and_then(|authority| authority.parse::<SocketAddr>().ok());
        if address.is_none_or(|address| !address.ip().is_loopback()) {
            self.wrong_with(
                url.at,
                format!("`url` is an address of this machine with a port, not {:?}", url.text),
                "e.g. http://127.0.0.1:3000",
            );
            return None;
        }
        Some(url)
    }
}
