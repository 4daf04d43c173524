mod keys;
mod places;

use rusqlite::Connection;
use surehand_store::{Sqlite, UsageFilter, UsageOutcome};
use tempfile::TempDir;

use super::*;

struct Case {
    folder: TempDir,
    store: Arc<Sqlite>,
    key: VaultKey,
    vault: Vault,
}

fn new() -> Case {
    let folder = TempDir::new().expect("a folder");
    let store = Arc::new(Sqlite::open(folder.path().join("surehand.db")).expect("a store"));
    let key = VaultKey::generate().expect("a key");
    let vault = Vault::open(Arc::<Sqlite>::clone(&store), key.clone()).expect("a vault");
    Case { folder, store, key, vault }
}

impl Case {
    fn again(&self, key: VaultKey) -> Result<Vault, VaultError> {
        Vault::open(Arc::<Sqlite>::clone(&self.store), key)
    }

    /// As somebody with the file could.
    fn sql(&self, sql: &str) {
        Connection::open(self.store.path()).unwrap().execute_batch(sql).unwrap();
    }

    fn read(&self, name: &str, field: Option<&str>) -> Result<String, VaultError> {
        self.vault.read(name, field, Caller::Local).map(|text| text.reveal().to_owned())
    }

    fn used(&self) -> Vec<(String, Option<String>, String, UsageOutcome)> {
        let rows = self.vault.usage(&UsageFilter::default()).unwrap();
        let entries = rows.into_iter().map(|row| row.entry);
        entries.map(|entry| (entry.name, entry.field, entry.subject, entry.outcome)).collect()
    }
}

fn text(name: &str, value: &str) -> NewCredential {
    let value = SecretValue::Text(value.into());
    NewCredential { name: name.to_owned(), kind: Kind::ApiKey, host: None, value }
}

fn login(name: &str, user: &str, password: &str) -> NewCredential {
    let fields = [("username", user), ("password", password)];
    let value = SecretValue::Fields(fields.map(|(name, value)| (name.to_owned(), value.into())).into());
    NewCredential { name: name.to_owned(), kind: Kind::Login, host: Some("*.example.com".to_owned()), value }
}

#[test]
fn what_is_set_is_read_again() {
    let case = new();
    case.vault.set(text("api.key-1", "hunter2hunter2")).unwrap();
    let set = case.vault.set(login("site", "adaada", "pässwörd\n")).unwrap();
    assert_eq!((set.version, set.kind.as_str(), set.fields.len()), (1, "login", 2));
    let bytes = SecretValue::from_plaintext(vec![0xff, 0, 1, 2]);
    case.vault.set(NewCredential { value: bytes, kind: Kind::Ssh, ..text("raw", "") }).unwrap();
    assert_eq!(case.read("api.key-1", None).unwrap(), "hunter2hunter2");
    assert_eq!(case.read("site", Some("password")).unwrap(), "pässwörd\n");
    assert_eq!(case.vault.read_bytes("raw", Caller::Local).unwrap().reveal(), [0xff, 0, 1, 2]);
    assert!(matches!(case.read("raw", None), Err(VaultError::NotText { .. })));
    assert!(matches!(case.read("site", None), Err(VaultError::NeedsField { .. })));
    let error = case.read("site", Some("pin")).unwrap_err();
    assert_eq!(error.to_string(), "the credential \"site\" has no field \"pin\"; it has username, password");
    assert!(matches!(case.read("api.key-1", Some("password")), Err(VaultError::NoField { .. })));

    // In place of the old one, as somebody else sees it.
    let replaced = case.vault.set(text("site", "one value now")).unwrap();
    assert_eq!((replaced.version, &replaced.id, replaced.created), (2, &set.id, set.created));
    let other = case.again(case.key.clone()).unwrap();
    assert_eq!(other.read("site", None, Caller::Local).unwrap().reveal(), "one value now");
    let names: Vec<_> = other.names().unwrap().into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["api.key-1", "raw", "site"]);
    let told = serde_json::to_value(other.get("site").unwrap()).unwrap();
    assert_eq!((&told["type"], &told["version"]), (&"api_key".into(), &2.into()));
}

#[test]
fn uploads_are_fields_text_or_bytes() {
    let of = |bytes: &[u8]| SecretValue::from_plaintext(bytes.to_vec());
    let object = of(br#" {"username":"ada","password":"x"}"#);
    assert_eq!(object.field_names(), ["username", "password"]);
    for text in ["{}", "{\"a\":1}", "{no", "[\"a\"]", ""] {
        assert!(matches!(of(text.as_bytes()), SecretValue::Text(_)), "{text}");
    }
    assert!(matches!(of(&[0xc3]), SecretValue::Bytes(_)));
}

#[test]
fn what_could_not_be_found_or_masked_is_refused() {
    let case = new();
    let long = "a".repeat(129);
    for name in ["", "a b", "a#b", "ä", "a/b", "a}", long.as_str()] {
        assert!(matches!(case.vault.set(text(name, "hunter2")), Err(VaultError::BadName)), "{name}");
        assert!(matches!(case.read(name, None), Err(VaultError::BadName)), "{name}");
    }
    for short in ["", "abc", "äöü", "  abc  "] {
        assert!(matches!(case.vault.set(text("a", short)), Err(VaultError::TooShort { .. })), "{short}");
    }
    // Who somebody is may be short: it is no secret.
    let error = case.vault.set(login("a", "ada", "abc")).unwrap_err().to_string();
    assert_eq!(error, "the field password is shorter than 4 characters and could not be masked");
    assert!(matches!(case.vault.set(login("a", " ", "hunter2")), Err(VaultError::TooShort { .. })));
    let fields = |fields: &[&str]| {
        let value =
            SecretValue::Fields(fields.iter().map(|name| ((*name).to_owned(), "value".into())).collect());
        case.vault.set(NewCredential { value, ..text("a", "") }).unwrap_err()
    };
    assert!(matches!(fields(&[]), VaultError::BadFields));
    assert!(matches!(fields(&["a", "a"]), VaultError::BadFields));
    assert!(matches!(fields(&["a b"]), VaultError::BadName));
    let large = case.vault.set(text("a", &"x".repeat(70_000))).unwrap_err();
    assert!(matches!(large, VaultError::TooLarge { .. }));
    let host = NewCredential { host: Some("a b".to_owned()), ..text("a", "hunter2") };
    assert!(matches!(case.vault.set(host), Err(VaultError::BadHost)));
    assert_eq!((case.vault.names().unwrap(), case.used()), (vec![], vec![]));
}

#[test]
fn nobody_reads_without_a_grant() {
    let case = new();
    case.vault.set(text("key", "hunter2")).unwrap();
    let may = |subject: &str, client: &str| match case.vault.read(
        "key",
        None,
        Caller::Remote { subject, client },
    ) {
        Ok(_) => true,
        Err(VaultError::Denied { .. }) => false,
        Err(error) => panic!("{error}"),
    };
    assert!(!may("ada", "") && !may("ada", "ci"));
    assert!(case.vault.grant("key", "ada", "ci").unwrap() && !case.vault.grant("key", "ada", "ci").unwrap());
    assert!(may("ada", "ci") && !may("ada", "") && !may("ada", "CI") && !may("bob", "ci"));
    case.vault.grant("key", "ada", "").unwrap();
    assert!(may("ada", "") && may("ada", "other") && !may("ada ", "") && !may("bob", ""));
    case.vault.grant("key", "*", "web").unwrap();
    assert!(may("bob", "web") && !may("bob", "cli"));
    // Whatever a token says, it does not make somebody the owner, or everybody.
    case.vault.grant("key", "*", "").unwrap();
    assert!(may("bob", "cli") && !may("local", "") && !may("*", "") && !may("", ""));
    for subject in ["", " ", "local"] {
        assert!(matches!(case.vault.grant("key", subject, ""), Err(VaultError::BadSubject)));
    }
    assert!(case.vault.revoke("key", "*", "").unwrap() && !case.vault.revoke("key", "*", "").unwrap());
    assert!(!may("bob", "cli") && case.vault.grants("key").unwrap().len() == 3);
    // A grant is for this credential, not for its name.
    case.vault.remove("key").unwrap();
    case.vault.set(text("key", "hunter3")).unwrap();
    assert!(!may("ada", "ci"));
    assert!(matches!(case.vault.grant("none", "ada", ""), Err(VaultError::Unknown { .. })));
}

#[test]
fn each_attempt_is_written_down_and_outlives_the_credential() {
    let case = new();
    case.vault.set(login("site", "adaada", "hunter2")).unwrap();
    case.vault.grant("site", "ada", "").unwrap();
    let ask = |name: &str, field: &str, subject: &str| {
        let _ = case.vault.read(name, Some(field), Caller::Remote { subject, client: "ci" });
    };
    ask("site", "password", "ada");
    ask("site", "pin", "ada");
    ask("site", "password", "bob");
    ask("none", "password", "ada");
    case.read("site", Some("username")).unwrap();
    case.vault.remove("site").unwrap();
    let row = |name: &str, field: &str, subject: &str, outcome| {
        (name.to_owned(), Some(field.to_owned()), subject.to_owned(), outcome)
    };
    use UsageOutcome::{Allowed, Denied, NoMatch};
    let wanted = [
        row("site", "username", "local", Allowed),
        row("none", "password", "ada", NoMatch),
        row("site", "password", "bob", Denied),
        row("site", "pin", "ada", NoMatch),
        row("site", "password", "ada", Allowed),
    ];
    assert_eq!(case.used(), wanted);
    // Without the log nothing is handed out.
    case.vault.set(text("key", "hunter2")).unwrap();
    case.sql("DROP TABLE usage");
    assert!(matches!(case.read("key", None), Err(VaultError::Store(_))));
}

#[test]
fn rows_that_were_changed_are_not_opened() {
    let changes = [
        // Two rows swapped, as a whole secret or by their names.
        "CREATE TABLE t AS SELECT * FROM credentials; UPDATE credentials SET (nonce, ciphertext) = \
         (SELECT nonce, ciphertext FROM t WHERE t.name <> credentials.name)",
        "UPDATE credentials SET name = 'c' WHERE name = 'a'; UPDATE credentials SET name = 'a' WHERE name = 'b'",
        "UPDATE credentials SET id = 'other' WHERE name = 'a'",
        "UPDATE credentials SET kind = 'ssh'",
        "UPDATE credentials SET version = 2",
        "UPDATE credentials SET host = 'evil.example'",
        "UPDATE credentials SET host = ''",
        "UPDATE credentials SET fields = '[\"password\"]'",
        "UPDATE credentials SET ciphertext = zeroblob(40)",
        "UPDATE credentials SET ciphertext = X''",
        "UPDATE credentials SET nonce = zeroblob(12)",
    ];
    for change in changes {
        let case = new();
        case.vault.set(text("a", "value of a")).unwrap();
        case.vault.set(text("b", "value of b")).unwrap();
        case.sql(change);
        let field = change.contains("fields").then_some("password");
        let error = case.read("a", field).expect_err(change);
        assert!(matches!(error, VaultError::Damaged { .. }), "{change}: {error}");
        assert!(!error.to_string().contains("value of"), "{error}");
    }
}

#[test]
fn no_value_is_in_the_files() {
    let mut case = new();
    let secret = "correct-horse-battery-staple";
    case.vault.set(login("site", "adalovelace", secret)).unwrap();
    case.vault.set(text("key", secret)).unwrap();
    case.vault.set(text("key", "another-secret-value")).unwrap();
    let _ = case.read("key", None);
    case.vault.rekey(VaultKey::generate().unwrap()).unwrap();
    let mut seen = 0;
    for entry in fs_err::read_dir(case.folder.path()).unwrap() {
        let bytes = fs_err::read(entry.unwrap().path()).unwrap();
        let has = |text: &str| bytes.windows(text.len()).any(|window| window == text.as_bytes());
        for value in [secret, "horse-battery", "adalovelace", "another-secret"] {
            assert!(!has(value), "{value}");
        }
        seen += usize::from(has("password"));
    }
    assert!(seen > 0, "names are there, so it was looked at the right files");
}

#[test]
fn nothing_shows_itself() {
    let case = new();
    let new = login("site", "adalovelace", "hunter2hunter2");
    let hex = case.key.to_hex();
    let shown = format!("{new:?} {:?} {hex:?} {:?}", case.vault, SecretBytes::new(b"hunter2".to_vec()));
    assert!(!shown.contains("hunter2") && !shown.contains("adalovelace") && !shown.contains(hex.reveal()));
    assert!(shown.contains("[secret]") && shown.contains(case.key.id()), "{shown}");
    assert_eq!(format!("{:?}", SecretText::from("hunter2")), "[secret]");
}

#[test]
fn many_may_set_at_once() {
    let case = new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let path = case.store.path();
            let key = case.key.clone();
            scope.spawn(move || {
                let vault = Vault::open(Arc::new(Sqlite::open(path).unwrap()), key).unwrap();
                for n in 0..5 {
                    // Each time it fails somebody else succeeded.
                    let new = || text("shared", &format!("value {thread} {n}"));
                    while let Err(error) = vault.set(new()) {
                        assert!(matches!(error, VaultError::Store(StoreError::Conflict { .. })), "{error}");
                    }
                }
            });
        }
    });
    assert_eq!(case.vault.get("shared").unwrap().version, 20);
    assert!(case.read("shared", None).unwrap().starts_with("value "));
}
