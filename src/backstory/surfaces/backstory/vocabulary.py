"""The surface and the parameter vocabulary that all of Backstory's own tools share."""

from __future__ import annotations

from typing import Literal

from ...tools import Surface

surface = Surface(
    "backstory",
    about="Backstory's own seven tools: recall, remember, open, brief, sessions, done, forget; lean text, few tokens.",
    word_error=str,
    takes_prefix=True,
)

KindName = Literal["decision", "fact", "task", "preference", "error"]
RecallKind = Literal["decision", "fact", "task", "preference", "error", "conversation", "proposal"]
