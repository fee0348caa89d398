-- compat: 6
-- Few memories have metadata, and whoever looks for a field of it, or for what is about a file, need not read the others.
CREATE INDEX entry_metadata ON entry (kind) WHERE kind = 'memory' AND metadata <> '{}';
