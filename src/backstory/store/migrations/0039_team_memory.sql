-- Members of shared spaces, authors and reviews of what is in them, and what a laptop has yet to deliver to its team's server.
-- A program that does not know these tables would save past the review, so only programs that know this script may write.
CREATE TABLE space_member (
    space    TEXT NOT NULL,
    person   TEXT NOT NULL,
    role     TEXT NOT NULL,  -- reader, writer or maintainer
    added_at BIGINT NOT NULL,
    PRIMARY KEY (space, person)
);

CREATE TABLE tenant_setting (
    tenant         TEXT PRIMARY KEY,
    is_reviewed    INTEGER NOT NULL,  -- what writers save waits for a maintainer
    max_store_mb   DOUBLE PRECISION,  -- NULL: as the server's setting says
    retention_days DOUBLE PRECISION
);

CREATE TABLE contribution (
    memory      TEXT PRIMARY KEY,  -- also the key of a delivery, and stays when the memory is gone
    author      TEXT NOT NULL,
    author_name TEXT NOT NULL,
    state       TEXT NOT NULL,  -- saved, proposed, accepted or dismissed
    replaces    TEXT NOT NULL,  -- the memory that a proposal corrects; empty for a new one
    made_at     BIGINT NOT NULL,
    reviewer    TEXT NOT NULL,
    reviewed_at BIGINT
);
CREATE INDEX contribution_state ON contribution (state, made_at);

CREATE TABLE outgoing (
    key       TEXT PRIMARY KEY,  -- what the team's server knows the delivery by
    memory    TEXT NOT NULL,
    replaces  TEXT NOT NULL,
    queued_at BIGINT NOT NULL,
    problem   TEXT NOT NULL  -- why it could not be delivered yet
);
