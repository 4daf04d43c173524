//! Which variables are known at a step, and what a text becomes with them.
//!
//! The check and the run use the same scopes, so what was known before is known then. In the check some variables have
//! no value yet. From weak to strong: the variables of the file, the address of what is served, those of the command line,
//! and what the blocks around a step bind. In a used playbook its own variables come on top of all that, then again those
//! of the command line, then those of the step that uses it.
//!
//! A value remembers where the author of a playbook referred to a secret in it. Only such a reference is one: what a page
//! said, or the command line, never becomes one.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::Overrides;
use super::reference::{Piece, Reference, pieces, raw_secrets};
use super::value::Value;
use crate::document::{Playbook, Variable};

/// A layer that has secrets and puts them in where a tool needs them.
pub trait Secrets {
    /// Whether there is a secret of this name.
    fn has(&self, name: &str) -> bool;
}

/// No secrets layer at all.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSecrets;

impl Secrets for NoSecrets {
    fn has(&self, _name: &str) -> bool {
        false
    }
}

/// What a variable is.
#[derive(Clone, PartialEq, Eq)]
pub enum Binding {
    /// This.
    Known(Value),
    /// Something that is only known at run time.
    Later,
}

impl Binding {
    /// A text in which nothing refers to secrets.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::Known(Value::plain(text))
    }
}

/// Values may be secrets.
impl fmt::Debug for Binding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Known(_) => "Known",
            Self::Later => "Later",
        })
    }
}

/// A text with its values put in is not larger than this.
pub const LARGEST_TEXT: usize = 1024 * 1024;

/// What variables hold in all is not larger than this.
const MOST_HELD: usize = 16 * LARGEST_TEXT;

#[derive(Debug, Clone, Default)]
struct Frame {
    bindings: HashMap<String, Binding>,
    /// How many bytes the values are.
    bytes: usize,
}

impl Frame {
    fn insert(&mut self, name: String, binding: Binding) {
        self.bytes += size(&binding);
        let before = self.bindings.insert(name, binding);
        self.bytes -= before.as_ref().map_or(0, size);
    }
}

impl FromIterator<(String, Binding)> for Frame {
    fn from_iter<I: IntoIterator<Item = (String, Binding)>>(bindings: I) -> Self {
        let mut frame = Self::default();
        bindings.into_iter().for_each(|(name, binding)| frame.insert(name, binding));
        frame
    }
}

fn size(binding: &Binding) -> usize {
    match binding {
        Binding::Known(value) => value.text().len(),
        Binding::Later => 0,
    }
}

/// The variables that are known somewhere. Copies are cheap.
#[derive(Debug, Clone)]
pub struct Scope {
    /// Those behind win.
    frames: Vec<Arc<Frame>>,
    overrides: Arc<Frame>,
    level: Level,
}

/// Which frames are those of the playbook whose steps are looked at. What used it is below.
#[derive(Debug, Clone, Copy, Default)]
struct Level {
    /// From here on.
    first: usize,
    /// Those before this one hold what was declared, this one what its steps set, and those behind it belong to blocks.
    own: usize,
}

/// Where a block or a used playbook began.
#[derive(Debug, Clone, Copy)]
pub struct Mark {
    frames: usize,
    level: Level,
}

/// What a text became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filling {
    /// The text; as it was written if something in it is not known now.
    pub text: String,
    /// Whether something in it is only known at run time.
    pub waits: bool,
    /// Secrets that stay in the text for the tool to resolve.
    pub secrets: Vec<String>,
    /// Where in the text they are, in bytes and in order.
    placed: Vec<usize>,
    /// Secrets that the layer has not, so that variables stand in for them; each once, in order.
    pub unmasked: Vec<String>,
    /// Names that nobody knows; each once, in order.
    pub unknown: Vec<String>,
}

impl Filling {
    /// Whether the text is what the tool will get.
    pub fn is_final(&self) -> bool {
        self.is_known() && self.secrets.is_empty()
    }

    /// Whether nothing is missing but secrets, which are never put in here.
    pub fn is_known(&self) -> bool {
        !self.waits && self.unknown.is_empty()
    }

    /// The text as the value of a variable, which refers to the same secrets.
    pub fn into_value(self) -> Value {
        Value::new(self.text, self.placed)
    }

    fn place_secret(&mut self, name: &str) {
        self.placed.push(self.text.len());
        self.text.push_str(&format!("${{SECRET:{name}}}"));
        self.secrets.push(name.to_owned());
    }
}

/// Why values cannot be put in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfillable {
    /// A value would have become a reference to a secret.
    #[error(
        "with its variables put in, this text would refer to the secret {0:?}; write ${{SECRET:{0}}} itself"
    )]
    Smuggled(String),
    /// The tools take every such text for a reference, however it was written.
    #[error("no tool can be given the plain text ${{SECRET:{0}}}: it always stands for the secret")]
    Escaped(String),
    /// More than anybody needs.
    #[error("with its variables put in, this text is larger than {} MiB", LARGEST_TEXT / 1024 / 1024)]
    TooLarge,
}

/// The values of all variables would be more than anybody needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("with this, the variables hold more than {} MiB in all", MOST_HELD / 1024 / 1024)]
pub struct TooMuch;

impl Scope {
    /// What is known at the beginning of a playbook. What is served has no address yet.
    pub fn of(playbook: &Playbook, overrides: &Overrides) -> Self {
        let known = |(name, value): (&String, &String)| (name.clone(), Binding::plain(value));
        let overrides: Arc<Frame> = Arc::new(overrides.0.iter().map(known).collect());
        let served = playbook.serve.iter().map(|serve| (serve.var.clone(), Binding::Later));
        let first: Frame = defaults(playbook).chain(served).collect();
        let frames = vec![Arc::new(first), Arc::clone(&overrides), Arc::default()];
        Self { frames, overrides, level: Level { first: 0, own: 2 } }
    }

    /// Begins a block: what is new from now on ends with it.
    pub fn enter(&mut self) -> Mark {
        let mark = self.mark();
        self.frames.push(Arc::default());
        mark
    }

    fn mark(&self) -> Mark {
        Mark { frames: self.frames.len(), level: self.level }
    }

    /// Begins a used playbook with the variables that the step gives it.
    pub fn enter_use(&mut self, used: &Playbook, given: impl IntoIterator<Item = (String, Binding)>) -> Mark {
        let mark = self.mark();
        self.level = Level { first: mark.frames, own: mark.frames + 2 };
        self.frames.push(Arc::new(defaults(used).collect()));
        self.frames.push(Arc::clone(&self.overrides));
        let mut last = Frame::default();
        for (name, binding) in given {
            let fits = self.held() + last.bytes + size(&binding) <= MOST_HELD;
            last.insert(name, if fits { binding } else { Binding::Later });
        }
        self.frames.push(Arc::new(last));
        mark
    }

    /// Ends what began at a mark.
    pub fn leave(&mut self, mark: Mark) {
        self.frames.truncate(mark.frames);
        self.level = mark.level;
    }

    /// Gives a variable a value in the innermost block.
    pub fn bind(&mut self, name: impl Into<String>, binding: Binding) {
        if let Some(frame) = self.frames.last_mut() {
            Arc::make_mut(frame).insert(name.into(), binding);
        }
    }

    /// Gives a variable what a step brought in, of which nobody knew how much it is.
    pub fn capture(&mut self, name: impl Into<String>, value: String) -> Result<(), TooMuch> {
        if self.held() + value.len() > MOST_HELD {
            return Err(TooMuch);
        }
        self.set(name.into(), Binding::plain(value));
        Ok(())
    }

    /// Gives a variable what a step will bring in.
    pub fn capture_later(&mut self, name: impl Into<String>) {
        self.set(name.into(), Binding::Later);
    }

    /// Sets a variable of this playbook where it is, in whatever block that is; a new one is of the innermost block.
    fn set(&mut self, name: String, binding: Binding) {
        let Level { first, own } = self.level;
        let has = |frame: &usize| self.frames[*frame].bindings.contains_key(&name);
        let inside = (own..self.frames.len()).rev().find(has);
        // What was declared is not changed where it stands: the command line would still win.
        let declared = || (first..own).any(|frame| has(&frame)).then_some(own);
        let frame = inside.or_else(declared).unwrap_or(self.frames.len() - 1);
        Arc::make_mut(&mut self.frames[frame]).insert(name, binding);
    }

    fn held(&self) -> usize {
        self.frames.iter().map(|frame| frame.bytes).sum()
    }

    /// Gives the address of what is served. The command line still wins.
    pub fn bind_served(&mut self, name: impl Into<String>, address: impl Into<String>) {
        if let Some(frame) = self.frames.first_mut() {
            Arc::make_mut(frame).insert(name.into(), Binding::plain(address));
        }
    }

    /// What a variable is.
    pub fn get(&self, name: &str) -> Option<&Binding> {
        self.frames.iter().rev().find_map(|frame| frame.bindings.get(name))
    }

    /// All names that are known.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.frames.iter().flat_map(|frame| frame.bindings.keys()).map(String::as_str)
    }

    /// Puts values in for references, once.
    pub fn fill(&self, text: &str, secrets: &dyn Secrets) -> Result<Filling, Unfillable> {
        let mut filling = Filling {
            text: String::new(),
            waits: false,
            secrets: Vec::new(),
            placed: Vec::new(),
            unmasked: Vec::new(),
            unknown: Vec::new(),
        };
        let mut seen = HashSet::new();
        let mut has_escapes = false;
        for piece in pieces(text) {
            match piece {
                Piece::Text(plain) => filling.text.push_str(plain),
                Piece::Escape => {
                    has_escapes = true;
                    filling.text.push('$');
                }
                Piece::Reference(reference) => self.put(reference, secrets, &mut seen, &mut filling)?,
            }
        }
        if !filling.is_known() {
            filling.text = text.to_owned();
            filling.placed.clear();
            return Ok(filling);
        }
        // The tools know no escapes, so it does not matter how such a text came about.
        let is_smuggled = |(at, _): &(usize, &str)| filling.placed.binary_search(at).is_err();
        let smuggled = raw_secrets(&filling.text).find(is_smuggled).map(|(_, name)| name.to_owned());
        match smuggled {
            None => Ok(filling),
            Some(name) if has_escapes && raw_secrets(text).any(|(_, own)| own == name) => {
                Err(Unfillable::Escaped(name))
            }
            Some(name) => Err(Unfillable::Smuggled(name)),
        }
    }

    /// Puts in what a reference stands for. A secret stays a reference where the layer has it.
    fn put<'t>(
        &'t self,
        reference: Reference<'t>,
        secrets: &dyn Secrets,
        seen: &mut HashSet<Reference<'t>>,
        filling: &mut Filling,
    ) -> Result<(), Unfillable> {
        if let Reference::Secret(name) = reference {
            if secrets.has(name) {
                filling.place_secret(name);
                return Ok(());
            }
            if !seen.contains(&reference) {
                filling.unmasked.push(name.to_owned());
            }
        }
        let is_first = seen.insert(reference);
        let key = reference.key();
        match self.get(&key) {
            Some(Binding::Known(value)) if filling.text.len() + value.text().len() > LARGEST_TEXT => {
                return Err(Unfillable::TooLarge);
            }
            // What stands in for a secret refers to no other: they could go round in circles.
            Some(Binding::Known(value)) if matches!(reference, Reference::Secret(_)) => {
                filling.text.push_str(value.text());
            }
            Some(Binding::Known(value)) => {
                for part in value.parts() {
                    match part {
                        Piece::Reference(secret) => self.put(secret, secrets, seen, filling)?,
                        Piece::Text(plain) => filling.text.push_str(plain),
                        Piece::Escape => {}
                    }
                }
            }
            Some(Binding::Later) => filling.waits = true,
            None if is_first => filling.unknown.push(key),
            None => {}
        }
        Ok(())
    }
}

/// What the variables of a file are if nobody says otherwise.
fn defaults(playbook: &Playbook) -> impl Iterator<Item = (String, Binding)> {
    let uncertain = playbook.uncertain.iter().map(|name| (name.clone(), Binding::Later));
    let known = |var: &Variable| (var.name.clone(), Binding::Known(Value::written(&var.value.text)));
    uncertain.chain(playbook.vars.iter().map(known))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Has(&'static str);

    impl Secrets for Has {
        fn has(&self, name: &str) -> bool {
            name == self.0
        }
    }

    fn scope(vars: &[(&str, &str)]) -> Scope {
        let mut scope =
            Scope { frames: vec![Arc::default()], overrides: Arc::default(), level: Level::default() };
        for (name, value) in vars {
            scope.bind(*name, Binding::plain(*value));
        }
        scope
    }

    fn filled(vars: &[(&str, &str)], text: &str) -> String {
        scope(vars).fill(text, &NoSecrets).unwrap().text
    }

    #[test]
    fn values_are_put_in_once() {
        assert_eq!(filled(&[("a", "1"), ("b", "${a}")], "${a}-${b}-$${a}-$x"), "1-${a}-${a}-$x");
        assert_eq!(filled(&[("a", "{b}"), ("b", "x")], "$${a}${a}"), "${a}{b}");
        assert_eq!(filled(&[("a", "$"), ("b", "x")], "${a}{b}"), "${b}");
        assert_eq!(filled(&[("a", "1")], "$$${a} $$$${a} $$$$${a}"), "$1 $${a} $$1");
        assert_eq!(filled(&[], "5 $$ and $$$"), "5 $$ and $$$");
    }

    #[test]
    fn what_values_make_is_bounded() {
        let large = "x".repeat(LARGEST_TEXT / 2 + 1);
        let mut scope = scope(&[("a", &large)]);
        assert!(scope.fill("${a}", &NoSecrets).is_ok());
        assert_eq!(scope.fill("${a}${a}", &NoSecrets), Err(Unfillable::TooLarge));
        assert_eq!(scope.fill(&"${a}".repeat(1_000_000), &NoSecrets), Err(Unfillable::TooLarge));
        let mark = scope.enter();
        for number in 0..30 {
            assert!(scope.capture(format!("v{number}"), large.clone()).is_ok(), "{number}");
        }
        assert_eq!(scope.capture("more", large.clone()), Err(TooMuch));
        // The same again is no more than before.
        scope.capture("v0", String::new()).unwrap();
        assert!(scope.capture("v0", large.clone()).is_ok());
        scope.leave(mark);
        assert!(scope.capture("more", large).is_ok());
    }

    #[test]
    fn inner_blocks_win_and_end() {
        let mut scope = scope(&[("a", "outer")]);
        let mark = scope.enter();
        scope.bind("a", Binding::plain("inner"));
        scope.bind("later", Binding::Later);
        assert_eq!(scope.fill("${a}", &NoSecrets).unwrap().text, "inner");
        let waiting = scope.fill("${a} ${later}", &NoSecrets).unwrap();
        assert_eq!((waiting.text.as_str(), waiting.waits), ("${a} ${later}", true));
        scope.leave(mark);
        assert_eq!(scope.fill("${a}", &NoSecrets).unwrap().text, "outer");
        assert_eq!(scope.fill("${later} ${x}", &NoSecrets).unwrap().unknown, ["later", "x"]);
    }

    #[test]
    fn secrets_stay_for_the_layer_that_has_them() {
        let scope = scope(&[("SECRET:B", "plain")]);
        let filling = scope.fill("${SECRET:A} ${SECRET:B}", &Has("A")).unwrap();
        assert_eq!(filling.text, "${SECRET:A} plain");
        assert_eq!((filling.secrets, filling.unmasked), (vec!["A".to_owned()], vec!["B".to_owned()]));
        let missing = scope.fill("${SECRET:C}", &Has("A")).unwrap();
        assert_eq!(missing.unknown, ["SECRET:C"]);
    }

    #[test]
    fn values_do_not_become_secrets() {
        let scope = scope(&[("page", "${SECRET:A}"), ("half", "${SEC"), ("dollar", "$")]);
        for text in ["${page}", "${half}RET:A}", "${dollar}{SECRET:A}"] {
            for secrets in [Has("A"), Has("other")] {
                assert_eq!(scope.fill(text, &secrets), Err(Unfillable::Smuggled("A".to_owned())), "{text}");
            }
        }
        assert!(scope.fill("${SECRET:A}${SECRET:A}", &Has("A")).is_ok());
        // A tool would take it for a reference, and fail.
        for secrets in [Has("A"), Has("other")] {
            let escaped = scope.fill("$${SECRET:A}", &secrets);
            assert_eq!(escaped, Err(Unfillable::Escaped("A".to_owned())));
        }
    }

    #[test]
    fn secrets_that_an_author_wrote_are_handed_on() {
        let mut scope = scope(&[("SECRET:B", "stand-in")]);
        scope.bind("own", Binding::Known(Value::written("<${SECRET:A}${SECRET:B}>")));
        let first = scope.fill("x${own}", &Has("A")).unwrap();
        assert_eq!((first.text.as_str(), first.secrets.len()), ("x<${SECRET:A}stand-in>", 1));
        assert_eq!(first.unmasked, ["B"]);
        scope.bind("given", Binding::Known(first.into_value()));
        assert_eq!(scope.fill("${given}!", &Has("A")).unwrap().text, "x<${SECRET:A}stand-in>!");
        assert_eq!(scope.fill("${given}", &NoSecrets).unwrap().unknown, ["SECRET:A"]);
        // A dollar sign before it makes it a text, and no tool can be given that.
        scope.bind("text", Binding::Known(Value::written("$${SECRET:A}")));
        assert!(scope.fill("${text}", &Has("A")).is_err());
    }

    #[test]
    fn captured_variables_are_set_where_they_are() {
        let mut scope = Scope {
            frames: vec![Arc::default(); 3],
            overrides: Arc::default(),
            level: Level { first: 0, own: 2 },
        };
        scope.bind_served("declared", "0");
        scope.capture("before", "0".to_owned()).unwrap();
        let (outer, inner) = (scope.enter(), scope.enter());
        for name in ["declared", "before", "new"] {
            scope.capture(name, "1".to_owned()).unwrap();
        }
        assert_eq!(scope.fill("${declared}${before}${new}", &NoSecrets).unwrap().text, "111");
        scope.leave(inner);
        assert_eq!(scope.fill("${new}", &NoSecrets).unwrap().unknown, ["new"]);
        scope.leave(outer);
        assert_eq!(scope.fill("${declared}${before}", &NoSecrets).unwrap().text, "11");
    }

    #[test]
    fn values_are_not_in_debug_output() {
        assert!(!format!("{:?}", scope(&[("a", "hunter2")])).contains("hunter2"));
    }

    proptest! {
        #[test]
        fn text_without_openings_is_unchanged(text in "\\PC{0,40}|[$a}{ ]{0,20}") {
            prop_assume!(!text.contains("${"));
            prop_assert_eq!(filled(&[("a", "1")], &text), text);
        }

        #[test]
        fn values_are_not_looked_through(value in "[${}ab]{0,12}|\\PC{0,12}", before in "[a-z]{0,5}") {
            let vars = [("a", value.as_str()), ("b", "never"), ("SECRET:b", "never")];
            prop_assert_eq!(filled(&vars, &format!("{before}${{a}}")), format!("{before}{value}"));
        }

        #[test]
        fn nothing_panics(text in "[${}abSECRT:. ä]{0,30}|\\PC{0,30}", value in "\\PC{0,8}|[${}SECRT:A]{0,14}") {
            let scope = scope(&[("a", &value), ("SECRET:b", &value)]);
            let _ = scope.fill(&text, &NoSecrets);
            let _ = scope.fill(&text, &Has("b"));
        }

        #[test]
        fn escapes_give_the_text_itself(name in "[a-z]{1,5}") {
            prop_assert_eq!(filled(&[(name.as_str(), "never")], &format!("$${{{name}}}")), format!("${{{name}}}"));
        }
    }
}
