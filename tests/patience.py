"""How long a test waits for what will come: a hang ends it, and no busy machine does."""

PATIENCE_S = 240.0
