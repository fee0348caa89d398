"""The brief: the state of a project, for a session that starts work on it.

It is built from `core/state.py`. It is a record, not an instruction, and no quotation can end it. It quotes
neither other projects nor text that came with a repository."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import PurePath
from typing import NamedTuple

from ...clients.hook import is_excepted, is_silent
from ...domain.errors import InvalidInput
from ...domain.records import Injection
from ...domain.tokens import count_tokens
from ..part import CallContext, CorePart
from ..projects.related import project_named
from ..state import ProjectState, ProjectStates
from ..unasked import redacted_texts
from . import rendering
from .sections import CONTINUED_SECTIONS, BriefSection, sections_of

CLOSING = "More: search Backstory for a topic, or open an id."
COMPACTED = "compact"
"""The source of a session that goes on after a compaction."""
RECENT = timedelta(days=30)
"""Older work with nothing open is no news to a new session."""
ASKED_FOR = "brief"
"""The occasion of a brief that the assistant asked for, in its receipt."""
MIN_BRIEF_TOKENS, MAX_BRIEF_TOKENS, DEFAULT_BRIEF_TOKENS = 100, 600, 400


class Brief(NamedTuple):
    project: str
    """The path of the project, or the caller's name for it if it is unknown."""
    text: str
    tokens: int
    is_known: bool
    made_at: datetime
    last_at: datetime | None = None
    """The time of the last message or memory in the project."""
    open_tasks: int = 0


class Briefing(CorePart):
    def __init__(self, context: CallContext, states: ProjectStates) -> None:
        super().__init__(context)
        self._states = states

    def brief(
        self,
        project: str | None = None,
        max_tokens: int = DEFAULT_BRIEF_TOKENS,
        *,
        closing: str = "",
        is_continued: bool = False,
    ) -> Brief:
        """Build the brief of the caller's project, or of the project with this name or path.

        `closing` is its last line. A session that continues with a summary of its own work (`is_continued`) receives
        only open items and decisions. Raises InvalidInput for a name that several projects have."""
        _check_tokens(max_tokens)
        known = self._project(project)
        if known is None:
            return self._unknown(project or self.caller.project)
        state = self._states.of(known)
        sections = self._sections(known, state)
        chosen = sections[:CONTINUED_SECTIONS] if is_continued else sections
        return self._rendered(known, state, chosen, max_tokens, closing)

    def opening(self, session: str, source: str, log: str = "") -> str:
        """The brief for a session that starts, or was cleared, resumed or compacted. Empty if the user wants none, if
        there is no news, if the session already received the same text (a compaction made it forget), or if its log
        shows that nobody attends it."""
        settings, is_continued = self.engine.settings, source == COMPACTED
        mode = "off" if is_excepted(self.caller.project, settings.brief_off) else settings.brief
        if is_silent({"transcript_path": log if self.caller.is_local else ""}, mode, {}):
            return ""
        brief = self.brief(closing=CLOSING, is_continued=is_continued)
        injections = self.engine.store.injections
        is_old = brief.last_at is not None and brief.last_at < self.engine.now() - RECENT
        if not brief.is_known or (is_old and not brief.open_tasks):
            return ""
        if not is_continued and session and injections.last_text(session) == brief.text:
            return ""
        injections.put(Injection(session, self.engine.now(), brief.project, brief.text))
        return brief.text

    def both(self, state: ProjectState, closing: str) -> tuple[Brief, Brief]:
        """Two briefs of the caller's project, from its state: for a new session, and for one that continues."""
        project = self.caller.project
        sections = self._sections(project, state)
        whole, continued = (
            self._rendered(project, state, some, DEFAULT_BRIEF_TOKENS, closing)
            for some in (sections, sections[:CONTINUED_SECTIONS])
        )
        return whole, continued

    def _sections(self, project: str, state: ProjectState) -> list[BriefSection]:
        return self._without_secrets(sections_of(self.context, project, state))

    def _rendered(
        self,
        project: str,
        state: ProjectState,
        sections: list[BriefSection],
        max_tokens: int,
        closing: str,
    ) -> Brief:
        if not any(section.items for section in sections):
            return self._unknown(project)
        name = PurePath(project).name or project
        text = rendering.text(sections, name, self.engine.now(), max_tokens, closing)
        return Brief(
            project=project,
            text=text,
            tokens=count_tokens(text),
            is_known=True,
            made_at=self.engine.now(),
            last_at=max(_times(state), default=None),
            open_tasks=len(state.tasks),
        )

    def brief_for_session(self, project: str | None = None, max_tokens: int = DEFAULT_BRIEF_TOKENS) -> Brief:
        """Build the brief and record that this session received it. The page lists the record under "Injected"."""
        self.engine.sync_recent(self.call)
        brief = self.brief(project, max_tokens)
        if brief.is_known:
            injection = Injection(
                self.caller.conversation, self.engine.now(), brief.project, brief.text, event=ASKED_FOR
            )
            self.engine.store.injections.put(injection)
        return brief

    def _project(self, wanted: str | None) -> str | None:
        if wanted is None:
            return self.caller.project
        return project_named(wanted, self.engine.store.entries.projects())

    def _unknown(self, project: str) -> Brief:
        text = f"Nothing is known yet of the project {rendering.project_name(project)}."
        return Brief(project, text, count_tokens(text), is_known=False, made_at=self.engine.now())

    def _without_secrets(self, sections: list[BriefSection]) -> list[BriefSection]:
        """The sections with redacted texts, as far as the brief has room for them."""
        shortened = [
            section._replace(items=section.items[: rendering.MAX_SECTION_LINES]) for section in sections
        ]
        every = [text for section in shortened for item in section.items for text in (item.label, item.text)]
        texts = iter(redacted_texts(every, self.engine.settings))
        return [
            section._replace(
                items=[item._replace(label=next(texts), text=next(texts)) for item in section.items]
            )
            for section in shortened
        ]


def _check_tokens(max_tokens: int) -> None:
    if not MIN_BRIEF_TOKENS <= max_tokens <= MAX_BRIEF_TOKENS:
        raise InvalidInput(
            f"max_tokens must be between {MIN_BRIEF_TOKENS} and {MAX_BRIEF_TOKENS}.", field="max_tokens"
        )


def _times(state: ProjectState) -> list[datetime]:
    memories = (*state.tasks, *state.decisions, *state.preferences, *state.dropped, *state.notes)
    return [each.updated_at for each in state.conversations] + [each.updated_at for each in memories]
