//! `surehand vault`: what it takes, what it refuses, and where its key is.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use crate::common::{fails, fresh_cli, ok};
use crate::{set, stored};

#[test]
fn credentials_are_stored_listed_granted_and_removed() {
    let cli = fresh_cli();
    stored(&cli, &["api"], "telling-value-1\n");
    stored(
        &cli,
        &["shop.de", "--type", "login", "--field", "username=ada", "--secret", "password"],
        "hunter22\n",
    );
    let listed = ok(&cli, &["vault", "list"]);
    let all = listed["credentials"].as_array().unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(all[1]["fields"], json!(["username", "password"]));
    assert!(!listed.to_string().contains("telling") && !listed.to_string().contains("hunter22"));
    assert_eq!(ok(&cli, &["vault", "grant", "api", "ada"])["new"], true);
    assert_eq!(ok(&cli, &["vault", "grant", "api", "ada"])["new"], false);
    ok(&cli, &["vault", "grant", "api", "bob", "--client", "ci"]);
    assert_eq!(ok(&cli, &["vault", "grants", "api"])["grants"].as_array().unwrap().len(), 2);
    ok(&cli, &["vault", "revoke", "api", "ada"]);
    fails(&cli, &["vault", "revoke", "api", "ada"]).must_be("no-item", 1);
    assert_eq!(ok(&cli, &["vault", "rekey"])["credentials"], 2);
    assert_eq!(ok(&cli, &["vault", "usage"])["usage"], json!([]));
    ok(&cli, &["vault", "rm", "api"]);
    for command in ["rm", "grants"] {
        fails(&cli, &["vault", command, "api"]).must_be("missing-secret", 2).must_say("vault list");
    }
}

#[test]
fn names_of_people_may_be_short_and_secrets_may_not() {
    let cli = fresh_cli();
    for (name, field) in [("a", "username=ada"), ("b", "user=bo"), ("c", "email=a@b")] {
        stored(&cli, &[name, "--type", "login", "--field", field, "--secret", "password"], "hunter22\n");
    }
    for (arguments, input) in [
        (vec!["x"], "abc\n"),
        (vec!["x", "--field", "username=ada", "--secret", "password"], "abc\n"),
        (vec!["x", "--field", "pin=123"], ""),
        (vec!["x", "--field", "username=", "--secret", "password"], "hunter22\n"),
    ] {
        let run = set(&cli, &arguments, input);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains("shorter than 4 characters"), "{run:?}");
    }
}

#[test]
fn wrong_input_is_refused_and_not_repeated() {
    let cli = fresh_cli();
    for (arguments, input, say) in [
        (vec!["a b"], "value-of-it\n", "no name"),
        (vec!["../x"], "value-of-it\n", "no name"),
        (vec!["x", "--secret", "a b"], "value-of-it\n", "no name"),
        (vec!["x", "--secret", "p", "--secret", "p"], "value-of-it\nvalue-of-it\n", "each once"),
        (vec!["x", "--type", "nonsense"], "value-of-it\n", "no type"),
        (vec!["x", "--field", "novalue"], "value-of-it\n", "username=ada"),
        (vec!["x", "--host", "a b"], "value-of-it\n", "no host"),
        (vec!["x"], "", "no line"),
        (vec!["x", "--secret", "a", "--secret", "b"], "value-of-it\n", "no line"),
        (vec![], "value-of-it\n", "missing"),
    ] {
        let run = set(&cli, &arguments, input);
        assert_eq!(run.code, Some(2), "{arguments:?}: {run:?}");
        assert!(run.stderr.contains(say), "{arguments:?}: {run:?}");
        assert!(!format!("{}{}", run.stdout, run.stderr).contains("value-of-it"), "{run:?}");
    }
    fails(&cli, &["vault", "grant", "x", "ada"]).must_be("missing-secret", 2);
    stored(&cli, &["x"], "value-of-it\n");
    for subject in ["", " ", "local"] {
        fails(&cli, &["vault", "grant", "x", subject]).must_be("usage", 2).must_say("subject");
    }
}

#[test]
fn the_key_is_the_owners_alone_and_the_wrong_one_is_told() {
    let cli = fresh_cli();
    stored(&cli, &["api"], "telling-value-1\n");
    let home = cli.home().path();
    let mode = |name: &str| fs_err::metadata(home.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("vault.key"), mode("surehand.db")), (0o600, 0o600));
    let key = fs_err::read_to_string(home.join("vault.key")).unwrap();
    assert_eq!(key.trim().len(), 64);
    ok(&cli, &["vault", "rekey"]);
    assert_ne!(fs_err::read_to_string(home.join("vault.key")).unwrap(), key);
    assert_eq!(mode("vault.key"), 0o600);

    let other = "ab".repeat(32);
    let with_env = cli.env("SUREHAND_VAULT_KEY", &other);
    let failure = fails(&with_env, &["vault", "list"]);
    failure.must_say("is sealed with the key");
    assert!(!failure.message.contains(&other), "{failure:?}");
    for (key, say) in [("xyz", "64 hexadecimal digits"), (&"zz".repeat(32), "64 hexadecimal digits")] {
        let failure = fails(&cli.env("SUREHAND_VAULT_KEY", key), &["vault", "list"]);
        failure.must_say(say);
        assert!(!failure.message.contains(key), "{failure:?}");
    }
    fs_err::set_permissions(home.join("vault.key"), std::fs::Permissions::from_mode(0o644)).unwrap();
    fails(&cli, &["vault", "list"]).must_say("chmod 600");
    fs_err::remove_file(home.join("vault.key")).unwrap();
    let run = set(&cli, &["more"], "telling-value-2\n");
    assert!(!run.ok() && run.stderr.contains("has no key here"), "{run:?}");

    // A vault whose key is in the environment has no file of it.
    let bare = fresh_cli();
    let keyed = bare.env("SUREHAND_VAULT_KEY", &other);
    stored(&keyed, &["api"], "telling-value-1\n");
    assert!(!bare.home().path().join("vault.key").exists());
    ok(&keyed, &["vault", "list"]);
    fails(&keyed, &["vault", "rekey"]).must_say("not in a file");
    let file = bare.home().work().join("key");
    fs_err::write(&file, &other).unwrap();
    fs_err::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    ok(&bare.env("SUREHAND_VAULT_KEY_FILE", &file), &["vault", "list"]);
}
