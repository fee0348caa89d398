"""Proposals for memories or lines of a rules file: corrections that the user repeated.

A correction is proposed only if it occurs in several sessions and in the user's own words. Accepted and dismissed
proposals are not proposed again, even if the user repeats them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

from ..clients import files as client_files
from ..clients.edits import line_end
from ..domain.errors import InvalidInput, NotFound
from ..domain.filters import ConversationFilter
from ..domain.kinds import MemoryKind
from ..domain.lazy import lazy_pattern
from ..domain.lines import one_line
from ..domain.records import Conversation, Memory, Trust
from ..domain.runs import FixKind
from ..domain.statements import PlacedSaying, Speaker, Statement, StatementKind
from .failures import Failures
from .failures.repeated import RepeatedFix
from .part import CallContext, CorePart
from .remembering import Remembering
from .state import ProjectStates
from .statements.relations import StatedText, StatementRelation, relation

MIN_SESSIONS = 2
RULE_FILES = ("AGENTS.md", "CLAUDE.md")
MIN_RULE_WORDS = 3
"""Content words: a shorter remark ("only when useful") needs the message it answered."""
MAX_RULE_CHARS = 200
"""Longer texts are requests with context, not lines of a rules file."""
_REPORT = lazy_pattern(r"(?<!\bis )(?<!\bare )(?<!\bbe )\b(?:never|always) \w+ed\b", re.IGNORECASE)
"""Reports of behaviour, as in an error message: a rule has the verb's base form, or a passive."""
MAX_COMMAND_CHARS = 120
_MARK = "inbox"


class ProposalEvidence(NamedTuple):
    """One message with the correction."""

    conversation: str
    message: str
    place: int
    """The number of the message in its conversation."""
    at: datetime
    text: str

    @property
    def key(self) -> str:
        """The key under which the answer to the proposal is recorded. Contains none of its text."""
        parts = (_MARK, self.conversation, self.message, self.text)
        return sha256("\n".join(parts).encode(errors="replace")).hexdigest()[:16]


class Proposal(NamedTuple):
    id: str
    text: str
    project: str
    evidence: Sequence[ProposalEvidence]
    """The evidence, oldest first, from at least MIN_SESSIONS sessions."""


class Inbox(CorePart):
    def __init__(
        self,
        context: CallContext,
        states: ProjectStates,
        remembering: Remembering,
        failures: Failures,
    ) -> None:
        super().__init__(context)
        self._states = states
        self._remembering = remembering
        self._failures = failures

    def of(self, project: str) -> list[Proposal]:
        """Unanswered proposals of a project, the most recently stated first."""
        answered = self.engine.store.sayings.dismissed()
        proposals = [
            each
            for each in (*self._repeated_rules(project), *self._repeated_fixes(project))
            if not any(evidence.key in answered for evidence in each.evidence)
        ]
        return sorted(proposals, key=lambda each: each.evidence[-1].at, reverse=True)

    def everywhere(self) -> list[Proposal]:
        """Unanswered proposals of all projects. Only projects where something was repeated are looked at."""
        store = self.engine.store
        stating = store.sayings.projects_stating(
            StatementKind.PREFERENCE, Speaker.USER, conversations=MIN_SESSIONS
        )
        candidates = stating | self._failures.projects_failing(conversations=MIN_SESSIONS)
        return [
            proposal
            for project in store.conversations.projects()
            if project in candidates
            for proposal in self.of(project)
        ]

    def _repeated_rules(self, project: str) -> list[Proposal]:
        sayings, families = self._sayings(project)
        if not _has_repetition(sayings, families):
            return []  # most projects: the state of each takes 15 ms
        rules = [each for each in self._states.of(project).holding(StatementKind.PREFERENCE) if _is_own(each)]
        repeated = [
            each for each in rules if each.confirmations + 1 >= MIN_SESSIONS and _stands_alone(each.text)
        ]
        proposals = [_proposal(each, sayings) for each in repeated]
        return [
            each
            for each in proposals
            if len({families[evidence.conversation] for evidence in each.evidence}) >= MIN_SESSIONS
        ]

    def _repeated_fixes(self, project: str) -> list[Proposal]:
        """Commands that failed and then passed in the same way in several sessions."""
        return [_fix_proposal(each, project) for each in self._failures.repeated(project)]

    def get(self, project: str, id: str) -> Proposal:
        """The proposal with this id or beginning of an id."""
        proposals = [each for each in self.of(project) if id and each.id.startswith(id)]
        if len(proposals) != 1:
            raise NotFound("proposal", id, hint="`backstory inbox` lists them; nothing was changed.")
        return proposals[0]

    def accept(self, proposal: Proposal, text: str = "") -> Memory:
        """Save it as a rule of the user, in other words if some are given."""
        saved = self._remembering.remember(
            text or proposal.text, MemoryKind.PREFERENCE, project=proposal.project
        )
        self.dismiss(proposal)
        return saved.memory

    def accept_into(self, proposal: Proposal, file: str, text: str = "") -> Path:
        """Append it as a line to a rules file of the project."""
        self.caller.check_local("The rules file", hint="Accept it as a memory.")
        if file not in RULE_FILES:
            raise InvalidInput(
                f"{file!r} is not a rules file.", hint=f"Use {' or '.join(RULE_FILES)}.", field="file"
            )
        path = Path(proposal.project) / file
        before = client_files.read(path)
        newline = line_end(before or "")
        gap = newline if before and not before.endswith("\n") else ""
        line = f"- {one_line(text or proposal.text, MAX_RULE_CHARS)}"
        client_files.write(path, f"{before or ''}{gap}{line}{newline}", before)
        self.dismiss(proposal)
        return path

    def dismiss(self, proposal: Proposal) -> None:
        """Never propose it again."""
        for evidence in proposal.evidence:
            self.engine.store.sayings.dismiss(evidence.key, self.engine.now())

    def _sayings(self, project: str) -> tuple[list[PlacedSaying], dict[str, str]]:
        """The user's own rules in a project, and by conversation the session that it is part of."""
        which = self.caller.visible_conversations(
            ConversationFilter(projects=(project,), kinds=("main", "fork", "prompt-log"))
        )
        families = {each.id: _family(each) for each in self.engine.store.conversations.find(which)}
        sayings = [
            each
            for each in self.engine.store.sayings.find(which)
            if each.saying.kind is StatementKind.PREFERENCE
            and each.saying.speaker is Speaker.USER
            and each.trust is Trust.OWN
            and each.conversation in families
        ]
        return sorted(sayings, key=lambda each: each.at), families


def _has_repetition(sayings: Sequence[PlacedSaying], families: Mapping[str, str]) -> bool:
    """True if two sessions state the same rule."""
    stated = [(families[each.conversation], StatedText.of(each.saying.text)) for each in sayings]
    return any(
        family != other_family and _says_the_same(one, other)
        for (family, one), (other_family, other) in combinations(stated, 2)
    )


def _is_own(statement: Statement) -> bool:
    return statement.speaker is Speaker.USER and statement.trust is Trust.OWN


def _stands_alone(text: str) -> bool:
    """True if a text can be understood without its context."""
    is_rule = len(text) <= MAX_RULE_CHARS and not _REPORT.search(text)
    return is_rule and len(StatedText.of(text).words) >= MIN_RULE_WORDS


def _family(conversation: Conversation) -> str:
    """A fork repeats the session that it was started from."""
    return conversation.parent or conversation.id


def _proposal(statement: Statement, sayings: Sequence[PlacedSaying]) -> Proposal:
    stated = StatedText.of(statement.text)
    evidence = [
        ProposalEvidence(each.conversation, each.message, each.place, each.at, each.saying.text)
        for each in sayings
        if each.message == statement.message or _says_the_same(StatedText.of(each.saying.text), stated)
    ]
    return Proposal(statement.id, statement.text, statement.project, evidence)


def _fix_proposal(fix: RepeatedFix, project: str) -> Proposal:
    remedy, family = one_line(fix.remedy, MAX_COMMAND_CHARS), fix.family
    if fix.kind is FixKind.BEFORE:
        text = f"Run `{remedy}` before `{family}`."
    else:
        text = f"`{family}` passes here as `{remedy}`."
    evidence = [
        ProposalEvidence(each.conversation, each.failure.message, 0, each.failure.at, each.failure.value)
        for each in fix.evidence
    ]
    id = sha256(f"{project}\n{family}\n{fix.kind}\n{fix.remedy}".encode(errors="replace")).hexdigest()[:16]
    return Proposal(id, text, project, evidence)


def _says_the_same(one: StatedText, other: StatedText) -> bool:
    return StatementRelation.CONFIRMS in (relation(one, other), relation(other, one))
