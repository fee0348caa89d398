-- compat: 6
-- What messages state, extracted when they are read; what became of it is worked out by whoever asks.
CREATE TABLE saying (
    entry   BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    place   INTEGER NOT NULL,
    thread  TEXT NOT NULL,  -- the conversation: most are asked for by theirs
    kind    TEXT NOT NULL,
    text    TEXT NOT NULL,
    speaker TEXT NOT NULL,
    subject TEXT NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (entry, place)
);
CREATE INDEX saying_thread ON saying (thread);
-- the rules by which the sayings of a conversation were extracted; 0 for none yet
ALTER TABLE conversation ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversation_rules ON conversation (rules, updated_at);
ALTER TABLE archived_conversation ADD COLUMN rules INTEGER NOT NULL DEFAULT 0;

-- statements that a person said are none: reading the conversation again does not bring them back
CREATE TABLE dismissal (
    statement    TEXT PRIMARY KEY,
    dismissed_at BIGINT NOT NULL
);

-- Files that are still there are read again, since only they tell what tools gave back.
UPDATE source SET position = 0, head = '', tail = '', size = -1, state = '{"mark": {}, "stale": []}';
