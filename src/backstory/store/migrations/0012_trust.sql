-- compat: 6
-- Whose words these are: own, project, imported or tool.
ALTER TABLE entry ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';
ALTER TABLE conversation ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';
ALTER TABLE archived_conversation ADD COLUMN trust TEXT NOT NULL DEFAULT 'own';
UPDATE entry SET trust = 'tool' WHERE role IN ('tool', 'system');
-- what lies in projects looks changed, so that it is read again: now it matters who wrote it
UPDATE conversation SET updated_at = updated_at - 1 WHERE surface = 'codearchitect';
UPDATE source SET size = -1, modified_ns = -1, position = 0 WHERE reader = 'aider';
