-- compat: 6
-- Nothing: what was taken out of the text index is among those that moved.
SELECT 1;
