-- compat: 6
-- What came from other programs' stores: so that importing again changes nothing, and brings nothing back that was
-- deleted here. A row stays when what it tells of is deleted, with nothing in it but the id.
CREATE TABLE imported (
    id          TEXT PRIMARY KEY,
    importer    TEXT NOT NULL,
    store       TEXT NOT NULL,
    place       TEXT NOT NULL,
    part        TEXT NOT NULL,
    digest      TEXT NOT NULL,
    imported_at BIGINT NOT NULL
);
CREATE INDEX imported_part ON imported (part);
