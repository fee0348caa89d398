-- compat: 36
-- The last keys that an identity provider published, so that a server that starts while the provider is down can check tokens.
CREATE TABLE key_set (
    url        TEXT PRIMARY KEY,
    keys       TEXT NOT NULL,  -- a JSON Web Key Set; public keys only
    fetched_at BIGINT NOT NULL
);
