-- compat: 6
-- An MCP session over HTTP: whichever instance gets its next request finds here where the client stands.
CREATE TABLE connection (
    id        TEXT PRIMARY KEY,
    owner     TEXT NOT NULL,   -- the credential that opened it; no other may use it
    project   TEXT NOT NULL,
    directory TEXT NOT NULL,
    session   TEXT,
    seen_at   BIGINT NOT NULL  -- milliseconds since 1970, UTC; to the hour is enough
);
CREATE INDEX connection_seen ON connection (seen_at);

-- This and the next are used in the control database alone.
CREATE TABLE token (
    id         TEXT PRIMARY KEY,
    hash       TEXT NOT NULL UNIQUE,  -- SHA-256
    person     TEXT NOT NULL,
    scope      TEXT NOT NULL,
    spaces     TEXT NOT NULL,         -- JSON array of the shared spaces it opens
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT
);

CREATE TABLE audited (
    id         TEXT PRIMARY KEY,
    at         BIGINT NOT NULL,
    person     TEXT NOT NULL,
    credential TEXT NOT NULL,
    space      TEXT NOT NULL,
    tool       TEXT NOT NULL,
    outcome    TEXT NOT NULL
);
CREATE INDEX audited_at ON audited (at);
