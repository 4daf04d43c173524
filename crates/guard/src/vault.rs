//! The vault: credentials that are sealed where they are kept, and that nobody may use who was not told so.
//!
//! - Sealed with AES-256-GCM under one key ([`VaultKey`]); where that comes from is in [`KeySources`].
//! - Nobody may read a credential without a grant, not even who set it. One may read it who has the subject and the client of
//!   a grant; the subject `*` is any, an empty client is any.
//! - The user of this machine who owns the files holds the key, so a grant would be no fence: [`Caller::Local`], written down
//!   as `local`, may read everything. No token can make somebody this caller.
//! - Each attempt is written down before it is answered, also by the owner, and stays when the credential is removed.

mod credential;
mod error;
mod key;
mod keyring;
mod placeholder;
mod rotate;
mod seal;
mod secret;
mod sources;

use std::sync::Arc;

use surehand_store::{
    CredentialRow, Grant, Store, StoreError, Timestamp, UsageEntry, UsageFilter, UsageOutcome, UsageRow,
};

use crate::name::is_name;
use crate::secrets::Spelling;
use crate::{Secrets, SecretsError};

pub use credential::{Caller, Credential, Kind, NewCredential};
use credential::{check, fits};
pub use error::VaultError;
pub use key::{KeyError, VaultKey};
pub use keyring::Keyring;
pub(crate) use placeholder::OPENING;
pub use placeholder::{Malformed, Reference, SubstituteError, placeholders, substitute};
use seal::Place;
pub use secret::{SecretBytes, SecretText, SecretValue};
pub use sources::{KeyPlace, KeySources};

/// How often a write is tried that others are in the way of.
const TRIES: usize = 8;

/// What the local user is called in the usage log.
pub const LOCAL: &str = "local";

/// See the module.
#[derive(Debug)]
pub struct Vault {
    store: Arc<dyn Store>,
    key: Option<VaultKey>,
}

impl Vault {
    /// With its key. [`VaultError::WrongKey`] if something is sealed with another one.
    pub fn open(store: Arc<dyn Store>, key: VaultKey) -> Result<Self, VaultError> {
        let rows = store.credentials()?;
        if let Some(other) = rows.iter().find(|row| row.sealed.key_id != key.id()) {
            return Err(VaultError::WrongKey {
                sealed: other.sealed.key_id.clone(),
                given: key.id().to_owned(),
            });
        }
        Ok(Self { store, key: Some(key) })
    }

    /// Without its key: for everything but setting and reading.
    pub fn locked(store: Arc<dyn Store>) -> Self {
        Self { store, key: None }
    }

    /// With the key that is found; locked if there is none.
    pub fn find(store: Arc<dyn Store>, sources: &KeySources) -> Result<Self, VaultError> {
        match sources.find()? {
            Some(key) => Self::open_or_finish(store, key, sources),
            None => Ok(Self::locked(store)),
        }
    }

    /// To set something: makes a key if there is none, unless something is sealed already, whose key was lost.
    pub fn open_or_create(store: Arc<dyn Store>, sources: &KeySources) -> Result<Self, VaultError> {
        let key = match sources.find()? {
            Some(key) => key,
            None if store.credentials()?.is_empty() => sources.create()?,
            None => return Err(VaultError::NoKey),
        };
        Self::open_or_finish(store, key, sources)
    }

    /// Whether it can set and read.
    pub fn has_key(&self) -> bool {
        self.key.is_some()
    }

    fn key(&self) -> Result<&VaultKey, VaultError> {
        self.key.as_ref().ok_or(VaultError::NoKey)
    }

    /// Sets a credential, new or in place of the one of that name, whose grants stay. Grants nothing to anybody.
    pub fn set(&self, new: NewCredential) -> Result<Credential, VaultError> {
        let key = self.key()?;
        check(&new)?;
        let mut tries = TRIES;
        loop {
            let now = Timestamp::now();
            let old = self.store.credential(&new.name)?;
            let (id, version, created) = match old {
                Some(old) => (old.id, old.version + 1, old.created),
                None => (new_id()?, 1, now),
            };
            let fields = new.value.field_names();
            let place = Place {
                id: &id,
                name: &new.name,
                kind: new.kind.as_str(),
                host: new.host.as_deref(),
                fields: &fields,
                version,
            };
            let sealed = seal::seal(key, &place, &new.value)?;
            let (name, kind, host) = (new.name.clone(), new.kind.as_str().to_owned(), new.host.clone());
            let row = CredentialRow { id, name, kind, host, fields, version, sealed, created, updated: now };
            match self.store.put_credential(&row) {
                Ok(()) => return Ok(row.into()),
                Err(StoreError::Conflict { .. }) if tries > 1 => {
                    // Another process wrote it in between, or changed the key of all.
                    Self::open(Arc::clone(&self.store), key.clone())?;
                    tries -= 1;
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// What there is, by name, without any value.
    pub fn names(&self) -> Result<Vec<Credential>, VaultError> {
        Ok(self.store.credentials()?.into_iter().map(Credential::from).collect())
    }

    /// One of them.
    pub fn get(&self, name: &str) -> Result<Credential, VaultError> {
        self.row(name).map(Credential::from)
    }

    fn row(&self, name: &str) -> Result<CredentialRow, VaultError> {
        if !is_name(name) {
            return Err(VaultError::BadName);
        }
        self.store.credential(name)?.ok_or_else(|| VaultError::Unknown { name: name.to_owned() })
    }

    /// Removes a credential and its grants. Who used it stays written down.
    pub fn remove(&self, name: &str) -> Result<(), VaultError> {
        self.row(name)?;
        self.store.remove_credential(name)?;
        Ok(())
    }

    /// Says whether it is new. `*` is any subject, an empty client is any client.
    pub fn grant(&self, name: &str, subject: &str, client: &str) -> Result<bool, VaultError> {
        self.row(name)?;
        if subject.trim().is_empty() || subject == LOCAL {
            return Err(VaultError::BadSubject);
        }
        let (subject, client) = (subject.to_owned(), client.to_owned());
        Ok(self.store.add_grant(name, &Grant { subject, client, created: Timestamp::now() })?)
    }

    /// Says whether it was there.
    pub fn revoke(&self, name: &str, subject: &str, client: &str) -> Result<bool, VaultError> {
        self.row(name)?;
        Ok(self.store.remove_grant(name, subject, client)?)
    }

    /// Who may read it.
    pub fn grants(&self, name: &str) -> Result<Vec<Grant>, VaultError> {
        self.row(name)?;
        Ok(self.store.grants(name)?)
    }

    /// Who read or tried to.
    pub fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, VaultError> {
        Ok(self.store.usage(filter)?)
    }

    /// A text of a credential: its value, or the field that is named.
    pub fn read(
        &self,
        name: &str,
        field: Option<&str>,
        caller: Caller<'_>,
    ) -> Result<SecretText, VaultError> {
        let not_text = || VaultError::NotText { name: name.to_owned() };
        match (self.open_for(name, field, caller)?, field) {
            (SecretValue::Text(text), None) => Ok(text),
            (SecretValue::Fields(fields), Some(field)) => {
                fields.into_iter().find(|(name, _)| name == field).map(|(_, text)| text).ok_or_else(not_text)
            }
            _ => Err(not_text()),
        }
    }

    /// The same for a credential of bytes; a text is its bytes.
    pub fn read_bytes(&self, name: &str, caller: Caller<'_>) -> Result<SecretBytes, VaultError> {
        match self.open_for(name, None, caller)? {
            SecretValue::Bytes(bytes) => Ok(bytes),
            SecretValue::Text(text) => Ok(SecretBytes::new(text.reveal().as_bytes().to_vec())),
            SecretValue::Fields(_) => Err(VaultError::NotText { name: name.to_owned() }),
        }
    }

    /// Asks, writes down, opens; in this order, so that nothing is handed out that is not written down.
    fn open_for(
        &self,
        name: &str,
        field: Option<&str>,
        caller: Caller<'_>,
    ) -> Result<SecretValue, VaultError> {
        if !is_name(name) || !field.is_none_or(is_name) {
            return Err(VaultError::BadName);
        }
        let row = self.store.credential(name)?;
        let (outcome, answer) = match &row {
            None => (UsageOutcome::NoMatch, Err(VaultError::Unknown { name: name.to_owned() })),
            Some(row) if !caller.may(&self.store.grants(name)?) => {
                (UsageOutcome::Denied, Err(VaultError::Denied { name: row.name.clone() }))
            }
            Some(row) => match fits(row, field) {
                Ok(()) => (UsageOutcome::Allowed, Ok(row)),
                Err(error) => (UsageOutcome::NoMatch, Err(error)),
            },
        };
        let (subject, client) = match caller {
            Caller::Local => (LOCAL, ""),
            Caller::Remote { subject, client } => (subject, client),
        };
        self.store.append_usage(&UsageEntry {
            ts: Timestamp::now(),
            name: name.to_owned(),
            field: field.map(str::to_owned),
            credential_id: row.as_ref().map(|row| row.id.clone()),
            subject: subject.to_owned(),
            client: client.to_owned(),
            outcome,
        })?;
        let row = answer?;
        seal::open(self.key()?, row)
    }

    /// Seals everything with another key, or, if one thing cannot be opened, nothing. Says how many there were.
    ///
    /// Put the new key where it will be found before, and keep the old one until this is done; [`rotate`](Self::rotate) does
    /// both for a key in a file.
    pub fn rekey(&mut self, new: VaultKey) -> Result<usize, VaultError> {
        let old = self.key()?;
        let mut count = 0;
        let mut failed = None;
        let done = self.store.reseal_credentials(&mut |row| {
            let place = Place { version: row.version + 1, ..Place::of(row) };
            let sealed = seal::open(old, row).and_then(|value| seal::seal(&new, &place, &value));
            count += 1;
            sealed.map_err(|error| failed = Some(error)).ok()
        })?;
        if !done {
            return Err(failed.unwrap_or(VaultError::Crypto));
        }
        self.key = Some(new);
        Ok(count)
    }
}

/// So that what was read is masked in what goes out. `spelling` is what stands in its place: `${vault:NAME#field}` for packs,
/// `${SECRET:NAME#field}` where tools and playbooks speak of secrets.
pub fn to_secrets<'a>(
    values: impl IntoIterator<Item = (&'a Reference, &'a SecretText)>,
    spelling: Spelling,
) -> Result<Secrets, SecretsError> {
    let pairs =
        values.into_iter().map(|(reference, value)| (reference.to_string(), value.reveal().to_owned()));
    Secrets::for_masking(pairs, spelling)
}

fn new_id() -> Result<String, VaultError> {
    let mut bytes = [0; 16];
    aws_lc_rs::rand::fill(&mut bytes).map_err(|_| VaultError::Crypto)?;
    Ok(surehand_store::hex(&bytes))
}

#[cfg(test)]
mod tests;
