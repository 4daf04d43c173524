//! What a contract says, as types, and written back for evidence and failures.

use serde_json::{Value, json};

use super::Pattern;

/// One assertion, or several joined.
#[derive(Debug, Clone)]
pub enum Assertion {
    /// The address of the page.
    Url {
        /// A regular expression.
        pattern: Pattern,
    },
    /// The text of an element.
    DomText {
        /// Which element.
        selector: String,
        /// What it must say.
        text: Pattern,
        /// `pattern` or `contains`: how the text was asked for.
        asked_by: &'static str,
    },
    /// How many elements there are.
    DomCount {
        /// Which elements.
        selector: String,
        /// How many.
        wanted: Comparison,
    },
    /// A request that was answered.
    Network {
        /// Its address.
        url: Pattern,
        /// One of these.
        status_in: Vec<u16>,
        /// From when on.
        since: Since,
    },
    /// No JavaScript dialog is open.
    NoDialog,
    /// How many messages are in the console.
    Console {
        /// `log`, `warning`, `error` …
        kind: Option<String>,
        /// What they say.
        message: Option<Pattern>,
        /// Only exceptions that nobody caught, or only what is none.
        uncaught: Option<bool>,
        /// How many.
        wanted: Comparison,
        /// Only newer ones.
        max_age_ms: Option<u64>,
    },
    /// A number that tells how fast or how heavy the page is.
    Performance {
        /// Which.
        metric: String,
        /// Of the value.
        unit: Unit,
        /// How much.
        wanted: Comparison,
        /// Not older.
        max_age_ms: Option<u64>,
    },
    /// The page looks like reference pictures.
    ScreenshotClass {
        /// Which pictures.
        class_id: String,
        /// How many of 64 bits may differ.
        distance_max: u32,
    },
    /// All of them.
    And(Vec<Assertion>),
    /// One of them.
    Or(Vec<Assertion>),
    /// Not this.
    Not(Box<Assertion>),
}

/// A comparison with a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// How.
    pub op: Op,
    /// With what.
    pub value: f64,
}

/// How numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Equal.
    Eq,
    /// At least.
    Gte,
    /// At most.
    Lte,
}

/// What was counted or measured; some is only known in part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Observed {
    /// So much.
    Exactly(f64),
    /// So much or more: older entries are not known any more.
    AtLeast(f64),
}

impl Comparison {
    /// Does it hold? `None` when what is known does not tell.
    pub fn holds(self, observed: Observed) -> Option<bool> {
        let value = self.value;
        match (observed, self.op) {
            (Observed::Exactly(seen), Op::Eq) => Some(seen == value),
            (Observed::Exactly(seen), Op::Gte) => Some(seen >= value),
            (Observed::Exactly(seen), Op::Lte) => Some(seen <= value),
            (Observed::AtLeast(seen), Op::Gte) => (seen >= value).then_some(true),
            (Observed::AtLeast(seen), Op::Eq | Op::Lte) => (seen > value).then_some(false),
        }
    }
}

impl Op {
    /// All, as they are written.
    pub const NAMES: &[(&str, Op)] = &[("eq", Op::Eq), ("gte", Op::Gte), ("lte", Op::Lte)];

    /// As it is written.
    pub fn name(self) -> &'static str {
        name_in(Self::NAMES, self)
    }
}

/// From when on requests count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Since {
    /// All that are recorded.
    Ever,
    /// Since the contract began to be judged.
    ContractEnter,
    /// Since the last command that acts on the page.
    LastToolCall,
}

impl Since {
    /// Those that can be written.
    pub const NAMES: &[(&str, Since)] =
        &[("contract_enter", Since::ContractEnter), ("last_tool_call", Since::LastToolCall)];

    /// As it is written.
    pub fn name(self) -> Option<&'static str> {
        (self != Since::Ever).then(|| name_in(Self::NAMES, self))
    }
}

/// Of what a metric is measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Milliseconds.
    Ms,
    /// Seconds.
    Seconds,
    /// Bytes.
    Bytes,
    /// A plain number.
    Count,
}

impl Unit {
    /// All, as they are written.
    pub const NAMES: &[(&str, Unit)] =
        &[("ms", Unit::Ms), ("seconds", Unit::Seconds), ("bytes", Unit::Bytes), ("count", Unit::Count)];

    /// As it is written.
    pub fn name(self) -> &'static str {
        name_in(Self::NAMES, self)
    }

    /// A value in another unit of the same sort; `None` when there is no way from one to the other.
    pub fn convert(self, value: f64, to: Unit) -> Option<f64> {
        match (self, to) {
            (from, to) if from == to => Some(value),
            (Unit::Ms, Unit::Seconds) => Some(value / 1000.0),
            (Unit::Seconds, Unit::Ms) => Some(value * 1000.0),
            _ => None,
        }
    }
}

fn name_in<T: Copy + PartialEq>(names: &[(&'static str, T)], wanted: T) -> &'static str {
    names.iter().find(|(_, one)| *one == wanted).map_or("", |(name, _)| name)
}

impl Assertion {
    /// Its kind, as it is written.
    pub fn kind(&self) -> &'static str {
        match self {
            Assertion::Url { .. } => "url",
            Assertion::DomText { .. } => "dom_text",
            Assertion::DomCount { .. } => "dom_count",
            Assertion::Network { .. } => "network",
            Assertion::NoDialog => "no_dialog",
            Assertion::Console { .. } => "console",
            Assertion::Performance { .. } => "performance",
            Assertion::ScreenshotClass { .. } => "screenshot_class",
            Assertion::And(_) => "and",
            Assertion::Or(_) => "or",
            Assertion::Not(_) => "not",
        }
    }

    /// What is expected, as a contract would say it.
    pub fn expected(&self) -> Value {
        let mut fields = match self {
            Assertion::Url { pattern } => json!({ "pattern": pattern.source() }),
            Assertion::DomText { selector, text, asked_by } => {
                json!({ "selector": selector, *asked_by: text.source() })
            }
            Assertion::DomCount { selector, wanted } => {
                json!({ "selector": selector, "op": wanted.op.name(), "value": number(wanted.value) })
            }
            Assertion::Network { url, status_in, since } => {
                json!({ "url_pattern": url.source(), "status_in": status_in, "since": since.name() })
            }
            Assertion::NoDialog => json!({ "no_dialog": true }),
            Assertion::Console { kind, message, uncaught, wanted, max_age_ms } => json!({
                "type": kind,
                "message_pattern": message.as_ref().map(Pattern::source),
                "uncaught": uncaught,
                "op": wanted.op.name(),
                "value": number(wanted.value),
                "max_age_ms": max_age_ms,
            }),
            Assertion::Performance { metric, unit, wanted, max_age_ms } => json!({
                "metric": metric,
                "unit": unit.name(),
                "op": wanted.op.name(),
                "value": number(wanted.value),
                "max_age_ms": max_age_ms,
            }),
            Assertion::ScreenshotClass { class_id, distance_max } => {
                json!({ "class_id": class_id, "distance_max": distance_max })
            }
            Assertion::And(children) | Assertion::Or(children) => {
                json!({ self.kind(): children.iter().map(Assertion::named).collect::<Vec<_>>() })
            }
            Assertion::Not(child) => json!({ "not": child.named() }),
        };
        if let Some(fields) = fields.as_object_mut() {
            fields.retain(|_, value| !value.is_null());
        }
        fields
    }

    fn named(&self) -> Value {
        json!({ self.kind(): self.expected() })
    }
}

/// A number as people write it: 3, not 3.0.
pub fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT { json!(value as i64) } else { json!(value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_in_part_decides_only_where_more_would_change_nothing() {
        let compare = |op, value, seen| Comparison { op, value }.holds(Observed::AtLeast(seen));
        assert_eq!(compare(Op::Gte, 3.0, 3.0), Some(true));
        assert_eq!(compare(Op::Gte, 3.0, 2.0), None);
        assert_eq!(compare(Op::Lte, 3.0, 4.0), Some(false));
        assert_eq!(compare(Op::Lte, 3.0, 3.0), None);
        assert_eq!(compare(Op::Eq, 3.0, 4.0), Some(false));
        assert_eq!(compare(Op::Eq, 3.0, 3.0), None);
    }

    #[test]
    fn numbers_are_written_as_people_write_them() {
        assert_eq!(number(3.0).to_string(), "3");
        assert_eq!(number(0.5).to_string(), "0.5");
    }

    #[test]
    fn times_are_converted_and_nothing_else() {
        assert_eq!(Unit::Ms.convert(1500.0, Unit::Seconds), Some(1.5));
        assert_eq!(Unit::Bytes.convert(1.0, Unit::Bytes), Some(1.0));
        assert_eq!(Unit::Bytes.convert(1.0, Unit::Count), None);
    }
}
