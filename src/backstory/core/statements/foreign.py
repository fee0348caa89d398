"""Calls that read what other people wrote: pages, messages, documents.

An assistant's messages after such a call may repeat their words."""

from __future__ import annotations

import re

from ...domain.lazy import lazy_pattern
from ...readers import ToolCall

CALL_CHARS = 500
"""Characters of a call that are compared; names and paths come first."""
_WRITES = lazy_pattern(r"\w*(?:write|edit|patch|create|replace|todo|plan)", re.IGNORECASE)
_READS_OTHERS = lazy_pattern(
    r"https?://|\.(?:mdx?|rst|adoc|txt|html?|pdf|docx?|eml|ipynb)\b|\bREADME\b"
    r"|\b(?i:web|mcp__)|(?i:fetch|browse|slack|mail|issue|comment)"
)
"""An address, a document of prose, a tool that asks another service."""


def reads_others(call: ToolCall) -> bool:
    text = f"{call.name} {call.arguments}"[:CALL_CHARS]
    # A tool that writes a document puts its own words there.
    return _READS_OTHERS.search(text) is not None and not _WRITES.match(call.name)
