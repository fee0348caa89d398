-- compat: 6
-- Whoever searches one channel need not look at the memories of all others that hold the word. By the expression only that
-- question finds the index: a page of a large channel is read faster in the order of time, or from its session.
CREATE INDEX entry_channel ON entry ((channel || '')) WHERE kind = 'memory' AND channel IS NOT NULL;
