-- compat: 6
-- The least severe event that a client over HTTP wants to hear of.
ALTER TABLE connection ADD COLUMN level TEXT;
