//! Why the vault does not do what it was asked. No value is in any of these.

use surehand_store::StoreError;

use super::key::KeyError;
use crate::Secrets;

/// See the module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum VaultError {
    /// Not a name.
    #[error(
        "this is no name of a credential or field: it is letters, digits, _, . and -, at most 128 of them"
    )]
    BadName,
    /// There is no credential of that name.
    #[error("there is no credential {name:?} in the vault")]
    Unknown {
        /// The name.
        name: String,
    },
    /// It is there, but not for this caller.
    #[error(
        "the credential {name:?} is not granted to you; its owner can run `surehand vault grant {name} SUBJECT`"
    )]
    Denied {
        /// The name.
        name: String,
    },
    /// It has no such field.
    #[error("the credential {name:?} has no field {field:?}; {}", those(fields))]
    NoField {
        /// The credential.
        name: String,
        /// What was asked for.
        field: String,
        /// What there is.
        fields: Vec<String>,
    },
    /// It has fields, and none was named.
    #[error("the credential {name:?} has fields: write {name}#FIELD; {}", those(fields))]
    NeedsField {
        /// The credential.
        name: String,
        /// What there is.
        fields: Vec<String>,
    },
    /// Bytes where a text is wanted.
    #[error("the credential {name:?} is no text, so it cannot be typed")]
    NotText {
        /// The credential.
        name: String,
    },
    /// Too short to be told from other text.
    #[error("{what} is shorter than {MIN} characters and could not be masked", MIN = Secrets::SHORTEST)]
    TooShort {
        /// `the value`, or which field.
        what: String,
    },
    /// More than anybody needs.
    #[error("the credential is too large: {most} bytes are the most")]
    TooLarge {
        /// The limit.
        most: usize,
    },
    /// No fields, or one of them twice.
    #[error("a credential with fields has at least one, and each once")]
    BadFields,
    /// Not a host pattern.
    #[error("this is no host: a name such as example.com or *.example.com")]
    BadHost,
    /// A grant to nobody.
    #[error("a grant needs a subject, or * for any; `local` is the owner of the vault, who needs none")]
    BadSubject,
    /// No key where one is needed.
    #[error(
        "the vault has no key here; set SUREHAND_VAULT_KEY or SUREHAND_VAULT_KEY_FILE, or put vault.key back in its place"
    )]
    NoKey,
    /// Sealed with another key.
    #[error(
        "the vault is sealed with the key {sealed}, and this is the key {given}; use the other one, or remove the credentials and set them anew"
    )]
    WrongKey {
        /// The key that it takes.
        sealed: String,
        /// The key that was given.
        given: String,
    },
    /// The seal does not fit the row.
    #[error("the credential {name:?} was changed outside the vault, or is damaged; set it anew")]
    Damaged {
        /// The credential.
        name: String,
    },
    /// The cryptographic library failed.
    #[error("the cryptographic library failed; nothing was changed")]
    Crypto,
    /// There is a key, but it cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn those(fields: &[String]) -> String {
    if fields.is_empty() { "it is one value".to_owned() } else { format!("it has {}", fields.join(", ")) }
}
