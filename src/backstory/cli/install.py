"""`backstory install`: give this server to the assistants on this machine."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterable, Sequence
from pathlib import PurePath

from .. import console
from ..app import this_machine
from ..clients import hooks
from ..clients.catalogue import CLIENTS, is_there
from ..clients.installation import PROJECT, USER, installation, targets
from ..clients.steps import Consent, StepOutcome
from ..domain.errors import InvalidInput
from ..settings import Settings
from ..surfaces import load_surfaces
from .report import FAILED, Json, Report, table

SURFACES = ("backstory",)
"""What clients get when nobody says."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clients", metavar="CLIENT", nargs="*", help=f"one or more of {', '.join(CLIENTS)}")
    add_step_arguments(parser)
    parser.add_argument(
        "--scope",
        choices=(USER, PROJECT),
        default=USER,
        help="the user's own files (the default), or those of the project, which others may share",
    )
    parser.add_argument(
        "--surfaces", metavar="NAMES", help="which tools they get; `backstory tools` lists them"
    )
    parser.add_argument(
        "--no-hooks",
        action="store_true",
        help="only the server; nothing tells a new session where the project stands",
    )
    parser.add_argument(
        "--plugin",
        action="store_true",
        help="as a plugin instead of an entry and hooks: Claude Code and Codex, by their own command",
    )
    parser.add_argument(
        "--yes", action="store_true", help="all clients that are here, and replace entries that differ"
    )


def add_step_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="show what would change and change nothing")
    parser.add_argument("--force", action="store_true", help="also what was changed by hand since")


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
    consent = Consent(
        options.dry_run,
        options.force,
        lambda question: options.yes or (is_asking and not options.dry_run and _agrees(question)),
    )
    _check(options)
    how = {"with_hooks": not options.no_hooks, "as_plugin": options.plugin}
    wanted = {name: targets(machine, name, options.scope, **how) for name in chosen}
    outcomes = [
        outcome
        for name in chosen
        for outcome in installation(machine, name, options.scope).install(wanted[name], consent)
    ]
    return step_report(outcomes, _next_steps(outcomes, is_plugin=options.plugin), is_dry=options.dry_run)


def _check(options: argparse.Namespace) -> None:
    if options.plugin and (options.no_hooks or options.scope == PROJECT):
        raise InvalidInput(
            "A plugin has hooks, and is the user's own.",
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


def step_report(outcomes: Sequence[StepOutcome], closing: Iterable[str], *, is_dry: bool) -> Report:
    rows = [(each.action, each.client, " ".join(filter(None, _sentence(each)))) for each in outcomes]
    parts = [each.diff for each in outcomes if each.diff and (is_dry or each.action == "left")]
    parts.append(table(rows))
    parts += ["Nothing was changed: this was a dry run."] if is_dry else closing
    body: Json = {"dry_run": is_dry, "steps": [each._asdict() for each in outcomes]}
    is_done = all(each.is_done for each in outcomes)
    return Report(body, "\n\n".join(parts), 0 if is_done else FAILED)


def _sentence(outcome: StepOutcome) -> tuple[str, str]:
    return outcome.target + (":" if outcome.message else ""), outcome.message


def _client_table(there: Sequence[str]) -> str:
    return table((name, client.title, "here" if name in there else "-") for name, client in CLIENTS.items())


def _overview(there: Sequence[str]) -> Report:
    hint = (
        "`backstory install CLIENT` installs for one, `backstory install --yes` for all that are here.\n"
        "Nothing was changed."
    )
    return Report({"clients": {name: name in there for name in CLIENTS}}, f"{_client_table(there)}\n\n{hint}")


def _next_steps(outcomes: Sequence[StepOutcome], *, is_plugin: bool) -> list[str]:
    changed = [each for each in outcomes if each.action in ("added", "updated")]
    if not changed:
        return []
    steps = ["Start these programs again; `backstory uninstall --all` takes all of it back."]
    hooks_file = PurePath(hooks.USER["codex"].path).name
    if any(each.client == "codex" and (is_plugin or each.target.endswith(hooks_file)) for each in changed):
        steps.insert(
            0,
            "Codex runs no hook that you did not trust: open it, type /hooks, and trust those of Backstory.",
        )
    return steps


def _agrees(question: str) -> bool:
    console.write(f"{question} [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
