-- compat: 6
-- What sessions were told where their project stands, word for word.
CREATE TABLE injection (
    session  TEXT NOT NULL,  -- as the assistant calls it; empty when it did not say
    given_at BIGINT NOT NULL,
    project  TEXT NOT NULL,
    text     TEXT NOT NULL,
    PRIMARY KEY (session, given_at)
);
CREATE INDEX injection_project ON injection (project);
CREATE INDEX injection_given ON injection (given_at);
