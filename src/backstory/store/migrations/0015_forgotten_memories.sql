-- compat: 6
-- When a memory was forgotten that can still be brought back; null for what was archived to be kept.
ALTER TABLE archived ADD COLUMN forgotten_at BIGINT;
