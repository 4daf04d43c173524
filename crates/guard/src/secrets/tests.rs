mod names;

use base64::Engine;
use base64::engine::general_purpose::{GeneralPurpose, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn secrets(text: &str) -> Secrets {
    Secrets::parse(text).expect("secrets")
}

fn one(value: &str) -> Option<Secrets> {
    Secrets::build(vec![Entry::new(1, "PW".to_owned(), value.to_owned())]).ok()
}

#[test]
fn a_file_is_read() {
    let text = "\u{feff}# comment\r\n\nA=plain value # comment\nexport B = 'it is # \"literal\"' # c\nC=\"a\\\"b\\\\c\\nd\\q\"\nD_1=x#yz=${A}\n";
    let secrets = secrets(text);
    let all: Vec<_> = secrets.entries.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
    assert_eq!(
        all,
        [("A", "plain value"), ("B", "it is # \"literal\""), ("C", "a\"b\\c\nd\\q"), ("D_1", "x#yz=${A}"),]
    );
}

#[test]
fn a_part_of_a_value_stays_where_only_whole_ones_are_masked() {
    let secrets = secrets("PW=correct horse battery\n");
    assert_eq!(secrets.mask_whole("my correct horse battery!"), "my ${SECRET:PW}!");
    for part in ["correct", "correct horse batter", "correct h\u{2026}"] {
        assert_eq!(secrets.mask_whole(part), part);
    }
    assert_ne!(secrets.mask("correct horse batter"), "correct horse batter");
}

#[test]
fn a_bad_line_is_told_by_its_number_only() {
    let many: String = (0..101).map(|n| format!("K{n}=value-{n}\n")).collect();
    let cases = [
        ("A=good\nhunter2", SecretsError::NotAnAssignment(2)),
        ("A B=hunter2", SecretsError::BadName(1)),
        ("ä=hunter2", SecretsError::BadName(1)),
        ("A#=hunter2", SecretsError::BadName(1)),
        ("A#b#c=hunter2", SecretsError::BadName(1)),
        ("=hunter2", SecretsError::BadName(1)),
        ("A='hunter2", SecretsError::OpenQuote(1)),
        ("A=\"hunter2\\\"", SecretsError::OpenQuote(1)),
        ("A='hunter2'hunter2", SecretsError::AfterQuote(1)),
        ("\n\nA=abc", SecretsError::TooShort(3)),
        ("A=# nothing", SecretsError::TooShort(1)),
        ("A=hunter2\nA=hunter3", SecretsError::Twice(2)),
        ("LONGNAME=GNAM", SecretsError::InPlaceholder(1)),
        ("A=hunter2\nB=SECRET", SecretsError::InPlaceholder(2)),
        (&many, SecretsError::TooMany(101)),
    ];
    for (text, wanted) in cases {
        let error = Secrets::parse(text).expect_err(text);
        assert_eq!(error, wanted);
        assert!(!error.to_string().contains("hunter"), "{error}");
    }
}

#[test]
fn debug_shows_names_only() {
    assert_eq!(format!("{:?}", secrets("A=hunter2\nB=sesame")), r#"["A", "B"]"#);
}

/// Places of the kinds that there are.
fn places(tool: &str) -> SecretPlaces {
    match tool {
        "fill_form" => &[(&["fields", "*"], Writing::Plain)],
        "act" => &[(&["action"], Writing::Sentence)],
        "javascript_tool" => &[(&["code"], Writing::JavaScript)],
        "fill" => &[(&["value"], Writing::Plain)],
        "keyboard" => &[(&["**", "text"], Writing::Plain)],
        "cookies" => &[(&["**", "value"], Writing::Plain)],
        _ => &[],
    }
}

#[test]
fn a_secret_goes_where_it_belongs() {
    let secrets = secrets("PW=\"o'\\\\$x y\"\nSAY=open, then click it\nQ='a\"bcd'");
    let resolved = |tool: &str, mut arguments: Value| {
        secrets.resolve(tool, places(tool), &mut arguments).map(|_| arguments)
    };
    assert_eq!(
        resolved(
            "fill_form",
            json!({ "fields": { "a": "-${SECRET:PW}-${SECRET:SAY}", "b": ["${SECRET:PW}"] }, "timeout": 1 })
        ),
        Ok(json!({ "fields": { "a": "-o'\\$x y-open, then click it", "b": ["o'\\$x y"] }, "timeout": 1 }))
    );
    assert_eq!(
        resolved("javascript_tool", json!({ "code": "f('${SECRET:PW}')" })),
        Ok(json!({ "code": r"f('o\'\\\$x y')" }))
    );
    assert_eq!(
        resolved("act", json!({ "action": "type ${SECRET:SAY} into A, then type '${SECRET:SAY}' into B" })),
        Ok(
            json!({ "action": "type \"open, then click it\" into A, then type \"open, then click it\" into B" })
        )
    );
    assert_eq!(
        resolved("act", json!({ "action": "type ${SECRET:Q}" })),
        Err(ResolveError::Unspeakable { name: "Q".to_owned() })
    );
    assert_eq!(
        resolved("keyboard", json!({ "how": { "type": { "text": "${SECRET:Q}" } } })),
        Ok(json!({ "how": { "type": { "text": "a\"bcd" } } }))
    );
    for (tool, arguments) in [
        ("cookies", json!({ "action": { "set": { "name": "n", "value": "${SECRET:Q}" } } })),
        ("fill", json!({ "selector": "#a", "value": "${SECRET:Q}" })),
    ] {
        assert!(resolved(tool, arguments).unwrap().to_string().contains("a\\\"bcd"));
    }
}

#[test]
fn elsewhere_it_is_refused_by_the_name_of_the_argument() {
    let secrets = secrets("PW=hunter2");
    let refused = |tool: &str, mut arguments: Value| {
        secrets.resolve(tool, places(tool), &mut arguments).unwrap_err().to_string()
    };
    let url = refused("navigate", json!({ "url": "http://h/?p=${SECRET:PW}" }));
    assert_eq!(url, "the argument navigate.url takes no secret, so ${SECRET:PW} is not put in there");
    assert!(refused("page_screenshot", json!({ "path": "${SECRET:PW}" })).contains("page_screenshot.path"));
    assert!(
        refused("fill_form", json!({ "fields": { "a": "b" }, "submit": "${SECRET:PW}" }))
            .contains("fill_form.submit")
    );
    assert!(refused("fill_form", json!({ "fields": { "${SECRET:PW}": "b" } })).contains("fill_form.fields"));
    assert!(refused("fill", json!({ "selector": "${SECRET:PW}", "value": "" })).contains("fill.selector"));
}

#[test]
fn a_name_that_is_not_there_is_told_with_those_that_are() {
    let mut arguments = json!({ "fields": { "a": "${SECRET:PASSWORD}" } });
    let error = secrets("PW=hunter2\nUSER=adaada")
        .resolve("fill_form", places("fill_form"), &mut arguments)
        .unwrap_err();
    assert_eq!(
        error,
        ResolveError::Missing {
            name: "PASSWORD".to_owned(),
            known: vec!["PW".to_owned(), "USER".to_owned()]
        }
    );
}

#[test]
fn what_was_put_in_is_not_looked_at_again() {
    let mut arguments = json!({ "fields": { "a": "${SECRET:B}" } });
    secrets("A=hunter2\nB='${SECRET:A}x'").resolve("fill_form", places("fill_form"), &mut arguments).unwrap();
    assert_eq!(arguments["fields"]["a"], "${SECRET:A}x");
}

#[test]
fn values_that_overlap_leave_no_rest() {
    let nested = secrets("SHORT=horse\nLONG=correct horse battery");
    assert_eq!(nested.mask("a correct horse battery, a horse"), "a ${SECRET:LONG}, a ${SECRET:SHORT}");
    let crossing = secrets("A=abcdef\nB=defghi");
    assert_eq!(crossing.mask("xabcdefghix"), "x${SECRET:A}${SECRET:B}x");
    let itself = secrets("A=aaaa");
    assert_eq!(itself.mask("aaaaaaa aaaa"), "${SECRET:A} ${SECRET:A}");
}

#[test]
fn a_value_that_was_cut_off_is_masked() {
    let secrets = secrets("A=correct-horse-battery");
    assert_eq!(secrets.mask("value \"correct-ho…\""), "value \"${SECRET:A}…\"");
    assert_eq!(secrets.mask("correct-hand…"), "correct-hand…");
}

#[test]
fn a_value_that_was_cut_off_without_a_sign_is_masked_if_most_of_it_is_there() {
    let secrets = secrets("A=hunter2hunter\nB=password123");
    assert_eq!(secrets.mask("it holds \"hunter2hunte\""), "it holds \"${SECRET:A}\"");
    assert_eq!(secrets.mask("value=hunter2hun"), "value=${SECRET:A}");
    assert_eq!(secrets.mask("“hunter2hunt”"), "“${SECRET:A}”");
    // Less than that, or as the beginning of another word, is what anybody may write.
    for text in ["type=\"password\"", "hunter2h", "hunter2huntsman", "password12X", "a hunter"] {
        assert_eq!(secrets.mask(text), text);
    }
}

#[test]
fn what_a_call_put_in_is_masked_where_little_of_it_is_quoted() {
    let secrets = secrets("A=hunter2hunter\nB=other-value");
    let mut arguments = json!({ "fields": { "a": "${SECRET:A}" } });
    let wary = secrets.resolve("fill_form", places("fill_form"), &mut arguments).unwrap();
    let answer = r#"{"message":"it holds \"hunte\", not what was typed"}"#;
    assert_eq!(wary.mask(answer), answer.replace("hunte", "${SECRET:A}"));
    assert_eq!(wary.mask("\"othe\" hunter."), "\"othe\" hunter.");
    assert_eq!(secrets.mask(answer), answer);
}

#[test]
fn blanks_are_masked_as_a_page_shows_them() {
    let two = secrets("A='two  blanks here'");
    for text in ["two  blanks here", "two blanks here", "two\u{a0} blanks here", "two &nbsp;blanks here"] {
        assert_eq!(two.mask(text), "${SECRET:A}", "{text:?}");
    }
    assert_eq!(two.mask(&STANDARD.encode("two blanks here")), "${SECRET:A}");
    let lines = secrets("A=\" first line\\nsecond\\tline \"");
    for text in ["first line second line", " first linesecond\tline ", " first line\r\nsecond\tline "] {
        assert_eq!(lines.mask(text).trim(), "${SECRET:A}", "{text:?}");
    }
}

#[test]
fn what_escape_makes_of_a_value_is_masked() {
    let secrets = secrets("A=pässwörd\nB='€uro 1000 ü'");
    assert_eq!(secrets.mask("x=p%E4ssw%F6rd"), "x=${SECRET:A}");
    assert_eq!(secrets.mask("x=p%25e4ssw%25f6rd."), "x=${SECRET:A}.");
    assert_eq!(secrets.mask("%u20ACuro%201000%20%FC"), "${SECRET:B}");
}

#[test]
fn structures_are_masked_with_their_names_and_numbers() {
    let secrets = secrets("PIN=12345678\nPW='a\"b\\c'");
    let mut value = json!({ "pin": 12345678, "list": ["x12345678y"], "a\"b\\c": true });
    secrets.mask_value(&mut value);
    assert_eq!(value, json!({ "pin": "${SECRET:PIN}", "list": ["x${SECRET:PIN}y"], "${SECRET:PW}": true }));
    let text = json!({ "pin": 12345678, "inner": json!({ "pw": "a\"b\\c" }).to_string() }).to_string();
    let masked = secrets.mask_document(&text);
    let masked: Value = serde_json::from_str(&masked).expect("still JSON");
    assert_eq!(masked, json!({ "pin": "${SECRET:PIN}", "inner": "{\"pw\":\"${SECRET:PW}\"}" }));
}

#[test]
fn base64_in_lines_is_masked() {
    let secrets = secrets("A=correct-horse-battery-staple");
    let encoded = STANDARD.encode("user:correct-horse-battery-staple");
    let (one, two) = encoded.split_at(20);
    for text in [format!("{one}\r\n{two}"), format!("{one}\\n{two}")] {
        assert!(!secrets.mask(&text).contains(two.trim_end_matches('=')), "{}", secrets.mask(&text));
    }
}

#[test]
fn a_long_page_with_many_secrets_takes_no_time() {
    let file: String = (0..100).map(|n| format!("K{n}='välue & {n} of {}'\n", n * 7919)).collect();
    let secrets = secrets(&file);
    let page = STANDARD.encode("The quick brown fox välue & jumps over 12 lazy dogs. ".repeat(500));
    let effort = surehand_testkit::Effort::begin();
    assert_eq!(secrets.mask(&page), page);
    assert!(effort.spent().as_secs() < 10, "{:?}", effort.spent());
}

#[test]
fn text_that_is_all_escapes_takes_no_time() {
    let file: String = (0..100).map(|n| format!("K{n}='\"value {n}'\n")).collect();
    let secrets = secrets(&file);
    let effort = surehand_testkit::Effort::begin();
    for text in ["\\", "%25", "&amp;", "%", "amp;", "\""] {
        let _ = secrets.mask(&text.repeat(20_000 / text.len()));
    }
    assert!(effort.spent().as_secs() < 10, "{:?}", effort.spent());
}

#[test]
fn a_value_that_is_all_backslashes_takes_no_time() {
    let secrets = one(&"\\".repeat(48)).unwrap();
    let effort = surehand_testkit::Effort::begin();
    for count in [48, 96, 192] {
        assert_eq!(secrets.mask(&format!("a{}b", "\\".repeat(count))), "a${SECRET:PW}b");
    }
    assert!(effort.spent().as_secs() < 10, "{:?}", effort.spent());
}

#[test]
fn text_that_is_all_placeholders_takes_no_quadratic_time() {
    let secrets = secrets("A=hunter2");
    let effort = surehand_testkit::Effort::begin();
    let openings = "${SECRET:".repeat(200_000);
    assert_eq!(secrets.mask(&format!("{openings}hunter2")), format!("{openings}${{SECRET:A}}"));
    let masked = "${SECRET:A} ".repeat(100_000);
    assert_eq!(secrets.mask(&"${SECRET:A} hunter2 ".repeat(50_000)), masked);
    assert!(effort.spent().as_secs() < 10, "{:?}", effort.spent());
}

#[test]
fn a_value_in_hexadecimal_is_masked() {
    let secrets = secrets("A=hünter2 & co");
    for text in ["68c3bc6e7465723220262063 6f".replace(' ', ""), "68C3BC6E74657232202620636F".to_owned()] {
        assert_eq!(secrets.mask(&format!("0x{text}.")), "0x${SECRET:A}.");
    }
    // What one byte a character makes of it, and what was cut off.
    assert_eq!(secrets.mask("68fc6e74657232202620636f"), "${SECRET:A}");
    assert_eq!(secrets.mask("68c3bc6e…"), "${SECRET:A}…");
    // Two bytes are in many a digest.
    assert_eq!(secrets.mask("commit 68c3…"), "commit 68c3…");
}

fn percent(value: &str, keep: impl Fn(u8) -> bool, upper: bool) -> String {
    let one = |byte: u8| match (keep(byte), upper) {
        (true, _) => char::from(byte).to_string(),
        (_, true) => format!("%{byte:02X}"),
        (_, false) => format!("%{byte:02x}"),
    };
    value.bytes().map(one).collect()
}

fn html(value: &str) -> String {
    let text = value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    text.replace('"', "&quot;").replace('\'', "&#39;")
}

fn in_json(value: &str) -> String {
    let quoted = Value::from(value).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

fn debugged(value: &str) -> String {
    let quoted = format!("{value:?}");
    quoted[1..quoted.len() - 1].to_owned()
}

fn ascii_json(value: &str) -> String {
    value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
}

/// Every form in which a page may echo a value.
fn forms(value: &str) -> Vec<String> {
    let component = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
    let strict = |byte: u8| byte.is_ascii_alphanumeric();
    let form = |upper| percent(value, |byte| component(byte) || byte == b' ', upper).replace(' ', "+");
    vec![
        value.to_owned(),
        in_json(value),
        in_json(&in_json(value)),
        in_json(&in_json(&in_json(value))),
        ascii_json(value),
        in_json(&ascii_json(value)),
        debugged(value),
        html(value),
        html(&html(value)),
        value.chars().map(|c| format!("&#{};", u32::from(c))).collect(),
        value.chars().map(|c| format!("&#x{:X};", u32::from(c))).collect(),
        percent(value, component, true),
        percent(value, component, false),
        percent(value, strict, true),
        percent(value, |_| false, false),
        percent(&percent(value, component, true), component, true),
        form(true),
        form(false),
    ]
}

/// Without placeholders, so that nothing is found across their edges.
fn rest(masked: &str) -> String {
    masked.replace("${SECRET:PW}", "\u{1}")
}

/// From which to which digit a text in base64 may be masked: over everything that looks like the value, or like what a page
/// makes of its blanks and line breaks. Digits that hold bits of neighbours, too, cannot tell.
fn reach(encoded: &str, engine: &GeneralPurpose, value: &str) -> (usize, usize) {
    let collapsed = value.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    let forms = [value.to_owned(), collapsed, value.replace('\n', ""), value.replace('\n', "\r\n")];
    let (mut first, mut last) = (encoded.len(), 0);
    for (form, shift) in forms.iter().flat_map(|form| (0..3).map(move |shift| (form, shift))) {
        if form.chars().count() < Secrets::SHORTEST {
            continue;
        }
        let (from, to) = (shift * 8, (shift + form.len()) * 8);
        let digits = engine.encode([&[0; 2][..shift], form.as_bytes()].concat());
        let sure = &digits[from.div_ceil(6)..to / 6];
        for at in (0..encoded.len()).filter(|at| encoded[*at..].starts_with(sure)) {
            first = first.min(at.saturating_sub(from.div_ceil(6) - from / 6));
            last = last.max(at + sure.len() + to.div_ceil(6) - to / 6);
        }
    }
    (first, last.min(encoded.len()))
}

fn value() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ -~]{4,24}",
        "[\"'\\\\/&<>%+ #$a]{4,12}",
        "\\PC{4,16}",
        "[a-zA-Z0-9\n\t\u{e9}\u{1F600}]{4,20}"
    ]
}

#[test]
fn what_looks_like_more_of_a_value_in_base64_is_masked_with_it() {
    let masked = |before: &str, value: &str, after: &str| {
        let Some(secrets) = one(value) else { panic!("it is long enough") };
        secrets.mask(&STANDARD.encode(format!("{before}{value}{after}"))).into_owned()
    };
    // A field of several lines writes two characters for a line break, and of the first a digit may hold four bits only.
    let broken = "\nAb\u{e9}\t";
    assert_eq!(masked(" \r", broken, ""), "I${SECRET:PW}");
    assert_eq!(masked(" =", broken, ""), "I${SECRET:PW}", "the same last bits");
    assert_eq!(masked(" <", broken, ""), "ID${SECRET:PW}");
    // A value that is the same all over may begin at its second character as well.
    assert_eq!(masked("", "<<<<", "0"), "${SECRET:PW}", "the same first bits");
    assert_eq!(masked("", "<<<<", "@"), "${SECRET:PW}A=");
}

proptest! {
    #[test]
    fn no_form_survives(value in value(), before in "[a-z \"\\\\{}:,]{0,8}", after in "[a-z \"\\\\{}:,]{0,8}") {
        let Some(secrets) = one(&value) else { return Ok(()) };
        for form in forms(&value) {
            let text = format!("{before}{form}{after}");
            let masked = secrets.mask(&text);
            prop_assert!(masked.contains("${SECRET:PW}"), "{form:?} in {text:?}");
            prop_assert!(!rest(&masked).contains(&form), "{form:?} in {masked:?}");
            prop_assert_eq!(secrets.mask(&masked), masked.as_ref());
        }
    }

    #[test]
    fn no_base64_survives(value in value(), before in "[ -~]{0,7}", after in "[ -~]{0,7}") {
        let Some(secrets) = one(&value) else { return Ok(()) };
        for engine in [STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD] {
            let encoded = engine.encode(format!("{before}{value}{after}"));
            let bits = (before.len() * 8, (before.len() + value.len()) * 8);
            let core = (bits.0.div_ceil(6), bits.1 / 6);
            for text in [encoded.clone(), encoded.replace('+', "%2B").replace('/', "%2f"), encoded.replace('/', "\\/")] {
                let masked = secrets.mask(&format!("data: {text}.")).into_owned();
                prop_assert!(!rest(&masked).contains(&encoded[core.0..core.1]), "{encoded} in {masked}");
                prop_assert_eq!(secrets.mask(&masked), masked.as_str());
            }
            // Of the neighbours only what looks like more of the value goes. Escapes of it are left to the tests above.
            if value.contains(['\\', '%', '&', '"']) {
                continue;
            }
            let (first, last) = reach(&encoded, &engine, &value);
            let masked = secrets.mask(&encoded).into_owned();
            prop_assert!(masked.starts_with(&encoded[..first]), "{encoded} in {masked}");
            prop_assert!(masked.trim_end_matches('=').ends_with(encoded[last..].trim_end_matches('=')), "{encoded} in {masked}");
        }
    }

    #[test]
    fn no_base64_of_what_was_encoded_before_survives(value in value(), before in "[ -~]{0,4}", after in "[ -~]{0,4}") {
        let Some(secrets) = one(&value) else { return Ok(()) };
        let component = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte);
        let latin: Option<Vec<u8>> = value.chars().map(|c| u8::try_from(c).ok()).collect();
        let mut inner = vec![percent(&value, component, true).into_bytes(), in_json(&value).into_bytes()];
        for bytes in std::iter::once(value.as_bytes().to_vec()).chain(latin.clone()) {
            let bytes = [before.as_bytes(), &bytes, after.as_bytes()].concat();
            inner.extend([STANDARD.encode(&bytes).into_bytes(), URL_SAFE_NO_PAD.encode(&bytes).into_bytes()]);
        }
        inner.extend(latin);
        for bytes in inner {
            let encoded = STANDARD.encode([before.as_bytes(), &bytes, after.as_bytes()].concat());
            let masked = secrets.mask(&encoded);
            prop_assert!(masked.contains("${SECRET:PW}"), "{encoded} of {bytes:?}");
        }
    }

    #[test]
    fn structures_keep_no_secret(value in value(), text in "[a-z ]{0,6}") {
        let Some(secrets) = one(&value) else { return Ok(()) };
        let mut structure = json!({ "a": [format!("{text}{value}")], (value.clone()): { "b": in_json(&value) } });
        let document = structure.to_string();
        secrets.mask_value(&mut structure);
        let masked = secrets.mask_document(&document);
        prop_assert!(serde_json::from_str::<Value>(&masked).is_ok(), "{masked}");
        prop_assert!(!rest(&masked).contains(&in_json(&value)), "{masked}");
        prop_assert!(!rest(&structure.to_string()).contains(&in_json(&value)), "{structure}");
    }

    #[test]
    fn text_without_secrets_is_borrowed(text in "[a-pA-P0-5\\PC&&[^q-zQ-Z6-9]]{0,80}") {
        let secrets = secrets("A=xyzxyz-xyz\nB='zyx qwr tuv 987'");
        prop_assert!(matches!(secrets.mask(&text), Cow::Borrowed(_)));
    }

    #[test]
    fn never_panics(value in value(), text in "[\\\\%&;u+#xX0-9a-f{}\"…. ]{0,80}") {
        if let Some(secrets) = one(&value) {
            let masked = secrets.mask(&text).into_owned();
            prop_assert_eq!(secrets.mask(&masked), masked.as_str());
        }
    }
}

#[test]
fn placeholders_at_other_places_are_found_without_secrets() {
    let arguments = serde_json::json!({
        "fields": { "a": "${SECRET:A}", "${SECRET:B}": ["x", "y"] },
        "submit": "x ${SECRET:C}",
        "list": ["", { "d/e": "${SECRET:D}" }],
    });
    let found = misplaced(places("fill_form"), &arguments);
    let told: Vec<_> = found.iter().map(|(pointer, name)| (pointer.as_str(), name.as_str())).collect();
    assert_eq!(told, [("/fields/${SECRET:B}", "B"), ("/submit", "C"), ("/list/1/d~1e", "D")]);
    assert_eq!(misplaced(&[], &serde_json::json!({ "url": "http://x/$${a}" })), []);
}
