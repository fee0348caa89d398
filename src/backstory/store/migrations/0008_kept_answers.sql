-- compat: 6
-- Answers that are fetched piece by piece: chunks of a large one, and rankings that are paged.
CREATE TABLE kept_answer (
    key        TEXT PRIMARY KEY,
    kind       TEXT NOT NULL,
    owner      TEXT NOT NULL,  -- the caller it was given to; empty when the key alone is enough
    body       TEXT NOT NULL,  -- JSON
    expires_at BIGINT NOT NULL
);
CREATE INDEX kept_answer_expiry ON kept_answer (expires_at);
