//! Sealing and opening: AES-256-GCM with a random nonce each time. What else is in the row is sealed in as well (not hidden,
//! but it must be the same when it is opened), so that nobody can swap two rows, put back an older one of another name, or
//! point a credential at another host.

use aws_lc_rs::aead::{AES_256_GCM, Aad, Nonce, RandomizedNonceKey};
use surehand_store::{CredentialRow, Sealed};
use zeroize::Zeroizing;

use super::{SecretValue, VaultError, VaultKey};

/// Where a value is sealed for.
pub(super) struct Place<'a> {
    pub id: &'a str,
    pub name: &'a str,
    pub kind: &'a str,
    pub host: Option<&'a str>,
    pub fields: &'a [String],
    pub version: u64,
}

impl<'a> Place<'a> {
    pub fn of(row: &'a CredentialRow) -> Self {
        Self {
            id: &row.id,
            name: &row.name,
            kind: &row.kind,
            host: row.host.as_deref(),
            fields: &row.fields,
            version: row.version,
        }
    }

    /// With lengths, so that no two places have the same bytes.
    fn bytes(&self) -> Vec<u8> {
        let mut out = b"surehand-vault-1\0".to_vec();
        out.extend(self.version.to_be_bytes());
        out.push(u8::from(self.host.is_some()));
        let texts = [self.id, self.name, self.kind, self.host.unwrap_or_default()];
        for text in texts.into_iter().chain(self.fields.iter().map(String::as_str)) {
            out.extend((text.len() as u64).to_be_bytes());
            out.extend(text.as_bytes());
        }
        out
    }
}

fn cipher(key: &VaultKey) -> Result<RandomizedNonceKey, VaultError> {
    RandomizedNonceKey::new(&AES_256_GCM, key.bytes()).map_err(|_| VaultError::Crypto)
}

pub(super) fn seal(key: &VaultKey, place: &Place<'_>, value: &SecretValue) -> Result<Sealed, VaultError> {
    let mut bytes = value.encode();
    let sealed = cipher(key)?.seal_in_place_append_tag(Aad::from(place.bytes()), &mut *bytes);
    let nonce = *sealed.map_err(|_| VaultError::Crypto)?.as_ref();
    Ok(Sealed { key_id: key.id().to_owned(), nonce, ciphertext: std::mem::take(&mut *bytes) })
}

pub(super) fn open(key: &VaultKey, row: &CredentialRow) -> Result<SecretValue, VaultError> {
    if row.sealed.key_id != key.id() {
        return Err(VaultError::WrongKey { sealed: row.sealed.key_id.clone(), given: key.id().to_owned() });
    }
    let damaged = || VaultError::Damaged { name: row.name.clone() };
    let mut bytes = Zeroizing::new(row.sealed.ciphertext.clone());
    let nonce = Nonce::assume_unique_for_key(row.sealed.nonce);
    let place = Aad::from(Place::of(row).bytes());
    let plain = cipher(key)?.open_in_place(nonce, place, &mut bytes).map_err(|_| damaged())?;
    SecretValue::decode(plain).ok_or_else(damaged)
}
