-- compat: 6
-- What a hook said is kept with its occasion, how certain it was, and whether the assistant acted on it.
ALTER TABLE injection ADD COLUMN event TEXT NOT NULL DEFAULT 'SessionStart';
ALTER TABLE injection ADD COLUMN subject TEXT NOT NULL DEFAULT '';  -- the file, the error or the record that it is about
ALTER TABLE injection ADD COLUMN certainty DOUBLE PRECISION;  -- null for a brief, which is about no question
ALTER TABLE injection ADD COLUMN used INTEGER;  -- null until the conversation went on
