"""One memory on all of a person's machines, through any folder that is synchronised between them.

Each machine writes sealed segments into its own directory of the folder and reads those of the others; no file is
ever changed. `syncing` is one run, `stamping` orders changes, `merging` merges segments of other machines, and
`sending` writes new records of this one.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...domain.devices import STAMP_SHIFT, Carry, Peer, WireRecord
from ...domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, TimedOut, Unavailable
from ...domain.records import Trust
from ...domain.when import from_ms
from ..calls import Call
from ..engine import Engine
from .carrying import GitCarrier
from .exporting import export_records
from .folder import DeviceFolder
from .identities import ProjectIdentities
from .merging import TransferCounts
from .pulling import PullOutcome, pull, remote_command
from .segments import SegmentName
from .setup import DeviceSetup, check_places, read_setup, remove_setup, setup_path, write_setup
from .syncing import LEFT, REMOVED, DeviceSync, SkippedFile, check_vaults, departure
from .vault import Vault, check_installed, key_of_code, new_vault, recovery_code, vault_text

LEASE = "devices"
LEASE_MS = 120_000
PATIENCE_S = 30.0
POLL_S = 0.1
MAX_NAME_CHARS = 40
CLOCK_AHEAD_S = 3_600

__all__ = [
    "Carry",
    "DeviceStatus",
    "Devices",
    "PeerStatus",
    "SkippedFile",
    "SyncOutcome",
    "TransferCounts",
    "setup_path",
]


class SyncOutcome(NamedTuple):
    sent: TransferCounts = TransferCounts()
    received: TransferCounts = TransferCounts()
    waiting: tuple[str, ...] = ()
    skipped: tuple[SkippedFile, ...] = ()
    devices: int = 0
    is_busy: bool = False
    """Another process of this machine was syncing all the time."""


class PeerStatus(NamedTuple):
    id: str
    name: str
    last_seen: datetime | None
    memories: int
    conversations: int
    missing: int
    """Segments that it wrote and that have not arrived."""
    clock_ahead_s: int = 0


class DeviceStatus(NamedTuple):
    folder: Path
    id: str
    name: str
    carry: str
    devices: tuple[PeerStatus, ...]
    unsent: int
    waiting: tuple[str, ...]
    skipped: tuple[SkippedFile, ...]
    synced_at: datetime | None


class Devices:
    def __init__(self, engine: Engine, user_home: Path, *, patience_s: float = PATIENCE_S) -> None:
        """`user_home` is the directory that `~` stands for in the paths of projects."""
        self.engine = engine
        self.home = engine.settings.home
        self._user_home = user_home
        self._patience_s = patience_s
        self._holder = engine.new_id()
        if not engine.store.devices.is_possible:
            raise NotAllowed(
                "Only a store in SQLite can be synchronised; this one is in PostgreSQL.",
                hint="Machines share a store in PostgreSQL by using the same database_url; see docs/postgresql.md.",
            )

    @property
    def is_set_up(self) -> bool:
        return setup_path(self.home).exists()

    def init(
        self, folder: Path, name: str, carry: str, passphrase: str = "", *, with_git: bool = False
    ) -> DeviceSetup:
        """Make a vault in a folder.

        A machine that has one writes the same vault there: the folder was lost, or another is to be used from now on.
        """
        check_installed()
        place = self._checked_folder(folder)
        if place.root.is_dir() and place.read_listing().vaults:
            raise NotAllowed(
                f"{folder} already contains a vault; nothing was changed.",
                hint=f"Join it: backstory devices join {folder}",
            )
        # The same vault again where there is one: a new key would shut out the machines that already have the old one.
        vault = read_setup(self.home).vault if self.is_set_up else new_vault()
        setup = DeviceSetup(place.path, vault, _checked_name(name), carry, with_git)
        # The folder first: with only the local half, a sync would find no vault and refuse.
        place.write(vault.file_name, vault_text(vault, passphrase).encode())
        write_setup(self.home, setup)
        return setup

    def join(
        self,
        folder: Path,
        name: str,
        carry: str,
        *,
        code: str = "",
        passphrase: str = "",
        with_git: bool = False,
    ) -> DeviceSetup:
        """Nothing is written, here or there, unless the code or passphrase is the vault's."""
        check_installed()
        place = self._checked_folder(folder)
        place.check_there()
        vaults = place.vaults(place.read_listing())
        if not vaults:
            raise NotFound("vault", str(folder), hint=f"Make one: backstory devices init {folder}")
        # A synchroniser can bring together two folders in which two machines ran `init` at once.
        if len({vault.id for vault in vaults}) > 1:
            raise NotAllowed(
                f"{folder} contains two vaults, created at the same time; nothing was changed.",
                hint="Delete the file vault-1 of the vault that no machine should use.",
            )
        newest = vaults[0]
        opened = (
            newest.opened_with_passphrase(passphrase) if passphrase else newest.opened_with(key_of_code(code))
        )
        if opened is None:
            raise NotAllowed(
                f"That is not the {'passphrase' if passphrase else 'code'} of the vault in {folder}; nothing was changed."
            )
        # A store knows what it has sent for one vault only.
        self._check_same_vault(opened)
        setup = DeviceSetup(place.path, opened, _checked_name(name), carry, with_git)
        write_setup(self.home, setup)
        return setup

    def setup(self) -> DeviceSetup:
        return read_setup(self.home)

    def code(self) -> str:
        return recovery_code(read_setup(self.home).vault.key)

    def sync(self, call: Call) -> SyncOutcome:
        """Read new segments from the folder and write new records of this store.

        Records that cannot be written stay unsent."""
        if not self._take_lease():
            # No error: the other process sends the same changes.
            return SyncOutcome(is_busy=True)
        try:
            return self._sync(call)
        finally:
            self.engine.store.leases.drop(LEASE, self._holder)

    def preview(self) -> SyncOutcome:
        """Preview a sync: the segments it would read and the approximate amount it would send. Writes nothing."""
        _, folder = self._opened()
        listing, room = folder.read_listing(), self.engine.store.devices
        known = room.segments(map(str, listing.segments))
        # A segment may be there several times, under names that a synchroniser gave to its conflicts.
        new = [paths[0] for name, paths in listing.segments.items() if str(name) not in known]
        size = sum((folder.root / path).stat().st_size for path in new)
        unsent = room.count_changed() + room.count_unsent()
        return SyncOutcome(
            sent=TransferCounts(memories=unsent),
            received=TransferCounts(segments=len(new), bytes=size),
            waiting=tuple(listing.placeholders),
            skipped=tuple(SkippedFile(path, "not a file of Backstory") for path in listing.foreign),
            devices=len(room.peers()),
        )

    def status(self) -> DeviceStatus:
        """The state of device sync, from the store and, if it is reachable, the folder."""
        setup, room = read_setup(self.home), self.engine.store.devices
        folder = DeviceFolder(setup.folder)
        waiting: list[str] = []
        skipped: list[SkippedFile] = []
        try:
            folder.check_there()
            listing = folder.read_listing()
        # A stick that is not plugged in is no reason to show nothing of what the store knows.
        except Unavailable as error:
            skipped.append(SkippedFile(str(setup.folder), error.message))
        else:
            known = room.segments(map(str, listing.segments))
            waiting += listing.placeholders
            waiting += [str(name) for name in listing.segments if str(name) not in known]
            skipped += [SkippedFile(path, "not a file of Backstory") for path in listing.foreign]
        own = room.identity() or ""
        tally, stamps = room.tally_held(), room.newest_stamps()
        peers = tuple(
            _peer_status(peer, room.segments(peer.alive), tally, stamps, self.engine.now())
            for peer in room.peers()
            if peer.id != own and not peer.state
        )
        unsent = room.count_changed() + room.count_unsent()
        synced_at = room.synced_at()
        return DeviceStatus(
            setup.folder,
            own,
            setup.name,
            setup.carry,
            peers,
            unsent,
            tuple(waiting),
            tuple(skipped),
            synced_at,
        )

    def remove(self, name: str, call: Call, *, rekey: bool) -> str:
        """Take over the log of a machine that is lost or sold.

        With `rekey`, create a new key and return its recovery code."""
        with self._alone():
            return self._remove(name, call, rekey)

    def pull(self, host: str, via: str, trust: Trust, call: Call, *, dry_run: bool) -> PullOutcome:
        """Copy new records from another machine, once, without a folder."""
        command = remote_command(host, via)
        with self._alone():
            return pull(self.engine, self._user_home, command, trust, call, dry_run=dry_run)

    def export(self, name: str, after_ms: int) -> Iterator[WireRecord]:
        """Export records for a machine that pulls from this one."""
        projects = ProjectIdentities(self.engine.store.devices, self._user_home, name)
        return export_records(self.engine, projects, name, after_ms)

    def leave(self) -> None:
        """Stop; the store stays as it is. The others learn of it if the folder is there."""
        setup = read_setup(self.home)
        with self._alone():
            try:
                folder = DeviceFolder(setup.folder)
                folder.check_there()
                check_vaults(folder, folder.read_listing(), setup)
                sync = self._run(setup, folder, Call())
                # Without this the others would list this machine as one that was not seen for long.
                sync.write_records([departure(sync.device, setup.name, LEFT)])
            except BackstoryError:
                pass  # the folder is gone, or is no longer ours; the others notice that this machine is not seen any more
            with self.engine.store.transaction():
                self.engine.store.devices.disable()
            remove_setup(self.home)

    def _sync(self, call: Call) -> SyncOutcome:
        # Git comes before the folder is listed and after it is written: it is the carrier of its contents.
        carrier = GitCarrier(read_setup(self.home).folder) if read_setup(self.home).with_git else None
        if carrier is not None:
            carrier.fetch()
        setup, folder = self._opened(call)
        sync = self._run(setup, folder, call)
        sync.run()
        if carrier is not None:
            carrier.send()
        own = self.engine.store.devices.identity()
        others = [peer for peer in self.engine.store.devices.peers() if not peer.state and peer.id != own]
        return SyncOutcome(
            sync.sent,
            sync.received,
            tuple(dict.fromkeys(sync.waiting)),
            tuple(dict.fromkeys(sync.skipped)),
            len(others) + 1,
        )

    def _run(self, setup: DeviceSetup, folder: DeviceFolder, call: Call) -> DeviceSync:
        renewed = call._replace(progress=self._renewing(call))
        return DeviceSync(self.engine, setup, folder, renewed, self._user_home)

    def _opened(self, call: Call = Call()) -> tuple[DeviceSetup, DeviceFolder]:  # noqa: B008  (immutable)
        check_installed()
        setup = read_setup(self.home)
        folder = DeviceFolder(setup.folder, call.raise_if_cancelled)
        folder.check_there()
        check_vaults(folder, folder.read_listing(), setup)
        return setup, folder

    def _remove(self, name: str, call: Call, rekey: bool) -> str:
        setup, folder = self._opened(call)
        sync = self._run(setup, folder, call)
        sync.run()
        room = self.engine.store.devices
        named = [peer for peer in room.peers() if name in (peer.name, peer.id) and not peer.state]
        if not named or named[0].id == sync.device:
            known = ", ".join(peer.name for peer in room.peers() if not peer.state and peer.id != sync.device)
            raise NotFound("other machine", name, hint=f"Known: {known}." if known else "No other is known.")
        if len(named) > 1:
            ids = ", ".join(peer.id for peer in named)
            raise InvalidInput(
                f"{len(named)} machines are called {name!r}.", hint=f"Give the id of one: {ids}."
            )
        peer = named[0]
        if rekey:
            setup = setup._replace(vault=new_vault(setup.vault.id, setup.vault.number + 1))
        sync = self._run(setup._replace(vault=sync.setup.vault), folder, call)
        # With a new key every segment is sealed again, since the lost machine has the old key.
        theirs = [each for each in sync.listing.segments if rekey or each.device == peer.id]
        # First the records and then the note about the machine: after a crash in between it can be removed again.
        self._take_over(sync, setup.vault, theirs, departure(peer.id, peer.name, REMOVED))
        with self.engine.store.transaction():
            room.put_peer(peer._replace(state=REMOVED, alive=()))
        if rekey:
            write_setup(self.home, setup)
            # Former keys go last, when nothing is sealed with them any more.
            for path in folder.read_listing().vaults:
                if not path.startswith(f"vault-{setup.vault.number}"):
                    folder.delete(path)
        return recovery_code(setup.vault.key)

    def _take_over(
        self, sync: DeviceSync, vault: Vault, names: list[SegmentName], last_record: WireRecord
    ) -> None:
        if vault != sync.setup.vault:
            sync.folder.write(vault.file_name, vault_text(vault).encode())
        sync.replace_segments(names, vault)
        sync.setup = sync.setup._replace(vault=vault)
        sync.write_records([last_record])

    def _checked_folder(self, folder: Path) -> DeviceFolder:
        folder = Path(folder).expanduser().absolute()
        check_places(self.home, folder)
        if not folder.parent.is_dir():
            raise Unavailable(
                f"The folder {folder.parent} does not exist; nothing was set up.",
                hint="Plug in the stick, mount the share, or correct the name.",
            )
        return DeviceFolder(folder)

    def _check_same_vault(self, vault: Vault) -> None:
        if self.is_set_up and read_setup(self.home).vault.id != vault.id:
            raise NotAllowed(
                "This machine has joined another vault; nothing was changed.",
                hint="Run `backstory devices leave` first.",
            )

    def _take_lease(self) -> bool:
        """Take the lease of this machine, waiting for another process. Returns False if that takes too long."""
        deadline = time.monotonic() + self._patience_s
        while not self.engine.store.leases.take(LEASE, self._holder, for_ms=LEASE_MS):
            if time.monotonic() >= deadline:
                return False
            time.sleep(POLL_S)
        return True

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._take_lease():
            raise TimedOut(
                "Another process of this machine is syncing.", hint="Try again; nothing was changed."
            )
        try:
            yield
        finally:
            self.engine.store.leases.drop(LEASE, self._holder)

    def _renewing(self, call: Call) -> Callable[[float, float | None, str], None]:
        renewed_at = [time.monotonic()]

        def progress(amount: float, total: float | None, message: str) -> None:
            # A first sync takes longer than the lease; each step of progress is a sign of life.
            if (time.monotonic() - renewed_at[0]) * 1000 > LEASE_MS / 4:
                self.engine.store.leases.take(LEASE, self._holder, for_ms=LEASE_MS)
                renewed_at[0] = time.monotonic()
            call.progress(amount, total, message)

        return progress


def _checked_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise InvalidInput(
            f"{name!r} is not a valid name for a machine.",
            hint=f"Use 1 to {MAX_NAME_CHARS} printable characters.",
            field="name",
        )
    return name


def _peer_status(
    peer: Peer,
    known: Collection[str],
    tally: Mapping[str, tuple[int, int]],
    stamps: Mapping[str, int],
    now: datetime,
) -> PeerStatus:
    memories, conversations = tally.get(peer.id, (0, 0))
    ahead_s = int((from_ms(stamps.get(peer.id, 0) >> STAMP_SHIFT) - now).total_seconds())
    return PeerStatus(
        peer.id,
        peer.name,
        peer.seen_at,
        memories,
        conversations,
        sum(name not in known for name in peer.alive),
        ahead_s if ahead_s > CLOCK_AHEAD_S else 0,
    )
