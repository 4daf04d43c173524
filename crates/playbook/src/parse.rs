//! From a tree to a [`Playbook`], with everything that is wrong reported at once.
//!
//! A place that is not understood is left out and reading goes on, so the result of a bad file is good for looking for
//! further problems and for nothing else. Whether variables are known and arguments fit is for [`mod@crate::check`].

mod control;
mod fields;
mod plain;
mod step;
mod top;

use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::catalog::Catalog;
use crate::document::{Playbook, VERBS};
use crate::node::Node;
use crate::problem::{Problem, Problems};
use crate::source::{Position, Source};

/// Playbooks that use playbooks end here.
const DEEPEST_USE: usize = 16;

/// Where used playbooks come from.
pub trait Loader {
    /// The file that is meant by a path in another file. Its [`Source::path`] says whether two files are the same.
    fn load(&self, path: &str, from: &Source) -> Result<Source, Problem>;

    /// Whether there is a directory of this path, as another file means it.
    fn is_directory(&self, path: &str, from: &Source) -> bool;
}

/// Files, relative to the one that uses them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files;

impl Loader for Files {
    fn load(&self, path: &str, from: &Source) -> Result<Source, Problem> {
        Source::read(&normal(&beside(from, path)))
    }

    fn is_directory(&self, path: &str, from: &Source) -> bool {
        beside(from, path).is_dir()
    }
}

/// Paths in a file are relative to it.
fn beside(file: &Source, path: &str) -> PathBuf {
    file.path().parent().unwrap_or(Path::new("")).join(path)
}

/// Without `.` and `..` as far as possible, so that the same file has the same path.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in path.components() {
        let above = matches!(component, Component::ParentDir)
            && matches!(normal.components().next_back(), Some(Component::Normal(_)));
        match component {
            Component::CurDir => {}
            _ if above => drop(normal.pop()),
            other => normal.push(other),
        }
    }
    normal
}

/// What a file was understood as. The playbook is whole only if there are no problems.
#[derive(Debug)]
pub struct Parsed {
    /// As much of it as was understood.
    pub playbook: Option<Playbook>,
    /// Everything that was not.
    pub problems: Problems,
}

/// Understands a file and all that it uses.
pub fn parse(source: Source, catalog: &dyn Catalog, loader: &dyn Loader) -> Parsed {
    let verbs = catalog.verbs().iter().map(String::as_str).collect();
    let mut session =
        Session { verbs, loader, problems: Problems::default(), trail: Vec::new(), done: HashMap::new() };
    let playbook = session.file(source);
    Parsed { playbook, problems: session.problems }
}

/// Reading one file and all that it uses.
struct Session<'a> {
    /// Those of the command line.
    verbs: HashSet<&'a str>,
    loader: &'a dyn Loader,
    problems: Problems,
    /// The files that are being read, each used by the one before.
    trail: Vec<Arc<Source>>,
    /// Each file is read once, however often it is used; `None` if it was not understood.
    done: HashMap<PathBuf, Option<Arc<Playbook>>>,
}

impl Session<'_> {
    fn file(&mut self, source: Source) -> Option<Playbook> {
        let tree = match Node::read(&source, &mut self.problems) {
            Ok(tree) => tree,
            Err(problem) => {
                self.problems.push(problem);
                return None;
            }
        };
        let source = Arc::new(source);
        self.trail.push(Arc::clone(&source));
        let mut file = File { session: self, source, ids: HashMap::new(), uncertain: Vec::new() };
        let playbook = file.playbook(tree);
        self.trail.pop();
        playbook
    }

    fn is_verb(&self, name: &str) -> bool {
        VERBS.iter().any(|(verb, _)| *verb == name) || self.verbs.contains(name)
    }
}

/// Reading one file.
struct File<'s, 'a> {
    session: &'s mut Session<'a>,
    source: Arc<Source>,
    /// Where each id was first given.
    ids: HashMap<String, Position>,
    /// Variables of places that were not understood.
    uncertain: Vec<String>,
}

impl File<'_, '_> {
    fn wrong(&mut self, at: Position, message: impl Into<String>) {
        self.say(at, message, []);
    }

    fn wrong_with(&mut self, at: Position, message: impl Into<String>, note: impl Into<String>) {
        self.say(at, message, [note.into()]);
    }

    fn say(&mut self, at: Position, message: impl Into<String>, notes: impl IntoIterator<Item = String>) {
        // Nobody reads further ones.
        if self.session.problems.is_full() {
            return self.session.problems.count();
        }
        let mut problem = self.source.problem(at, message);
        problem.notes.extend(notes);
        self.session.problems.push(problem);
    }
}

#[cfg(test)]
#[path = "parse/tests.rs"]
mod tests;
