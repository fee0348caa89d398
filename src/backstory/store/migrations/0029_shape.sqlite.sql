-- compat: 6
-- Choosing candidates compares the lengths of thousands of texts, and must not read them. Rows here are small.
CREATE TABLE shape (
    n        INTEGER PRIMARY KEY REFERENCES entry (n) ON DELETE CASCADE,
    is_quiet INTEGER NOT NULL,  -- nobody said or saved it
    is_memory INTEGER NOT NULL,
    size     INTEGER NOT NULL   -- characters
);
INSERT INTO shape (n, is_quiet, is_memory, size)
    SELECT n, role IN ('system', 'thinking', 'tool'), kind = 'memory', length(text) FROM entry;
CREATE TRIGGER entry_inserted AFTER INSERT ON entry
BEGIN
    INSERT INTO shape (n, is_quiet, is_memory, size)
    VALUES (new.n, new.role IN ('system', 'thinking', 'tool'), new.kind = 'memory', length(new.text));
END;
CREATE TRIGGER entry_reshaped AFTER UPDATE OF text, role ON entry
BEGIN
    UPDATE shape SET is_quiet = new.role IN ('system', 'thinking', 'tool'), size = length(new.text) WHERE n = new.n;
END;
