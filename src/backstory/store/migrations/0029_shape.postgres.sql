-- compat: 6
-- Choosing candidates compares the lengths of thousands of texts, and must not read them. Rows here are small.
CREATE TABLE shape (
    n        BIGINT PRIMARY KEY REFERENCES entry (n) ON DELETE CASCADE,
    is_quiet INTEGER NOT NULL,  -- nobody said or saved it
    is_memory INTEGER NOT NULL,
    size     INTEGER NOT NULL   -- characters
);
INSERT INTO shape (n, is_quiet, is_memory, size)
    SELECT n, (role IN ('system', 'thinking', 'tool'))::integer, (kind = 'memory')::integer, length(text) FROM entry;
CREATE FUNCTION keep_shape() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO shape (n, is_quiet, is_memory, size)
    VALUES (
        new.n, (new.role IN ('system', 'thinking', 'tool'))::integer, (new.kind = 'memory')::integer, length(new.text)
    )
    ON CONFLICT (n) DO UPDATE SET is_quiet = excluded.is_quiet, size = excluded.size;
    RETURN NULL;
END $$;
-- without a list of columns, which would keep the table from being written anew after something is forgotten
CREATE TRIGGER entry_shape AFTER INSERT OR UPDATE ON entry FOR EACH ROW EXECUTE FUNCTION keep_shape();
