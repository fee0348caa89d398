"""`backstory uninstall`: remove the entries of `backstory install` from the assistants' files, and nothing else."""

from __future__ import annotations

import argparse

from ..app import this_machine
from ..clients.installation import Installation, installations
from ..clients.steps import Consent
from ..core.client_memories.fed import FedState, load_fed
from ..core.client_memories.feeding import stop_feeding
from ..domain.errors import InvalidInput
from ..settings import Settings
from .install import add_step_arguments, named_clients, step_report
from .report import Report, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("clients", metavar="CLIENT", nargs="*", help="clients to uninstall from")
    parser.add_argument("--all", action="store_true", help="uninstall from every client, in every scope")
    add_step_arguments(parser)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    installed = installations(this_machine(settings))
    names = named_clients(options.clients)
    if options.all and names:
        raise InvalidInput(
            "--all cannot be combined with names of clients.", hint="Give one of them.", field="all"
        )
    if not options.all and not names:
        return _overview(installed, load_fed(settings.home))
    fed = load_fed(settings.home)
    chosen = [each for each in installed if options.all or each.client in names]
    for name in names:
        if name not in fed.clients and not any(each.client == name for each in chosen):
            raise InvalidInput(
                f"Backstory was not installed for {name} by `backstory install`.",
                hint="`backstory uninstall` lists what was.",
                field="clients",
            )
    consent = Consent(options.dry_run, options.force)
    outcomes = [outcome for each in chosen for outcome in each.uninstall(consent)]
    if not options.dry_run:
        outcomes += stop_feeding(settings.home, fed.clients if options.all else names)
    if not outcomes:
        return Report({"steps": []}, "Nothing is installed.")
    return step_report(outcomes, ["Memories and conversations are still there."], is_dry=options.dry_run)


def _overview(installed: list[Installation], fed: FedState) -> Report:
    rows = [(each.client, each.receipt.scope, each.receipt.project) for each in installed]
    body = {
        "installed": [{"client": c, "scope": scope, "project": project} for c, scope, project in rows],
        "memory_files": [each._asdict() for each in fed.files],
    }
    rows += [(each.client, "memory file", each.path) for each in fed.files]
    if not rows:
        return Report(body, "Nothing is installed.")
    return Report(body, f"{table(rows)}\n\n`backstory uninstall CLIENT` or `--all` removes it.")
