-- Exports of a team server's callers, whose files no replica could share. An older program would forget a memory and leave it in
-- here, so only programs that know this script may write from now on.
CREATE TABLE stored_export (
    path    TEXT PRIMARY KEY,  -- relative, as the caller names it
    packed  BYTEA NOT NULL,  -- zlib
    size    BIGINT NOT NULL,  -- bytes of the text
    quoted  TEXT NOT NULL,  -- JSON array: ids of the memories and conversations in it
    made_at BIGINT NOT NULL
);
