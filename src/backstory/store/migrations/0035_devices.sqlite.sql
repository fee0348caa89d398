-- compat: 28
-- The same memory on several machines of one person. All of it is about this machine's part in that; nothing here holds a text.

-- One row while this store takes part: the triggers below note changes only then.
CREATE TABLE device_self (
    id         TEXT PRIMARY KEY,  -- twelve hexadecimal digits
    synced     INTEGER NOT NULL DEFAULT 0,  -- how many times
    synced_at  INTEGER NOT NULL DEFAULT 0
);

-- Records that changed since their stamps were given.
CREATE TABLE device_journal (
    kind TEXT NOT NULL,
    id   TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;

-- One row for each known version of a record. Of two the one with the greater (stamp, device) is later.
CREATE TABLE device_version (
    id      TEXT NOT NULL,
    kind    TEXT NOT NULL,
    stamp   INTEGER NOT NULL,  -- milliseconds since 1970 times 65536, and a counter
    device  TEXT NOT NULL,
    digest  TEXT NOT NULL,     -- of what is shown; the same digest is the same version
    rest    TEXT NOT NULL,     -- digest of the fields that a history does not show
    is_dropped INTEGER NOT NULL,  -- replaced without a history: no device shows it
    is_sent INTEGER NOT NULL,
    PRIMARY KEY (id, kind, stamp, device)
) WITHOUT ROWID;
CREATE INDEX device_version_unsent ON device_version (kind, id) WHERE is_sent = 0;

-- Which messages of a conversation are in the folder: those with numbers up to `mark`.
CREATE TABLE device_conversation (
    id        TEXT PRIMARY KEY,
    mark      INTEGER NOT NULL,
    messages  INTEGER NOT NULL,  -- how many there were up to the mark
    revisions INTEGER NOT NULL,  -- and how often they had been changed
    header    TEXT NOT NULL,     -- digest of the conversation's row
    is_unsent INTEGER NOT NULL
);
CREATE INDEX device_conversation_unsent ON device_conversation (id) WHERE is_unsent = 1;

-- Deletions, for ever.
CREATE TABLE device_forgotten (
    id          TEXT PRIMARY KEY,
    kind        TEXT NOT NULL,
    stamp       INTEGER NOT NULL,
    device      TEXT NOT NULL,
    heard_sync  INTEGER NOT NULL,  -- the number of the sync in which this device heard of it
    heard_at    INTEGER NOT NULL,
    with_checkpoints INTEGER NOT NULL,
    is_sent     INTEGER NOT NULL,
    is_done     INTEGER NOT NULL   -- whether this store was cleared of it
);
CREATE INDEX device_forgotten_undone ON device_forgotten (id) WHERE is_done = 0;

-- Files in the folder: which there were, and what is in each.
CREATE TABLE device_segment (
    n       INTEGER PRIMARY KEY,
    name    TEXT NOT NULL UNIQUE,
    device  TEXT NOT NULL,
    number  INTEGER NOT NULL,
    size    INTEGER NOT NULL,
    is_mine INTEGER NOT NULL,
    state   TEXT NOT NULL  -- pending: about to be written; read; replaced: its records are in another one
);
CREATE TABLE device_held (
    entity     TEXT NOT NULL,
    segment    INTEGER NOT NULL,
    is_content INTEGER NOT NULL,  -- 0 for a deletion alone
    PRIMARY KEY (entity, segment)
) WITHOUT ROWID;
CREATE INDEX device_held_segment ON device_held (segment);

CREATE TABLE device_peer (
    id       TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    platform TEXT NOT NULL,
    version  TEXT NOT NULL,
    number   INTEGER NOT NULL,  -- of the segment that said so
    seen_at  INTEGER NOT NULL,
    alive    TEXT NOT NULL,     -- JSON array of names: its segments then
    state    TEXT NOT NULL,     -- '', left or removed
    mark     TEXT NOT NULL      -- how far a machine was pulled; empty for one that uses the folder
);

-- How a project is recognised on another machine, by what it is called here.
CREATE TABLE device_project (
    path     TEXT PRIMARY KEY,
    identity TEXT NOT NULL,  -- JSON object
    is_local INTEGER NOT NULL
);

-- OR IGNORE would not do: inside a trigger the conflict clause of the statement that fired it counts.
CREATE TRIGGER device_memory_added AFTER INSERT ON entry WHEN new.kind = 'memory' AND EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'memory' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('memory', new.id); END;
CREATE TRIGGER device_memory_changed AFTER UPDATE ON entry WHEN new.kind = 'memory' AND EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'memory' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('memory', new.id); END;
CREATE TRIGGER device_memory_removed AFTER DELETE ON entry WHEN old.kind = 'memory' AND EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'memory' AND id = old.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('memory', old.id); END;
CREATE TRIGGER device_archived_added AFTER INSERT ON archived WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'memory' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('memory', new.id); END;
CREATE TRIGGER device_archived_removed AFTER DELETE ON archived WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'memory' AND id = old.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('memory', old.id); END;
CREATE TRIGGER device_conversation_added AFTER INSERT ON conversation WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'conversation' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('conversation', new.id); END;
CREATE TRIGGER device_conversation_changed AFTER UPDATE ON conversation WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'conversation' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('conversation', new.id); END;
CREATE TRIGGER device_conversation_removed AFTER DELETE ON conversation WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'conversation' AND id = old.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('conversation', old.id); END;
CREATE TRIGGER device_conversation_archived AFTER INSERT ON archived_conversation WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'conversation' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('conversation', new.id); END;
CREATE TRIGGER device_conversation_unarchived AFTER DELETE ON archived_conversation WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'conversation' AND id = old.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('conversation', old.id); END;
CREATE TRIGGER device_conversation_forgotten AFTER INSERT ON forgotten WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'conversation' AND id = new.conversation)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('conversation', new.conversation); END;
CREATE TRIGGER device_session_added AFTER INSERT ON session WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'session' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('session', new.id); END;
CREATE TRIGGER device_session_changed AFTER UPDATE ON session WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'session' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('session', new.id); END;
CREATE TRIGGER device_event_added AFTER INSERT ON event WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'event' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('event', new.id); END;
CREATE TRIGGER device_event_changed AFTER UPDATE ON event WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'event' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('event', new.id); END;
CREATE TRIGGER device_event_removed AFTER DELETE ON event WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'event' AND id = old.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('event', old.id); END;
CREATE TRIGGER device_link_added AFTER INSERT ON link WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'link' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('link', new.id); END;
CREATE TRIGGER device_link_changed AFTER UPDATE ON link WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'link' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('link', new.id); END;
CREATE TRIGGER device_link_removed AFTER DELETE ON link WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'link' AND id = old.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('link', old.id); END;
CREATE TRIGGER device_imported_added AFTER INSERT ON imported WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'imported' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('imported', new.id); END;
CREATE TRIGGER device_imported_changed AFTER UPDATE ON imported WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'imported' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('imported', new.id); END;
CREATE TRIGGER device_dismissal_added AFTER INSERT ON dismissal WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'dismissal' AND id = new.statement)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('dismissal', new.statement); END;
CREATE TRIGGER device_exemption_added AFTER INSERT ON brought_back WHEN EXISTS (SELECT 1 FROM device_self)
    AND NOT EXISTS (SELECT 1 FROM device_journal WHERE kind = 'brought_back' AND id = new.id)
BEGIN INSERT INTO device_journal (kind, id) VALUES ('brought_back', new.id); END;
