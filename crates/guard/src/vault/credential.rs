//! What a credential is, who asks for one, and what is refused.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use surehand_store::{CredentialRow, Grant, Timestamp};

use super::{LOCAL, SecretText, SecretValue, VaultError};
use crate::Secrets;
use crate::name::{is_name, is_public};

/// As large as a credential may be.
const LARGEST: usize = 64 * 1024;

/// What a credential is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A name and a password.
    Login,
    /// A cookie.
    Cookie,
    /// A key of an API.
    ApiKey,
    /// Tokens of OAuth.
    Oauth,
    /// A key of SSH.
    Ssh,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Login, Self::Cookie, Self::ApiKey, Self::Oauth, Self::Ssh];

    /// As it is stored.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Login => "login",
            Self::Cookie => "cookie",
            Self::ApiKey => "api_key",
            Self::Oauth => "oauth",
            Self::Ssh => "ssh",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.as_str() == text);
        found.ok_or_else(|| format!("{text:?} is no type; it is login, cookie, api_key, oauth or ssh"))
    }
}

/// Who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Caller<'a> {
    /// The owner of the files: command line, playbooks, MCP of this machine.
    Local,
    /// Somebody with a token.
    Remote {
        /// Its subject.
        subject: &'a str,
        /// Its client; empty if it names none.
        client: &'a str,
    },
}

impl Caller<'_> {
    /// By these grants.
    pub(super) fn may(&self, grants: &[Grant]) -> bool {
        match *self {
            Self::Local => true,
            // These mean something else here, whatever a token says.
            Self::Remote { subject: "" | "*" | LOCAL, .. } => false,
            Self::Remote { subject, client } => grants.iter().any(|grant| {
                (grant.subject == "*" || grant.subject == subject)
                    && (grant.client.is_empty() || grant.client == client)
            }),
        }
    }
}

/// What is to be set.
#[derive(Debug, Clone)]
pub struct NewCredential {
    /// `[A-Za-z0-9_.-]+`
    pub name: String,
    /// What it is for.
    pub kind: Kind,
    /// Where it belongs, `example.com` or `*.example.com`; kept, not enforced here.
    pub host: Option<String>,
    /// The secret.
    pub value: SecretValue,
}

/// What may be told of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Credential {
    /// Never used again.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    #[serde(rename = "type")]
    pub kind: String,
    /// Where it belongs.
    pub host: Option<String>,
    /// What its fields are called; none if it is one value.
    pub fields: Vec<String>,
    /// How often it was written.
    pub version: u64,
    /// When it was first set.
    pub created: Timestamp,
    /// When it was last set.
    pub updated: Timestamp,
}

impl From<CredentialRow> for Credential {
    fn from(row: CredentialRow) -> Self {
        let CredentialRow { id, name, kind, host, fields, version, created, updated, sealed: _ } = row;
        Self { id, name, kind, host, fields, version, created, updated }
    }
}

/// Whether a credential has what is asked for.
pub(super) fn fits(row: &CredentialRow, field: Option<&str>) -> Result<(), VaultError> {
    let (name, fields) = (row.name.clone(), row.fields.clone());
    match field {
        Some(field) if !fields.iter().any(|one| one == field) => {
            Err(VaultError::NoField { name, field: field.to_owned(), fields })
        }
        None if !fields.is_empty() => Err(VaultError::NeedsField { name, fields }),
        _ => Ok(()),
    }
}

/// Whether a credential can be kept: found by its name, and masked wherever it shows.
pub(super) fn check(new: &NewCredential) -> Result<(), VaultError> {
    let fields = new.value.field_names();
    if !is_name(&new.name) || !fields.iter().all(|field| is_name(field)) {
        return Err(VaultError::BadName);
    }
    let host = |c: char| c.is_alphanumeric() || matches!(c, '*' | '.' | '-' | '_' | ':' | '[' | ']');
    if new.host.as_ref().is_some_and(|text| text.is_empty() || text.len() > 253 || !text.chars().all(host)) {
        return Err(VaultError::BadHost);
    }
    let twice = fields.iter().enumerate().any(|(index, field)| fields[..index].contains(field));
    if twice || fields.is_empty() && matches!(new.value, SecretValue::Fields(_)) {
        return Err(VaultError::BadFields);
    }
    if new.value.encode().len() > LARGEST {
        return Err(VaultError::TooLarge { most: LARGEST });
    }
    let short = |text: &SecretText| text.reveal().trim().chars().count() < Secrets::SHORTEST;
    let what = match &new.value {
        SecretValue::Text(text) => short(text).then(|| "the value".to_owned()),
        SecretValue::Bytes(bytes) => {
            (bytes.reveal().len() < Secrets::SHORTEST).then(|| "the value".to_owned())
        }
        SecretValue::Fields(fields) => {
            let unfit = |(name, text): &&(String, SecretText)| {
                if is_public(name) { text.reveal().trim().is_empty() } else { short(text) }
            };
            fields.iter().find(unfit).map(|(name, _)| format!("the field {name}"))
        }
    };
    what.map_or(Ok(()), |what| Err(VaultError::TooShort { what }))
}
