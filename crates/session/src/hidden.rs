//! What was entered in a session and must not be written down, and what stands for it.

use std::sync::Arc;

use serde_json::{Map, Value};
use surehand_guard::{Secrets, SecretsError, Spelling, redact};

use crate::hidden_keys::PressedKey;
use crate::journal::rewrite;

/// See the module.
#[derive(Default)]
pub(crate) struct Hidden {
    /// What went into fields that hide it, the longest first: one may be part of another.
    entered: Vec<Private>,
    /// What masks those of them that are long enough, in whatever form a page gives them back: in an address, in JSON.
    entered_mask: Arc<Secrets>,
    /// Secrets that callers used, in whatever form they come back.
    secrets: Vec<Arc<Secrets>>,
    /// Credentials that packs put in, and what masks all of them.
    lent: Vec<(String, String)>,
    lent_mask: Arc<Secrets>,
    /// Keys that are about to be pressed and must not be written down.
    pub(crate) keys: Vec<PressedKey>,
    /// The field into which keys go one by one, and what stands for all of them.
    run: Option<(String, String)>,
}

/// More files of secrets are not used in one session; the oldest are forgotten.
const MOST_FILES: usize = 64;

impl std::fmt::Debug for Hidden {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Hidden");
        shown.field("secrets", &self.secrets).field("lent", &self.lent_mask).finish_non_exhaustive()
    }
}

/// Fewer characters are not replaced inside of words: they would be found everywhere.
const SHORT: usize = 4;

impl Hidden {
    /// A value that went into a field of this name. The same value has one name, and a name has one value.
    pub fn entered(&mut self, field: &str, value: &str) {
        // What ends a line is a key, and no part of the value.
        self.hide(field, value.trim_end_matches(['\n', '\r', '\t']), false);
    }

    fn hide(&mut self, field: &str, value: &str, is_alone: bool) {
        if self.note(field, value, is_alone) {
            self.renew_mask();
        }
    }

    fn renew_mask(&mut self) {
        let whole = self.entered.iter().filter(|private| !private.is_alone && !private.is_short());
        let pairs = whole.map(|private| (private.name.clone(), private.value.clone()));
        // One that could not be masked in every form is still masked as it is.
        if let Ok(mask) = Secrets::for_masking(pairs, Spelling::Secret) {
            self.entered_mask = Arc::new(mask);
        }
    }

    /// Is anything new about it?
    fn note(&mut self, field: &str, value: &str, is_alone: bool) -> bool {
        if let Some(known) = self.entered.iter_mut().find(|known| known.value == value && !known.is_of_keys) {
            let is_news = known.is_alone && !is_alone;
            known.is_alone &= is_alone;
            return is_news;
        }
        if value.is_empty() || self.is_given(value) {
            return false;
        }
        let name = self.free_name(field);
        self.insert(Private {
            value: value.to_owned(),
            placeholder: placeholder(&name),
            name,
            is_alone,
            is_of_keys: false,
        });
        true
    }

    fn free_name(&self, field: &str) -> String {
        let wanted = name_of(field);
        let names = (2..).map(|number| format!("{wanted}_{number}"));
        let name = std::iter::once(wanted.clone()).chain(names).find(|name| !self.is_taken(name));
        name.unwrap_or(wanted)
    }

    fn insert(&mut self, private: Private) {
        let at = self.entered.partition_point(|known| known.value.len() >= private.value.len());
        self.entered.insert(at, private);
    }

    /// What stands for a key, and for those before it that went into the same field. `is_new` if it types something.
    pub(crate) fn typed_key(&mut self, key: &PressedKey, is_new: bool) -> String {
        let run = self.run.take().filter(|(field, _)| *field == key.field).map(|(_, standing)| standing);
        let known = run.and_then(|run| self.entered.iter().position(|private| private.placeholder == run));
        let mut private = match known {
            Some(at) => self.entered.remove(at),
            None => {
                let name = self.free_name(&key.field);
                let placeholder = placeholder(&name);
                Private { value: String::new(), placeholder, name, is_alone: false, is_of_keys: true }
            }
        };
        if is_new {
            private.value.push_str(&key.text);
        }
        let standing = private.placeholder.clone();
        self.run = Some((key.field.clone(), standing.clone()));
        self.insert(private);
        self.renew_mask();
        standing
    }

    /// Something else was done: the next key begins another secret.
    pub(crate) fn end_run(&mut self) {
        self.run = None;
    }

    pub fn secrets(&mut self, secrets: &Arc<Secrets>) {
        let is_same = |known: &Arc<Secrets>| known.reveal().eq(secrets.reveal());
        if secrets.reveal().next().is_none() || self.secrets.iter().any(is_same) {
            return;
        }
        if self.secrets.len() == MOST_FILES {
            self.secrets.remove(0);
        }
        self.secrets.push(secrets.clone());
    }

    /// From now on nobody reads it here. Fails if it could not be masked.
    pub fn lend(&mut self, name: String, value: String) -> Result<(), SecretsError> {
        if self.lent.iter().any(|(known, same)| *known == name && *same == value) {
            return Ok(());
        }
        let mut lent = self.lent.clone();
        lent.push((name, value));
        self.lent_mask = Arc::new(Secrets::for_masking(lent.iter().cloned(), Spelling::Vault)?);
        self.lent = lent;
        Ok(())
    }

    /// What masks the credentials that were put in.
    pub fn lent(&self) -> Arc<Secrets> {
        self.lent_mask.clone()
    }

    /// What masks everything that callers used.
    pub fn masks(&self) -> Vec<Arc<Secrets>> {
        self.secrets.iter().rev().chain([&self.lent_mask]).cloned().collect()
    }

    /// Learns what is secret in arguments by its own look: passwords in addresses, and what is called a password.
    pub fn learn(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                for at in redact::login_passwords(text) {
                    self.entered("password", &text[at]);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Object(members) => {
                for (name, value) in members {
                    match value {
                        // What people call fields are words.
                        Value::Object(fields) if name == "fields" => {
                            self.learn_members(fields, redact::names_a_secret);
                        }
                        value => self.learn_member(name, value, redact::is_sensitive_name),
                    }
                }
            }
            _ => {}
        }
    }

    fn learn_members(&mut self, members: &Map<String, Value>, is_secret: fn(&str) -> bool) {
        members.iter().for_each(|(name, value)| self.learn_member(name, value, is_secret));
    }

    fn learn_member(&mut self, name: &str, value: &Value, is_secret: fn(&str) -> bool) {
        match value {
            Value::String(text) if is_secret(name) && !text.contains("${SECRET:") => {
                // It may be a word like any other, that only its field calls a secret.
                self.hide(name, text, true);
            }
            value => self.learn(value),
        }
    }

    pub fn mask(&self, value: &mut Value) {
        self.masks().iter().for_each(|secrets| secrets.mask_value(value));
        rewrite(value, &|text| self.entered.iter().fold(text.to_owned(), |text, private| private.mask(text)));
        self.entered_mask.mask_value(value);
    }

    /// Would a text be another one when it is masked?
    pub fn is_in(&self, text: &str) -> bool {
        let mut masked = Value::from(text);
        self.mask(&mut masked);
        masked != text
    }

    fn is_given(&self, value: &str) -> bool {
        self.secrets.iter().any(|secrets| secrets.reveal().any(|(_, known)| known == value))
    }

    fn is_taken(&self, name: &str) -> bool {
        let is_given = |secrets: &Arc<Secrets>| secrets.names().any(|known| known == name);
        let placeholder = placeholder(name);
        self.entered.iter().any(|private| private.placeholder == placeholder)
            || self.secrets.iter().any(is_given)
    }
}

/// A value that nobody may read, and what stands for it.
#[derive(Clone, PartialEq, Eq)]
struct Private {
    value: String,
    name: String,
    placeholder: String,
    /// Is it one only where it is the whole text?
    is_alone: bool,
    /// Did it come key by key?
    is_of_keys: bool,
}

/// What stands for it only.
impl std::fmt::Debug for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Private").field(&self.placeholder).finish()
    }
}

impl Private {
    fn is_short(&self) -> bool {
        self.value.chars().count() < SHORT
    }

    fn mask(&self, text: String) -> String {
        if !text.contains(&self.value) || (self.is_alone && text != self.value) {
            return text;
        }
        let is_short = self.is_short();
        // One or two keys are no text that could be known again.
        if is_short && self.is_of_keys {
            return text;
        }
        let mut out = String::new();
        let mut copied = 0;
        for (at, value) in text.match_indices(&self.value) {
            let (before, after) = (&text[..at], &text[at + value.len()..]);
            let inside = before.ends_with(char::is_alphanumeric) || after.starts_with(char::is_alphanumeric);
            if !(is_short && inside) {
                out.push_str(&text[copied..at]);
                out.push_str(&self.placeholder);
                copied = at + value.len();
            }
        }
        out.push_str(&text[copied..]);
        out
    }
}

fn placeholder(name: &str) -> String {
    format!("${{SECRET:{name}}}")
}

/// The name of a field as that of a secret: `NEW_PASSWORD`.
fn name_of(field: &str) -> String {
    let letters = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    let name: String = field.chars().map(letters).collect();
    let name = name.trim_matches('_');
    let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic());
    if begins_well { name.to_owned() } else { "PASSWORD".to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn masked(hidden: &Hidden, mut value: Value) -> Value {
        hidden.mask(&mut value);
        value
    }

    #[test]
    fn placeholders_are_names() {
        assert_eq!(name_of("Password"), "PASSWORD");
        assert_eq!(name_of("Card number *"), "CARD_NUMBER");
        assert_eq!(name_of("密码"), "PASSWORD");
    }

    #[test]
    fn each_value_has_a_name_of_its_own() {
        let mut hidden = Hidden::default();
        hidden.secrets(&Arc::new(Secrets::parse("PASSWORD_2=given-1").unwrap()));
        for value in ["aaaa1", "bbbb2", "aaaa1", "aaaa12", "given-1"] {
            hidden.entered("Password", value);
        }
        assert_eq!(
            masked(&hidden, json!(["aaaa1", "bbbb2", "aaaa12", "given-1"])),
            json!([
                "${SECRET:PASSWORD}",
                "${SECRET:PASSWORD_3}",
                "${SECRET:PASSWORD_4}",
                "${SECRET:PASSWORD_2}"
            ])
        );
    }

    #[test]
    fn a_value_is_known_in_every_form() {
        let mut hidden = Hidden::default();
        for value in ["a b c d9", "hunter2zz&x", "pä55wörd", "50%off99"] {
            hidden.entered("Password", value);
        }
        let seen =
            json!(["?pw=a+b+c+d9&x=1", "?pw=hunter2zz%26x", "?pw=p%C3%A455w%C3%B6rd", "?pw=50%25off99"]);
        assert_eq!(
            masked(&hidden, seen),
            json!([
                "?pw=${SECRET:PASSWORD}&x=1",
                "?pw=${SECRET:PASSWORD_2}",
                "?pw=${SECRET:PASSWORD_3}",
                "?pw=${SECRET:PASSWORD_4}"
            ])
        );
    }

    fn press(hidden: &mut Hidden, what: &str, field: &str, text: &str) -> Value {
        let key = PressedKey { what: what.to_owned(), field: field.to_owned(), text: text.to_owned() };
        hidden.announce_key(key);
        let mut arguments = json!({ "key": text });
        hidden.hide_keys(what, &mut arguments);
        arguments["key"].clone()
    }

    #[test]
    fn keys_that_follow_each_other_are_one_secret() {
        let mut hidden = Hidden::default();
        for key in ["q", "w", "e", "r"] {
            assert_eq!(press(&mut hidden, "keydown", "Password", key), "${SECRET:PASSWORD}");
            assert_eq!(press(&mut hidden, "keyup", "Password", key), "${SECRET:PASSWORD}");
        }
        assert_eq!(masked(&hidden, json!("see qwer, q")), "see ${SECRET:PASSWORD}, q");
        let mut other = json!({ "key": "x" });
        hidden.hide_keys("press", &mut other);
        assert_eq!(other, json!({ "key": "x" }), "nobody announced it");
        assert_eq!(press(&mut hidden, "press", "Password", "z"), "${SECRET:PASSWORD_2}");
        assert_eq!(press(&mut hidden, "press", "Pin", "1"), "${SECRET:PIN}");
        assert_eq!(masked(&hidden, json!("z 1")), "z 1");
    }

    #[test]
    fn keys_in_a_sentence_take_it_with_them() {
        let mut hidden = Hidden::default();
        let key = PressedKey { what: "act".to_owned(), field: "Pin".to_owned(), text: "7".to_owned() };
        hidden.announce_key(key);
        let mut press = json!({ "key": "7" });
        hidden.hide_keys("press", &mut press);
        assert_eq!(press["key"], "7", "it was another one");
        let mut act = json!({ "action": "click Pin, then press 7" });
        hidden.hide_keys("act", &mut act);
        assert_eq!(act["action"], redact::MASK);
    }

    #[test]
    fn fields_are_judged_by_words() {
        let mut hidden = Hidden::default();
        hidden.learn(&json!({ "fields": { "Secretary": "Ada", "API key": "k-1" } }));
        assert_eq!(masked(&hidden, json!(["Ada", "k-1"])), json!(["Ada", "${SECRET:API_KEY}"]));
    }

    #[test]
    fn a_short_value_is_no_part_of_a_word() {
        let mut hidden = Hidden::default();
        hidden.entered("Pin", "pay");
        assert_eq!(
            masked(&hidden, json!(["#paying", "type pay", "pay"])),
            json!(["#paying", "type ${SECRET:PIN}", "${SECRET:PIN}"])
        );
    }

    #[test]
    fn what_looks_secret_is() {
        let mut hidden = Hidden::default();
        let arguments = json!({ "url": "http://ada:leak1@h/", "set": { "password": "leak2" }, "b": ["x"] });
        hidden.learn(&arguments);
        assert_eq!(
            masked(&hidden, arguments),
            json!({ "url": "http://ada:${SECRET:PASSWORD}@h/", "set": { "password": "${SECRET:PASSWORD_2}" }, "b": ["x"] })
        );
        assert!(hidden.is_in("see leak1") && !hidden.is_in("see") && !hidden.is_in("see leak2"));
        hidden.entered("Password", "leak2");
        assert!(hidden.is_in("see leak2"), "it was a password after all");
    }
}
