-- compat: 28
-- Nothing: only a store in a file takes part in devices; a database server has its machines already.
SELECT 1;
