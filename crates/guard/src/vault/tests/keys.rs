//! Keys: where they come from, the wrong one, and a new one.

use std::path::Path;

use super::*;

fn sources(home: &Path) -> KeySources {
    KeySources { value: None, file: None, home_file: home.join("home/vault.key"), keyring: Keyring::of(home) }
}

#[cfg(unix)]
fn mode(path: &Path, set: Option<u32>) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    if let Some(mode) = set {
        fs_err::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    fs_err::metadata(path).unwrap().permissions().mode() & 0o777
}

#[cfg(unix)]
#[test]
fn the_first_credential_makes_a_key_for_its_owner_alone() {
    let case = new();
    let sources = sources(case.folder.path());
    let store = || Arc::<Sqlite>::clone(&case.store);
    assert!(!Vault::find(store(), &sources).unwrap().has_key());
    let vault = Vault::open_or_create(store(), &sources).unwrap();
    assert_eq!(mode(&sources.home_file, None), 0o600);
    vault.set(text("key", "hunter2")).unwrap();
    let again = Vault::find(store(), &sources).unwrap();
    assert_eq!(again.read("key", None, Caller::Local).unwrap().reveal(), "hunter2");
    assert_eq!(fs_err::read_to_string(&sources.home_file).unwrap().len(), 65);

    mode(&sources.home_file, Some(0o640));
    let error = Vault::find(store(), &sources).unwrap_err();
    assert!(error.to_string().contains("chmod 600"), "{error}");

    // A lost key is not replaced by another, under which nothing could be read.
    fs_err::remove_file(&sources.home_file).unwrap();
    assert!(matches!(Vault::open_or_create(store(), &sources), Err(VaultError::NoKey)));
    let locked = Vault::find(store(), &sources).unwrap();
    assert!(matches!(locked.read("key", None, Caller::Local), Err(VaultError::NoKey)));
    assert!(matches!(locked.set(text("key", "hunter3")), Err(VaultError::NoKey)));
    assert_eq!(locked.names().unwrap().len(), 1);
    locked.remove("key").unwrap();
    Vault::open_or_create(store(), &sources).unwrap();
}

#[cfg(unix)]
#[test]
fn the_first_source_counts() {
    let case = new();
    let keys: Vec<_> = (0..3).map(|_| VaultKey::generate().unwrap()).collect();
    let file = case.folder.path().join("file");
    let mut sources = sources(case.folder.path());
    fs_err::create_dir_all(sources.home_file.parent().unwrap()).unwrap();
    assert!(sources.find().unwrap().is_none());
    assert!(keys[2].write_new(&sources.home_file).unwrap());
    assert!(!keys[1].write_new(&sources.home_file).unwrap(), "a key is never overwritten unasked");
    assert_eq!(sources.find().unwrap().unwrap().id(), keys[2].id());
    sources.file = Some(file.clone());
    let error = sources.find().unwrap_err();
    assert!(matches!(error, KeyError::File(_)) && error.to_string().contains("file"), "{error}");
    keys[1].replace(&file).unwrap();
    assert_eq!((sources.find().unwrap().unwrap().id(), mode(&file, None)), (keys[1].id(), 0o600));
    sources.value = Some(SecretText::new(format!(" {}\n", keys[0].to_hex().reveal().to_uppercase())));
    assert_eq!(sources.find().unwrap().unwrap().id(), keys[0].id());
}

#[test]
fn what_is_no_key_is_refused_unseen() {
    for text in ["", "hunter2", &"f".repeat(63), &"f".repeat(66), &"g".repeat(64), &"é".repeat(32)] {
        let error = VaultKey::parse(text, "SUREHAND_VAULT_KEY").unwrap_err().to_string();
        assert!(error.contains("SUREHAND_VAULT_KEY is not 64") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn the_wrong_key_is_told() {
    let case = new();
    case.vault.set(text("key", "hunter2")).unwrap();
    let other = VaultKey::generate().unwrap();
    let error = case.again(other.clone()).unwrap_err();
    let VaultError::WrongKey { sealed, given } = &error else { panic!("{error}") };
    assert_eq!((sealed.as_str(), given.as_str()), (case.key.id(), other.id()));
    assert!(error.to_string().contains(case.key.id()), "{error}");
}

#[test]
fn a_new_key_seals_everything_or_nothing() {
    let mut case = new();
    let before = case.again(case.key.clone()).unwrap();
    for n in 0..20 {
        case.vault.set(text(&format!("key-{n}"), &format!("value {n}"))).unwrap();
    }
    let fresh = VaultKey::generate().unwrap();
    assert_eq!(case.vault.rekey(fresh.clone()).unwrap(), 20);
    assert_eq!(case.read("key-7", None).unwrap(), "value 7");
    assert!(case.again(case.key.clone()).is_err() && case.again(fresh.clone()).is_ok());
    // Somebody who was there before is told, and cannot mix keys.
    assert!(matches!(before.read("key-7", None, Caller::Local), Err(VaultError::WrongKey { .. })));
    assert!(matches!(before.set(text("new", "hunter2")), Err(VaultError::WrongKey { .. })));

    case.sql("UPDATE credentials SET ciphertext = zeroblob(40) WHERE name = 'key-3'");
    let error = case.vault.rekey(VaultKey::generate().unwrap()).unwrap_err();
    assert!(matches!(&error, VaultError::Damaged { name } if name == "key-3"), "{error}");
    assert_eq!(case.read("key-7", None).unwrap(), "value 7");
    assert!(case.again(fresh).is_ok());
}

#[test]
fn a_change_of_keys_that_was_cut_short_is_finished() {
    let case = new();
    let sources = sources(case.folder.path());
    let store = || Arc::<Sqlite>::clone(&case.store);
    let beside = case.folder.path().join("home/vault.key.new");
    let mut vault = Vault::open_or_create(store(), &sources).unwrap();
    vault.set(text("key", "hunter2")).unwrap();
    let old = sources.find().unwrap().unwrap();
    assert_eq!(vault.rotate(&sources).unwrap(), 1);
    let new = sources.find().unwrap().unwrap();
    assert!(new.id() != old.id() && !beside.exists());
    assert!(Vault::find(store(), &sources).unwrap().read("key", None, Caller::Local).is_ok());

    // Ended before anything was sealed: the old key fits, and what is beside it does not matter.
    VaultKey::generate().unwrap().replace(&beside).unwrap();
    assert!(Vault::find(store(), &sources).unwrap().read("key", None, Caller::Local).is_ok());
    // Ended before the file was renamed.
    let last = VaultKey::generate().unwrap();
    last.replace(&beside).unwrap();
    vault.rekey(last.clone()).unwrap();
    assert!(Vault::find(store(), &sources).unwrap().read("key", None, Caller::Local).is_ok());
    assert!(sources.find().unwrap().unwrap().id() == last.id() && !beside.exists());
    // The wrong key stays the wrong key.
    old.replace(&sources.home_file).unwrap();
    assert!(matches!(Vault::find(store(), &sources), Err(VaultError::WrongKey { .. })));
    last.replace(&sources.home_file).unwrap();

    case.sql("UPDATE credentials SET ciphertext = zeroblob(40)");
    assert!(matches!(vault.rotate(&sources), Err(VaultError::Damaged { .. })));
    assert!(!beside.exists() && sources.find().unwrap().unwrap().id() == last.id());
    let from_environment = KeySources { value: Some(last.to_hex()), ..sources };
    assert!(matches!(vault.rotate(&from_environment), Err(VaultError::Key(KeyError::NotAFile))));
}
