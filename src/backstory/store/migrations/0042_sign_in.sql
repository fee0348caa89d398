-- compat: 41
-- People who signed in to the pages of a team server at their identity provider.
CREATE TABLE web_session (
    hash       TEXT PRIMARY KEY,  -- of the secret in the cookie
    id         TEXT NOT NULL,
    person     TEXT NOT NULL,
    name       TEXT NOT NULL,
    scope      TEXT NOT NULL,
    spaces     TEXT NOT NULL,  -- JSON
    roles      TEXT NOT NULL,  -- JSON: space:role, as groups of the provider grant them
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
