-- compat: 6
-- Nothing: only the text index of SQLite could keep deleted words.
SELECT 1;
