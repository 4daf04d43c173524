-- Old rows may be thrown away, from the beginning of the chain only, and not unnoticed: which ones is told by a row of the
-- chain, and here, where the rest begins.

CREATE TABLE audit_pruned (
    one    INTEGER PRIMARY KEY CHECK (one = 1),
    seq    INTEGER NOT NULL, -- this row and all before it
    hash   BLOB NOT NULL,
    before INTEGER NOT NULL  -- they were earlier than this
) STRICT;

INSERT INTO audit_pruned VALUES (1, 0, zeroblob(32), 0);

CREATE TRIGGER audit_pruned_grows BEFORE UPDATE ON audit_pruned
WHEN NEW.seq < OLD.seq OR NEW.before < OLD.before OR NEW.seq > (SELECT seq FROM audit_head)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE TRIGGER audit_pruned_stays BEFORE DELETE ON audit_pruned
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

DROP TRIGGER audit_no_delete;

CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit WHEN OLD.seq > (SELECT seq FROM audit_pruned)
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;

CREATE INDEX usage_ts ON usage (ts);

DROP TRIGGER usage_no_delete;

CREATE TRIGGER usage_no_delete BEFORE DELETE ON usage WHEN OLD.ts >= (SELECT before FROM audit_pruned)
BEGIN SELECT RAISE(ABORT, 'the usage log is append-only'); END;
