"""`backstory install`: add Backstory to the assistants on this machine."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import PurePath

from .. import console
from ..app import history_places, open_engine, this_machine
from ..clients import hooks
from ..clients.catalogue import CLIENTS, is_there
from ..clients.installation import PROJECT, USER, installation, targets
from ..clients.machine import Machine
from ..clients.permissions import READING_TOOLS, has_permissions, permission_target
from ..clients.steps import Consent, StepOutcome
from ..core.client_memories.blocks import rendered
from ..core.client_memories.fed import load_fed
from ..core.client_memories.feeding import FEEDABLE, HEADING, Feeding
from ..core.joined import JoinedSpaces
from ..core.projects import project_root
from ..domain.errors import BackstoryError, InvalidInput, Unreadable
from ..settings import Settings
from ..surfaces import load_surfaces
from .first_look import cleanup_warning, look
from .report import FAILED, Json, Report, clear_progress, table

SURFACES = ("backstory",)
"""The surfaces of a client if `--surfaces` is not given."""
_DRY_ACTIONS = {"added": "would add", "updated": "would update", "removed": "would remove"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clients", metavar="CLIENT", nargs="*", help=f"one or more of {', '.join(CLIENTS)}")
    add_step_arguments(parser)
    parser.add_argument(
        "--scope",
        choices=(USER, PROJECT),
        default=USER,
        help="edit your own files (default), or those of the project, which others may share",
    )
    parser.add_argument(
        "--surfaces",
        metavar="NAMES",
        help="families of tools to install, comma-separated (default: backstory); `backstory tools` lists them",
    )
    parser.add_argument(
        "--no-hooks",
        action="store_true",
        help="install the server only; new sessions get no brief",
    )
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="install as a plugin of Claude Code or Codex instead of an entry and hooks",
    )
    parser.add_argument(
        "--memory-files",
        action="store_true",
        help="also write the decisions of each project into the memory files that Claude Code, Gemini CLI and Qwen Code load",
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="ask nothing: install for every client on this machine, replace entries that differ, allow the tools that"
        " only read, and read the histories now",
    )


def add_step_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would change and change nothing")
    parser.add_argument(
        "--force", action="store_true", help="also replace or remove what was changed by hand since"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    surfaces = settings.surfaces if options.surfaces else SURFACES
    load_surfaces(surfaces)
    machine = this_machine(settings, surfaces)
    there = [name for name, client in CLIENTS.items() if is_there(client, machine)]
    is_asking = sys.stdin.isatty() and sys.stdout.isatty() and not options.json
    chosen = named_clients(options.clients) or (there if options.yes or options.dry_run else [])
    if not chosen:
        if not there or not is_asking:
            return _overview(there)
        console.write(_client_table(there))
        if not _agrees(f"\nInstall Backstory for {', '.join(there)}?"):
            return Report({"steps": []}, "Nothing was changed.")
        chosen = there
    _check(options)

    def agrees(question: str) -> bool:
        return options.yes or (is_asking and not options.dry_run and _agrees(question))

    consent = Consent(options.dry_run, options.force, agrees)
    wanted = {
        name: targets(
            machine,
            name,
            options.scope,
            with_hooks=not options.no_hooks,
            as_plugin=options.plugin,
            with_permissions=not options.plugin and _are_allowed(machine, name, options.scope, agrees),
        )
        for name in chosen
    }
    outcomes = [
        outcome
        for name in chosen
        for outcome in installation(machine, name, options.scope).install(wanted[name], consent)
    ]
    question = "Read the histories of your assistants now? They stay on this machine."
    has_changed = any(each.action in ("added", "updated") for each in outcomes)
    is_reading = has_changed and not options.dry_run and agrees(question)
    seen = _first_look(machine, settings, chosen) if is_reading else None
    # after the histories are read, because the memory files are written from them
    fed, notes = _feed(chosen, options, settings, is_asking=is_asking)
    steps = _next_steps(outcomes, team=_team_step(settings), is_plugin=options.plugin)
    notes = [*filter(None, notes), *steps]
    report = step_report([*outcomes, *fed], notes, is_dry=options.dry_run)
    if seen is None:
        return report
    lines = "\n\n".join([str(report.text), str(seen.text)])
    return Report({**report.body, **seen.body}, lines, seen.exit_code or report.exit_code)


def _are_allowed(machine: Machine, name: str, scope: str, agrees: Callable[[str], bool]) -> bool:
    """Return whether read-only tools may run without a question, from an earlier answer or by asking now."""
    if permission_target(machine, name, scope) is None:
        return False
    if has_permissions(installation(machine, name, scope).receipt):
        return True
    tools = ", ".join(READING_TOOLS)
    return agrees(
        f"Let {CLIENTS[name].title} use the tools that only read ({tools}) without asking each time?"
    )


def _first_look(machine: Machine, settings: Settings, chosen: Sequence[str]) -> Report:
    """The contents of the histories. The installation succeeds even if they cannot be read."""
    try:
        seen = look(settings)
    except BackstoryError as error:
        text = f"The histories could not be read: {error}"
        return Report({"histories": {"problem": str(error)}}, text, FAILED)
    lines = [f"Read {seen.sentence}" if seen.conversations else seen.sentence]
    lines += [f'Try it: ask your assistant "{seen.question}"'] if seen.question else []
    lines += [cleanup_warning(machine)] if "claude-code" in chosen else []
    return Report({"histories": seen._asdict()}, "\n\n".join(lines))


def _feed(
    chosen: Sequence[str], options: argparse.Namespace, settings: Settings, *, is_asking: bool
) -> tuple[list[StepOutcome], list[str]]:
    """Feed the memory files of clients that have some, if the user agrees to the text: the steps, and notes for the
    report."""
    clients = [name for name in chosen if name in FEEDABLE]
    if options.memory_files and not clients:
        raise InvalidInput(
            "None of these clients loads a private file for each project.",
            hint=f"These clients do: {', '.join(FEEDABLE)}.",
            field="memory_files",
        )
    is_new = not set(clients) <= set(load_fed(settings.home).clients)
    is_offered = is_asking and is_new and not options.dry_run and not options.yes
    if not clients or not (options.memory_files or is_offered):
        return [], []
    with closing(open_engine(settings)) as engine:
        feeding = Feeding(engine, history_places(engine))
        text = _preview(feeding, clients, settings)
        if not text and not options.memory_files:
            return [], []
        text = text or "No project has a decision, a rule or an open task for the memory files yet."
        clear_progress()
        if is_asking or options.dry_run:
            console.notify(text)
        if options.dry_run:
            return [], []
        question = "\nWrite this into the memory files above, and update it after every sync?"
        if is_asking and not options.yes and not _agrees(question):
            return [], []
        outcomes = feeding.start(clients)
    note = f"Memory files of {', '.join(clients)} are kept up to date after every sync."
    return outcomes, ["" if is_asking else text, note]


def _preview(feeding: Feeding, clients: Sequence[str], settings: Settings) -> str:
    """The files that would get a block, and an example: the block of the current project, or of the first with one.

    Empty if there is nothing to write."""
    places = list(feeding.places(clients))
    current = str(project_root(settings.project))
    ordered = sorted(places, key=lambda place: place.project != current)
    blocks = ((place, feeding.lines(place)) for place in ordered)
    place, lines = next(((place, lines) for place, lines in blocks if lines), (None, []))
    if place is None:
        return ""
    listed = "\n".join(f"  {each.path}" for each in places)
    return f"{listed}\n\nFor {place.project}:\n\n{rendered([HEADING, *lines])}"


def _check(options: argparse.Namespace) -> None:
    if options.plugin and (options.no_hooks or options.scope == PROJECT):
        raise InvalidInput(
            "--plugin cannot be combined with --no-hooks or --scope project.",
            hint="Leave out --plugin, or --no-hooks and --scope project.",
            field="plugin",
        )


def named_clients(names: Sequence[str]) -> list[str]:
    for name in names:
        if name not in CLIENTS:
            near = difflib.get_close_matches(name, CLIENTS, n=1)
            hint = f"Did you mean {near[0]}?" if near else f"Known: {', '.join(CLIENTS)}."
            raise InvalidInput(f"There is no client {name!r}.", hint=hint, field="clients")
    return list(dict.fromkeys(names))


def step_report(outcomes: Sequence[StepOutcome], notes: Iterable[str], *, is_dry: bool) -> Report:
    rows = [
        (_DRY_ACTIONS.get(each.action, each.action) if is_dry else each.action, each.client, _sentence(each))
        for each in outcomes
    ]
    parts = [each.diff for each in outcomes if each.diff and (is_dry or each.action == "left")]
    parts.append(table(rows))
    parts += ["Nothing was changed: this was a dry run."] if is_dry else notes
    body: Json = {"dry_run": is_dry, "steps": [each._asdict() for each in outcomes]}
    is_done = all(each.is_done for each in outcomes)
    return Report(body, "\n\n".join(parts), 0 if is_done else FAILED)


def _sentence(outcome: StepOutcome) -> str:
    return f"{outcome.target}: {outcome.message}" if outcome.message else outcome.target


def _client_table(there: Sequence[str]) -> str:
    return table(
        (name, client.title, "found" if name in there else "not found") for name, client in CLIENTS.items()
    )


def _overview(there: Sequence[str]) -> Report:
    if there:
        hint = "`backstory install CLIENT` installs for one of them, `backstory install --yes` for all that were found."
    else:
        hint = "No supported assistant was found on this machine. `backstory install CLIENT` installs for one anyway."
    hint += "\nNothing was changed."
    return Report({"clients": {name: name in there for name in CLIENTS}}, f"{_client_table(there)}\n\n{hint}")


def _team_step(settings: Settings) -> str:
    try:
        joined = JoinedSpaces(settings.home).all()
    except Unreadable as error:  # which is no reason not to install
        return error.message
    if joined:
        return (
            f"Spaces of your team on this machine: {', '.join(joined)}. They are in every brief and search."
        )
    return "If your team has a server, `backstory team join URL` adds what it shares."


def _next_steps(outcomes: Sequence[StepOutcome], *, team: str, is_plugin: bool) -> list[str]:
    changed = [each for each in outcomes if each.action in ("added", "updated")]
    if not changed:
        is_there = bool(outcomes) and all(each.action == "unchanged" for each in outcomes)
        return ["Nothing was changed: Backstory is already installed."] if is_there else []
    steps = [
        "Restart these programs. `backstory uninstall --all` undoes everything.",
        team,
    ]
    hooks_file = PurePath(hooks.USER["codex"].path).name
    if any(each.client == "codex" and (is_plugin or each.target.endswith(hooks_file)) for each in changed):
        steps.insert(
            0,
            "Codex runs only hooks that you trust: open it, type /hooks, and trust Backstory's hooks.",
        )
    return steps


def _agrees(question: str) -> bool:
    console.write(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
