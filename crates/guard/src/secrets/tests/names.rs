//! What secrets are called, and values that come from the vault.

use serde_json::json;

use super::places;
use crate::{Secrets, SecretsError, Spelling};

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
        secrets.resolve("fill_form", places("fill_form"), &mut arguments).unwrap();
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

#[test]
fn hexadecimal_digits_are_masked_in_both_cases() {
    let secrets = Secrets::parse("PW=hün ter2").unwrap();
    for text in ["68c3bc6e2074657232", "68C3BC6E2074657232", "68fc6e2074657232"] {
        assert_eq!(secrets.mask(&format!("x {text} y")), "x ${SECRET:PW} y", "{text}");
    }
}

#[test]
fn who_somebody_is_may_be_short_and_is_masked_only_if_it_is_not() {
    let secrets = Secrets::parse("shop#username=ada\nshop#password=hunter22\nclub#email=ada@club").unwrap();
    assert_eq!(
        secrets.mask("ada has hunter22 at ada@club"),
        "ada has ${SECRET:shop#password} at ${SECRET:club#email}"
    );
    assert_eq!(Secrets::parse("shop#pin=123").unwrap_err(), SecretsError::TooShort(1));
    // What the vault adds cannot choose its name: one that would show a value is a word instead.
    let more = secrets.with("club#user", "club").unwrap();
    assert_eq!(more.mask("the club"), "the [secret]");
    assert_eq!(
        Secrets::revealed(more.reveal().map(|(a, b)| (a.to_owned(), b.to_owned()))).unwrap().mask("the club"),
        "the [secret]"
    );
}
