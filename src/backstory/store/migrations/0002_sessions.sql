-- compat: 1
CREATE TABLE session (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    project     TEXT NOT NULL,
    surface     TEXT NOT NULL,
    channel     TEXT NOT NULL,  -- where its memories go when they name none
    parent      TEXT,           -- the session it was branched or continued from
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX session_created ON session (surface, created_at);

-- what a memory said before it was saved again
CREATE TABLE former (
    entry       BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    place       INTEGER NOT NULL,  -- 1 is the first value
    text        TEXT NOT NULL,
    category    TEXT,
    priority    TEXT,
    channel     TEXT,
    metadata    TEXT,
    private     INTEGER NOT NULL,
    saved_at    BIGINT NOT NULL,
    PRIMARY KEY (entry, place)
);
CREATE INDEX entry_key ON entry (key, surface, kind, thread);
CREATE INDEX entry_updated ON entry (updated_at);
-- holds all that counting a session needs, in the order in which its foremost memories are read
CREATE INDEX entry_tally ON entry (thread, kind, category, priority, updated_at, created_at, private, surface);
