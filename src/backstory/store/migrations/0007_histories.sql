-- compat: 6
-- What other assistants kept: where a conversation was read, and what was done in it besides speaking.
ALTER TABLE conversation ADD COLUMN kind TEXT NOT NULL DEFAULT 'main';
ALTER TABLE conversation ADD COLUMN parent TEXT;
ALTER TABLE conversation ADD COLUMN native_id TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN source TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN directory TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN branch TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN model TEXT NOT NULL DEFAULT '';
ALTER TABLE conversation ADD COLUMN completeness TEXT NOT NULL DEFAULT 'full';
ALTER TABLE conversation ADD COLUMN standing INTEGER NOT NULL DEFAULT 2;
ALTER TABLE conversation ADD COLUMN subject TEXT NOT NULL DEFAULT 'general';
ALTER TABLE conversation ADD COLUMN is_gone INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversation_updated ON conversation (updated_at, surface, kind);
CREATE INDEX conversation_project ON conversation (project);
CREATE INDEX conversation_parent ON conversation (parent);
CREATE INDEX conversation_source ON conversation (source);

-- files read and written, commands and errors of a turn
CREATE TABLE trace (
    entry BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    kind  TEXT NOT NULL,
    name  TEXT NOT NULL,  -- a file's last part in lower case, the first word of a command
    value TEXT NOT NULL,
    PRIMARY KEY (entry, place)
);
CREATE INDEX trace_name ON trace (name, kind, entry);

-- how far each foreign file was read
CREATE TABLE source (
    path        TEXT PRIMARY KEY,
    reader      TEXT NOT NULL,
    size        BIGINT NOT NULL,
    modified_ns BIGINT NOT NULL,
    position    BIGINT NOT NULL,  -- bytes that need not be read again
    head        TEXT NOT NULL,    -- hash of the first bytes
    tail        TEXT NOT NULL,    -- hash of the bytes before the position
    state       TEXT NOT NULL,    -- the reader's own, JSON
    skipped     TEXT NOT NULL,    -- reason -> count, JSON
    redacted    BIGINT NOT NULL,  -- secrets that were blotted out
    problem     TEXT NOT NULL,    -- why it could not be read; empty when it could
    is_gone     INTEGER NOT NULL,
    read_at     BIGINT NOT NULL
);
CREATE INDEX source_reader ON source (reader);

-- what the user had removed for good: reading the source again does not bring it back
CREATE TABLE forgotten (
    conversation TEXT PRIMARY KEY,
    forgotten_at BIGINT NOT NULL
);

-- work that one process does at a time for all
CREATE TABLE lease (
    name         TEXT PRIMARY KEY,
    holder       TEXT NOT NULL,
    leased_until BIGINT NOT NULL
);
