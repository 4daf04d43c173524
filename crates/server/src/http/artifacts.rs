//! Files that packs leave: kept for a day, and handed out to who has an address that we signed, for a quarter of an hour.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use aws_lc_rs::{hmac, rand};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use surehand_session::{Fault, Kind};
use surehand_tools::packs::{Artifact, Artifacts};

use crate::ipc;

/// How long an address counts.
const SIGNED_FOR: Duration = Duration::from_secs(15 * 60);

/// How long a file is kept.
const KEPT_FOR: Duration = Duration::from_secs(24 * 60 * 60);

/// See the module.
#[derive(Debug)]
pub(super) struct ArtifactStore {
    folder: PathBuf,
    /// What addresses begin with.
    base: String,
    key: hmac::Key,
}

impl ArtifactStore {
    /// In this folder. Addresses of an earlier run count on: the key is kept beside the files.
    pub fn open(folder: &Path, base: &str) -> Result<Self, Fault> {
        let open = || -> std::io::Result<hmac::Key> {
            ipc::create_private(folder)?;
            let path = folder.join(".key");
            let bytes = match fs_err::read(&path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                Ok(bytes) if bytes.len() == 32 => bytes,
                _ => {
                    let mut fresh = vec![0; 32];
                    rand::fill(&mut fresh).map_err(|_| std::io::Error::other("no random bytes"))?;
                    write_private(folder, &path, &fresh)?;
                    fresh
                }
            };
            Ok(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
        };
        let key = open().map_err(unwritable)?;
        Ok(Self { folder: folder.to_owned(), base: base.to_owned(), key })
    }

    /// The file of a name, if the address was signed by us and is not too old.
    pub fn fetch(&self, name: &str, expires: u64, signature: &str) -> Option<std::io::Result<Vec<u8>>> {
        let signature = BASE64_URL_SAFE_NO_PAD.decode(signature).ok()?;
        hmac::verify(&self.key, signed(name, expires).as_bytes(), &signature).ok()?;
        (expires >= seconds(SystemTime::now())).then(|| fs_err::read(self.folder.join(name)))
    }

    /// Takes away what was kept long enough.
    pub fn tidy(&self) {
        let Ok(entries) = fs_err::read_dir(&self.folder) else { return };
        for entry in entries.flatten().filter(|entry| entry.file_name() != ".key") {
            let age = entry.metadata().and_then(|file| file.modified()).ok().and_then(|at| at.elapsed().ok());
            if age.is_some_and(|age| age > KEPT_FOR)
                && let Err(error) = fs_err::remove_file(entry.path())
            {
                tracing::warn!("{error}");
            }
        }
    }
}

impl Artifacts for ArtifactStore {
    fn keep(&self, extension: &str, _mime_type: &'static str, bytes: &[u8]) -> Result<Artifact, Fault> {
        let mut id = [0; 16];
        rand::fill(&mut id).map_err(|_| Fault::new(Kind::Internal, "the system gives no random bytes"))?;
        let name = format!("{}.{extension}", BASE64_URL_SAFE_NO_PAD.encode(id));
        write_private(&self.folder, &self.folder.join(&name), bytes).map_err(unwritable)?;
        let expires = seconds(SystemTime::now() + SIGNED_FOR);
        let signature = hmac::sign(&self.key, signed(&name, expires).as_bytes());
        let signature = BASE64_URL_SAFE_NO_PAD.encode(signature.as_ref());
        let base = &self.base;
        let url = format!("{base}/api/v1/artifacts/{name}?expires={expires}&signature={signature}");
        Ok(Artifact { artifact_key: name, artifact_url: Some(url), path: None, size: bytes.len() })
    }
}

fn signed(name: &str, expires: u64) -> String {
    format!("{expires}\n{name}")
}

fn seconds(at: SystemTime) -> u64 {
    at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// All of it or nothing, for this user alone.
fn write_private(folder: &Path, path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

fn unwritable(error: std::io::Error) -> Fault {
    Fault::new(Kind::UnwritablePath, format!("the file cannot be kept: {error}"))
        .hint("make room on the disk, or set SUREHAND_HOME to a folder that can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_signed_addresses_count_and_only_for_a_while() {
        let folder = tempfile::tempdir().unwrap();
        let store = ArtifactStore::open(folder.path(), "http://h").unwrap();
        let kept = store.keep("png", "image/png", b"picture").unwrap();
        let url = kept.artifact_url.unwrap();
        let query = url.split_once('?').unwrap().1;
        let (expires, signature) = query.split_once('&').unwrap();
        let expires: u64 = expires.strip_prefix("expires=").unwrap().parse().unwrap();
        let signature = signature.strip_prefix("signature=").unwrap();
        let fetch = |store: &ArtifactStore, name: &str, expires, signature: &str| {
            store.fetch(name, expires, signature).map(|read| read.unwrap())
        };
        let name = kept.artifact_key.as_str();
        assert_eq!(fetch(&store, name, expires, signature).as_deref(), Some(&b"picture"[..]));
        let again = ArtifactStore::open(folder.path(), "http://h").unwrap();
        assert!(fetch(&again, name, expires, signature).is_some());
        assert!(store.fetch(name, expires + 1, signature).is_none());
        assert!(store.fetch("../surehand.db", expires, signature).is_none());
        assert!(store.fetch(name, expires, "AAAA").is_none());
        let old = seconds(SystemTime::now()) - 1;
        let old_signature = hmac::sign(&store.key, signed(name, old).as_bytes());
        let old_signature = BASE64_URL_SAFE_NO_PAD.encode(old_signature.as_ref());
        assert!(store.fetch(name, old, &old_signature).is_none());
    }
}
