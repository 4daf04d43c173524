//! The one trait. Small, so that another database can stand behind it.

use std::fmt;

use crate::{
    AuditEntry, AuditFilter, AuditHead, AuditRow, CredentialRow, Grant, Pruned, Pruning, Sealed, StoreError,
    Timestamp, UsageEntry, UsageFilter, UsageRow,
};

/// Rows in, rows out. Blocking; several processes may use the same store at once, and each call is done whole or not at all.
pub trait Store: fmt::Debug + Send + Sync {
    /// Appends to the chain, in this order and without anything in between, and says where it ends now.
    fn append_audit(&self, entries: &[AuditEntry]) -> Result<AuditHead, StoreError>;

    /// The rows that fit, newest first.
    fn query_audit(&self, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError>;

    /// Rows behind number `after`, oldest first, as they are, also those that were tampered with. For [`verify`](crate::verify).
    fn walk_audit(&self, after: u64, limit: u32) -> Result<Vec<AuditRow>, StoreError>;

    /// Where the chain ends, by a record that is kept beside the rows.
    fn audit_head(&self) -> Result<AuditHead, StoreError>;

    /// Which rows were thrown away from the beginning of the chain. They are not seen any more.
    fn audit_pruned(&self) -> Result<Pruned, StoreError>;

    /// Throws away the rows from the beginning that are all earlier than this, and the usage of that time, and appends a row
    /// that tells it. Nothing looks at the chain: who asks for this has checked it.
    fn prune_audit(&self, before: Timestamp) -> Result<Pruning, StoreError>;

    /// Writes a credential: a new one has version 1, another must be one more than what is stored.
    /// [`StoreError::Conflict`] if it is not, or if another credential is sealed with another key.
    fn put_credential(&self, row: &CredentialRow) -> Result<(), StoreError>;

    /// The credential of that name.
    fn credential(&self, name: &str) -> Result<Option<CredentialRow>, StoreError>;

    /// All of them, by name.
    fn credentials(&self) -> Result<Vec<CredentialRow>, StoreError>;

    /// Says whether it was there. Its grants go with it, its usage stays.
    fn remove_credential(&self, name: &str) -> Result<bool, StoreError>;

    /// Seals all credentials anew, or, if `reseal` says `None` for one, none of them; says which. `reseal` is given each row
    /// as it is; what it says is stored with the next version.
    fn reseal_credentials(
        &self,
        reseal: &mut dyn FnMut(&CredentialRow) -> Option<Sealed>,
    ) -> Result<bool, StoreError>;

    /// Says whether it is new. [`StoreError::Missing`] if there is no credential of that name.
    fn add_grant(&self, name: &str, grant: &Grant) -> Result<bool, StoreError>;

    /// Says whether it was there.
    fn remove_grant(&self, name: &str, subject: &str, client: &str) -> Result<bool, StoreError>;

    /// Those of a credential; none if there is no credential of that name.
    fn grants(&self, name: &str) -> Result<Vec<Grant>, StoreError>;

    /// Writes down an attempt.
    fn append_usage(&self, entry: &UsageEntry) -> Result<(), StoreError>;

    /// The attempts that fit, newest first.
    fn usage(&self, filter: &UsageFilter) -> Result<Vec<UsageRow>, StoreError>;
}
