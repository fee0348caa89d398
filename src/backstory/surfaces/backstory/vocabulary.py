"""What all of Backstory's own tools share: the surface, and the words of its parameters."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from ...core import Core
from ...domain.when import parse_until, parse_when
from ...tools import Surface

surface = Surface(
    "backstory",
    about="Backstory's own seven tools: recall, remember, open, brief, sessions, done, forget; lean text, few tokens.",
    word_error=str,
    takes_prefix=True,
)

KindName = Literal["decision", "fact", "task", "preference", "error"]
RecallKind = Literal["decision", "fact", "task", "preference", "error", "conversation"]


def start(core: Core, text: str | None) -> datetime | None:
    return None if text is None else parse_when(text, core.engine.now(), field="since")


def end(core: Core, text: str | None) -> datetime | None:
    return None if text is None else parse_until(text, core.engine.now(), field="until")
