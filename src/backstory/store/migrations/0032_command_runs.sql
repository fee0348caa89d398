-- Runs of commands that do something, and the lines of their output that look like errors. The command itself is the trace
-- with the same entry and place. Older programs would replace messages and leave their former runs.
CREATE TABLE command_run (
    entry      BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    place      INTEGER NOT NULL,
    thread     TEXT NOT NULL,  -- the conversation: what happened after a failure is asked for by it
    families   TEXT NOT NULL,  -- one on each line
    outcome    TEXT NOT NULL,
    exit_code  BIGINT,
    PRIMARY KEY (entry, place)
);
CREATE INDEX command_run_thread ON command_run (thread);
CREATE TABLE run_line (
    entry     BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    place     INTEGER NOT NULL,
    number    INTEGER NOT NULL,
    signature BIGINT NOT NULL,
    loose     BIGINT NOT NULL,  -- 0 for none
    text      TEXT NOT NULL,    -- empty where the run passed
    PRIMARY KEY (entry, place, number)
);
CREATE INDEX run_line_signature ON run_line (signature);
CREATE INDEX run_line_loose ON run_line (loose) WHERE loose <> 0;
-- the rules by which the runs of a conversation were extracted; 0 for none yet
ALTER TABLE conversation ADD COLUMN run_rules INTEGER NOT NULL DEFAULT 0;
CREATE INDEX conversation_run_rules ON conversation (run_rules, updated_at);
ALTER TABLE archived_conversation ADD COLUMN run_rules INTEGER NOT NULL DEFAULT 0;

-- Files that are still there are read again, since only they tell how commands ended.
UPDATE source SET position = 0, head = '', tail = '', size = -1, state = '{"mark": {}, "stale": []}';
