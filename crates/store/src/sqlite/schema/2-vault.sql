-- Sealed credentials, who may use them, and who did.

CREATE TABLE credentials (
    id         TEXT PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL,
    host       TEXT,
    fields     TEXT NOT NULL, -- their names, a JSON list
    version    INTEGER NOT NULL,
    key_id     TEXT NOT NULL,
    nonce      BLOB NOT NULL CHECK (length(nonce) = 12),
    ciphertext BLOB NOT NULL,
    created    INTEGER NOT NULL,
    updated    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    credential_id TEXT NOT NULL REFERENCES credentials (id) ON DELETE CASCADE,
    subject       TEXT NOT NULL CHECK (subject <> ''), -- '*' is any
    client        TEXT NOT NULL,                       -- '' is any
    created       INTEGER NOT NULL,
    PRIMARY KEY (credential_id, subject, client)
) STRICT, WITHOUT ROWID;

-- Without a reference to credentials: it outlives them.
CREATE TABLE usage (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    ts            INTEGER NOT NULL,
    name          TEXT NOT NULL,
    field         TEXT,
    credential_id TEXT,
    subject       TEXT NOT NULL,
    client        TEXT NOT NULL,
    outcome       TEXT NOT NULL CHECK (outcome IN ('allowed', 'denied', 'no_match'))
) STRICT;

CREATE INDEX usage_name ON usage (name);

CREATE TRIGGER usage_no_update BEFORE UPDATE ON usage
BEGIN SELECT RAISE(ABORT, 'the usage log is append-only'); END;

CREATE TRIGGER usage_no_delete BEFORE DELETE ON usage
BEGIN SELECT RAISE(ABORT, 'the usage log is append-only'); END;
