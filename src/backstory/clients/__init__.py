"""The assistants' programs: where each is configured, and Backstory put in there and taken out again."""
