-- compat: 6
-- What a message answers: the last thing that the user said before it.
CREATE INDEX entry_prompt ON entry (thread, seq) WHERE role = 'user';
