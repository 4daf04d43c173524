//! A new key in place of the old one, so that whatever ends the program in between, the key that fits is on the disk.
//!
//! The new key is written beside the old one, then everything is sealed with it, then it takes the old one's name. Who finds
//! the old key, and that it does not fit, looks beside it, and finishes what was begun.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use surehand_store::Store;

use super::{KeyError, KeyPlace, KeySources, Vault, VaultError, VaultKey};

impl Vault {
    /// Makes a new key, seals everything with it, and puts it into the file that the key came from. Says how many
    /// credentials there were. Processes that have the old key are told [`VaultError::WrongKey`] from then on.
    ///
    /// [`KeyError::NotAFile`] if the key came from the environment or a keyring: then [`rekey`](Self::rekey), with a new key
    /// that is kept there first.
    pub fn rotate(&mut self, sources: &KeySources) -> Result<usize, VaultError> {
        let Some(KeyPlace::File(file)) = sources.place()? else { return Err(KeyError::NotAFile.into()) };
        let new = VaultKey::generate()?;
        let beside = beside(&file);
        new.replace(&beside)?;
        match self.rekey(new) {
            Ok(count) => finish(&beside, &file).map(|()| count),
            // It may have been written all the same, and then this is the key.
            Err(error @ VaultError::Store(_)) => Err(error),
            Err(error) => {
                fs_err::remove_file(&beside).map_err(KeyError::from)?;
                Err(error)
            }
        }
    }

    /// With this key, or with the one beside it if that is the one that fits.
    pub(super) fn open_or_finish(
        store: Arc<dyn Store>,
        key: VaultKey,
        sources: &KeySources,
    ) -> Result<Self, VaultError> {
        let (sealed, error) = match Self::open(Arc::clone(&store), key) {
            Err(VaultError::WrongKey { sealed, given }) => {
                (sealed.clone(), VaultError::WrongKey { sealed, given })
            }
            other => return other,
        };
        let Some(file) = sources.key_file() else { return Err(error) };
        let beside = beside(file);
        match VaultKey::read(&beside) {
            Ok(key) if key.id() == sealed => {
                finish(&beside, file)?;
                Self::open(store, key)
            }
            Ok(_) => Err(error),
            Err(KeyError::File(missing)) if missing.kind() == io::ErrorKind::NotFound => Err(error),
            Err(unreadable) => Err(unreadable.into()),
        }
    }
}

fn beside(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".new");
    PathBuf::from(name)
}

fn finish(beside: &Path, file: &Path) -> Result<(), VaultError> {
    match fs_err::rename(beside, file) {
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other.map_err(|error| KeyError::from(error).into()),
    }
}
