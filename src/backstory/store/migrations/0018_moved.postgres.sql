-- compat: 6
-- Nothing: PostgreSQL applies filters itself.
SELECT 1;
