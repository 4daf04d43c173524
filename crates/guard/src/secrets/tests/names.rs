//! What secrets are called, and values that come from the vault.

use serde_json::json;

use crate::{Secrets, Spelling};

#[test]
fn names_are_the_same_everywhere() {
    let names = ["A-B", "1A", "a.b.c", "-", "A#user", "site.login#pass-word"];
    let file: String = names.iter().enumerate().map(|(n, name)| format!("{name}=value-{n}!\n")).collect();
    let secrets = Secrets::parse(&file).unwrap();
    assert_eq!(secrets.names().collect::<Vec<_>>(), names);
    for (n, name) in names.iter().enumerate() {
        let value = format!("value-{n}!");
        let mut arguments = json!({ "fields": { "a": format!("<${{SECRET:{name}}}>") } });
        assert_eq!(Secrets::named_in(&arguments), [*name]);
        secrets.resolve("fill_form", &mut arguments).unwrap();
        assert_eq!(arguments["fields"]["a"], format!("<{value}>"));
        assert_eq!(secrets.mask(&format!("is {value}")), format!("is ${{SECRET:{name}}}"));
    }
}

#[test]
fn names_are_found_in_arguments() {
    let arguments =
        json!({ "a": ["${SECRET:A}${SECRET:b.c#d}", 1], "b": { "c": "${SECRET:A} ${SECRET:" }, "d": null });
    assert_eq!(Secrets::named_in(&arguments), ["A", "b.c#d"]);
}

fn masking(pairs: &[(&str, &str)], spelling: Spelling) -> Secrets {
    let owned = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Secrets::for_masking(owned, spelling).unwrap()
}

#[test]
fn values_of_the_vault_become_its_placeholders() {
    let secrets = masking(&[("site#user", "adaada"), ("site#password", "hunter2!")], Spelling::Vault);
    let masked = secrets.mask("adaada:hunter2! is YWRhYWRhOmh1bnRlcjIh").into_owned();
    assert!(masked.starts_with("${vault:site#user}:${vault:site#password} is ${vault:site#"), "{masked}");
    assert_eq!(secrets.mask(&masked), masked);
    let secrets = masking(&[("site#user", "adaada"), ("site#user", "adaada")], Spelling::Secret);
    assert_eq!(secrets.mask("adaada"), "${SECRET:site#user}");
}

#[test]
fn a_placeholder_that_would_show_a_value_is_not_used() {
    let secrets = masking(&[("admin", "admin"), ("b", "other-value")], Spelling::Vault);
    assert_eq!(secrets.mask("admin, other-value"), "[secret], ${vault:b}");
    let secrets = masking(&[("a", "secret"), ("b", "vault")], Spelling::Vault);
    assert_eq!(secrets.mask("secret vault"), "[***] [***]");
}
