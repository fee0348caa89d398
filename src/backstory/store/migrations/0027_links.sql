-- compat: 6
-- How two memories are related, as somebody said it. They are named by id and not by number: one that was archived and
-- brought back has another number.
CREATE TABLE link (
    id           TEXT PRIMARY KEY,
    source       TEXT NOT NULL,
    target       TEXT NOT NULL,
    relationship TEXT NOT NULL,
    metadata     TEXT NOT NULL,  -- JSON object
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    UNIQUE (source, target, relationship)
);
CREATE INDEX link_target ON link (target);

-- Who wants to know of changes to memories, and up to which change each was told.
CREATE TABLE watcher (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    surface    TEXT NOT NULL,
    filters    TEXT NOT NULL,  -- JSON object
    existing   TEXT NOT NULL,  -- JSON array: ids of memories that were there before, still to be reported
    sequence   BIGINT NOT NULL,
    lifetime_s BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    stopped_at BIGINT
);
CREATE INDEX watcher_session ON watcher (session);

-- Changes since the oldest watcher was last told, and deletions of the last weeks. Only a deletion describes its memory.
CREATE TABLE memory_change (
    sequence   BIGINT PRIMARY KEY,
    kind       TEXT NOT NULL CHECK (kind IN ('CREATE', 'UPDATE', 'DELETE')),
    memory     TEXT NOT NULL,
    changed_at BIGINT NOT NULL,
    surface    TEXT,
    session    TEXT,
    key        TEXT,
    category   TEXT,
    priority   TEXT,
    channel    TEXT,
    private    INTEGER,
    is_erased  INTEGER  -- deleted for good: forgotten as soon as every watcher was told
);
CREATE INDEX memory_change_memory ON memory_change (memory);
CREATE INDEX memory_change_deleted ON memory_change (changed_at) WHERE kind = 'DELETE';
