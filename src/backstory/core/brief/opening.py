"""The brief as a session gets it that begins now, from a server that is asked for it by a hook."""

from __future__ import annotations

from pathlib import Path

from ...domain.records import Injection
from ...readers.formats.rollouts import is_unattended
from .. import Core
from .files import CLOSING, RECENT, excepted_projects

COMPACTED = "compact"


def opening_brief(core: Core, session: str, source: str, log: str = "") -> str:
    """What a session is told that starts now, is cleared, resumed or compacted: the brief of its project, or nothing where the user
    wants none, where there is no news, and where it was told the same before. A compaction has just made it forget. From its log
    may be known that nobody attends it."""
    settings, is_continued = core.engine.settings, source == COMPACTED
    if settings.brief == "off" or core.caller.project in excepted_projects(settings):
        return ""
    if settings.brief == "auto" and log and core.caller.is_local and is_unattended(Path(log)):
        return ""
    brief = core.briefing.brief(closing=CLOSING, is_continued=is_continued)
    told = core.engine.store.injections
    is_old = brief.last_at is not None and brief.last_at < core.engine.now() - RECENT
    if not brief.is_known or (is_old and not brief.open_tasks):
        return ""
    if not is_continued and session and told.last_text(session) == brief.text:
        return ""
    told.put(Injection(session, core.engine.now(), brief.project, brief.text))
    return brief.text
