-- compat: 6
-- How often words were taken out of the text index, so that a server which keeps in memory where they stand can follow.
CREATE TABLE removal (
    one   INTEGER PRIMARY KEY CHECK (one = 1),
    count BIGINT NOT NULL
);
