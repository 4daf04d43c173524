-- Who did what: a chain of hashes to which rows are only ever appended.

CREATE TABLE audit (
    seq           INTEGER PRIMARY KEY,
    ts            INTEGER NOT NULL, -- milliseconds since 1970, UTC
    request_id    TEXT,
    severity      TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'error')),
    event_type    TEXT NOT NULL,
    actor_subject TEXT,
    actor_client  TEXT,
    session_id    TEXT,
    method        TEXT,
    path          TEXT,
    status        INTEGER,
    duration_ms   INTEGER,
    outcome       TEXT,
    code          TEXT,
    cause         TEXT,
    payload       TEXT NOT NULL,
    prev_hash     BLOB NOT NULL,
    hash          BLOB NOT NULL
) STRICT;

CREATE INDEX audit_ts ON audit (ts);
CREATE INDEX audit_session ON audit (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX audit_request ON audit (request_id) WHERE request_id IS NOT NULL;
CREATE INDEX audit_subject ON audit (actor_subject) WHERE actor_subject IS NOT NULL;

CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

-- Where the chain ends, so that a missing end is noticed.
CREATE TABLE audit_head (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;

INSERT INTO audit_head VALUES (1, 0, zeroblob(32));

CREATE TRIGGER audit_head_grows BEFORE UPDATE ON audit_head WHEN NEW.seq <= OLD.seq
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_head_stays BEFORE DELETE ON audit_head
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
