-- compat: 28
-- Files in which other programs keep what they remember, and which memory came from which place in them. A memory may have
-- several origins. A row stays when its memory is deleted: the same text is not read again. It holds no words of it.
CREATE TABLE memory_file (
    path        TEXT PRIMARY KEY,
    program     TEXT NOT NULL,
    root        TEXT NOT NULL,
    project     TEXT NOT NULL,
    size        BIGINT NOT NULL,
    modified_ns BIGINT NOT NULL,
    problem     TEXT NOT NULL,
    is_gone     INTEGER NOT NULL
);
CREATE TABLE memory_origin (
    path    TEXT NOT NULL,
    anchor  TEXT NOT NULL,
    program TEXT NOT NULL,
    memory  TEXT NOT NULL,
    project TEXT NOT NULL,
    digest  TEXT NOT NULL,
    is_gone INTEGER NOT NULL,
    PRIMARY KEY (path, anchor)
);
CREATE INDEX memory_origin_memory ON memory_origin (memory);
CREATE INDEX memory_origin_digest ON memory_origin (digest);
