//! Placeholders in texts.

use proptest::prelude::*;

use super::*;

fn all(text: &str) -> Vec<String> {
    placeholders(text).unwrap().iter().map(Reference::to_string).collect()
}

#[test]
fn placeholders_are_found() {
    assert_eq!(all("${vault:a}-${vault:A.b-1_#pass.word}${vault:a}"), ["a", "A.b-1_#pass.word"]);
    for plain in
        ["", "$", "${", "${vault", "${VAULT:a}", "${SECRET:a}", "$ {vault:a}", "vault:a}", "$${name}"]
    {
        assert!(all(plain).is_empty(), "{plain}");
    }
    assert_eq!(all("$${vault:a}}"), ["a"], "there is no escape");
    let longest = format!("{0}#{0}", "a".repeat(128));
    assert_eq!(all(&format!("${{vault:{longest}}}")), [longest]);
}

#[test]
fn what_is_malformed_is_refused_and_nothing_is_asked_for() {
    let long = format!("${{vault:{}}}", "a".repeat(129));
    let cases = [
        "${vault:",
        "${vault:}",
        "${vault:a",
        "${vault: a}",
        "${vault:a }",
        "${vault:a b}",
        "${vault:#b}",
        "${vault:a#}",
        "${vault:a#b#c}",
        "${vault:ä}",
        "${vault:${vault:a}}",
        "${vault:a/b}",
        "${vault:a\n}",
        "${vault:a}${vault:",
        &long,
    ];
    for text in cases {
        assert!(placeholders(text).is_err(), "{text}");
        let result = substitute(text, |_| -> Result<SecretText, VaultError> { panic!("asked") });
        assert!(matches!(result, Err(SubstituteError::Malformed(_))), "{text}");
    }
    assert_eq!(placeholders("äb${vault:a}${vault:}"), Err(Malformed { at: 13 }));
    assert!(Malformed { at: 3 }.to_string().contains("${vault:NAME#field}"));
}

#[test]
fn what_was_put_in_is_not_looked_at_again() {
    let mut asked = Vec::new();
    let filled = substitute("<${vault:a}|${vault:b#c}|${vault:a}>", |reference| {
        asked.push(reference.to_string());
        let value = if reference.name == "a" { "${vault:b#c}${vault:" } else { "value" };
        Ok::<_, VaultError>(value.into())
    });
    assert_eq!(filled.unwrap().reveal(), "<${vault:b#c}${vault:|value|${vault:b#c}${vault:>");
    assert_eq!(asked, ["a", "b#c"]);
}

#[test]
fn the_vault_fills_in_and_masks() {
    let case = new();
    case.vault.set(login("site", "adalovelace", "hunter2!")).unwrap();
    let mut used = Vec::new();
    let filled = substitute("${vault:site#username}:${vault:site#password}", |reference| {
        let value = case.vault.read(&reference.name, reference.field.as_deref(), Caller::Local)?;
        used.push((reference.clone(), value.clone()));
        Ok::<_, VaultError>(value)
    });
    assert_eq!(filled.unwrap().reveal(), "adalovelace:hunter2!");
    let secrets =
        to_secrets(used.iter().map(|(reference, value)| (reference, value)), Spelling::Vault).unwrap();
    assert_eq!(
        secrets.mask("I am adalovelace, hunter2!"),
        "I am ${vault:site#username}, ${vault:site#password}"
    );
    let denied = substitute("${vault:site#password}", |reference| {
        let caller = Caller::Remote { subject: "bob", client: "" };
        case.vault.read(&reference.name, reference.field.as_deref(), caller)
    });
    assert!(matches!(denied, Err(SubstituteError::Resolve(VaultError::Denied { .. }))));
}

#[test]
fn many_openings_take_no_time() {
    let effort = surehand_testkit::Effort::begin();
    assert!(placeholders(&"${vault:".repeat(300_000)).is_err());
    assert_eq!(placeholders(&"${vault:a}".repeat(300_000)).unwrap().len(), 1);
    assert!(effort.spent().as_secs() < 5, "{:?}", effort.spent());
}

proptest! {
    #[test]
    fn no_opening_is_left(text in "([${}#vault:ab. ]|\\$\\{vault:|\\$\\{vault:a\\}){0,12}") {
        if let Ok(filled) = substitute(&text, |_| Ok::<_, VaultError>("value".into())) {
            prop_assert!(!filled.reveal().contains("${vault:"), "{}", filled.reveal());
        }
    }
}
