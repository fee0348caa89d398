"""Read a file of any known format: sessions with their contents, or a list of all problems."""

from __future__ import annotations

from typing import NamedTuple

from . import original, ours, table
from .bundle import SessionCopy
from .fields import Fields, ImportProblems, parse


class Contents(NamedTuple):
    """The contents of a file. If there are problems, the parts must not be used."""

    parts: tuple[SessionCopy, ...]
    problems: tuple[str, ...] = ()


def read(text: str, name: str, surface: str, project: str) -> Contents:
    """Read a file with this name, and report all problems at once. `project` is for items that do not name theirs."""
    report = ImportProblems()
    if name.lower().endswith(".csv") or text.startswith(table.OPENING):
        parts = table.read(text, surface, project, report)
    else:
        parts = _from_json(Fields(parse(text, name), "", report), surface, project)
    return Contents(parts, tuple(report.problems))


def _from_json(file: Fields, surface: str, project: str) -> tuple[SessionCopy, ...]:
    if file.value("format") == ours.FORMAT:
        return ours.read(file, surface)
    if file.has("session") or file.has("contextItems"):
        return original.read(file, surface, project)
    if not file.report.problems:
        file.report.problems.append(
            f"The file is no export: it has neither the format {ours.FORMAT!r} nor a session with contextItems."
        )
    return ()
