"""Entries that a client's own command creates, for clients that rewrite their configuration from memory."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.errors import BackstoryError, Unavailable
from . import files
from .catalogue import NAME
from .formats import FORMATS, MISSING, Change, Entry, equal, present, unmake
from .machine import Machine
from .receipts import ProgramReceipt
from .steps import Action, Consent, StepOutcome, unified_diff

LONGEST_S = 60.0
ENTRY = "entry"


class Commands(NamedTuple):
    """Arguments of the program."""

    add: Callable[[Any], Sequence[str]]
    remove: Sequence[str]
    adds_any: bool
    """True if `add` can express every entry; otherwise an existing one is replaced in the file."""


COMMANDS: Mapping[str, Commands] = {
    "claude-code": Commands(
        lambda value: ("mcp", "add-json", "-s", "user", NAME, json.dumps(value)),
        ("mcp", "remove", "-s", "user", NAME),
        adds_any=True,
    ),
    "codex": Commands(
        lambda value: ("mcp", "add", NAME, "--", value["command"], *value["args"]),
        ("mcp", "remove", NAME),
        adds_any=False,
    ),
}


class ProgramTarget(NamedTuple):
    """A target like a FileTarget with one change, applied by the program that owns the file."""

    client: str
    program: str
    path: Path
    format: str
    change: Change

    def found(self) -> Any:
        text = files.read(self.path)
        return MISSING if text is None else present(FORMATS[self.format], text, self.change)


def run_program(machine: Machine, words: Sequence[str]) -> str:
    """Run a program and return its output. Raises Unavailable with its error message if it fails."""
    command = " ".join(words[:3])
    try:
        process = machine.run(words, LONGEST_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{command} did not run: {error}") from None
    if process.returncode:
        raise Unavailable(f"{command} failed: {' '.join((process.stderr or process.stdout).split())[-300:]}")
    return process.stdout


def install_entry(
    machine: Machine,
    target: ProgramTarget,
    known: ProgramReceipt | None,
    consent: Consent,
    save: Callable[[ProgramReceipt], None],
) -> StepOutcome:
    commands, value = COMMANDS[target.client], target.change.value
    name = f"{target.path} (by {Path(target.program).name})"
    try:
        present = target.found()
        if present is not MISSING and equal(present, value):
            return StepOutcome(target.client, name, "unchanged")
        is_ours = known is not None and present is not MISSING and equal(present, known.value)
        diff = unified_diff(str(target.path), _lines(present), _lines(value))
        if present is not MISSING and not is_ours and not consent.is_forced:
            question = f"{target.path} has another {'.'.join(target.change.path)}. Replace it?"
            if not consent.replace(question):
                message = f"{'.'.join(target.change.path)} is there already and differs; --yes replaces it"
                return StepOutcome(target.client, name, "left", message, diff)
        action: Action = "added" if present is MISSING else "updated"
        if consent.is_dry:
            return StepOutcome(target.client, name, action, diff=diff)
        replaced = known.replaced if known and is_ours else present
        save(ProgramReceipt(ENTRY, replaced, value))
        if present is not MISSING:
            run_program(machine, (target.program, *commands.remove))
        run_program(machine, (target.program, *commands.add(value)))
        if not equal(target.found(), value):
            raise Unavailable(f"{target.program} reported success, but did not add the server")
    except BackstoryError as error:
        return StepOutcome(target.client, name, "failed", str(error))
    return StepOutcome(target.client, name, action, diff=diff)


def uninstall_entry(
    machine: Machine, target: ProgramTarget, known: ProgramReceipt, consent: Consent
) -> tuple[StepOutcome, bool]:
    """Remove an entry, using the program if it exists, or else its file.

    The second value is True if the receipt can be deleted."""
    try:
        present = target.found()
        if present is MISSING:
            return StepOutcome(target.client, str(target.path), "unchanged", "it is gone"), True
        if not equal(present, known.value) and not consent.is_forced:
            message = "the entry was changed since the installation; --force removes it"
            return StepOutcome(target.client, str(target.path), "left", message), False
        after = () if known.replaced is MISSING else _lines(known.replaced)
        diff = unified_diff(str(target.path), _lines(present), after)
        if not consent.is_dry:
            _take_out(machine, target, known)
    except BackstoryError as error:
        return StepOutcome(target.client, str(target.path), "failed", str(error)), False
    return StepOutcome(target.client, str(target.path), "removed", diff=diff), True


def _take_out(machine: Machine, target: ProgramTarget, known: ProgramReceipt) -> None:
    commands = COMMANDS[target.client]
    if target.program:
        run_program(machine, (target.program, *commands.remove))
        if known.replaced is not MISSING:
            run_program(machine, (target.program, *commands.add(known.replaced)))
        return
    text = files.read(target.path) or ""
    entry = Entry(target.change, known.replaced, 0, ())
    files.write(target.path, unmake(FORMATS[target.format], text, entry), text)


def _lines(value: Any) -> list[str]:
    return [] if value is MISSING else json.dumps(value, ensure_ascii=False, indent=2).splitlines()
