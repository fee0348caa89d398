"""One short sentence about an error that was met and solved before, or nothing.

For hooks: few imports, two or three queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import PurePath
from typing import NamedTuple

from ...domain.filters import Filter, Kind
from ...domain.lines import one_line
from ...domain.neutral import neutral
from ...domain.runs import ErrorMatch, Fix, FixKind
from ...domain.tokens import count_tokens
from ...store import Store
from .finding import fixes
from .lines import has_error_lines

MAX_HINT_TOKENS = 120
MAX_PATH_CHARS = 70


class HintSize(NamedTuple):
    """The amount of detail of a fix."""

    command_chars: int
    files: int


LARGE_HINT = HintSize(200, 4)
_HINT_SIZES = (LARGE_HINT, HintSize(120, 3), HintSize(70, 2), HintSize(40, 1))


def fix_hint(
    store: Store, text: str, project: str, *, running: Collection[str] = (), max_tokens: int = MAX_HINT_TOKENS
) -> str:
    """The earlier solution of an error in a project, in at most `max_tokens`; "" if there is none or it passed by itself.

    `running` are conversations to ignore because they are still going on, for example that of the hook."""
    # Most failing commands of a session match nothing; this check needs no query.
    if not has_error_lines(text):
        return ""
    where = Filter(kinds=(Kind.MESSAGE,), projects=(project,), public_or_in="", repository_of=project)
    known_fixes = fixes(store, text, where, running=running, limit=1)
    # "Run it again" is no help: the assistant does that anyway.
    if not known_fixes or known_fixes[0].solution.kind is FixKind.AGAIN:
        return ""
    # Shorter commands and fewer files are better than a sentence that is cut off.
    hints = (fix_sentence(known_fixes[0], size) for size in _HINT_SIZES)
    return next((hint for hint in hints if count_tokens(hint) <= max_tokens), "")


def fix_sentence(fix: Fix, size: HintSize = LARGE_HINT) -> str:
    """A sentence with the time, place and solution of an earlier error."""
    known = "The same error" if fix.match is ErrorMatch.SAME else "A similar error"
    place = f"{fix.conversation}#{fix.seq + 1}"
    return f"{known} was met on {fix.at:%Y-%m-%d} ({place}) and solved: {remedy(fix, size)}"


def remedy(fix: Fix, size: HintSize = LARGE_HINT) -> str:
    """The solution of a failure, as the end of a sentence."""
    solution = fix.solution
    passed = _command(solution.passed, size)
    match solution.kind:
        case FixKind.EDIT:
            return f"{passed} passed after edits of {_files(fix, size.files)}."
        case FixKind.COMMAND:
            before = f", after {_command(solution.commands[-1], size)}" if solution.commands else ""
            return f"{passed} passed instead of {_command(fix.command, size)}{before}."
        case FixKind.BEFORE:
            return f"{passed} passed after {_command(solution.commands[-1], size)}."
        case _:
            return f"{passed} passed when it ran again, without a change."


def _command(text: str, size: HintSize) -> str:
    return f"`{one_line(neutral(text), size.command_chars)}`"


def _files(fix: Fix, limit: int) -> str:
    """The edited files; files that the error names come first."""
    error = "\n".join(fix.error)
    names: Sequence[str] = sorted(fix.solution.edits, key=lambda path: PurePath(path).name not in error)
    listed = ", ".join(neutral(_inside(path, fix.project)) for path in names[:limit])
    return f"{listed} and {len(names) - limit} more" if len(names) > limit else listed


def _inside(path: str, project: str) -> str:
    """The path relative to the project; the end of a long path outside of it."""
    inside = path.removeprefix(f"{project.rstrip('/')}/") if project else path
    return inside if len(inside) <= MAX_PATH_CHARS else f"…{inside[-MAX_PATH_CHARS:]}"
