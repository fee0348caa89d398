-- compat: 39
-- Nothing: a store in a file has one tenant.
SELECT 1;
