//! The key of the vault, and the file that it is kept in.

use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use aws_lc_rs::digest::{Context, SHA256};
use surehand_store::{hex, unhex};
use zeroize::Zeroizing;

use super::SecretText;

/// 32 bytes. `Debug` shows its id only.
#[derive(Clone)]
pub struct VaultKey {
    bytes: Zeroizing<[u8; 32]>,
    id: String,
}

/// Why there is no key. None of these shows any of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// Not 64 hexadecimal digits.
    #[error("the vault's key in {place} is not 64 hexadecimal digits; `openssl rand -hex 32` makes some")]
    Malformed {
        /// Where it was found.
        place: String,
    },
    /// Others may read it.
    #[error("others may read the vault's key in {}; run `chmod 600` on it, and if it was not meant to be so, `surehand vault rekey`", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("the vault's key could not be read or written: {0}")]
    File(#[from] io::Error),
    /// It is not kept in a file, so it cannot be changed there.
    #[error(
        "the vault's key is not in a file; move it there with `surehand vault key --move-to file`, or put a new one where the old one came from"
    )]
    NotAFile,
    /// The keyring does not give it, or does not take it.
    #[error("the keyring of the system: {why}")]
    Keyring {
        /// What it said.
        why: String,
    },
    /// The system gives no random bytes.
    #[error("the system gives no random bytes, so no key can be made")]
    NoRandom,
}

impl VaultKey {
    /// A new one.
    pub fn generate() -> Result<Self, KeyError> {
        let mut bytes = Zeroizing::new([0; 32]);
        aws_lc_rs::rand::fill(bytes.as_mut()).map_err(|_| KeyError::NoRandom)?;
        Ok(Self::of(bytes))
    }

    /// From 64 hexadecimal digits, with blanks around them if need be. `place` is named if they are none.
    pub fn parse(text: &str, place: &str) -> Result<Self, KeyError> {
        let bytes = unhex(text.trim()).map(Zeroizing::new);
        bytes.map(Self::of).ok_or_else(|| KeyError::Malformed { place: place.to_owned() })
    }

    fn of(bytes: Zeroizing<[u8; 32]>) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(b"surehand-vault-key\0");
        context.update(bytes.as_ref());
        let id = hex(&context.finish().as_ref()[..8]);
        Self { bytes, id }
    }

    /// Says which key it is, and nothing about it: the beginning of a hash.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// As it is kept in a file.
    pub fn to_hex(&self) -> SecretText {
        SecretText::new(hex(self.bytes.as_ref()))
    }

    pub(super) fn bytes(&self) -> &[u8; 32] {
        &self.bytes
    }

    /// From a file that nobody else may read.
    pub fn read(path: &Path) -> Result<Self, KeyError> {
        Self::parse(&read_private(path)?, &path.display().to_string())
    }

    /// Into a new file that nobody else may read. `false` if there is one already, which stays as it is.
    pub fn write_new(&self, path: &Path) -> Result<bool, KeyError> {
        match self.staged(path)?.persist_noclobber(path) {
            Ok(_) => sync_folder(path).map(|()| true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error.into()),
        }
    }

    /// In place of the file. Whole or not at all: half a key is none.
    pub fn replace(&self, path: &Path) -> Result<(), KeyError> {
        replace_private(path, self.to_hex().reveal())
    }

    fn staged(&self, path: &Path) -> Result<tempfile::NamedTempFile, KeyError> {
        staged(path, self.to_hex().reveal())
    }
}

/// What is in a file that nobody else may read, if it is short enough for a key.
pub(super) fn read_private(path: &Path) -> Result<Zeroizing<String>, KeyError> {
    let file = fs_err::File::open(path)?;
    if exposed(&file.metadata()?) {
        return Err(KeyError::Exposed { path: path.to_owned() });
    }
    let mut text = Zeroizing::new(String::with_capacity(256));
    match file.take(255).read_to_string(&mut text) {
        Err(error) if error.kind() != io::ErrorKind::InvalidData => Err(error.into()),
        _ => Ok(text),
    }
}

/// Puts a line in place of the file, for its owner alone.
pub(super) fn replace_private(path: &Path, line: &str) -> Result<(), KeyError> {
    staged(path, line)?.persist(path).map_err(|error| error.error)?;
    sync_folder(path)
}

/// On the disk, but not under its name.
fn staged(path: &Path, line: &str) -> Result<tempfile::NamedTempFile, KeyError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".vault-key").tempfile_in(folder)?;
    file.write_all(line.as_bytes())?;
    file.write_all(b"\n")?;
    file.as_file().sync_all()?;
    Ok(file)
}

/// What is sealed with a key must not be on the disk before the key is.
fn sync_folder(path: &Path) -> Result<(), KeyError> {
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        fs_err::File::open(folder)?.sync_all()?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

#[cfg(unix)]
fn exposed(metadata: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    metadata.mode() & 0o077 != 0
}

/// Folders of a user are the user's alone on Windows.
#[cfg(not(unix))]
fn exposed(_: &std::fs::Metadata) -> bool {
    false
}

impl fmt::Debug for VaultKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[key {}]", self.id)
    }
}
