-- compat: 6
-- Which files told a message, where that is not simply the file of its conversation. A negative number is a file that
-- told it before it was rewritten and has not told it again yet; 0 a file that is no more what it was.
CREATE TABLE witness (
    entry        BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    source       BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    PRIMARY KEY (entry, source)
);
CREATE INDEX witness_source ON witness (source, conversation);
CREATE INDEX witness_conversation ON witness (conversation);

-- Cursors held titles as they were written, secrets and all: every file is read again from its start.
UPDATE source SET position = 0, head = '', tail = '', size = -1, state = '{"mark": {}, "stale": []}';
