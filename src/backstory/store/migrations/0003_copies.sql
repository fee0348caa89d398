-- compat: 1
-- Bytes under their SHA-256, each kept once: chunks and manifests of checkpoints, contents of files.
-- BYTEA is PostgreSQL's word; SQLite takes any type's name and keeps bytes as they are.
CREATE TABLE content (
    hash   TEXT PRIMARY KEY,
    packed BYTEA NOT NULL  -- zlib
);

-- The latest content of each file in each session.
CREATE TABLE cached_file (
    id        TEXT NOT NULL UNIQUE,
    session   TEXT NOT NULL,
    path      TEXT NOT NULL,
    hash      TEXT NOT NULL REFERENCES content (hash),
    size      BIGINT NOT NULL,
    metadata  TEXT NOT NULL,  -- JSON object
    cached_at BIGINT NOT NULL,
    PRIMARY KEY (session, path)
);
CREATE INDEX cached_file_hash ON cached_file (hash);

CREATE TABLE checkpoint (
    n           BIGINT PRIMARY KEY,  -- the order they were taken in, also within a millisecond
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    session     TEXT NOT NULL,
    project     TEXT NOT NULL,
    surface     TEXT NOT NULL,
    root        TEXT NOT NULL REFERENCES content (hash),
    items       BIGINT NOT NULL,
    files       BIGINT NOT NULL,
    git_branch  TEXT,
    git_status  TEXT,
    created_at  BIGINT NOT NULL
);
CREATE INDEX checkpoint_name ON checkpoint (surface, name);
CREATE INDEX checkpoint_session ON checkpoint (session);

-- Values of archived memories with their histories, packed together because alike texts shrink more.
CREATE TABLE archive_pack (
    n       BIGINT PRIMARY KEY,
    thread  TEXT,
    project TEXT NOT NULL,
    surface TEXT NOT NULL,
    packed  BYTEA NOT NULL  -- zlib
);

-- What is in the packs: enough to find a memory by everything but its text.
CREATE TABLE archived (
    id         TEXT PRIMARY KEY,
    pack       BIGINT NOT NULL REFERENCES archive_pack (n),
    key        TEXT,
    private    INTEGER NOT NULL,
    category   TEXT,
    priority   TEXT,
    channel    TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);
CREATE INDEX archived_pack ON archived (pack);
CREATE INDEX archived_key ON archived (key);
