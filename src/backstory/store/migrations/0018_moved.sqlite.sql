-- compat: 6
-- Entries that changed what filters compare, so that a process which keeps that in memory can follow. The numbers only grow.
CREATE TABLE moved (
    m     INTEGER PRIMARY KEY AUTOINCREMENT,
    entry INTEGER NOT NULL UNIQUE REFERENCES entry (n) ON DELETE CASCADE
);
CREATE TRIGGER entry_moved AFTER UPDATE OF kind, thread, project, surface, created_at, private, trust ON entry
WHEN (old.kind, old.project, old.surface, old.created_at, old.private, old.trust)
    <> (new.kind, new.project, new.surface, new.created_at, new.private, new.trust)
    OR old.thread IS NOT new.thread
BEGIN
    INSERT OR REPLACE INTO moved (entry) VALUES (new.n);
END;
CREATE INDEX entry_private ON entry (thread) WHERE private = 1;
CREATE INDEX entry_repository ON entry (project) WHERE trust = 'project';
