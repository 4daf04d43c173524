//! From JSON to an [`Assertion`], with everything that is wrong reported at once.

use serde::Serialize;
use serde_json::{Map, Value};

use super::dsl::Op;
use super::{Assertion, Comparison, Pattern, Since, Unit};

/// Something that is wrong with a contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Invalid {
    /// Where, e.g. `/children/1/selector`; `/` is the contract itself.
    pub path: String,
    /// What is wrong and what would be right.
    pub message: String,
}

/// Deeper contracts are a mistake, and would cost stack.
const DEEPEST: usize = 32;

/// Older evidence than this says nothing about now.
const OLDEST_MS: f64 = 300_000.0;

const KINDS: &[(&str, &[&str])] = &[
    ("url", &["pattern"]),
    ("dom_text", &["selector", "pattern", "contains"]),
    ("dom_count", &["selector", "op", "value"]),
    ("network", &["url_pattern", "status_in", "since"]),
    ("no_dialog", &[]),
    ("console", &["schema_version", "type", "message_pattern", "uncaught", "op", "value", "max_age_ms"]),
    ("performance", &["schema_version", "metric", "unit", "op", "value", "max_age_ms"]),
    ("screenshot_class", &["class_id", "distance_max"]),
    ("and", &["children"]),
    ("or", &["children"]),
    ("not", &["child"]),
];

/// Reads a contract, or says everything that is wrong with it.
pub fn parse(contract: &Value) -> Result<Assertion, Vec<Invalid>> {
    let mut errors = Vec::new();
    let parsed = assertion(contract, &Place::root(), &mut errors);
    match parsed {
        Some(assertion) if errors.is_empty() => Ok(assertion),
        _ => Err(errors),
    }
}

/// Where in the contract.
#[derive(Clone)]
struct Place {
    pointer: String,
    depth: usize,
}

impl Place {
    fn root() -> Self {
        Self { pointer: String::new(), depth: 0 }
    }

    fn step(&self, name: &str) -> Self {
        let escaped = name.replace('~', "~0").replace('/', "~1");
        Self { pointer: format!("{}/{escaped}", self.pointer), depth: self.depth }
    }

    fn deeper(&self) -> Self {
        Self { depth: self.depth + 1, ..self.clone() }
    }

    fn name(&self) -> String {
        if self.pointer.is_empty() { "/".to_owned() } else { self.pointer.clone() }
    }
}

fn assertion(value: &Value, place: &Place, errors: &mut Vec<Invalid>) -> Option<Assertion> {
    let mut wrong = |place: &Place, message: String| {
        errors.push(Invalid { path: place.name(), message });
        None
    };
    if place.depth > DEEPEST {
        return wrong(place, format!("is nested deeper than {DEEPEST} levels"));
    }
    let Value::Object(fields) = value else {
        return wrong(
            place,
            format!("an assertion is an object such as {{\"kind\": \"url\", …}}, not {}", sort(value)),
        );
    };
    let kind = match fields.get("kind") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(other) => return wrong(&place.step("kind"), format!("is a kind by name, not {}", sort(other))),
        None => return wrong(&place.step("kind"), format!("is missing (kinds: {})", kinds())),
    };
    let Some((_, known)) = KINDS.iter().find(|(name, _)| *name == kind) else {
        return wrong(&place.step("kind"), unknown_kind(kind));
    };
    let mut reader = Reader { fields, place, errors };
    reader.refuse_unknown(kind, known);
    reader.read(kind)
}

fn unknown_kind(kind: &str) -> String {
    if kind == "image_qa" {
        return "\"image_qa\" asks a model, and contracts are judged without one; use screenshot_class"
            .to_owned();
    }
    let names: Vec<&str> = KINDS.iter().map(|(name, _)| *name).collect();
    format!("there is no kind {kind:?}{} (kinds: {})", did_you_mean(kind, &names), kinds())
}

fn kinds() -> String {
    KINDS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

fn did_you_mean(word: &str, known: &[&str]) -> String {
    // Very long words are near to nothing, and comparing them costs.
    if word.chars().count() > 64 {
        return String::new();
    }
    let scored = known.iter().map(|name| (strsim::jaro_winkler(word, name), name));
    let nearest = scored.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|(score, _)| *score >= 0.7);
    nearest.map(|(_, name)| format!(", did you mean {name:?}?")).unwrap_or_default()
}

/// The sort of a JSON value, in words.
fn sort(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// The fields of one assertion.
struct Reader<'a> {
    fields: &'a Map<String, Value>,
    place: &'a Place,
    errors: &'a mut Vec<Invalid>,
}

impl Reader<'_> {
    fn read(&mut self, kind: &str) -> Option<Assertion> {
        match kind {
            "url" => Some(Assertion::Url { pattern: self.required("pattern", Pattern::regex)? }),
            "dom_text" => self.dom_text(),
            "dom_count" => {
                let selector = self.selector("selector");
                let wanted = self.comparison(true);
                Some(Assertion::DomCount { selector: selector?, wanted: wanted? })
            }
            "network" => {
                let url = self.required("url_pattern", Pattern::either);
                let status_in = self.statuses();
                let since = self.one_of("since", Since::NAMES);
                Some(Assertion::Network {
                    url: url?,
                    status_in: status_in?,
                    since: since?.unwrap_or(Since::Ever),
                })
            }
            "no_dialog" => Some(Assertion::NoDialog),
            "console" => self.console(),
            "performance" => self.performance(),
            "screenshot_class" => {
                let class_id = self.required("class_id", class_id);
                let distance_max = self.required_number("distance_max", true, 0.0..=64.0);
                Some(Assertion::ScreenshotClass { class_id: class_id?, distance_max: distance_max? as u32 })
            }
            "and" => self.children().map(Assertion::And),
            "or" => self.children().map(Assertion::Or),
            _ => self.child(),
        }
    }

    fn dom_text(&mut self) -> Option<Assertion> {
        let selector = if self.has("selector") { self.selector("selector") } else { Some("body".to_owned()) };
        let (asked_by, text) = match (self.has("pattern"), self.has("contains")) {
            (true, true) => {
                return self.wrong("contains", "says the same as pattern: give only one of them".to_owned());
            }
            (false, true) => ("contains", self.required("contains", Pattern::substring)),
            (true, false) => ("pattern", self.required("pattern", Pattern::either)),
            (false, false) => {
                return self.wrong("pattern", "is missing; give pattern or contains".to_owned());
            }
        };
        Some(Assertion::DomText { selector: selector?, text: text?, asked_by })
    }

    fn console(&mut self) -> Option<Assertion> {
        let version = self.schema_version();
        let kind = self.optional("type", |kind| match kind {
            "" => Err("is empty; leave it out for all types".to_owned()),
            "warn" => Ok("warning".to_owned()),
            kind => Ok(kind.to_owned()),
        });
        let message = self.optional("message_pattern", Pattern::either);
        let uncaught = self.flag("uncaught");
        let wanted = self.comparison(true);
        let max_age_ms = self.max_age();
        version?;
        Some(Assertion::Console {
            kind: kind?,
            message: message?,
            uncaught: uncaught?,
            wanted: wanted?,
            max_age_ms: max_age_ms?,
        })
    }

    fn performance(&mut self) -> Option<Assertion> {
        let version = self.schema_version();
        let metric = self.selector("metric");
        let unit = self.one_of("unit", Unit::NAMES);
        if unit == Some(None) {
            self.wrong::<()>("unit", format!("is missing; it is one of {}", listed(Unit::NAMES)));
        }
        let wanted = self.comparison(false);
        let max_age_ms = self.max_age();
        version?;
        Some(Assertion::Performance {
            metric: metric?,
            unit: unit??,
            wanted: wanted?,
            max_age_ms: max_age_ms?,
        })
    }

    fn children(&mut self) -> Option<Vec<Assertion>> {
        let place = self.place.step("children");
        let children = match self.fields.get("children") {
            None => return self.wrong("children", "is missing: a list of assertions".to_owned()),
            Some(Value::Array(children)) if children.is_empty() => {
                return self.wrong("children", "is empty: give at least one assertion".to_owned());
            }
            Some(Value::Array(children)) => children,
            Some(other) => {
                return self.wrong("children", format!("is a list of assertions, not {}", sort(other)));
            }
        };
        // All of them are read before any is given up: errors are told together.
        let read: Vec<Option<Assertion>> = children
            .iter()
            .enumerate()
            .map(|(index, child)| assertion(child, &place.step(&index.to_string()).deeper(), self.errors))
            .collect();
        read.into_iter().collect()
    }

    fn child(&mut self) -> Option<Assertion> {
        let Some(child) = self.fields.get("child") else {
            return self.wrong("child", "is missing: not takes one assertion".to_owned());
        };
        let place = self.place.step("child").deeper();
        assertion(child, &place, self.errors).map(|child| Assertion::Not(Box::new(child)))
    }

    fn comparison(&mut self, is_count: bool) -> Option<Comparison> {
        let op = self.one_of("op", Op::NAMES);
        if op == Some(None) {
            self.wrong::<()>("op", format!("is missing; it is one of {}", listed(Op::NAMES)));
        }
        let range = if is_count { 0.0..=f64::from(u32::MAX) } else { f64::MIN..=f64::MAX };
        let value = self.required_number("value", is_count, range);
        Some(Comparison { op: op??, value: value? })
    }

    fn statuses(&mut self) -> Option<Vec<u16>> {
        let list = match self.fields.get("status_in") {
            None => return self.wrong("status_in", "is missing: a list such as [200, 201]".to_owned()),
            Some(Value::Array(list)) if !list.is_empty() => list,
            Some(Value::Array(_)) => {
                return self.wrong("status_in", "is empty: no status would fit".to_owned());
            }
            Some(other) => {
                return self.wrong("status_in", format!("is a list such as [200, 201], not {}", sort(other)));
            }
        };
        let place = self.place.step("status_in");
        let mut statuses = Vec::new();
        for (index, status) in list.iter().enumerate() {
            match as_number(status).filter(|status| status.fract() == 0.0 && (100.0..=599.0).contains(status))
            {
                Some(status) => statuses.push(status as u16),
                None => self.errors.push(Invalid {
                    path: place.step(&index.to_string()).name(),
                    message: format!("is an HTTP status from 100 to 599, not {status}"),
                }),
            }
        }
        (statuses.len() == list.len()).then_some(statuses)
    }

    fn schema_version(&mut self) -> Option<()> {
        match self.fields.get("schema_version") {
            None => Some(()),
            Some(version) if as_number(version) == Some(1.0) => Some(()),
            Some(other) => self.wrong("schema_version", format!("is 1, not {other}")),
        }
    }

    fn max_age(&mut self) -> Option<Option<u64>> {
        Some(self.number("max_age_ms", true, 0.0..=OLDEST_MS)?.map(|age| age as u64))
    }

    /// `None` when it is wrong, `Some(None)` when it is absent.
    fn number(
        &mut self,
        name: &str,
        is_whole: bool,
        range: std::ops::RangeInclusive<f64>,
    ) -> Option<Option<f64>> {
        let Some(value) = self.fields.get(name) else { return Some(None) };
        let fits = |number: &f64| range.contains(number) && (!is_whole || number.fract() == 0.0);
        match as_number(value).filter(fits) {
            Some(number) => Some(Some(number)),
            None => {
                let sort = if is_whole { "a whole number" } else { "a number" };
                let limits = match (*range.start(), *range.end()) {
                    (_, f64::MAX) => String::new(),
                    (start, end) if end == f64::from(u32::MAX) => format!(", {start} or more"),
                    (start, end) => format!(" from {start} to {end}"),
                };
                self.wrong(name, format!("is {sort}{limits}, not {value}"))
            }
        }
    }

    fn required_number(
        &mut self,
        name: &str,
        is_whole: bool,
        range: std::ops::RangeInclusive<f64>,
    ) -> Option<f64> {
        match self.number(name, is_whole, range)? {
            Some(number) => Some(number),
            None => self.wrong(name, "is missing: a number".to_owned()),
        }
    }

    fn one_of<T: Copy>(&mut self, name: &str, names: &[(&str, T)]) -> Option<Option<T>> {
        self.optional(name, |word| {
            let known: Vec<&str> = names.iter().map(|(name, _)| *name).collect();
            names.iter().find(|(name, _)| *name == word).map(|(_, one)| *one).ok_or_else(|| {
                format!("is one of {}, not {word:?}{}", listed(names), did_you_mean(word, &known))
            })
        })
    }

    fn flag(&mut self, name: &str) -> Option<Option<bool>> {
        match self.fields.get(name) {
            None => Some(None),
            Some(Value::Bool(flag)) => Some(Some(*flag)),
            Some(other) => self.wrong(name, format!("is true or false, not {}", sort(other))),
        }
    }

    fn selector(&mut self, name: &str) -> Option<String> {
        self.required(name, |text| match text.trim() {
            "" => Err("is empty".to_owned()),
            _ => Ok(text.to_owned()),
        })
    }

    fn required<T>(&mut self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        match self.optional(name, read)? {
            Some(value) => Some(value),
            None => self.wrong(name, "is missing: a text".to_owned()),
        }
    }

    /// A text, or what `read` makes of it. `None` when it is wrong, `Some(None)` when it is absent.
    fn optional<T>(&mut self, name: &str, read: impl Fn(&str) -> Result<T, String>) -> Option<Option<T>> {
        match self.fields.get(name) {
            None => Some(None),
            Some(Value::String(text)) => match read(text) {
                Ok(value) => Some(Some(value)),
                Err(message) => self.wrong(name, message),
            },
            Some(other) => self.wrong(name, format!("is a text, not {}", sort(other))),
        }
    }

    fn refuse_unknown(&mut self, kind: &str, known: &[&str]) {
        for name in self.fields.keys().filter(|name| *name != "kind" && !known.contains(&name.as_str())) {
            let others = match known {
                [] => " (it has none)".to_owned(),
                known => format!(" (fields: {})", known.join(", ")),
            };
            let message =
                format!("there is no field {name:?} in {kind}{}{others}", did_you_mean(name, known));
            self.errors.push(Invalid { path: self.place.step(name).name(), message });
        }
    }

    fn has(&self, name: &str) -> bool {
        self.fields.contains_key(name)
    }

    fn wrong<T>(&mut self, name: &str, message: String) -> Option<T> {
        self.errors.push(Invalid { path: self.place.step(name).name(), message });
        None
    }
}

/// Playbooks put variables into texts: `"3"` is a number, too.
fn as_number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
    .filter(|number: &f64| number.is_finite())
}

fn class_id(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if text.is_empty() || text == "." || text == ".." || text.len() > 128 || !text.chars().all(is_plain) {
        return Err("is a name of letters, digits, '.', '_' and '-'".to_owned());
    }
    Ok(text.to_owned())
}

fn listed<T>(names: &[(&str, T)]) -> String {
    names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
#[path = "validate_tests.rs"]
mod tests;
