"""Runs of commands in conversations, and the errors that they printed. A run lives and dies with its message."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..domain.filters import Filter, Kind
from ..domain.runs import CommandCount, CommandRun, FailureMatch, MessageRun, RunLine, RunOutcome, WorkStep
from .columns import FLAG, TIME, Codec, Columns, marks
from .database import AT_ONCE, Database
from .where import bounds, literal, where_clause

_FAMILIES = Codec("\n".join, lambda text: tuple(text.split("\n")) if text else ())
_OUTCOME = Codec(str, {each.value: each for each in RunOutcome}.__getitem__)
_FAILED = "(r.outcome <> 'passed')"
_MATCH = Columns(
    FailureMatch,
    {"at": TIME, "outcome": _OUTCOME},
    entry="l.entry",
    place="l.place",
    conversation="e.thread",
    seq="e.seq",
    at="e.created_at",
    signature="l.signature",
    loose="l.loose",
    outcome="r.outcome",
    project="e.project",
)
_COUNT = Columns(
    CommandCount,
    {"at": TIME, "has_failed": FLAG, "families": _FAMILIES},
    command="t.value",
    has_failed=f"CASE WHEN {_FAILED} THEN 1 ELSE 0 END",
    at="e.created_at",
    conversation="e.thread",
    families="r.families",
)
_RUN_OF_LINE = "run_line l JOIN command_run r ON r.entry = l.entry AND r.place = l.place"
_BY_LINES = "run_line l CROSS JOIN command_run r CROSS JOIN entry e"
"""For SQLite, which follows the order of a CROSS JOIN. Signatures are rare, but its planner would scan the project first."""
_JOINED = "r.entry = l.entry AND r.place = l.place AND e.n = l.entry"
_NOT_OF_REPOSITORIES = "e.trust <> 'project'"
"""A transcript that came with a repository may call anything a fix."""


class RunRoom:
    def __init__(self, database: Database) -> None:
        self._database = database

    def of(self, conversation: str) -> list[MessageRun]:
        """All runs of a conversation with their lines, in the order in which they were stored."""
        sql = (
            "SELECT e.id, r.entry, r.place, r.families, r.outcome, r.exit_code FROM command_run r"
            " JOIN entry e ON e.n = r.entry WHERE r.thread = ? ORDER BY r.entry, r.place"
        )
        lines: dict[tuple[int, int], list[RunLine]] = {}
        joined = (
            f"SELECT l.entry, l.place, l.text, l.signature, l.loose FROM {_RUN_OF_LINE} WHERE r.thread = ?"
        )
        for entry, place, *line in self._database.rows(
            f"{joined} ORDER BY l.entry, l.place, l.number", [conversation]
        ):
            lines.setdefault((entry, place), []).append(RunLine(*line))
        return [
            MessageRun(id, CommandRun(place, _FAMILIES.read(families), _OUTCOME.read(outcome), exit_code, tuple(lines.get((n, place), ()))))
            for id, n, place, families, outcome, exit_code in self._database.rows(sql, [conversation])
        ]  # fmt: skip

    def add(self, conversation: str, runs: Sequence[MessageRun], numbers: Mapping[str, int]) -> None:
        """Insert the runs of messages. `numbers` maps message ids to entry numbers."""
        sql = "INSERT INTO command_run (entry, place, thread, families, outcome, exit_code) VALUES (?, ?, ?, ?, ?, ?)"
        rows = [
            (numbers[message], run.place, conversation, _FAMILIES.write(run.families), run.outcome.value, run.exit_code)
            for message, run in runs
        ]  # fmt: skip
        self._database.change_many(sql, rows)
        lines = [
            (numbers[message], run.place, number, line.signature, line.loose, line.text)
            for message, run in runs
            for number, line in enumerate(run.lines)
        ]
        sql = "INSERT INTO run_line (entry, place, number, signature, loose, text) VALUES (?, ?, ?, ?, ?, ?)"
        self._database.change_many(sql, lines)

    def delete(self, entries: Iterable[int]) -> None:
        numbers = [(n,) for n in entries]
        self._database.change_many("DELETE FROM run_line WHERE entry = ?", numbers)
        self._database.change_many("DELETE FROM command_run WHERE entry = ?", numbers)

    def delete_of(self, conversation: str) -> None:
        entries = self._database.values("SELECT entry FROM command_run WHERE thread = ?", [conversation])
        self.delete(sorted(set(entries)))

    def matching(
        self, exact: Sequence[int], loose: Sequence[int], where: Filter, *, limit: int
    ) -> list[FailureMatch]:
        """Lines with one of these signatures in messages that match, newest first; also those of runs that passed."""
        condition, values = where_clause(where)
        failures: list[FailureMatch] = []
        for column, numbers in (("signature", exact), ("loose", loose)):
            if numbers:
                rest = (
                    f"FROM {_BY_LINES} WHERE {_JOINED} AND l.{column} IN ({marks(numbers)})"
                    f" AND l.{column} <> 0 AND {_NOT_OF_REPOSITORIES} AND {condition}"
                    f" ORDER BY e.created_at DESC, l.entry DESC, l.place DESC, l.number {bounds(limit)}"
                )
                failures += self._database.records(_MATCH, rest, [*numbers, *values])
        return list(dict.fromkeys(failures))

    def harmless(self, signatures: Sequence[int], project: str) -> set[int]:
        """The signatures that passing runs of a project print too."""
        known: set[int] = set()
        for start in range(0, len(signatures), AT_ONCE):
            some = signatures[start : start + AT_ONCE]
            sql = (
                f"SELECT DISTINCT l.signature FROM {_BY_LINES} WHERE {_JOINED}"
                f" AND l.signature IN ({marks(some)}) AND NOT {_FAILED} AND e.project = ?"
            )
            known.update(self._database.values(sql, [*some, project]))
        return known

    def lines(self, entry: int, place: int) -> list[RunLine]:
        """The lines that one run printed, in order."""
        sql = "SELECT text, signature, loose FROM run_line WHERE entry = ? AND place = ? ORDER BY number"
        return [RunLine(*row) for row in self._database.rows(sql, [entry, place])]

    def steps(self, conversation: str, seq: int, *, limit: int | None = None) -> list[WorkStep]:
        """The commands that a conversation ran and the files that it edited from a `seq` on, in their order.

        Edits that failed are left out: a trace of the error follows theirs."""
        sql = (
            "SELECT e.n, t.place, e.created_at, t.kind, t.value, r.families, r.outcome, r.exit_code, e.id"
            " FROM entry e JOIN trace t ON t.entry = e.n LEFT JOIN command_run r ON r.entry = t.entry AND r.place = t.place"
            " WHERE e.kind = ? AND e.thread = ? AND e.seq >= ? AND (t.kind IN ('written', 'error') OR r.entry IS NOT NULL)"
            f" ORDER BY e.seq, e.n, t.place {bounds(limit)}"
        )
        signatures = self._signatures(conversation)
        steps: list[WorkStep] = []
        for n, place, at, kind, value, families, outcome, exit_code, id in self._database.rows(
            sql, [Kind.MESSAGE, conversation, seq]
        ):
            if kind == "error":
                while steps and steps[-1].entry == n and steps[-1].is_edit:
                    steps.pop()
                continue
            known = signatures.get((n, place), frozenset()) if families else frozenset()
            steps.append(
                WorkStep(n, place, TIME.read(at), value, _FAMILIES.read(families or ""), outcome not in (None, "passed"), exit_code, id, known)
            )  # fmt: skip
        return steps

    def _signatures(self, conversation: str) -> dict[tuple[int, int], frozenset[int]]:
        """The signatures of every failed run of a conversation, by entry and place."""
        sql = f"SELECT l.entry, l.place, l.signature FROM {_RUN_OF_LINE} WHERE r.thread = ? AND {_FAILED}"
        known: dict[tuple[int, int], set[int]] = {}
        for entry, place, signature in self._database.rows(sql, [conversation]):
            known.setdefault((entry, place), set()).add(signature)
        return {key: frozenset(numbers) for key, numbers in known.items()}

    def failing(self, where: Filter) -> list[str]:
        """The conversations of matching messages in which a command failed."""
        condition, values = where_clause(where)
        sql = (
            "SELECT DISTINCT r.thread FROM command_run r JOIN entry e ON e.n = r.entry"
            f" WHERE {_FAILED} AND {_NOT_OF_REPOSITORIES} AND {condition} ORDER BY r.thread"
        )
        return self._database.values(sql, values)

    def commands(self, words: Sequence[str], where: Filter, *, limit: int) -> list[CommandCount]:
        """Runs in matching messages whose command or family contains one of the words, newest first."""
        condition, values = where_clause(where)
        parts: list[Any] = [part for word in words for part in (f"%{literal(word)}%",) * 2]
        named = " OR ".join(
            ["lower(t.value) LIKE ? ESCAPE '!' OR lower(r.families) LIKE ? ESCAPE '!'"] * len(words)
        )
        rest = (
            "FROM command_run r JOIN trace t ON t.entry = r.entry AND t.place = r.place JOIN entry e ON e.n = r.entry"
            f" WHERE ({named}) AND {_NOT_OF_REPOSITORIES} AND {condition}"
            f" ORDER BY e.created_at DESC, r.entry DESC, r.place DESC {bounds(limit)}"
        )
        return self._database.records(_COUNT, rest, [*parts, *values])
