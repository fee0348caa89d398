-- compat: 6
-- How much each project has is asked every few seconds: here neither texts nor messages are passed over.
CREATE INDEX entry_activity ON entry (project, kind, updated_at) WHERE kind = 'memory';
