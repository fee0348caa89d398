-- compat: 6
-- Merging the text index could leave deleted words in its pages. Wherever words were ever removed, the next erasure
-- merges it again; a deletion that waits to be overwritten does so already.
INSERT INTO lease (name, holder, leased_until)
SELECT 'erasure', '[["entry_text", "key_text"], "deleted words"]', 0
WHERE EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'moved')
ON CONFLICT (name) DO NOTHING;
