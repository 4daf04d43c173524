//! The words of `find`, in any order: its own flags stay with it, those of the action go behind the action.
//!
//! A grammar cannot say this: which flags are meant depends on a word that may come later.

use std::collections::HashMap;

use clap::{ArgAction, Command as Grammar};

/// Flags of a grammar by their long and short names, and whether a value follows as a word of its own.
#[derive(Debug, Default)]
pub struct Flags(HashMap<String, bool>);

impl Flags {
    /// The flags of a command itself.
    pub fn of(grammar: &Grammar) -> Self {
        let mut flags = Self::default();
        flags.add(grammar);
        flags
    }

    /// The flags of a command and of all commands in it.
    fn of_all(grammar: &Grammar) -> Self {
        let mut flags = Self::of(grammar);
        for inner in grammar.get_subcommands() {
            flags.0.extend(Self::of_all(inner).0);
        }
        flags
    }

    fn add(&mut self, grammar: &Grammar) {
        for flag in grammar.get_arguments().filter(|argument| !argument.is_positional()) {
            let has_value = matches!(flag.get_action(), ArgAction::Set | ArgAction::Append)
                && !flag.is_require_equals_set()
                && flag.get_num_args().is_none_or(|count| count.min_values() > 0);
            self.0.extend(flag.get_long().map(|long| (format!("--{long}"), has_value)));
            self.0.extend(flag.get_short().map(|short| (format!("-{short}"), has_value)));
        }
    }

    /// How many words a flag takes, itself included; `None` for what is none of these.
    fn words(&self, word: &str) -> Option<usize> {
        let (name, is_joined) = word.split_once('=').map_or((word, false), |(name, _)| (name, true));
        self.0.get(name).map(|has_value| if *has_value && !is_joined { 2 } else { 1 })
    }
}

/// Puts the words of a `find` in the order that its grammar reads: `find FLAGS -- BY VALUE ACTION …`. Other lines are
/// returned as they are. `outer` is the grammar with the flags of every command, whose verbs are its subcommands.
pub fn arrange_find(words: Vec<String>, outer: &Grammar) -> Vec<String> {
    let own = Flags::of(outer);
    let mut at = 0;
    while let Some(taken) = words.get(at).and_then(|word| own.words(word)) {
        at += taken;
    }
    let Some(find) = words.get(at).filter(|word| *word == "find").and_then(|_| outer.find_subcommand("find"))
    else {
        return words;
    };
    let mut stay = own;
    stay.add(find);
    let actions = Flags::of_all(outer);
    let (mut flags, mut plain, mut behind) = (Vec::new(), Vec::new(), Vec::new());
    let mut rest = words[at + 1..].iter();
    while let Some(word) = rest.next() {
        if word == "--" || word == "--help" || word == "-h" {
            // Whoever writes this has put things in order already.
            return words;
        }
        let (list, taken) = match (stay.words(word), actions.words(word)) {
            (Some(taken), _) => (&mut flags, taken),
            (None, Some(taken)) if word.starts_with("--") => (&mut behind, taken),
            _ => (&mut plain, 1),
        };
        list.push(word.clone());
        list.extend(rest.by_ref().take(taken - 1).cloned());
    }
    let mut arranged = words[..=at].to_vec();
    arranged.extend(flags);
    arranged.push("--".to_owned());
    arranged.extend(plain);
    arranged.extend(behind);
    arranged
}
