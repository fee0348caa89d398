-- An entry is anything search can find: a memory, or a message of a conversation.
-- AUTOINCREMENT: a number is never used again, so an index that remembers one cannot meet a stranger.
CREATE TABLE entry (
    n          INTEGER PRIMARY KEY AUTOINCREMENT,
    id         TEXT NOT NULL UNIQUE,
    kind       TEXT NOT NULL CHECK (kind IN ('memory', 'message')),
    text       TEXT NOT NULL,
    heading    TEXT NOT NULL,
    thread     TEXT,              -- the session of a memory, the conversation of a message
    seq        INTEGER NOT NULL,  -- place of a message in its conversation
    role       TEXT NOT NULL,
    speaker    TEXT NOT NULL,
    project    TEXT NOT NULL,
    surface    TEXT NOT NULL,
    private    INTEGER NOT NULL,
    revision   INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,  -- milliseconds since 1970, UTC
    updated_at INTEGER NOT NULL,
    summary    TEXT NOT NULL,
    key        TEXT,
    category   TEXT,
    priority   TEXT,
    channel    TEXT,
    tags       TEXT,              -- JSON array
    metadata   TEXT               -- JSON object
);
CREATE INDEX entry_thread ON entry (thread, seq);
CREATE INDEX entry_project ON entry (project, kind);
CREATE INDEX entry_surface ON entry (surface, kind);
CREATE INDEX entry_created ON entry (created_at);

CREATE TABLE conversation (
    id         TEXT PRIMARY KEY,
    title      TEXT NOT NULL,
    project    TEXT NOT NULL,
    surface    TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
);

-- The text stands once, in entry; removing a row here needs the very words it was added with.
CREATE VIRTUAL TABLE entry_text USING fts5 (
    body, heading, content = '', tokenize = 'porter unicode61 remove_diacritics 2'
);

CREATE TABLE space (
    number INTEGER PRIMARY KEY,
    model  TEXT NOT NULL UNIQUE
);

CREATE TABLE vector (
    v     INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES space (number),
    entry INTEGER NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    signs BLOB NOT NULL,  -- one bit for each dimension
    code  BLOB NOT NULL   -- float32 scale, then int8 for each dimension
);
CREATE INDEX vector_entry ON vector (entry, space);
-- holds all that a scan reads, so that following new rows never touches the codes
CREATE INDEX vector_scan ON vector (space, v, entry, signs);

CREATE TABLE waiting (
    space        INTEGER NOT NULL REFERENCES space (number),
    entry        INTEGER NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    leased_until INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, entry)
) WITHOUT ROWID;
CREATE INDEX waiting_entry ON waiting (entry);
