"""Commands that failed on a file, and what made them pass."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...domain.lines import one_line
from ...domain.paths import path_in_project
from ...domain.records import Conversation, Trust
from ...domain.runs import FixKind, Solution, WorkStep
from ...store import Store
from ..failures.pairing import solution_of
from .file import StoryFile

MAX_FIXING_EDITS = 2
"""Files that were edited between a failure and the next run that passed: of more, none can be said to have made it pass."""
COMMAND_CHARS = 60


class FileFailure(NamedTuple):
    step: WorkStep
    error: str
    """The line of its output that names the file, else the first; may be empty."""
    solution: Solution | None


def failures_in(store: Store, conversation: Conversation, file: StoryFile) -> Iterator[FileFailure]:
    """Each command once until it passes, and each error once, when it was first met. A transcript that came with a
    repository may call anything a failure."""
    if conversation.trust is Trust.PROJECT:
        return
    steps = store.runs.steps(conversation.id, 0)
    harmless = store.runs.harmless(
        sorted({number for step in steps for number in step.signatures}), conversation.project
    )
    known: set[object] = set()
    for place, step in enumerate(steps):
        errors = step.signatures - harmless
        if not step.has_failed or not errors:
            continue
        solution = solution_of(step, steps[place + 1 :], harmless)
        lines = [line.text for line in store.runs.lines(step.entry, step.place) if line.signature in errors]
        naming = [line for line in lines if file.is_named_in(line, conversation.project)]
        if not naming and not (solution and _is_fixed_in(solution, file, conversation)):
            continue
        error = next(iter(naming or lines), "")
        passing = (step.families, solution.passed_at) if solution else None
        if error not in known and passing not in known:
            yield FileFailure(step, _inside(error, conversation), solution)
        known |= {error, passing} - {None}


def _inside(error: str, conversation: Conversation) -> str:
    """An error with paths from the root of the project."""
    for root in filter(None, (conversation.project, conversation.directory)):
        error = error.replace(f"{root.rstrip('/')}/", "")
    return error


def _is_fixed_in(solution: Solution, file: StoryFile, conversation: Conversation) -> bool:
    return len(solution.edits) <= MAX_FIXING_EDITS and any(
        file.is_at(path, conversation) for path in solution.edits
    )


def command_name(step: WorkStep) -> str:
    """A short command as it was typed; of a long one or a script, the programs that it runs."""
    command = step.value.strip()
    is_short = len(command) <= COMMAND_CHARS and "\n" not in command
    return command if is_short else one_line(" && ".join(step.families), COMMAND_CHARS)


def outcome_of(failure: FileFailure, file: StoryFile, conversation: Conversation) -> str:
    """The solution that made the command pass, in a few words."""
    solution = failure.solution
    if solution is None:
        return "not seen to pass later"
    match solution.kind:
        case FixKind.EDIT:
            others = [path for path in solution.edits if not file.is_at(path, conversation)]
            if not others:
                return "passed after an edit of this file"
            this = ["this file"] if len(others) < len(solution.edits) else []
            return (
                f"passed after edits of {_listed([*this, *(_path(path, conversation) for path in others)])}"
            )
        case FixKind.COMMAND:
            return f"passed as `{one_line(solution.passed, COMMAND_CHARS)}`"
        case FixKind.BEFORE:
            return f"passed after `{one_line(solution.commands[-1], COMMAND_CHARS)}`"
        case _:
            return "passed when it ran again"


def _listed(files: Sequence[str]) -> str:
    few = ", ".join(files[: MAX_FIXING_EDITS + 1])
    rest = len(files) - MAX_FIXING_EDITS - 1
    return f"{few} and {rest} more" if rest > 0 else few


def _path(path: str, conversation: Conversation) -> str:
    return path_in_project(path, conversation.directory, conversation.project)
