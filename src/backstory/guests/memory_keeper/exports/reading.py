"""Read a file of any known format: sessions with their contents, or a list of all problems."""

from __future__ import annotations

from . import original, ours, table
from .bundle import SessionCopy
from .fields import Fields, ImportProblems, parse


def read(text: str, name: str, surface: str, project: str) -> tuple[tuple[SessionCopy, ...], tuple[str, ...]]:
    """Return the sessions in a file with this name, and all its problems at once.

    If there are problems, the sessions must not be used. `project` is for items that do not name theirs."""
    report = ImportProblems()
    if name.lower().endswith(".csv") or text.startswith(table.OPENING):
        parts = table.read(text, surface, project, report)
    else:
        parts = _from_json(Fields(parse(text, name), "", report), surface, project)
    return parts, tuple(report.problems)


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
