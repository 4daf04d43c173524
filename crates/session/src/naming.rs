//! What references in the arguments of a call mean: found before the call, when the page is as it was meant, because it may
//! be another one afterwards.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use surehand_page::{Deadline, Lasting};

use crate::{Session, refs};

/// Selectors of the elements that references mean, the best first.
#[derive(Debug, Default)]
pub struct Named(BTreeMap<u32, Vec<Lasting>>);

/// What must be done before selectors mean what they meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// `<iframe>` elements to go into, from the page itself; `None` if they hold where we are.
    pub frames: Option<Vec<String>>,
    /// Take a snapshot: it opens closed shadow roots.
    pub snapshot: bool,
}

/// A page that needs longer to find its own elements cannot be recorded.
const NAMING_TIME: Duration = Duration::from_secs(2);

/// Members that hold a selector, in the arguments of verbs, tools and contracts.
const SELECTORS: [&str; 5] = ["selector", "source", "target", "ref", "submit"];

impl Session {
    /// What the references in these arguments mean now.
    pub async fn name_references(&self, arguments: &Value, deadline: &Deadline) -> Named {
        let mut named = Named::default();
        visit(&mut arguments.clone(), &mut |number, _| {
            named.0.entry(number).or_default();
            None
        });
        let deadline = deadline.at_most(NAMING_TIME);
        for (number, found) in &mut named.0 {
            let Some(handle) = self.refs().handle(*number) else { continue };
            let Some(tab) = self.tabs().all().into_iter().find(|tab| tab.page.has(handle)) else { continue };
            // What cannot be named is told where it is needed.
            *found = tab.page.lasting(handle, &deadline).await.unwrap_or_default();
        }
        named
    }
}

impl Named {
    /// Writes selectors in place of references; none that `is_hidden` may be used. Returns what they need before.
    pub(crate) fn write(&self, arguments: &mut Value, is_hidden: impl Fn(&str) -> bool) -> Before {
        // There is one frame at a time: several elements are named from where we are.
        let is_alone = self.0.len() == 1;
        let fits = |way: &Lasting, stand: Stand| {
            (is_alone || way.frames.is_none())
                && stand.takes(&way.selector)
                && !is_hidden(&way.selector)
                && !way.frames.iter().flatten().any(|frame| is_hidden(frame))
        };
        let mut before = Before::default();
        visit(arguments, &mut |number, stand| {
            let way = self.0.get(&number)?.iter().find(|way| fits(way, stand))?;
            before.frames.clone_from(&way.frames);
            before.snapshot |= way.after_snapshot;
            Some(way.selector.clone())
        });
        before
    }
}

/// Are there references in these arguments, which nobody will understand later?
pub fn has_references(arguments: &Value) -> bool {
    let mut found = false;
    visit(&mut arguments.clone(), &mut |_, _| {
        found = true;
        None
    });
    found
}

/// Where a reference stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stand {
    Alone,
    /// As a word: what stands for it must not have quotes or joints in it.
    InSentence,
}

impl Stand {
    fn takes(self, selector: &str) -> bool {
        self == Self::Alone || !selector.contains(['"', '\'', ',', ';'])
    }
}

/// Knows a selector for a reference, or not.
type Namer<'n> = dyn FnMut(u32, Stand) -> Option<String> + 'n;

/// Shows each reference to somebody who may know a selector for it.
fn visit(value: &mut Value, name: &mut Namer<'_>) {
    let members = match value {
        Value::Array(items) => return items.iter_mut().for_each(|item| visit(item, name)),
        Value::Object(members) => members,
        _ => return,
    };
    let waits = members.get("condition").and_then(Value::as_str).is_some_and(|it| it.starts_with("selector"));
    for (member, value) in members.iter_mut() {
        match value {
            Value::String(text) if SELECTORS.contains(&member.as_str()) || (waits && member == "value") => {
                if let Some(selector) = refs::parse(text).and_then(|number| name(number, Stand::Alone)) {
                    *text = selector;
                }
            }
            Value::String(text) if matches!(member.as_str(), "action" | "instruction") => {
                *text = in_sentence(text, name);
            }
            Value::Object(fields) if member == "fields" => {
                for (field, value) in std::mem::take(fields) {
                    let selector = refs::parse(&field).and_then(|number| name(number, Stand::Alone));
                    fields.insert(selector.unwrap_or(field), value);
                }
            }
            other => visit(other, name),
        }
    }
}

/// Words after which a plain `e5` is an element and no text.
const BEFORE: [&str; 14] = [
    "click",
    "double-click",
    "tap",
    "press",
    "hover",
    "over",
    "on",
    "into",
    "in",
    "fill",
    "from",
    "check",
    "uncheck",
    "to",
];

fn in_sentence(sentence: &str, name: &mut Namer<'_>) -> String {
    let mut before = String::new();
    let mut words = Vec::new();
    for word in sentence.split(' ') {
        let is_marked = word.starts_with('@') || word.starts_with("ref=");
        let number = refs::parse(word).filter(|_| is_marked || BEFORE.contains(&before.as_str()));
        let selector = number.and_then(|number| name(number, Stand::InSentence));
        before = word.to_lowercase();
        words.push(selector.unwrap_or_else(|| word.to_owned()));
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named() -> Named {
        let way = |selector: &str, frames: Option<&str>| Lasting {
            selector: selector.to_owned(),
            frames: frames.map(|frame| vec![frame.to_owned()]),
            after_snapshot: false,
        };
        Named(BTreeMap::from([
            (5, vec![way("role=button[name=\"Go\"]", Some("iframe")), way("css=#go", None)]),
            (6, vec![way("role=textbox", None)]),
            (7, vec![]),
        ]))
    }

    fn written(mut arguments: Value) -> (Value, Option<Vec<String>>) {
        let mut named = named();
        visit(&mut arguments.clone(), &mut |number, _| {
            named.0.entry(number + 100).or_default();
            None
        });
        let used: Vec<u32> = named.0.keys().filter(|key| **key > 100).map(|key| key - 100).collect();
        named.0.retain(|key, _| used.contains(key));
        let before = named.write(&mut arguments, |_| false);
        (arguments, before.frames)
    }

    #[test]
    fn references_are_replaced_where_they_are_meant() {
        assert_eq!(
            written(json!({ "selector": "@e6", "value": "e6" })),
            (json!({ "selector": "role=textbox", "value": "e6" }), None)
        );
        assert_eq!(
            written(json!({ "selector": "e5" })),
            (json!({ "selector": "role=button[name=\"Go\"]" }), Some(vec!["iframe".to_owned()]))
        );
        // Of several none can be in a frame of its own.
        assert_eq!(
            written(json!({ "fields": { "e6": "x" }, "submit": "ref=e5" })),
            (json!({ "fields": { "role=textbox": "x" }, "submit": "css=#go" }), None)
        );
        let sentence = |text: &str| written(json!({ "action": text })).0["action"].clone();
        assert_eq!(sentence("type e6 into e6, then click @e5"), "type e6 into e6, then click css=#go");
        assert_eq!(sentence("click e6"), "click role=textbox");
    }

    #[test]
    fn what_cannot_be_named_is_seen() {
        let (arguments, _) = written(json!({ "selector": "@e7" }));
        assert!(has_references(&arguments));
        assert!(!has_references(&json!({ "selector": "#e7", "value": "@e7" })));
        assert!(has_references(&json!({ "fields": { "@e7": "x" } })));
    }
}
