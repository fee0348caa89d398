-- compat: 6
-- Which texts get their vectors first, and of which passage each vector is: one that has a vector is never embedded again.
ALTER TABLE waiting ADD COLUMN urgency BIGINT NOT NULL DEFAULT 0;  -- the greatest first
UPDATE waiting SET urgency = entry.created_at FROM entry WHERE entry.n = waiting.entry;
ALTER TABLE waiting DROP CONSTRAINT waiting_pkey;
ALTER TABLE waiting ADD PRIMARY KEY (space, urgency, entry);
DROP INDEX waiting_entry;
CREATE UNIQUE INDEX waiting_entry ON waiting (entry, space);

ALTER TABLE embedding ADD COLUMN passage BIGINT;  -- a digest; not known of older ones
CREATE INDEX embedding_passage ON embedding (space, passage);
