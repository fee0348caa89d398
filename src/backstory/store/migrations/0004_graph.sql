-- compat: 1
-- What was extracted from an entry goes with it. An entity has no row of its own: it is the mentions of it in
-- entries that the asker may see, so nothing is known of an entity that only hidden entries know.
CREATE TABLE graphed (
    entry     BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    revision  INTEGER NOT NULL,  -- of the text that was read
    extractor INTEGER NOT NULL,  -- a better one reads again
    entity    BIGINT NOT NULL,   -- the entry itself, as an entity
    PRIMARY KEY (entry, revision, extractor)  -- one row for each entry; its index alone answers what is missing
);

CREATE TABLE mention (
    entry  BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    entity BIGINT NOT NULL,      -- a hash of what it is
    type   TEXT NOT NULL,
    name   TEXT NOT NULL,
    times  INTEGER NOT NULL,
    PRIMARY KEY (entry, entity)
);
-- in the order in which an entity of several types is named after the first
CREATE INDEX mention_entity ON mention (entity, type, entry);
CREATE INDEX mention_name ON mention (name);

-- both ends have a mention by the same entry
CREATE TABLE relation (
    entry      BIGINT NOT NULL REFERENCES entry (n) ON DELETE CASCADE,
    subject    BIGINT NOT NULL,
    predicate  TEXT NOT NULL,
    object     BIGINT NOT NULL,
    confidence REAL NOT NULL,
    PRIMARY KEY (entry, subject, predicate, object)
);
CREATE INDEX relation_subject ON relation (subject, entry, predicate, object, confidence);
CREATE INDEX relation_object ON relation (object, entry, predicate, subject, confidence);

-- tells a caller what is not extracted yet, without reading one text
CREATE INDEX entry_revision ON entry (surface, kind, revision, private, thread, n);
