-- Copies of the memories in the team's spaces that this machine has joined. Their trust is `space`, which an older program cannot read,
-- so only programs that know this script may write.
CREATE TABLE space_copy (
    memory TEXT PRIMARY KEY,  -- stays when the copy is forgotten here, so that it does not come back
    space  TEXT NOT NULL,
    stamp  TEXT NOT NULL,  -- its version on the server; empty for one that was saved here and not read back yet
    author TEXT NOT NULL  -- empty for the user of this machine
);
CREATE INDEX space_copy_space ON space_copy (space);
