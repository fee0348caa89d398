"""Backstory as a plugin of Claude Code or Codex, from a folder of ours that the client's own command adds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..domain.errors import BackstoryError, InvalidInput, NotWritten
from ..store.whole_files import write_whole
from .catalogue import CLIENTS, NAME
from .formats import MISSING
from .hooks import hook_line, hook_words
from .machine import Machine
from .packages import marketplace
from .programs import run_program
from .receipts import ProgramReceipt
from .steps import Consent, StepOutcome

PLUGIN = "plugin"
FOLDER = "marketplace"
_ID = f"{NAME}@{NAME}"


class PluginCommands(NamedTuple):
    """Arguments of the client's command; the folder is appended to the first of `add`."""

    add: Sequence[Sequence[str]]
    remove: Sequence[Sequence[str]]


COMMANDS: Mapping[str, PluginCommands] = {
    "claude-code": PluginCommands(
        (("plugin", "marketplace", "add"), ("plugin", "install", _ID)),
        (("plugin", "uninstall", _ID), ("plugin", "marketplace", "remove", NAME)),
    ),
    "codex": PluginCommands(
        (("plugin", "marketplace", "add"), ("plugin", "add", _ID)),
        (("plugin", "remove", _ID), ("plugin", "marketplace", "remove", NAME)),
    ),
}


class PluginTarget(NamedTuple):
    client: str
    program: str
    folder: Path

    @property
    def shown(self) -> str:
        return f"{self.folder} (by {Path(self.program).name})"


def plugin_target(machine: Machine, name: str) -> PluginTarget:
    program = machine.program(CLIENTS[name].program)
    if name not in COMMANDS:
        raise InvalidInput(
            f"{CLIENTS[name].title} has no plugins of Backstory.",
            hint=f"These clients do: {', '.join(COMMANDS)}.",
            field="plugin",
        )
    if program is None:
        raise InvalidInput(
            f"`{CLIENTS[name].program}`, which adds plugins, is not on PATH.",
            hint="Install without --plugin, or correct PATH.",
            field="plugin",
        )
    return PluginTarget(name, program, machine.data / FOLDER / name)


def install_plugin(
    machine: Machine,
    target: PluginTarget,
    known: ProgramReceipt | None,
    consent: Consent,
    save: Callable[[ProgramReceipt], None],
) -> StepOutcome:
    """Install a plugin. Its folder is rewritten each time; a client that has it reads the new one when it starts."""
    wanted = marketplace(machine.command, hook_words(machine, "claude-code"), hook_line(machine, "codex"))
    if known and known.value == wanted and target.folder.is_dir():
        return StepOutcome(target.client, target.shown, "unchanged")
    if consent.is_dry:
        return StepOutcome(target.client, target.shown, "updated" if known else "added")
    try:
        save(ProgramReceipt(PLUGIN, MISSING, wanted))
        _write(target.folder, wanted)
        first, *others = COMMANDS[target.client].add
        if known:
            _remove(machine, target)
        run_program(machine, (target.program, *first, str(target.folder)))
        for words in others:
            run_program(machine, (target.program, *words))
    except BackstoryError as error:
        return StepOutcome(target.client, target.shown, "failed", str(error))
    return StepOutcome(target.client, target.shown, "updated" if known else "added")


def uninstall_plugin(
    machine: Machine, target: PluginTarget, known: ProgramReceipt, consent: Consent
) -> tuple[StepOutcome, bool]:
    """Uninstall a plugin. The second value is True if its receipt can be deleted."""
    try:
        if not consent.is_dry:
            _remove(machine, target)
            for name in known.value:
                (target.folder / name).unlink(missing_ok=True)
            for folder in sorted((p for p in target.folder.rglob("*") if p.is_dir()), reverse=True):
                folder.rmdir()
            target.folder.rmdir()
    except BackstoryError as error:
        return StepOutcome(target.client, target.shown, "failed", str(error)), False
    except OSError as error:
        return StepOutcome(
            target.client, target.shown, "failed", f"{error.filename}: {error.strerror}"
        ), False
    return StepOutcome(target.client, target.shown, "removed"), True


def _remove(machine: Machine, target: PluginTarget) -> None:
    for words in COMMANDS[target.client].remove:
        run_program(machine, (target.program, *words))


def _write(folder: Path, wanted: Mapping[str, str]) -> None:
    try:
        for name, text in wanted.items():
            (folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(folder / name, [text])
    except OSError as error:
        raise NotWritten(f"{error.filename} cannot be written: {error.strerror}") from None
