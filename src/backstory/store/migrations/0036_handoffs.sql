-- Sessions of assistants that were written here, to go on with a conversation in them. An older program would learn their copied
-- turns a second time, and knows no words of a team, so only programs that know this script may write from now on.
CREATE TABLE handoff (
    conversation TEXT PRIMARY KEY,  -- the id that the new session has once it is read
    source       TEXT NOT NULL,
    handed_at    BIGINT NOT NULL,
    paths        TEXT NOT NULL
);
CREATE INDEX handoff_source ON handoff (source);

-- words of a team are confined to their project as those of a repository are
DROP INDEX IF EXISTS entry_repository;
CREATE INDEX entry_repository ON entry (project) WHERE trust IN ('project', 'team');
