"""Categories that Backstory itself assigns to memories. Callers may use any others."""

JOURNAL = "journal"
"""A journal entry: how a session feels from the inside. Reports count these separately from other memories."""
REFLECTION = "reflection"
"""An insight without a narrower category. Retention archives these and no other saved memories."""
UNCATEGORIZED = "uncategorized"
"""The label that reports use for memories without a category."""
