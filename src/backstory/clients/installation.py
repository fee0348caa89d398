"""Installing Backstory for one client, and taking it away again: the steps, in order, with their receipt."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..domain.errors import BackstoryError, InvalidInput
from .catalogue import CLIENTS, places
from .formats import MISSING
from .hooks import hook_target, put_script, remove_script
from .machine import Machine
from .permissions import permission_target
from .plugins import PLUGIN, PluginTarget, install_plugin, plugin_target, uninstall_plugin
from .programs import COMMANDS, ENTRY, ProgramTarget, install_entry, uninstall_entry
from .receipts import FileReceipt, InstallReceipt, ProgramReceipt, load, load_all, save
from .steps import Consent, FileTarget, StepOutcome, install_file, uninstall_file

USER, PROJECT = "user", "project"


Target = FileTarget | ProgramTarget | PluginTarget


class Installation:
    """One client in one scope. Each step writes its part of the receipt before it writes anything else."""

    def __init__(self, machine: Machine, client: str, scope: str, project: str = "") -> None:
        self.machine = machine
        self.client = client
        self.receipt = load(machine.data, client, scope, project)

    def install(self, targets: Sequence[Target], consent: Consent) -> Iterator[StepOutcome]:
        """Apply the targets, and remove entries that an earlier installation made in other places."""
        paths = {target.path for target in targets if isinstance(target, FileTarget)}
        names = {_receipt_name(target) for target in targets}
        yield from self._remove_programs([p for p in self.receipt.programs if p.name not in names], consent)
        yield from self._remove_files([f for f in self.receipt.files if f.path not in paths], consent)
        if not consent.is_dry and any(_needs_script(target) for target in targets):
            put_script(self.machine)
        for target in targets:
            yield self._install(target, consent)

    def _install(self, target: Target, consent: Consent) -> StepOutcome:
        if isinstance(target, FileTarget):
            file = next((file for file in self.receipt.files if file.path == target.path), None)
            return install_file(self.client, target, file, consent, self.machine.data, self._save_file)
        name = _receipt_name(target)
        known = next((program for program in self.receipt.programs if program.name == name), None)
        if isinstance(target, PluginTarget):
            return install_plugin(self.machine, target, known, consent, self._save_program)
        return install_entry(self.machine, target, known, consent, self._save_program)

    def uninstall(self, consent: Consent) -> Iterator[StepOutcome]:
        yield from self._remove_programs(self.receipt.programs, consent)
        # folders go with the file that made them
        yield from self._remove_files(self.receipt.files[::-1], consent)
        if not load_all(self.machine.data):
            remove_script(self.machine.data)

    def _remove_programs(self, known: Sequence[ProgramReceipt], consent: Consent) -> Iterator[StepOutcome]:
        for program in known:
            if program.name == PLUGIN:
                outcome, is_settled = self._remove_plugin(program, consent)
            else:
                entry = entry_target(self.machine, self.client)
                outcome, is_settled = uninstall_entry(self.machine, entry, program, consent)
            if is_settled and not consent.is_dry:
                left = tuple(other for other in self.receipt.programs if other != program)
                self._update(self.receipt._replace(programs=left))
            yield outcome

    def _remove_plugin(self, known: ProgramReceipt, consent: Consent) -> tuple[StepOutcome, bool]:
        try:
            target = plugin_target(self.machine, self.client)
        except BackstoryError as error:  # the program that would remove it is gone
            return StepOutcome(self.client, "its plugin", "failed", str(error)), False
        return uninstall_plugin(self.machine, target, known, consent)

    def _remove_files(self, known: Sequence[FileReceipt], consent: Consent) -> Iterator[StepOutcome]:
        for file in known:
            outcome, is_settled = uninstall_file(self.client, file, consent, self.machine.data)
            if is_settled and not consent.is_dry:
                self._update(self.receipt._replace(files=tuple(f for f in self.receipt.files if f != file)))
            yield outcome

    def _save_file(self, file: FileReceipt) -> None:
        others = tuple(other for other in self.receipt.files if other.path != file.path)
        self._update(self.receipt._replace(files=(*others, file)))

    def _save_program(self, program: ProgramReceipt) -> None:
        others = tuple(other for other in self.receipt.programs if other.name != program.name)
        self._update(self.receipt._replace(programs=(*others, program)))

    def _update(self, receipt: InstallReceipt) -> None:
        save(self.machine.data, receipt)
        self.receipt = receipt


def _receipt_name(target: Target) -> str:
    return PLUGIN if isinstance(target, PluginTarget) else ENTRY if isinstance(target, ProgramTarget) else ""


def _needs_script(target: Target) -> bool:
    return isinstance(target, PluginTarget) or (isinstance(target, FileTarget) and target.has_hooks)


def installation(machine: Machine, client: str, scope: str) -> Installation:
    return Installation(machine, client, scope, str(machine.project) if scope == PROJECT else "")


def installations(machine: Machine) -> list[Installation]:
    """All installations that have a receipt."""
    return [
        Installation(machine, receipt.client, receipt.scope, receipt.project)
        for receipt in load_all(machine.data)
    ]


def targets(
    machine: Machine,
    name: str,
    scope: str,
    *,
    with_hooks: bool = True,
    as_plugin: bool = False,
    with_permissions: bool = False,
) -> list[Target]:
    """The files of a client that are to be changed, each once: its entry, then its hooks and permissions."""
    client = CLIENTS[name]
    if as_plugin:
        return [plugin_target(machine, name)]
    if scope == PROJECT and not client.project:
        raise InvalidInput(
            f"{client.title} has no configuration file in a project.",
            hint="Install it with --scope user.",
            field="scope",
        )
    hooks = hook_target(machine, name, scope) if with_hooks else None
    permissions = permission_target(machine, name, scope) if with_permissions else None
    more = [target for target in (hooks, permissions) if target]
    if scope == USER and machine.program(client.program) and _is_for_program(machine, name):
        return [entry_target(machine, name), *_joined(more)]
    wanted = [
        FileTarget(place.path(machine), place.format, (place.change(machine.command),))
        for place in places(client, machine, scope)
    ]
    return [*_joined([*wanted, *more])]


def _joined(wanted: Sequence[FileTarget]) -> Iterator[FileTarget]:
    """Merge targets of the same file."""
    for path in dict.fromkeys(target.path for target in wanted):
        same = [target for target in wanted if target.path == path]
        changes = tuple(change for target in same for change in target.changes)
        yield same[0]._replace(changes=changes, has_hooks=any(target.has_hooks for target in same))


def _is_for_program(machine: Machine, name: str) -> bool:
    if name not in COMMANDS or COMMANDS[name].adds_any:
        return name in COMMANDS
    try:
        return entry_target(machine, name).found() is MISSING
    except BackstoryError:  # the step for this file has already reported the problem
        return False


def entry_target(machine: Machine, name: str) -> ProgramTarget:
    client = CLIENTS[name]
    place = client.user[0]
    program = machine.program(client.program) or ""
    return ProgramTarget(name, program, place.path(machine), place.format, place.change(machine.command))
