-- compat: 6
-- Which texts get their vectors first, and of which passage each vector is: one that has a vector is never embedded again.
CREATE TABLE ordered_waiting (
    space        INTEGER NOT NULL REFERENCES space (number),
    entry        INTEGER NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    leased_until INTEGER NOT NULL DEFAULT 0,
    urgency      INTEGER NOT NULL DEFAULT 0,  -- the greatest first
    PRIMARY KEY (space, urgency, entry)
) WITHOUT ROWID;
INSERT INTO ordered_waiting (space, entry, leased_until, urgency)
    SELECT w.space, w.entry, w.leased_until, e.created_at FROM waiting w JOIN entry e ON e.n = w.entry;
DROP TABLE waiting;
ALTER TABLE ordered_waiting RENAME TO waiting;
CREATE UNIQUE INDEX waiting_entry ON waiting (entry, space);

ALTER TABLE vector ADD COLUMN passage INTEGER;  -- a digest; not known of older ones
CREATE INDEX vector_passage ON vector (space, passage);
