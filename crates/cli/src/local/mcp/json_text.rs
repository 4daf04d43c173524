//! Sets one value in JSON text and leaves every other byte as it is: order, indentation, blank lines.

use std::ops::Range;

use serde_json::Value;

/// JSON to write: objects over several lines, anything else on one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Object(Vec<(String, Node)>),
    Text(String),
}

impl Node {
    /// Anything but an object.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Array(values) => {
                let items: Vec<String> = values.iter().map(Value::to_string).collect();
                Self::Text(format!("[{}]", items.join(", ")))
            }
            other => Self::Text(other.to_string()),
        }
    }

    /// An object with one member, in an object with one member …
    pub fn nested(way: &[&str], inner: Node) -> Self {
        way.iter().rev().fold(inner, |inner, name| Self::Object(vec![((*name).to_owned(), inner)]))
    }

    pub fn write(&self, style: &Style, indent: &str) -> String {
        let Self::Object(members) = self else {
            let Self::Text(text) = self else { return String::new() };
            return text.clone();
        };
        if members.is_empty() {
            return "{}".to_owned();
        }
        let deeper = format!("{indent}{}", style.unit);
        let lines: Vec<String> = members
            .iter()
            .map(|(name, node)| {
                format!("{deeper}{}: {}", Value::from(name.as_str()), node.write(style, &deeper))
            })
            .collect();
        let (new, comma) = (style.newline, format!(",{}", style.newline));
        format!("{{{new}{}{new}{indent}}}", lines.join(&comma))
    }
}

/// How a file is written.
#[derive(Debug, Clone)]
pub(super) struct Style {
    unit: String,
    newline: &'static str,
}

impl Style {
    pub fn of(text: &str) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = text.lines().find_map(|line| {
            let indent = &line[..line.len() - line.trim_start().len()];
            (!indent.is_empty() && !line.trim().is_empty()).then(|| indent.to_owned())
        });
        Self { unit: first.unwrap_or_else(|| "  ".to_owned()), newline }
    }

    fn one_line() -> Self {
        Self { unit: String::new(), newline: " " }
    }
}

/// The text with a value set; `None` if something on the way is no object. The text must be valid JSON.
pub(super) fn set(text: &str, way: &[&str], node: &Node) -> Option<String> {
    let style = Style::of(text);
    let mut object = trimmed(text, 0..text.len());
    for (depth, name) in way.iter().enumerate() {
        let members = members(text, &object)?;
        let Some(found) = members.iter().rev().find(|member| member.name == *name) else {
            let inner = Node::nested(&way[depth + 1..], node.clone());
            return Some(insert(text, &object, &members, name, &inner, &style));
        };
        if depth + 1 == way.len() {
            let indent = indent_of(text, found.start);
            let own_line = text[..found.start].trim_end_matches([' ', '\t']).ends_with('\n');
            let written =
                if own_line { node.write(&style, indent) } else { node.write(&Style::one_line(), "") };
            return Some(spliced(text, found.value.clone(), &written));
        }
        object = found.value.clone();
    }
    None
}

/// The members of an object on the way, as they are written.
pub(super) fn members_at(text: &str, way: &[&str]) -> Option<Vec<(String, String)>> {
    let mut object = trimmed(text, 0..text.len());
    for name in way {
        object = members(text, &object)?.into_iter().rev().find(|member| member.name == *name)?.value;
    }
    let all = members(text, &object)?.into_iter();
    Some(all.map(|member| (member.name, text[member.value].to_owned())).collect())
}

struct Member {
    name: String,
    /// Where its name begins.
    start: usize,
    value: Range<usize>,
}

fn insert(
    text: &str,
    object: &Range<usize>,
    members: &[Member],
    name: &str,
    inner: &Node,
    style: &Style,
) -> String {
    let name = Value::from(name);
    let Some((first, last)) = members.first().zip(members.last()) else {
        let outer = indent_of(text, object.start);
        let indent = format!("{outer}{}", style.unit);
        let (new, written) = (style.newline, inner.write(style, &indent));
        return spliced(text, object.clone(), &format!("{{{new}{indent}{name}: {written}{new}{outer}}}"));
    };
    // Members on lines of their own get one more; otherwise the line grows.
    let own_lines = text[object.start..first.start].contains('\n');
    let at = last.value.end..last.value.end;
    if own_lines {
        let indent = indent_of(text, last.start);
        let written = inner.write(style, indent);
        return spliced(text, at, &format!(",{}{indent}{name}: {written}", style.newline));
    }
    let written = inner.write(&Style::one_line(), "");
    spliced(text, at, &format!(", {name}: {written}"))
}

fn spliced(text: &str, range: Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &text[..range.start], &text[range.end..])
}

/// The blanks at the beginning of the line.
fn indent_of(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start().len()]
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let part = &text[range.clone()];
    let start = range.start + (part.len() - part.trim_start().len());
    start..start + part.trim().len()
}

/// The members of the object at a place; `None` if there is none.
fn members(text: &str, object: &Range<usize>) -> Option<Vec<Member>> {
    let bytes = text.as_bytes();
    if bytes.get(object.start) != Some(&b'{') {
        return None;
    }
    let mut members = Vec::new();
    let mut at = skip_blanks(bytes, object.start + 1);
    while bytes.get(at) == Some(&b'"') {
        let start = at;
        let name_end = skip_value(bytes, at);
        let name = serde_json::from_str(&text[start..name_end]).ok()?;
        let value_start = skip_blanks(bytes, skip_blanks(bytes, name_end) + 1);
        let value_end = skip_value(bytes, value_start);
        members.push(Member { name, start, value: value_start..value_end });
        at = skip_blanks(bytes, value_end);
        if bytes.get(at) != Some(&b',') {
            break;
        }
        at = skip_blanks(bytes, at + 1);
    }
    Some(members)
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes.iter().skip(at).take_while(|byte| byte.is_ascii_whitespace()).count();
    at + blanks
}

/// Where the value that begins here ends.
fn skip_value(bytes: &[u8], start: usize) -> usize {
    let (mut at, mut depth, mut quoted) = (start, 0_usize, false);
    while let Some(byte) = bytes.get(at) {
        match (quoted, byte) {
            (true, b'\\') => at += 1,
            (_, b'"') => quoted = !quoted,
            (false, b'{' | b'[') => depth += 1,
            (false, b'}' | b']') if depth == 0 => return at,
            (false, b'}' | b']') => depth -= 1,
            (false, b',') if depth == 0 => return at,
            (false, byte) if byte.is_ascii_whitespace() && depth == 0 => return at,
            _ => {}
        }
        at += 1;
        let closes = matches!(byte, b'"' | b'}' | b']');
        if !quoted && depth == 0 && closes {
            return at;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Node {
        let args = Node::of(&serde_json::json!(["mcp"]));
        Node::Object(vec![("command".to_owned(), Node::of(&"/s".into())), ("args".to_owned(), args)])
    }

    fn set_entry(text: &str) -> String {
        let after = set(text, &["mcpServers", "surehand"], &entry()).expect("objects");
        let mut wanted: Value = serde_json::from_str(text).unwrap();
        wanted["mcpServers"]["surehand"] = serde_json::json!({ "command": "/s", "args": ["mcp"] });
        assert_eq!(serde_json::from_str::<Value>(&after).expect("JSON"), wanted, "{after}");
        after
    }

    #[test]
    fn all_else_stays_to_the_letter() {
        let text = "{\n\t\"z\": 1,\n\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"a,}\\\"\"}\n\t},\n\t\"a\": [1,  2]\n}\n";
        let wanted = text.replace(
            "\\\"\"}\n",
            "\\\"\"},\n\t\t\"surehand\": {\n\t\t\t\"command\": \"/s\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n",
        );
        assert_eq!(set_entry(text), wanted);
    }

    #[test]
    fn any_shape_of_object_takes_it() {
        for text in [
            "{}",
            "{ }\n",
            "{\"mcpServers\":{}}",
            "{\"a\":1}",
            "{\"a\":-1.5e3 , \"mcpServers\" : {\"b\":null}}",
            "{\r\n    \"a\": true\r\n}\r\n",
            "{\n  \"mcpServers\": {\n    \"surehand\": 5,\n    \"b\": \"}\"\n  }\n}",
            "{\"mcpServers\":{\"surehand\":{\"command\":\"old\"}},\"mcpServers\":{\"b\":{}}}",
        ] {
            let once = set_entry(text);
            assert_eq!(set_entry(&once), once);
        }
        assert!(set_entry("{\r\n    \"a\": true\r\n}\r\n").ends_with("\r\n        }\r\n    }\r\n}\r\n"));
    }

    #[test]
    fn what_is_no_object_takes_nothing() {
        assert_eq!(set("[]", &["mcpServers", "surehand"], &entry()), None);
        assert_eq!(set("{\"mcpServers\": []}", &["mcpServers", "surehand"], &entry()), None);
    }
}
