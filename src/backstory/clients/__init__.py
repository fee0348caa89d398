"""The assistants' programs: where each is configured, and how Backstory is added and removed."""
