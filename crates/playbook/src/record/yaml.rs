//! A recording in YAML. What is inside of arguments is written in JSON, which is YAML too.

use serde_json::Value;

use super::Line;
use crate::vars::{Piece, Reference, pieces};

/// The whole playbook.
pub(super) fn write(name: &str, lines: &[Line]) -> String {
    let mut out = format!("name: {}\nsteps:", quoted(name));
    if !lines.iter().any(|line| matches!(line, Line::Step { .. })) {
        out.push_str(" []");
    }
    out.push('\n');
    for line in lines {
        match line {
            Line::Step { verb, arguments } => write_step(&mut out, verb, arguments),
            Line::Remark(text) => {
                // One line, whatever is in it.
                let words: Vec<&str> = text.split_whitespace().collect();
                out.push_str(&format!("  # {}\n", words.join(" ")));
            }
        }
    }
    out
}

/// JSON texts are YAML texts.
fn quoted(text: &str) -> String {
    Value::String(text.to_owned()).to_string()
}

/// `- click:` and its arguments below it, one a line.
fn write_step(out: &mut String, verb: &str, arguments: &Value) {
    out.push_str(&format!("  - {verb}:"));
    match arguments.as_object().filter(|members| !members.is_empty()) {
        None => out.push_str(" {}\n"),
        Some(members) => {
            out.push('\n');
            for (name, value) in members {
                out.push_str(&format!("      {}: {}\n", quoted_key(name), literal(value)));
            }
        }
    }
}

fn quoted_key(name: &str) -> String {
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) { name.to_owned() } else { quoted(name) }
}

/// A dollar sign before a brace in recorded text is not a variable, unless it is a secret.
fn literal(value: &Value) -> String {
    fn escape(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(kept_literal(text)),
            Value::Array(items) => items.iter().map(escape).collect(),
            Value::Object(members) => {
                Value::Object(members.iter().map(|(name, value)| (name.clone(), escape(value))).collect())
            }
            other => other.clone(),
        }
    }
    escape(value).to_string()
}

fn kept_literal(text: &str) -> String {
    pieces(text)
        .map(|piece| match piece {
            Piece::Text(text) => text.to_owned(),
            Piece::Escape => "$$$$".to_owned(),
            Piece::Reference(Reference::Secret(name)) => format!("${{SECRET:{name}}}"),
            Piece::Reference(Reference::Variable(name)) => format!("$${{{name}}}"),
        })
        .collect()
}
