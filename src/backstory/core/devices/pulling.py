"""Copy the memory of another machine once, over ssh or from a container. Needs neither a folder nor a vault.

The other side runs `backstory devices export`. Its records count as those of your own machine, unless `trust` is
lowered.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import IO, NamedTuple, NoReturn

from ...domain.devices import Carry, Peer, WireRecord
from ...domain.errors import InvalidInput, Unavailable, Unreadable
from ...domain.records import Trust
from ..calls import Call
from ..engine import Engine
from ..secrets import Redactor, redactor
from .identities import ProjectIdentities
from .merging import Merger, TransferCounts
from .stamping import Stamper
from .syncing import erase_undone
from .vault import FORMAT

REMOTE_COMMAND = ("backstory", "devices", "export")
PULL_TIMEOUT_S = 3_600.0
MERGED_BYTES = 1_000_000
MAX_LINE_BYTES = 100_000_000
MAX_ERROR_CHARS = 500
NOT_FOUND = 127


class PullOutcome(NamedTuple):
    name: str
    received: TransferCounts


def remote_command(host: str, via: str) -> list[str]:
    """The command line that runs a command on the other side."""
    if via:
        return shlex.split(via)
    if not host or host.startswith("-"):  # ssh would take it for an option
        raise InvalidInput(
            f"{host!r} is not a host.", hint="Use a host that ssh accepts, such as me@server.", field="host"
        )
    return ["ssh", host]


def pull(
    engine: Engine, user_home: Path, command: Sequence[str], trust: Trust, call: Call, *, dry_run: bool
) -> PullOutcome:
    """Merge records that are new on another machine since the last pull. With `dry_run` nothing is written."""
    room = engine.store.devices
    # The other side has no device id of its own; the way to reach it serves as one.
    device = hashlib.sha256("\0".join(command).encode()).hexdigest()[:12]
    known = next((peer for peer in room.peers() if peer.id == device), None)
    now = engine.now()
    projects = ProjectIdentities(room, user_home, "this machine")
    # Without a vault this machine has no id either, and its own changes need one that is not the other side's.
    stamper = Stamper(engine.store, room.identity() or device[::-1], Carry.CONVERSATIONS, 0, now)
    merger = Merger(engine.store, stamper, projects, 0, now, is_in_folder=False)
    received = size = 0
    name, mark = command[-1], ""
    with _lines([*command, *REMOTE_COMMAND, "--after", known.mark if known else "0"]) as lines:
        header = _header(next(lines, b""))
        name, mark = str(header.get("name") or name), str(header.get("mark", ""))
        for some in _portions(lines):
            call.progress(received, None, "Reading records")
            records = [_as_from(record, device, trust) for record in some]
            _redact(records, redactor(engine.settings.redaction))
            size += sum(map(len, some))
            received += len(records)
            if not dry_run:
                merger.merge_records(records)
    if dry_run:
        return PullOutcome(name, TransferCounts(memories=received, bytes=size))
    erase_undone(engine)
    with engine.store.transaction():
        room.put_peer(Peer(device, name, "", str(header.get("version", "")), 0, now, (), "", mark))
    if engine.backlog is not None:
        engine.embed_soon()
    return PullOutcome(name, merger.counts(0, size))


@contextmanager
def _lines(command: Sequence[str]) -> Iterator[Iterator[bytes]]:
    """The lines that a command prints. Raises Unavailable with its error output if it fails."""
    # A pipe that nobody reads fills up and would stop the other side.
    with tempfile.TemporaryFile() as complaints:
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=complaints
            )
        except OSError as error:
            raise Unavailable(f"{command[0]} could not be started: {error.strerror}.") from None
        # readline has no timeout, and a dead connection can keep ssh waiting for hours.
        watchdog = Timer(PULL_TIMEOUT_S, process.kill)
        watchdog.daemon = True
        watchdog.start()
        assert process.stdout is not None
        output = process.stdout
        try:
            yield iter(lambda: output.readline(MAX_LINE_BYTES), b"")
            status = process.wait()
        except BaseException:
            process.kill()
            # Half a record is a consequence; the cause is in the error output of the command.
            if process.wait() not in (0, -9):
                _raise_failed(process.returncode, complaints)
            raise
        finally:
            watchdog.cancel()
            output.close()
        if status:
            _raise_failed(status, complaints)


def _raise_failed(status: int, complaints: IO[bytes]) -> NoReturn:
    complaints.seek(0)
    text = complaints.read().decode(errors="replace").strip()[-MAX_ERROR_CHARS:]
    if status == NOT_FOUND:
        raise Unavailable(
            "Backstory is not installed on the other machine, or not on its PATH.",
            hint="Install it there: pip install backstory. Nothing was changed here.",
        )
    raise Unavailable(
        f"The other machine failed (status {status}): {text or 'it gave no reason'}",
        hint="Run the command yourself to see why.",
    )


def _as_from(line: bytes, device: str, trust: Trust) -> WireRecord:
    try:
        record: WireRecord = json.loads(line)
        record["d"] = record["d"] or device
        for each in (record, *record.get("messages", ())):
            # Trust is only ever lowered: what the other side did not trust is not trusted here.
            if each.get("trust", Trust.OWN) == Trust.OWN:
                each["trust"] = trust.value
    except (ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"The other machine sent something other than records: {error!r}.") from None
    return record


def _redact(records: Sequence[WireRecord], rules: Redactor) -> None:
    """Redact texts: the other side may have stored secrets that this machine's rules remove."""
    texts = [each for record in records for each in (record, *record.get("messages", ())) if "text" in each]
    redacted, _ = rules.redact_all([each["text"] for each in texts])
    for each, text in zip(texts, redacted, strict=True):
        each["text"] = text


def _header(line: bytes) -> dict[str, object]:
    try:
        header: dict[str, object] = json.loads(line)
    except ValueError:
        raise Unreadable(
            "The other machine sent something other than records.", hint="Does its shell print something?"
        ) from None
    if header.get("format") != FORMAT:
        raise Unreadable("The other machine has a newer version of Backstory.", hint="Update Backstory here.")
    return header


def _portions(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    some: list[bytes] = []
    for line in lines:
        if not line.strip():
            continue
        some.append(line)
        if sum(map(len, some)) > MERGED_BYTES:
            yield some
            some = []
    if some:
        yield some
