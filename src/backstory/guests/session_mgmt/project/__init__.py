"""The analysis of a project: its technologies, its changes, and its health."""
