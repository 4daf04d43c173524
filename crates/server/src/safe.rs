//! The store and the vault of a home, opened when they are first needed: most commands need neither.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use surehand_guard::vault::{Caller, KeySources, Reference, SecretText, Vault, VaultError};
use surehand_session::{Fault, Kind};
use surehand_store::{Sqlite, Store, StoreError};
use surehand_tools::packs::Credentials;

use crate::home::Home;

/// See the module. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Safe {
    root: PathBuf,
    store: Arc<OnceLock<Arc<dyn Store>>>,
}

impl Safe {
    /// Of this home.
    pub fn of(home: &Home) -> Self {
        Self { root: home.root.clone(), store: Arc::default() }
    }

    /// Is there anything in it? Asking makes no file.
    pub fn exists(&self) -> bool {
        self.path().exists()
    }

    fn path(&self) -> PathBuf {
        self.root.join("surehand.db")
    }

    /// The store; made if it is not there.
    pub fn store(&self) -> Result<Arc<dyn Store>, Fault> {
        if let Some(store) = self.store.get() {
            return Ok(store.clone());
        }
        let opened: Arc<dyn Store> = Arc::new(Sqlite::open(self.path()).map_err(store_fault)?);
        Ok(self.store.get_or_init(|| opened).clone())
    }

    /// The vault, with its key if there is one.
    pub fn vault(&self) -> Result<Vault, Fault> {
        Vault::find(self.store()?, &self.key_sources()).map_err(vault_fault)
    }

    /// The vault for setting something: a key is made if there is none.
    pub fn vault_to_fill(&self) -> Result<Vault, Fault> {
        Vault::open_or_create(self.store()?, &self.key_sources()).map_err(vault_fault)
    }

    /// Everything that can be asked for: `NAME`, or `NAME#field` for each field. No key is needed to know.
    pub fn references(&self) -> Result<Vec<String>, Fault> {
        let names = Vault::locked(self.store()?).names().map_err(vault_fault)?;
        let references = names.into_iter().flat_map(|one| match one.fields.as_slice() {
            [] => vec![one.name],
            fields => fields.iter().map(|field| format!("{}#{field}", one.name)).collect(),
        });
        Ok(references.collect())
    }

    /// Where the vault's key may be.
    pub fn key_sources(&self) -> KeySources {
        KeySources::from_env(Path::new(&self.root))
    }
}

/// Credentials for one caller.
#[derive(Debug, Clone)]
pub struct Lent {
    safe: Safe,
    /// `None` for the user of this machine, who holds the key.
    caller: Option<(String, String)>,
}

impl Lent {
    /// To the user of this machine.
    pub fn to_local(safe: &Safe) -> Self {
        Self { safe: safe.clone(), caller: None }
    }

    /// To who showed a token.
    pub fn to(safe: &Safe, subject: &str, client: &str) -> Self {
        Self { safe: safe.clone(), caller: Some((subject.to_owned(), client.to_owned())) }
    }
}

impl Credentials for Lent {
    fn reveal(&self, reference: &Reference) -> Result<SecretText, Fault> {
        if !self.safe.exists() {
            return Err(vault_fault(VaultError::Unknown { name: reference.name.clone() }));
        }
        let caller = match &self.caller {
            None => Caller::Local,
            Some((subject, client)) => Caller::Remote { subject, client },
        };
        let read = || {
            let vault = self.safe.vault()?;
            vault.read(&reference.name, reference.field.as_deref(), caller).map_err(vault_fault)
        };
        let value = read().map_err(|fault| match self.caller {
            Some(_) => told_to_caller(fault),
            None => fault,
        })?;
        crate::log::never_show(&reference.to_string(), value.reveal());
        Ok(value)
    }
}

/// What a failure of the vault is to everybody else.
pub fn vault_fault(error: VaultError) -> Fault {
    let kind = match &error {
        VaultError::Denied { .. } => Kind::CredentialDenied,
        VaultError::Unknown { .. } => Kind::MissingSecret,
        VaultError::Store(_)
        | VaultError::NoKey
        | VaultError::WrongKey { .. }
        | VaultError::Key(_)
        | VaultError::Damaged { .. }
        | VaultError::Crypto => Kind::VaultUnavailable,
        _ => Kind::Usage,
    };
    Fault::new(kind, error.to_string()).hint(match &error {
        VaultError::NoKey | VaultError::WrongKey { .. } | VaultError::Key(_) => {
            "see where the key is with `surehand vault key`"
        }
        VaultError::Store(_) => ROOM,
        VaultError::Damaged { .. } | VaultError::Crypto => {
            "put the credential in anew with `surehand vault set NAME`"
        }
        VaultError::Unknown { .. } => "see what there is with `surehand vault list`",
        VaultError::Denied { .. } => "see who may use it with `surehand vault grants NAME`",
        _ => "see `surehand vault --help`",
    })
}

/// The same to who asks a service. What is wrong with the vault itself is for who operates it, and so is where it lies.
pub(crate) fn told_to_caller(fault: Fault) -> Fault {
    if fault.kind != Kind::VaultUnavailable {
        return fault;
    }
    tracing::error!("{fault}");
    Fault::new(fault.kind, "the vault of the service cannot be used now; its log says why")
}

const ROOM: &str = "see that there is room on the disk, and that the home can be written";

/// What a failure of the store is to everybody else.
pub fn store_fault(error: StoreError) -> Fault {
    if let StoreError::Tampered { .. } = error {
        return Fault::new(Kind::CheckFailed, error.to_string()).hint("compare with a copy of the file");
    }
    Fault::new(Kind::UnwritablePath, error.to_string()).hint(ROOM)
}
