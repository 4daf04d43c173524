//! Which tools a playbook calls, for servers that may not have them.

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::Value;

use crate::catalog::{Catalog, Finding, Unread};
use crate::document::{ASSERT_TOOL, Action, Playbook, Step, Until};
use crate::own_catalog::OwnCatalog;
use crate::problem::Problems;
use crate::source::{Position, Source};
use crate::typed::Sort;

/// Knows the verbs, and leaves the arguments to whoever has the tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct AnyArguments;

impl Catalog for AnyArguments {
    fn verbs(&self) -> &[String] {
        // A reference to a constant lives for ever.
        Catalog::verbs(&OwnCatalog)
    }

    fn words(&self, verb: &str, words: &[String]) -> Result<Value, Unread> {
        OwnCatalog.words(verb, words)
    }

    fn check(&self, _: &str, _: &Value) -> Vec<Finding> {
        Vec::new()
    }

    fn sort_of(&self, tool: &str, pointer: &str) -> Option<Sort> {
        // A tool of the same name takes the same, wherever it is.
        OwnCatalog.sort_of(tool, pointer)
    }

    fn misplaced(&self, tool: &str, arguments: &Value) -> Vec<(String, String)> {
        // Secrets are put in here, by the same rules for all servers.
        OwnCatalog.misplaced(tool, arguments)
    }
}

/// A problem for each place that calls a tool which is not among those that there are.
pub fn missing_tools(playbook: &Playbook, there_are: &[String]) -> Problems {
    let mut look =
        Look { there_are: there_are.iter().map(String::as_str).collect(), missing: Problems::default() };
    look.playbook(playbook);
    look.missing
}

struct Look<'a> {
    there_are: HashSet<&'a str>,
    missing: Problems,
}

impl Look<'_> {
    fn playbook(&mut self, playbook: &Playbook) {
        let source = &playbook.source;
        if let Some(at) = playbook.viewport.map(|viewport| viewport.at) {
            self.needs("set", "viewport", source, at);
        }
        if let Some(device) = &playbook.device {
            self.needs("set", "device", source, device.at);
        }
        for steps in [&playbook.setup, &playbook.steps, &playbook.teardown] {
            self.steps(steps, source);
        }
    }

    fn steps(&mut self, steps: &[Step], source: &Arc<Source>) {
        for step in steps {
            match &step.action {
                Action::Plain(plain) => self.needs(plain.tool(), &step.label, source, plain.verb_at),
                Action::If(branching) => {
                    self.needs(ASSERT_TOOL, &step.label, source, step.at);
                    self.steps(&branching.then, source);
                    self.steps(&branching.otherwise, source);
                }
                Action::Repeat(repeat) => {
                    if matches!(repeat.until, Until::Passes { .. }) {
                        self.needs(ASSERT_TOOL, &step.label, source, step.at);
                    }
                    self.steps(&repeat.steps, source);
                }
                Action::ForEach(each) => self.steps(&each.steps, source),
                Action::Parallel(branches) => {
                    branches.iter().for_each(|branch| self.steps(&branch.steps, source));
                }
                Action::Use(using) => self.playbook(&using.playbook),
            }
        }
    }

    fn needs(&mut self, tool: &str, what: &str, source: &Source, at: Position) {
        if !self.there_are.contains(tool) {
            self.missing.push(source.problem(at, format!("{what}: the server has no tool {tool:?}")));
        }
    }
}
