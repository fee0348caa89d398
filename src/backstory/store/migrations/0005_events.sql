-- compat: 1
-- what other tools reported; of the important ones a memory was made as well
CREATE TABLE event (
    id         TEXT PRIMARY KEY,
    session    TEXT NOT NULL,
    project    TEXT NOT NULL,
    surface    TEXT NOT NULL,
    tool       TEXT NOT NULL,
    type       TEXT NOT NULL,
    data       TEXT NOT NULL,  -- JSON
    memory     TEXT,           -- the id of the memory that was made of it
    created_at BIGINT NOT NULL
);
CREATE INDEX event_created ON event (surface, created_at);
