"""`backstory devices`: the same memory on all of a person's machines, through any folder that something copies
between them."""

from __future__ import annotations

import argparse
import getpass
import platform
import sys
from contextlib import closing
from pathlib import Path

from .. import console
from ..app import open_engine
from ..core.calls import Call
from ..core.devices import Carry, Devices, DeviceStatus, SyncOutcome, TransferCounts
from ..domain.errors import InvalidInput, Unreadable
from ..domain.lines import counted
from ..domain.records import Trust
from ..domain.when import iso
from ..settings import Settings
from .report import Json, Report, show_progress, size, table

ACTIONS = ("init", "join", "sync", "status", "remove", "leave", "code", "pull", "export")
WITH_ARGUMENT = {"init": "FOLDER", "join": "FOLDER", "remove": "NAME"}
MAX_SECRET_BYTES = 10_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("action", choices=ACTIONS, metavar="ACTION", help=", ".join(ACTIONS[:-1]))
    parser.add_argument(
        "target", nargs="?", metavar="FOLDER|NAME|HOST", help="for init, join, remove and pull"
    )
    parser.add_argument("--name", metavar="NAME", help="name of this machine (default: its host name)")
    parser.add_argument(
        "--carry",
        choices=Carry.CHOICES,
        help="what this machine writes to the folder (default: conversations too)",
    )
    parser.add_argument(
        "--code-file", metavar="FILE", help="file with the recovery code; - reads standard input"
    )
    parser.add_argument(
        "--passphrase-file", metavar="FILE", help="file with a passphrase; - reads standard input"
    )
    parser.add_argument(
        "--git",
        action="store_true",
        help="init, join: the folder is in a git repository; each sync pulls first, then commits and pushes",
    )
    parser.add_argument("--rekey", action="store_true", help="remove: encrypt everything with a new key")
    parser.add_argument(
        "--via",
        metavar="COMMAND",
        help='pull: command to use instead of ssh, for example "docker exec -i web"',
    )
    parser.add_argument(
        "--trust",
        choices=(Trust.OWN.value, Trust.IMPORTED.value),
        default=Trust.OWN.value,
        help="pull: use imported for a machine that other people use too (default: own)",
    )
    parser.add_argument("--after", type=int, default=0, metavar="MS", help=argparse.SUPPRESS)
    parser.add_argument(
        "--dry-run", action="store_true", help="sync, pull: show what would be read and sent, without changes"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    argument = WITH_ARGUMENT.get(options.action)
    if argument and not options.target:
        raise InvalidInput(
            f"backstory devices {options.action} needs {argument}.",
            hint="`backstory devices --help` lists the commands.",
        )
    with closing(open_engine(settings)) as engine:
        devices = Devices(engine, Path.home())
        action = {
            "init": _init, "join": _join, "sync": _sync, "status": _status, "remove": _remove, "leave": _leave,
            "code": _code, "pull": _pull, "export": _export,
        }[options.action]  # fmt: skip
        return action(devices, options)


def _init(devices: Devices, options: argparse.Namespace) -> Report:
    passphrase = _secret(options.passphrase_file, "passphrase") if options.passphrase_file else ""
    carry = options.carry or Carry.CONVERSATIONS
    setup = devices.init(Path(options.target), _name(options), carry, passphrase, with_git=options.git)
    outcome = devices.sync(_call())
    status = devices.status()
    code = devices.code()
    body = {
        "device": {"id": status.id, "name": setup.name},
        "folder": str(setup.folder),
        "code": code,
        "carry": setup.carry,
        "sent": outcome.sent._asdict(),
    }
    lines = [
        f"This machine is {setup.name!r}; {_amount(outcome.sent)} written into {setup.folder}.",
        "",
        f"Recovery code: {code}",
        "Put it into a password manager. Whoever has it and the folder can read everything; without it no machine can join.",
        f"On another machine: backstory devices join {setup.folder}",
    ]
    if _in_git(setup.folder):
        lines.append(
            "The folder is in a git repository, which keeps every version forever, encrypted, also of texts that you forget."
        )
    return Report(body, "\n".join(lines))


def _join(devices: Devices, options: argparse.Namespace) -> Report:
    code = passphrase = ""
    if options.passphrase_file:
        passphrase = _secret(options.passphrase_file, "passphrase")
    elif options.code_file:
        code = _secret(options.code_file, "code")
    elif sys.stdin.isatty():
        code = getpass.getpass("Recovery code (it is not shown): ")
    else:
        raise InvalidInput(
            "The recovery code is missing.",
            hint="Give --code-file FILE; - reads it from standard input.",
            field="code",
        )
    setup = devices.join(
        Path(options.target),
        _name(options),
        options.carry or Carry.CONVERSATIONS,
        code=code,
        passphrase=passphrase,
        with_git=options.git,
    )
    outcome = devices.sync(_call())
    status = devices.status()
    body = {
        "device": {"id": status.id, "name": setup.name},
        "folder": str(setup.folder),
        "received": outcome.received._asdict(),
        "sent": outcome.sent._asdict(),
        "waiting": list(outcome.waiting),
        "skipped": [each._asdict() for each in outcome.skipped],
    }
    text = (
        f"This machine is {setup.name!r}. Received {_amount(outcome.received)}; sent {_amount(outcome.sent)}."
    )
    return Report(body, "\n".join([text, *_remarks(outcome)]))


def _sync(devices: Devices, options: argparse.Namespace) -> Report:
    outcome = devices.preview() if options.dry_run else devices.sync(_call())
    body = {
        "sent": outcome.sent._asdict(),
        "received": outcome.received._asdict(),
        "waiting": list(outcome.waiting),
        "skipped": [each._asdict() for each in outcome.skipped],
        "devices": outcome.devices,
    }
    if outcome.is_busy:
        return Report(
            body | {"busy": True},
            "Another process of this machine is syncing; it sends this machine's changes too.",
        )
    if options.dry_run:
        body |= {"dry_run": True}
        changed = counted(outcome.sent.memories, "changed record")
        arrived = f"{counted(outcome.received.segments, 'new segment')} ({size(outcome.received.bytes)})"
        return Report(body, "\n".join([f"Would send {changed} and read {arrived}.", *_remarks(outcome)]))
    text = f"Received {_amount(outcome.received)}; sent {_amount(outcome.sent)}. {counted(outcome.devices, 'machine')} known."
    return Report(body, "\n".join([text, *_remarks(outcome)]))


def _status(devices: Devices, options: argparse.Namespace) -> Report:
    status = devices.status()
    body = {
        "folder": str(status.folder),
        "device": {"id": status.id, "name": status.name},
        "carry": status.carry,
        "synced_at": iso(status.synced_at) if status.synced_at else None,
        "devices": [
            each._asdict() | {"last_seen": iso(each.last_seen) if each.last_seen else None}
            for each in status.devices
        ],
        "unsent": status.unsent,
        "waiting": list(status.waiting),
        "skipped": [each._asdict() for each in status.skipped],
    }
    return Report(body, _status_text(status))


def _status_text(status: DeviceStatus) -> str:
    rows = [
        ("folder", str(status.folder)),
        ("this machine", f"{status.name}, carries {status.carry}; last sync {_moment(status)}"),
        ("unsent", counted(status.unsent, "record")),
    ]
    for each in status.devices:
        seen = f"last seen {each.last_seen:%Y-%m-%d %H:%M}" if each.last_seen else "not seen yet"
        parts = [
            seen,
            counted(each.memories, "memory", "memories"),
            counted(each.conversations, "conversation"),
        ]
        parts += [f"{counted(each.missing, 'segment')} not arrived yet"] if each.missing else []
        parts += [f"its clock is {each.clock_ahead_s / 86_400:,.1f} days ahead"] if each.clock_ahead_s else []
        rows.append((each.name, "; ".join(parts)))
    rows += [("waiting", path) for path in status.waiting]
    rows += [("skipped", f"{each.file}: {each.why}") for each in status.skipped]
    return table(rows)


def _remove(devices: Devices, options: argparse.Namespace) -> Report:
    code = devices.remove(options.target, _call(), rekey=options.rekey)
    body: Json = {"removed": options.target, "rekeyed": options.rekey}
    lines = [f"{options.target!r} was removed; what it had written stays, in this machine's log."]
    if options.rekey:
        body["code"] = code
        lines += [
            "",
            f"New recovery code: {code}",
            "Every other machine joins again with it. What a thief has copied already, he can still read.",
        ]
    else:
        lines.append("It still has the key. If another person may have it now, add --rekey.")
    return Report(body, "\n".join(lines))


def _leave(devices: Devices, options: argparse.Namespace) -> Report:
    folder = devices.setup().folder
    devices.leave()
    return Report({"folder": str(folder)}, "This machine no longer synchronises; its store stays as it is.")


def _code(devices: Devices, options: argparse.Namespace) -> Report:
    if not sys.stdout.isatty():
        devices.setup()
        raise InvalidInput("The recovery code is shown on a terminal only.", hint="Run this command in one.")
    code = devices.code()
    return Report({"code": code}, code)


def _pull(devices: Devices, options: argparse.Namespace) -> Report:
    if bool(options.target) == bool(options.via):
        raise InvalidInput(
            "backstory devices pull needs either HOST or --via COMMAND.",
            hint="Such as: backstory devices pull me@server",
        )
    outcome = devices.pull(
        options.target or "", options.via or "", Trust(options.trust), _call(), dry_run=options.dry_run
    )
    body: Json = {
        "host": options.target or options.via,
        "name": outcome.name,
        "received": outcome.received._asdict(),
    }
    if options.dry_run:
        records = counted(outcome.received.memories, "record")
        text = f"Would read {records} ({size(outcome.received.bytes)}) from {outcome.name}."
        return Report(body | {"dry_run": True}, text)
    return Report(body, f"Received {_amount(outcome.received)} from {outcome.name}.")


def _export(devices: Devices, options: argparse.Namespace) -> Report:
    """`devices export`, which `pull` on another machine runs here; for programs."""
    if sys.stdout.isatty():
        raise InvalidInput(
            "This is for `backstory devices pull` on another machine.", hint="Nothing was printed."
        )
    for record in devices.export(_name(options), options.after):
        console.write_json(record)
    return Report({}, "")


def _amount(transfer: TransferCounts) -> str:
    parts = [
        counted(transfer.memories, "memory", "memories"),
        counted(transfer.conversations, "conversation"),
        counted(transfer.forgotten, "deletion"),
    ]
    return f"{', '.join(parts)} ({size(transfer.bytes)})"


def _remarks(outcome: SyncOutcome) -> list[str]:
    rows = [("waiting", f"{path}: not complete yet; the next sync looks again") for path in outcome.waiting]
    rows += [("skipped", f"{each.file}: {each.why}") for each in outcome.skipped]
    return [table(rows)] if rows else []


def _moment(status: DeviceStatus) -> str:
    return f"{status.synced_at:%Y-%m-%d %H:%M} UTC" if status.synced_at else "never"


def _name(options: argparse.Namespace) -> str:
    name: str = options.name or platform.node().partition(".")[0] or "machine"
    return name


def _call() -> Call:
    return Call(progress=show_progress)


def _secret(path: str, what: str) -> str:
    """Read a secret from a file or standard input. Never from an argument, which other users can see."""
    try:
        text = (
            sys.stdin.read(MAX_SECRET_BYTES)
            if path == "-"
            else Path(path).read_text("utf-8")[:MAX_SECRET_BYTES]
        )
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path} cannot be read: {error}.") from None
    if not text.strip():
        raise InvalidInput(f"The {what} is empty.", hint="Nothing was changed.", field=what)
    return text.strip()


def _in_git(folder: Path) -> bool:
    return any((place / ".git").exists() for place in (folder, *folder.parents))
