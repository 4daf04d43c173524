//! Where the key of the vault comes from, and moving it from one place to another.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::SecretText;
use super::key::{KeyError, VaultKey, read_private, replace_private};
use super::keyring::{Keyring, MARK};

/// Where a key may come from; the first one that is there counts. Where the word `keyring` stands instead of a key, it is in
/// the keyring of the system, which nobody asks otherwise.
#[derive(Debug, Clone)]
pub struct KeySources {
    /// `SUREHAND_VAULT_KEY`: the key itself.
    pub value: Option<SecretText>,
    /// `SUREHAND_VAULT_KEY_FILE`: a file that must be there.
    pub file: Option<PathBuf>,
    /// `vault.key` in the home: made when the first credential is set.
    pub home_file: PathBuf,
    /// The place in the keyring.
    pub keyring: Keyring,
}

/// Where a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// In the environment.
    Environment,
    /// In a file.
    File(PathBuf),
    /// In the keyring of the system.
    Keyring,
}

impl fmt::Display for KeyPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Environment => f.write_str("SUREHAND_VAULT_KEY"),
            Self::File(file) => write!(f, "{}", file.display()),
            Self::Keyring => f.write_str("the keyring of the system"),
        }
    }
}

impl KeySources {
    /// Reads the environment: only fronts call it.
    pub fn from_env(home: &Path) -> Self {
        let value = std::env::var_os("SUREHAND_VAULT_KEY").filter(|value| !value.is_empty());
        let file = std::env::var_os("SUREHAND_VAULT_KEY_FILE").filter(|file| !file.is_empty());
        Self {
            // What is no text is no key: it is refused later, not passed over for the next source.
            value: value.map(|value| SecretText::new(value.to_string_lossy().into_owned())),
            file: file.map(PathBuf::from),
            home_file: home.join("vault.key"),
            keyring: Keyring::of(home),
        }
    }

    /// Where the key is, if there is one.
    pub fn place(&self) -> Result<Option<KeyPlace>, KeyError> {
        if let Some(value) = &self.value {
            let is_mark = value.reveal().trim() == MARK;
            return Ok(Some(if is_mark { KeyPlace::Keyring } else { KeyPlace::Environment }));
        }
        let file = self.file.as_ref().unwrap_or(&self.home_file);
        match read_private(file) {
            Ok(text) if text.trim() == MARK => Ok(Some(KeyPlace::Keyring)),
            Ok(_) => Ok(Some(KeyPlace::File(file.clone()))),
            Err(KeyError::File(error)) if error.kind() == io::ErrorKind::NotFound && self.file.is_none() => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The key, if there is one.
    pub fn find(&self) -> Result<Option<VaultKey>, KeyError> {
        let Some(place) = self.place()? else { return Ok(None) };
        match (place, &self.value) {
            (KeyPlace::Keyring, _) => self.keyring.read(),
            (KeyPlace::File(file), _) => VaultKey::read(&file),
            (KeyPlace::Environment, value) => {
                let text = value.as_ref().map(SecretText::reveal).unwrap_or_default();
                VaultKey::parse(text, "SUREHAND_VAULT_KEY")
            }
        }
        .map(Some)
    }

    /// The file that the key comes from, if it comes from one.
    pub(super) fn key_file(&self) -> Option<&Path> {
        self.value.is_none().then(|| self.file.as_deref().unwrap_or(&self.home_file))
    }

    /// Makes the file in the home. If somebody else was first, theirs is the key.
    pub(super) fn create(&self) -> Result<VaultKey, KeyError> {
        if let Some(folder) = self.home_file.parent() {
            fs_err::create_dir_all(folder)?;
        }
        let key = VaultKey::generate()?;
        if key.write_new(&self.home_file)? { Ok(key) } else { VaultKey::read(&self.home_file) }
    }

    /// Moves the key from its file into the keyring. The file says from then on where it is.
    pub fn move_to_keyring(&self) -> Result<VaultKey, KeyError> {
        let file = self.key_file().ok_or(KeyError::NotAFile)?;
        let key = self.find()?.ok_or(KeyError::NotAFile)?;
        self.keyring.keep(&key)?;
        replace_private(file, MARK)?;
        Ok(key)
    }

    /// Moves the key from the keyring back into its file.
    pub fn move_to_file(&self) -> Result<VaultKey, KeyError> {
        let file = self.key_file().ok_or(KeyError::NotAFile)?;
        let key = self.find()?.ok_or(KeyError::NotAFile)?;
        let was_in_keyring = self.place()? == Some(KeyPlace::Keyring);
        key.replace(file)?;
        if was_in_keyring {
            self.keyring.forget()?;
        }
        Ok(key)
    }
}
