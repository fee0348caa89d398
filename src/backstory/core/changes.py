"""Reasons for a change: for each hunk of a range of commits, its session, its prompt, and the decisions made on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..domain.neutral import neutral
from ..domain.records import Conversation
from ..domain.statements import Statement, StatementKind
from ..readers import Places
from .blame import BlamedFile, LineOrigin, Sureness
from .blame.hunks import CommitRange, Hunk, commit_range, hunks_of
from .projects import work_tree
from .secrets import redactor

if TYPE_CHECKING:
    from . import Core

MAX_FILES = 300
"""A change of more files is a move or a generated one: the others are listed as unexplained."""
NEAR_MESSAGES = 6
"""Number of messages before and after the one that wrote a hunk; decisions in them are about the hunk."""
MAX_STATEMENTS = 12


class ExplainedHunk(NamedTuple):
    hunk: Hunk
    origin: LineOrigin | None
    """The session that wrote most of it; None if no session explains it."""
    prompt: str
    """The user's request, redacted; may be ""."""
    lines: int
    """The number of its lines from that session."""


class ExplainedChange(NamedTuple):
    commits: CommitRange
    hunks: list[ExplainedHunk]
    decisions: list[Statement]
    dropped: list[Statement]

    @property
    def sessions(self) -> list[Conversation]:
        """The sessions that wrote something, earliest first."""
        by_id = {each.origin.conversation.id: each.origin.conversation for each in self.hunks if each.origin}
        return sorted(by_id.values(), key=lambda each: each.created_at)


def explain(core: Core, text: str, places: Places) -> ExplainedChange:
    """Explain a range of commits in git syntax; "" means the commits of the current branch.

    Raises InvalidInput, GitFailed."""
    tree = work_tree(Path(core.caller.checkout()))
    commits = commit_range(tree, text)
    by_path: dict[str, list[Hunk]] = {}
    for hunk in hunks_of(tree, commits):
        by_path.setdefault(hunk.path, []).append(hunk)
    origins: list[tuple[Hunk, LineOrigin | None, int]] = []
    for number, (path, hunks) in enumerate(by_path.items()):
        if number >= MAX_FILES:
            origins += [(hunk, None, 0) for hunk in hunks]
            continue
        file = core.blame.at_commit(tree, path, commits.last, places, commits.begun)
        origins += [(hunk, *origin_of(hunk, file, commits)) for hunk in hunks]
    prompts = prompts_before(core, [origin for _, origin, _ in origins if origin])
    explained = [
        ExplainedHunk(
            hunk, origin, prompts.get((origin.conversation.id, origin.number), "") if origin else "", lines
        )
        for hunk, origin, lines in origins
    ]
    statements = _statements(core, explained)
    return ExplainedChange(
        commits,
        explained,
        [each for each in statements if each.kind is not StatementKind.DROPPED],
        [each for each in statements if each.kind is StatementKind.DROPPED],
    )


def origin_of(hunk: Hunk, file: BlamedFile, commits: CommitRange) -> tuple[LineOrigin | None, int]:
    """The session that wrote most of a hunk, with its first message there, and the number of lines it wrote.

    Lines that match by text count before lines that match by time alone."""
    if hunk.added == 0:
        origin = file.remover(hunk.removed, commits.ended_at)
        return origin, len(hunk.removed) if origin else 0
    lines = file.lines[hunk.first - 1 : hunk.first - 1 + hunk.added]
    origins = [line.origin for line in lines if line.origin]
    sure = [origin for origin in origins if origin.sureness is not Sureness.TIME]
    counts = Counter(origin.conversation.id for origin in sure or origins)
    if not counts:
        return None, 0
    session, count = counts.most_common(1)[0]
    return next(origin for origin in sure or origins if origin.conversation.id == session), count


def prompts_before(core: Core, origins: Sequence[LineOrigin]) -> Mapping[tuple[str, int], str]:
    """The prompts that led to lines, by conversation and number of the message that wrote them. Tools that ran right after a
    prompt have the number of that prompt. Without secrets."""
    places = sorted({(each.conversation.id, each.number) for each in origins})
    before = core.engine.store.entries.prompts(places) if places else {}
    entries = core.ask.load(before.values())
    texts_by_place = {place: entries[entry].text for place, entry in before.items() if entry in entries}
    texts, _ = redactor(core.engine.settings.redaction).redact_all(list(texts_by_place.values()))
    return {place: neutral(text) for place, text in zip(texts_by_place, texts, strict=True)}


def _statements(core: Core, hunks: Sequence[ExplainedHunk]) -> list[Statement]:
    """Decisions and dropped attempts near the messages that wrote the change, in the order of time; without secrets."""
    places: dict[str, set[int]] = {}
    projects: set[str] = set()
    for each in hunks:
        if each.origin:
            places.setdefault(each.origin.conversation.id, set()).add(each.origin.number - 1)
            projects.add(each.origin.conversation.project)
    kinds = (StatementKind.DECISION, StatementKind.PREFERENCE, StatementKind.DROPPED)
    near = [
        statement
        for project in sorted(projects)
        for statement in core.state.of(project).statements
        if statement.kind in kinds
        and any(
            abs(statement.place - place) <= NEAR_MESSAGES for place in places.get(statement.conversation, ())
        )
    ]
    near = sorted(near, key=lambda each: each.at)[-MAX_STATEMENTS:]
    texts, _ = redactor(core.engine.settings.redaction).redact_all([each.text for each in near])
    return [each._replace(text=neutral(text)) for each, text in zip(near, texts, strict=True)]
