"""Categories that the product itself gives memories, beside those that callers choose."""

JOURNAL = "journal"
"""An entry of the journal: how a session feels from inside. Reports count it apart from other memories."""
REFLECTION = "reflection"
"""An insight without a narrower category. Retention archives these, and nothing else that was saved."""
UNCATEGORIZED = "uncategorized"
"""How reports call memories without a category."""
