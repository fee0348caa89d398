-- compat: 6
-- Conversations that were put away by age: out of the live tables and every index, each whole in one pack.
-- All columns of `conversation`, so that the same conditions find them.
CREATE TABLE archived_conversation (
    id           TEXT PRIMARY KEY,
    title        TEXT NOT NULL,
    project      TEXT NOT NULL,
    surface      TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    kind         TEXT NOT NULL,
    parent       TEXT,
    native_id    TEXT NOT NULL,
    source       TEXT NOT NULL,
    directory    TEXT NOT NULL,
    branch       TEXT NOT NULL,
    model        TEXT NOT NULL,
    completeness TEXT NOT NULL,
    standing     INTEGER NOT NULL,
    subject      TEXT NOT NULL,
    is_gone      INTEGER NOT NULL,
    said         BIGINT NOT NULL,  -- messages of user and assistant
    packed       BYTEA NOT NULL    -- messages and traces, JSON in zlib
);
CREATE INDEX archived_conversation_parent ON archived_conversation (parent);

-- Memories and conversations that a person brought back from the archive: no age sends them there again.
CREATE TABLE brought_back (
    id TEXT PRIMARY KEY,
    at BIGINT NOT NULL
);
