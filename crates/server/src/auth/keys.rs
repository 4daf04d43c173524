//! The keys that sign tokens: a file each, for their owner alone. Several at once, so that they can be changed while
//! tokens of the old one are still about.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use aws_lc_rs::rand;
use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use jsonwebtoken::{DecodingKey, EncodingKey};
use serde::{Deserialize, Serialize};

use super::now;
use crate::ipc;

/// Two changes of a folder within this may have the same time, as coarse clocks of file systems tell it.
const SAME_TIME: Duration = Duration::from_secs(2);

/// A shared secret that is shorter can be guessed.
const SHORTEST_SECRET: usize = 32;

/// The key of the environment.
const FROM_ENV: &str = "env";

/// How tokens are signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Algorithm {
    /// One secret that signs and checks.
    #[serde(rename = "HS256")]
    Hs256,
    /// A pair of Ed25519: who has the public half can check, but not sign.
    #[serde(rename = "EdDSA")]
    EdDsa,
}

impl Algorithm {
    pub(super) fn jwt(self) -> jsonwebtoken::Algorithm {
        match self {
            Algorithm::Hs256 => jsonwebtoken::Algorithm::HS256,
            Algorithm::EdDsa => jsonwebtoken::Algorithm::EdDSA,
        }
    }
}

/// One key. `Debug` shows no secret.
#[derive(Clone)]
pub struct Key {
    /// Its name in the header of tokens.
    pub kid: String,
    /// How it signs.
    pub algorithm: Algorithm,
    /// When it was made, in seconds of the epoch.
    pub created: u64,
    signing: Option<EncodingKey>,
    checking: DecodingKey,
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("kid", &self.kid)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// A key, as a listing shows it.
#[derive(Debug, Clone, Serialize)]
pub struct KeyInfo {
    /// Its name.
    pub kid: String,
    /// How it signs.
    pub algorithm: Algorithm,
    /// When it was made, in seconds of the epoch.
    pub created: u64,
    /// Can it sign, or only check?
    pub signs: bool,
    /// The public half, in base64url, for who only checks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub public: Option<String>,
}

/// What stands in the file of a key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    kid: String,
    algorithm: Algorithm,
    created: u64,
    /// HS256: the secret. EdDSA: the pair as PKCS#8. Base64url.
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// EdDSA: the public half. Base64url.
    #[serde(skip_serializing_if = "Option::is_none")]
    public: Option<String>,
}

/// What is wrong with keys.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// A file cannot be read or written.
    #[error("{0}")]
    File(#[from] std::io::Error),
    /// Somebody else can read it.
    #[error("{0} can be read by others; make it yours alone: chmod 600 {0}")]
    Readable(PathBuf),
    /// It holds something else.
    #[error("{path} holds no signing key: {why}")]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// SUREHAND_JWT_SECRET is too short.
    #[error(
        "SUREHAND_JWT_SECRET has {0} bytes; at least {SHORTEST_SECRET} are needed, e.g. from `openssl rand -hex 32`"
    )]
    ShortSecret(usize),
    /// There is such a key already, or none.
    #[error("{0}")]
    Name(String),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes")]
    NoRandom,
}

/// All keys of a home, read again when their folder changes.
#[derive(Debug)]
pub struct KeyRing {
    folder: PathBuf,
    env: Option<Key>,
    read: RwLock<Read>,
}

#[derive(Debug, Clone, Default)]
struct Read {
    /// When the folder was changed last.
    stamp: Option<SystemTime>,
    /// The newest first.
    keys: Arc<[Key]>,
}

impl KeyRing {
    /// The keys in a folder, and the secret of the environment if there is one.
    pub fn open(folder: &Path, env_secret: Option<&str>) -> Result<Self, KeyError> {
        let env = env_secret.map(|secret| env_key(secret.as_bytes())).transpose()?;
        let ring = Self { folder: folder.to_owned(), env, read: RwLock::default() };
        ring.refresh()?;
        Ok(ring)
    }

    /// All keys, the one that signs first.
    pub fn keys(&self) -> Result<Vec<Key>, KeyError> {
        self.refresh()?;
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        Ok(self.env.iter().chain(read.keys.iter()).cloned().collect())
    }

    /// Is there a key that can sign?
    pub fn can_sign(&self) -> Result<bool, KeyError> {
        Ok(self.keys()?.iter().any(|key| key.signing.is_some()))
    }

    /// The key that signs: this one, else the newest.
    pub(super) fn signing(&self, kid: Option<&str>) -> Result<(Key, EncodingKey), KeyError> {
        let found = self.keys()?.into_iter().find_map(|key| match (&key.signing, kid) {
            (Some(signing), None) => Some((key.clone(), signing.clone())),
            (Some(signing), Some(kid)) if key.kid == kid => Some((key.clone(), signing.clone())),
            _ => None,
        });
        found.ok_or_else(|| {
            KeyError::Name(match kid {
                Some(kid) => format!("there is no key {kid:?} that can sign; see `surehand token keys`"),
                None => "there is no key that can sign; make one with `surehand token new-key`".to_owned(),
            })
        })
    }

    /// The keys that may have signed a token: the one it names, or all if it names none.
    pub(super) fn candidates(&self, kid: Option<&str>) -> Result<Vec<(Key, DecodingKey)>, KeyError> {
        let named = |key: &Key| kid.is_none_or(|kid| key.kid == kid);
        Ok(self.keys()?.into_iter().filter(named).map(|key| (key.clone(), key.checking)).collect())
    }

    /// Makes a key and says where it is.
    pub fn make(&self, algorithm: Algorithm, kid: Option<&str>) -> Result<PathBuf, KeyError> {
        let kid = match kid {
            Some(kid) => kid.to_owned(),
            None => random_name()?,
        };
        let created = now();
        let file = match algorithm {
            Algorithm::Hs256 => {
                let mut secret = [0; SHORTEST_SECRET];
                rand::fill(&mut secret).map_err(|_| KeyError::NoRandom)?;
                let secret = Some(BASE64_URL_SAFE_NO_PAD.encode(secret));
                KeyFile { kid, algorithm, created, secret, public: None }
            }
            Algorithm::EdDsa => {
                let pair = Ed25519KeyPair::generate().map_err(|_| KeyError::NoRandom)?;
                let pkcs8 = pair.to_pkcs8v1().map_err(|_| KeyError::NoRandom)?;
                let public = Some(BASE64_URL_SAFE_NO_PAD.encode(pair.public_key().as_ref()));
                let secret = Some(BASE64_URL_SAFE_NO_PAD.encode(pkcs8.as_ref()));
                KeyFile { kid, algorithm, created, secret, public }
            }
        };
        self.write(&file)
    }

    /// Takes the public half of somebody else's pair, in base64url: their tokens count from now on.
    pub fn trust(&self, kid: &str, public: &str) -> Result<PathBuf, KeyError> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(public.trim_end_matches('='));
        if bytes.map_or(0, |bytes| bytes.len()) != 32 {
            return Err(KeyError::Name("an Ed25519 public key is 32 bytes in base64url".to_owned()));
        }
        let public = Some(public.trim_end_matches('=').to_owned());
        let (kid, algorithm, created) = (kid.to_owned(), Algorithm::EdDsa, now());
        self.write(&KeyFile { kid, algorithm, created, secret: None, public })
    }

    /// Takes a key away: tokens that it signed count no more.
    pub fn remove(&self, kid: &str) -> Result<(), KeyError> {
        let path = self.path(kid)?;
        match fs_err::remove_file(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(KeyError::Name(format!("there is no key {kid:?}; see `surehand token keys`")))
            }
            other => Ok(other?),
        }
    }

    /// For listings.
    pub fn infos(&self) -> Result<Vec<KeyInfo>, KeyError> {
        let info = |key: Key| KeyInfo {
            public: match key.algorithm {
                Algorithm::Hs256 => None,
                Algorithm::EdDsa => {
                    key.checking.try_get_as_bytes().ok().map(|bytes| BASE64_URL_SAFE_NO_PAD.encode(bytes))
                }
            },
            signs: key.signing.is_some(),
            kid: key.kid,
            algorithm: key.algorithm,
            created: key.created,
        };
        Ok(self.keys()?.into_iter().map(info).collect())
    }

    fn path(&self, kid: &str) -> Result<PathBuf, KeyError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if kid.is_empty()
            || kid.starts_with('.')
            || kid.len() > 64
            || !kid.chars().all(plain)
            || kid == FROM_ENV
        {
            return Err(KeyError::Name(format!("{kid:?} is no name for a key: letters, digits, - and _")));
        }
        Ok(self.folder.join(format!("{kid}.json")))
    }

    fn write(&self, file: &KeyFile) -> Result<PathBuf, KeyError> {
        let path = self.path(&file.kid)?;
        ipc::create_private(&self.folder)?;
        let json = serde_json::to_vec_pretty(file).map_err(std::io::Error::from)?;
        // A temporary file is only its owner's from the start.
        let mut temporary = tempfile::NamedTempFile::new_in(&self.folder)?;
        std::io::Write::write_all(&mut temporary, &json)?;
        temporary.persist_noclobber(&path).map_err(|error| match error.error.kind() {
            std::io::ErrorKind::AlreadyExists => {
                KeyError::Name(format!("there is a key {:?} already", file.kid))
            }
            _ => KeyError::File(error.error),
        })?;
        Ok(path)
    }

    fn refresh(&self) -> Result<(), KeyError> {
        let stamp = fs_err::metadata(&self.folder).and_then(|folder| folder.modified()).ok();
        // What changed a moment ago may change again without another time to show for it.
        let is_settled = stamp.and_then(|at| at.elapsed().ok()).is_some_and(|age| age > SAME_TIME);
        if is_settled && self.read.read().unwrap_or_else(PoisonError::into_inner).stamp == stamp {
            return Ok(());
        }
        let keys = match stamp {
            Some(_) => read_folder(&self.folder)?,
            None => Vec::new(),
        };
        *self.read.write().unwrap_or_else(PoisonError::into_inner) = Read { stamp, keys: keys.into() };
        Ok(())
    }
}

fn read_folder(folder: &Path) -> Result<Vec<Key>, KeyError> {
    let mut keys = Vec::new();
    for entry in fs_err::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            keys.push(read_key(&path)?);
        }
    }
    keys.sort_by(|a, b| (b.created, &b.kid).cmp(&(a.created, &a.kid)));
    Ok(keys)
}

fn read_key(path: &Path) -> Result<Key, KeyError> {
    if !ipc::is_private(path)? {
        return Err(KeyError::Readable(path.to_owned()));
    }
    let unreadable = |why: String| KeyError::Unreadable { path: path.to_owned(), why };
    let file: KeyFile =
        serde_json::from_slice(&fs_err::read(path)?).map_err(|error| unreadable(error.to_string()))?;
    let bytes = |text: &Option<String>| {
        let text = text.as_deref().ok_or_else(|| unreadable("a half of it is missing".to_owned()))?;
        BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|error| unreadable(error.to_string()))
    };
    let (signing, checking) = match file.algorithm {
        Algorithm::Hs256 => {
            let secret = bytes(&file.secret)?;
            if secret.len() < SHORTEST_SECRET {
                return Err(unreadable(format!("its secret is shorter than {SHORTEST_SECRET} bytes")));
            }
            (Some(EncodingKey::from_secret(&secret)), DecodingKey::from_secret(&secret))
        }
        Algorithm::EdDsa => {
            let signing = file.secret.is_some().then(|| bytes(&file.secret)).transpose()?;
            (
                signing.map(|pkcs8| EncodingKey::from_ed_der(&pkcs8)),
                DecodingKey::from_ed_der(&bytes(&file.public)?),
            )
        }
    };
    Ok(Key { kid: file.kid, algorithm: file.algorithm, created: file.created, signing, checking })
}

fn env_key(secret: &[u8]) -> Result<Key, KeyError> {
    if secret.len() < SHORTEST_SECRET {
        return Err(KeyError::ShortSecret(secret.len()));
    }
    Ok(Key {
        kid: FROM_ENV.to_owned(),
        algorithm: Algorithm::Hs256,
        created: 0,
        signing: Some(EncodingKey::from_secret(secret)),
        checking: DecodingKey::from_secret(secret),
    })
}

fn random_name() -> Result<String, KeyError> {
    let mut bytes = [0; 6];
    rand::fill(&mut bytes).map_err(|_| KeyError::NoRandom)?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes).trim_start_matches(['-', '_']).to_owned())
}
