//! Any bytes as a playbook: understood, or refused with problems whose places are in the text; never a crash. What is JSON
//! means the same as YAML.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use surehand_playbook::node::Node;
use surehand_playbook::source::Format;
use surehand_playbook::{NoSecrets, Opened, Overrides, OwnCatalog, Problem, Source, open_source};

/// Every playbook that is used is the same one again.
struct Same<'a>(&'a [u8]);

impl surehand_playbook::Loader for Same<'_> {
    fn load(&self, path: &str, _: &Source) -> Result<Source, Problem> {
        Source::from_bytes(Path::new(path), self.0.to_vec())
    }
}

fuzz_target!(|bytes: &[u8]| {
    let (Some(yaml), Some(json)) = (source("fuzz.yaml", bytes), source("fuzz.json", bytes)) else { return };
    let as_yaml = open(&yaml, bytes);
    let as_json = open(&json, bytes);
    let (Ok(from_yaml), Ok(from_json)) = (Node::read(&yaml), Node::read(&json)) else { return };
    assert!(is_same(&from_yaml.to_json(), &from_json.to_json()), "{from_yaml:?}\n{from_json:?}");
    let (yaml, json) = (as_yaml.problems, as_json.problems);
    assert_eq!(yaml.is_empty(), json.is_empty(), "{yaml}\n{json}");
});

fn source(name: &str, bytes: &[u8]) -> Option<Source> {
    Source::from_bytes(Path::new(name), bytes.to_vec()).ok()
}

fn open(source: &Source, bytes: &[u8]) -> Opened {
    let opened = open_source(source.clone(), &OwnCatalog, &Same(bytes), &Overrides::default(), &NoSecrets);
    let text = source.text().replace("\r\n", "\n");
    let text = if source.format() == Format::Yaml { text.replace('\r', "\n") } else { text };
    let lines: Vec<&str> = text.split('\n').collect();
    for problem in opened.problems.iter() {
        assert!(!problem.message.is_empty());
        let Some(at) = problem.at else { continue };
        let line = lines.get((at.line as usize).wrapping_sub(1));
        let line = line.unwrap_or_else(|| panic!("{at} is not in the text: {problem}"));
        assert!((1..=line.chars().count() + 1).contains(&(at.column as usize)), "{at}: {problem}");
    }
    let _ = opened.problems.to_string();
    opened
}

/// The same but for the last bit of a number, and the sign of zero.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap_or_default(), b.as_f64().unwrap_or_default());
            (a - b).abs() <= a.abs() * 1e-15
        }
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|((a, x), (b, y))| a == b && is_same(x, y))
        }
        (a, b) => a == b,
    }
}
