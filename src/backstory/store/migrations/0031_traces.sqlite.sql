-- No compat: an earlier program would read histories without the results in them, and not erase those that are there.
-- A tool call of a message, with its result: the text is compressed, and in no index.
CREATE TABLE result (
    entry            INTEGER NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    place            INTEGER NOT NULL,
    native_id        TEXT NOT NULL,     -- the assistant's own id of the call
    name             TEXT NOT NULL,
    arguments_at     INTEGER NOT NULL,  -- where they stand in the message's text
    arguments_length INTEGER NOT NULL,
    command_at       INTEGER NOT NULL,
    command_length   INTEGER NOT NULL,
    is_error         INTEGER NOT NULL,
    exit_code        INTEGER,
    duration_ms      INTEGER,
    bytes            INTEGER,            -- of the whole result, which may be cut; NULL where there is none
    is_cut           INTEGER NOT NULL,
    dictionary       INTEGER NOT NULL,  -- that zstd was given; 0 for none
    packed           BLOB,
    PRIMARY KEY (entry, place)
);

-- A call of a model. Not bound to a message: tokens are spent whatever becomes of the words.
CREATE TABLE usage (
    conversation   TEXT NOT NULL,
    key            INTEGER NOT NULL,  -- the same wherever the call is told again
    entry          INTEGER,           -- the message that it produced; the number is never used again
    surface        TEXT NOT NULL,    -- the assistant
    model          TEXT NOT NULL,
    at             INTEGER,
    input          INTEGER NOT NULL,
    output         INTEGER NOT NULL,
    cache_read     INTEGER NOT NULL,
    cache_write    INTEGER NOT NULL,
    cache_write_1h INTEGER NOT NULL,
    reasoning      INTEGER NOT NULL,
    cost_usd       REAL,             -- the assistant's own figure
    is_partial     INTEGER NOT NULL,
    PRIMARY KEY (conversation, key)
) WITHOUT ROWID;

-- Files that are still there are read again, since only they have the results. Those that are gone keep their cursors.
UPDATE source SET position = 0, head = '', tail = '', size = -1, state = '{"mark": {}, "stale": []}' WHERE is_gone = 0;
