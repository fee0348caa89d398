-- compat: 6
-- Nothing: FTS5 sorts words as it takes them.
SELECT 1;
