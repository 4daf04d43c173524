//! From CDP names (`backendDOMNodeId`, `printToPDF`) to Rust names and back.

/// Words that cannot name a field or module as they are.
const KEYWORDS: [&str; 38] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else",
    "enum", "extern", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match",
    "mod", "move", "mut", "override", "pub", "ref", "return", "static", "struct", "trait", "type", "use",
    "where",
];

/// `backendDOMNodeId` → `backend_dom_node_id`, `DOMDebugger` → `dom_debugger`.
pub fn snake(name: &str) -> String {
    words(name).join("_")
}

/// `printToPDF` → `PrintToPdf`, `AXNode` → `AxNode`.
pub fn pascal(name: &str) -> String {
    words(name).iter().map(|word| capitalised(word)).collect()
}

/// A field's identifier, escaped where it is a keyword.
pub fn field(name: &str) -> String {
    let snake = snake(name);
    if KEYWORDS.contains(&snake.as_str()) { format!("r#{snake}") } else { snake }
}

/// Whether serde's `rename_all = "camelCase"` gives the CDP name back.
pub fn round_trips(name: &str) -> bool {
    let words = words(name);
    let mut camel = words.first().cloned().unwrap_or_default();
    camel.extend(words.iter().skip(1).map(|word| capitalised(word)));
    camel == name
}

/// Lower-case words; a run of capitals is one word, up to the capital that starts the next.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &char) in chars.iter().enumerate() {
        let after_lower = at > 0 && !chars[at - 1].is_uppercase();
        let before_lower = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if at > 0 && (char == '_' || char == '-' || char.is_uppercase() && (after_lower || before_lower)) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut()
            && char.is_alphanumeric()
        {
            word.extend(char.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn capitalised(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acronyms_are_words() {
        assert_eq!(snake("backendDOMNodeId"), "backend_dom_node_id");
        assert_eq!(snake("documentURL"), "document_url");
        assert_eq!(snake("DOMDebugger"), "dom_debugger");
        assert_eq!(snake("IO"), "io");
        assert_eq!(pascal("printToPDF"), "PrintToPdf");
        assert_eq!(pascal("getFullAXTree"), "GetFullAxTree");
        assert_eq!(pascal("consoleAPICalled"), "ConsoleApiCalled");
    }

    #[test]
    fn only_what_serde_restores_goes_without_a_rename() {
        assert!(round_trips("frameId"));
        assert!(round_trips("type"));
        assert!(!round_trips("isSVG"));
        assert!(!round_trips("baseURL"));
        assert!(!round_trips("backendDOMNodeId"));
    }

    #[test]
    fn keywords_are_escaped() {
        assert_eq!(field("type"), "r#type");
        assert_eq!(field("override"), "r#override");
        assert_eq!(field("typeName"), "type_name");
    }
}
