"""Failed commands, their errors, and the changes that made the same command pass later."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ...domain.filters import Filter, Kind
from ...domain.runs import ErrorMatch, Fix
from ..part import CorePart
from ..search.running import running_conversations
from .finding import fixes
from .howto import known_commands
from .lines import has_error_lines
from .repeated import repeated_fixes

if TYPE_CHECKING:
    from .howto import KnownCommand
    from .repeated import RepeatedFix


class Failures(CorePart):
    def fixes(self, text: str, projects: tuple[str, ...] | None = None) -> list[Fix]:
        """Earlier failures with the error in a text, and their solutions, best first; empty if it was never solved.

        Without `projects`: the caller's own, else the same error in any other project. An empty tuple means all
        projects."""
        self.engine.sync_first(self.call)
        store, running = self.engine.store, running_conversations(self.engine, self.caller)
        own = (self.caller.project,) if projects is None else projects
        known_fixes = fixes(store, text, self._where(own), running=running)
        if not known_fixes and projects is None:
            known_fixes = fixes(store, text, self._where(()), running=running, matches=(ErrorMatch.SAME,))
        return known_fixes

    def fixes_for_query(self, query: str, projects: tuple[str, ...] | None = None) -> list[Fix]:
        """The fixes for a query that contains error output; none for any other query."""
        return self.fixes(query, projects) if has_error_lines(query) else []

    def how(self, words: str, projects: tuple[str, ...] | None = None) -> list[KnownCommand]:
        """Commands that passed and contain the words, best first. `projects` works as in `fixes`."""
        self.engine.sync_first(self.call)
        own = (self.caller.project,) if projects is None else projects
        commands = known_commands(self.engine.store, words, self._where(own))
        return commands or (
            known_commands(self.engine.store, words, self._where(())) if projects is None else []
        )

    def repeated(self, project: str) -> list[RepeatedFix]:
        """Commands of a project that failed and then passed in the same way in several conversations, as evidence for a rule."""
        return repeated_fixes(self.engine.store, self._where((project,)))

    def projects_failing(self, *, conversations: int) -> set[str]:
        """Projects in which commands failed in at least this number of conversations."""
        failing = self.engine.store.runs.failing(self._where(()))
        counts = Counter(each.project for each in self.engine.store.conversations.get(failing))
        return {project for project, count in counts.items() if count >= conversations}

    def _where(self, projects: tuple[str, ...]) -> Filter:
        return self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=projects))
