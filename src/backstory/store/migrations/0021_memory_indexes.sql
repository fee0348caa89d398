-- compat: 6
-- What only questions about memories use holds memories alone: of a hundred entries, ninety-nine are messages.
DROP INDEX entry_key;
CREATE INDEX entry_key ON entry (key, surface, kind, thread) WHERE key IS NOT NULL;
DROP INDEX entry_updated;
CREATE INDEX entry_updated ON entry (updated_at) WHERE kind = 'memory';
CREATE INDEX entry_saved ON entry (created_at) WHERE kind = 'memory';
DROP INDEX entry_tally;
CREATE INDEX entry_tally ON entry (thread, kind, category, priority, updated_at, created_at, private, surface)
    WHERE kind = 'memory';
DROP INDEX entry_revision;
CREATE INDEX entry_revision ON entry (surface, kind, revision, private, thread, n) WHERE kind = 'memory';
