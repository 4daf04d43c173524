//! Keys that are pressed one by one, or behind others, where nobody may read what is entered.
//!
//! A single letter cannot be masked by its look, so each key is announced before it is pressed, and the line of the journal
//! about it takes the announcement. Keys that follow each other are one secret: a recording asks for it as a whole.

use serde_json::Value;
use surehand_guard::redact;
use surehand_page::{Deadline, KeyChord};

use crate::hidden::Hidden;
use crate::{Session, Tab};

/// A key that was pressed, or is about to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PressedKey {
    /// The verb or the tool that presses it.
    pub what: String,
    /// What the field is called.
    pub field: String,
    /// What it types.
    pub text: String,
}

/// So many wait at most: what never got into the journal is forgotten.
const MOST: usize = 64;

impl Session {
    /// From now on this key is not written down, if it types something into a field whose content must not be.
    pub async fn hide_typed_key(&self, what: &str, chord: &KeyChord, tab: &Tab, deadline: &Deadline) {
        let Some(text) = chord.types() else { return };
        if let Some(field) = tab.page.private_focus(deadline).await {
            self.hidden().announce_key(PressedKey { what: what.to_owned(), field, text: text.to_owned() });
        }
    }

    /// From now on what was typed behind a Tab is not written down, if that led into such a field, or if nobody can say any
    /// more: what ends with Enter has mostly sent the form.
    pub async fn hide_led_on(&self, text: &str, tab: &Tab, deadline: &Deadline) {
        let Some((_, last)) = text.rsplit_once('\t').filter(|(_, last)| !last.trim().is_empty()) else {
            return;
        };
        let field = tab.page.private_focus(deadline).await;
        if let Some(field) = field.or_else(|| last.ends_with('\n').then(|| "password".to_owned())) {
            self.hide_entered(&field, last);
        }
    }
}

impl Hidden {
    pub(crate) fn announce_key(&mut self, key: PressedKey) {
        if self.keys.len() == MOST {
            self.keys.remove(0);
        }
        self.keys.push(key);
    }

    /// Takes the keys that this line is about out of its arguments.
    pub(crate) fn hide_keys(&mut self, what: &str, arguments: &mut Value) {
        let (mine, others) = self.keys.drain(..).partition(|key| key.what == what);
        self.keys = others;
        let mine: Vec<PressedKey> = mine;
        let Some(last) = mine.last() else { return self.end_run() };
        match arguments.get_mut("key") {
            Some(key) => *key = self.typed_key(last, what != "keyup").into(),
            // A sentence: nobody can tell which letters in it were the keys.
            None => {
                self.end_run();
                for name in ["action", "instruction"] {
                    if let Some(sentence) = arguments.get_mut(name) {
                        *sentence = redact::MASK.into();
                    }
                }
            }
        }
    }
}
