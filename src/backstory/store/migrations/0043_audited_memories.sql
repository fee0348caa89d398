-- compat: 41
ALTER TABLE audited ADD COLUMN memories TEXT NOT NULL DEFAULT '';  -- ids, with blanks between them
