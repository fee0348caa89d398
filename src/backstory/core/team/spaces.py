"""The team's spaces on a laptop: copies of their memories in the user's own store, and deliveries of memories that
were saved for them. Answers use the copies, so that no call waits for the network and everything works offline. This
module updates the copies and empties the queue in the background."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from typing import NamedTuple

from ...domain.errors import BackstoryError, InvalidInput, NotFound
from ...domain.filters import Filter, Kind, Page
from ...domain.kinds import kind_of
from ...domain.metadata import FileMark, as_metadata, marks_of
from ...domain.records import Memory, Trust
from ...domain.team import SPACE_SURFACE, Delivery, SpaceCopy
from ...domain.when import from_ms, iso, to_ms
from ...store.tables import Forgettable, with_words_of
from ...store.whole_files import write_whole
from ..brief.files import BriefFiles
from ..calls import Call
from ..engine import Engine
from ..joined import JoinedSpace, JoinedSpaces
from ..projects.related import remotes_of
from .space_client import DeliveryRefused, OfferedSpace, SpaceClient, SpaceClosed, split_space
from .space_wire import (
    BUCKETS,
    MAX_MEMORIES_AT_ONCE,
    DeliveredMemory,
    DeliveryReceipt,
    SharedMemory,
    bucket_digests,
    bucket_of,
)

CONTACTS = "spaces-contact.json"
"""A file in the data directory with the last contact of each space, and the reason for a failure since then."""
LEASE, LEASE_MS = "spaces", 60_000
READ_EVERY = timedelta(seconds=60)
BUCKETS_AT_ONCE = 32
OWN_SURFACE = "backstory"
_DEVICE_MEMORY = "memory"


class SpaceContact(NamedTuple):
    at: str = ""
    """The time of the last complete reading of the space; empty for never."""
    problem: str = ""


class SpaceStatus(NamedTuple):
    space: JoinedSpace
    memories: int
    waiting: Sequence[Delivery]
    contact: SpaceContact


class SpaceSync(NamedTuple):
    """The changes made by one synchronisation of a space."""

    delivered: int = 0
    refused: int = 0
    received: int = 0
    removed: int = 0


class Spaces:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.store = engine.store
        self.joined = JoinedSpaces(engine.settings.home)
        self._contacts = _Contacts(engine.settings.home)

    def join(self, url: str, token: str, name: str = "") -> tuple[JoinedSpace, OfferedSpace]:
        """Take part in a space. Raises InvalidInput, NotFound, SpaceClosed and Unavailable, and then changes nothing."""
        address, named = split_space(url)
        name = name or named
        client = SpaceClient(address, token)
        person, offered = client.offered()
        chosen = _chosen(offered, name)
        space = JoinedSpace(chosen.name, client.url, token, person)
        with self.store.transaction():  # one process at a time changes the list
            known = self.joined.all().get(chosen.name)
            if known is not None and known.url != client.url:
                raise InvalidInput(
                    f"This machine has joined {chosen.name!r} of {known.url}; nothing was changed.",
                    hint=f"`backstory team leave {chosen.name}` first.",
                    field="space",
                )
            self.joined.put(space)
        return space, chosen

    def leave(self, name: str) -> int:
        """Delete the copies of a space.

        Undelivered memories become the user's own; returns their number. Raises NotFound."""
        if name not in self.joined.all():
            raise NotFound("joined space", name, hint="`backstory team status` lists them.")
        # in one transaction, so that no other process joins, reads or saves for the space in between
        with self.store.transaction():
            own = self._end(name)
            self.joined.remove(name)
            self._contacts.remove(name)
        self._follow_up()
        return len(own)

    def remove_left(self) -> int:
        """Delete copies of spaces that this machine is no member of, as a restored backup may have them. Returns their
        number. Memories that were never delivered stay as the user's own."""
        room = self.store.space_copies
        if not room.spaces() - self.joined.all().keys():
            return 0
        count = 0
        with self.store.transaction():
            for name in room.spaces() - self.joined.all().keys():
                count += room.count(name) - len(self._end(name))
        self._follow_up()
        return count

    def _end(self, name: str) -> set[str]:
        """Delete the copies of a space; the ids of memories that stay as the user's own. For the caller's transaction."""
        own = self._keep_undelivered(name)
        self._remove([id for id in self.store.space_copies.of_space(name) if id not in own])
        self.store.space_copies.delete(list(own))
        return own

    def status(self) -> list[SpaceStatus]:
        waiting = self.store.outgoing.all()
        statuses = []
        for space in self.joined.all().values():
            copies = self.store.space_copies.of_space(space.name)
            own = [each for each in waiting if each.memory in copies]
            statuses.append(
                SpaceStatus(
                    space, len(copies) - len(own), own, self._contacts.all().get(space.name, SpaceContact())
                )
            )
        return statuses

    def sync(self, call: Call, *, is_forced: bool = False) -> dict[str, SpaceSync]:
        """Deliver what waits, then read what changed, of every space; by name. Another process that is at it is left alone.

        Raises the first problem after every space had its turn."""
        holder = self.engine.new_id()
        if not self.store.leases.take(LEASE, holder, for_ms=LEASE_MS):
            return {}
        problem: BackstoryError | None = None
        outcomes: dict[str, SpaceSync] = {}
        try:
            for space in self.joined.all().values():
                call.raise_if_cancelled()
                try:
                    outcomes[space.name] = self._sync_space(space, call, is_forced=is_forced)
                except BackstoryError as error:
                    with self.store.transaction():
                        self._contacts.note_problem(space.name, error.message)
                    problem = problem or error
        finally:
            self.store.leases.drop(LEASE, holder)
        if problem is not None:
            raise problem
        return outcomes

    def _sync_space(self, space: JoinedSpace, call: Call, *, is_forced: bool) -> SpaceSync:
        client = SpaceClient(space.url, space.token)
        try:
            outcome = self._deliver(client, space, call)
            is_due = is_forced or outcome.delivered or self._is_due(space.name)
            return self._read(client, space, outcome, call) if is_due else outcome
        except SpaceClosed:
            # a user without access must not see its copies any more
            with self.store.transaction():
                copies = self.store.space_copies.of_space(space.name).keys()
                self._remove(copies - {each.memory for each in self.store.outgoing.all()})
            self._follow_up()
            raise

    def _is_due(self, name: str) -> bool:
        at = self._contacts.all().get(name, SpaceContact()).at
        with suppress(ValueError):
            return not at or self.engine.now() - datetime.fromisoformat(at) >= READ_EVERY
        return True

    def _deliver(self, client: SpaceClient, space: JoinedSpace, call: Call) -> SpaceSync:
        delivered = refused = 0
        targets: dict[str, str] = {}  # corrections of memories that were delivered a moment ago
        for delivery, memory in self._undelivered(space.name):
            call.raise_if_cancelled()
            delivery = delivery._replace(replaces=targets.get(delivery.replaces, delivery.replaces))
            try:
                receipt = client.deliver(space.name, _delivered(delivery, memory))
            except DeliveryRefused as error:
                self.store.outgoing.note_problem(delivery.key, error.message)
                refused += 1
                continue
            self._settle(delivery, receipt)
            targets[delivery.key] = receipt.memory
            delivered += 1
        return SpaceSync(delivered, refused)

    def _undelivered(self, name: str) -> list[tuple[Delivery, Memory]]:
        """Pending deliveries to a space, oldest first. A delivery whose memory was forgotten in the meantime is
        withdrawn."""
        waiting = self.store.outgoing.all()
        if not waiting:
            return []
        copies = self.store.space_copies.get(each.memory for each in waiting)
        chosen = [each for each in waiting if each.memory in copies and copies[each.memory].space == name]
        memories = self._live(each.memory for each in chosen)
        for each in chosen:
            if each.memory not in memories:
                with self.store.transaction():
                    self.store.outgoing.remove(each.key)
                    self.store.space_copies.delete([each.memory])
        return [(each, memories[each.memory]) for each in chosen if each.memory in memories]

    def _settle(self, delivery: Delivery, receipt: DeliveryReceipt) -> None:
        """The server has saved the memory.

        Delete a copy with another id than the server's; reading the space adds the listed one."""
        with self.store.transaction():
            self.store.outgoing.remove(delivery.key)
            self.store.outgoing.retarget(delivery.key, receipt.memory)
            # it is the user's own if the space was left meanwhile
            if not receipt.is_listed and self.store.space_copies.get([delivery.memory]):
                self._remove([delivery.memory])
        if not receipt.is_listed:
            self._follow_up()

    def _read(self, client: SpaceClient, space: JoinedSpace, outcome: SpaceSync, call: Call) -> SpaceSync:
        self.engine.check_room()
        started = self.engine.now()
        theirs = client.digests(space.name)
        copies = self.store.space_copies.of_space(space.name)
        waiting = {each.memory for each in self.store.outgoing.all()}
        settled = {id: copy for id, copy in copies.items() if copy.stamp or id not in waiting}
        ours = bucket_digests((id, copy.stamp) for id, copy in settled.items())
        differing = [number for number in range(BUCKETS) if ours[number] != theirs[number]]
        received = removed = 0
        projects = _ProjectNames(self.store.entries.projects())
        for start in range(0, len(differing), BUCKETS_AT_ONCE):
            buckets = set(differing[start : start + BUCKETS_AT_ONCE])
            stamps = client.stamps(space.name, sorted(buckets))
            gone = [id for id in settled if bucket_of(id) in buckets and id not in stamps]
            wanted = [id for id, stamp in stamps.items() if id not in copies or copies[id].stamp != stamp]
            for first in range(0, len(wanted), MAX_MEMORIES_AT_ONCE):
                for memories in _answers(client, space.name, wanted[first : first + MAX_MEMORIES_AT_ONCE]):
                    call.raise_if_cancelled()
                    received += self._put(space, memories, projects)
            with self.store.transaction():
                self._remove(gone)
            removed += len(gone)
        if received or removed:
            self._follow_up()
        with self.store.transaction():
            if self._is_joined(space):
                self._contacts.note_success(space.name, started)
        return outcome._replace(received=received, removed=removed)

    def _is_joined(self, space: JoinedSpace) -> bool:
        return self.joined.all().get(space.name) == space

    def _put(self, space: JoinedSpace, shared: Sequence[SharedMemory], projects: _ProjectNames) -> int:
        """Store copies of memories; how many there were.

        An id that something else has here is left alone, and a copy that the user forgot stays forgotten. Of a space
        that was left meanwhile nothing is stored."""
        name, ids = space.name, [each.id for each in shared]
        with self.store.transaction():
            if not self._is_joined(space):
                return 0
            live, copies = self._live(ids), self.store.space_copies.get(ids)
            archived = {
                each.memory.id
                for each in self.store.archive.find_memories(Filter(ids=tuple(ids)), with_forgotten=True)
            }
            ours = [
                each
                for each in shared
                if (copies[each.id].space == name if each.id in copies else each.id not in {*live, *archived})
            ]
            visible = [
                _memory(each, projects.local_name(each.project))
                for each in ours
                if each.id in live or each.id not in copies
            ]
            self.store.memories.put(visible)
            self.store.space_copies.put(SpaceCopy(each.id, name, each.stamp, each.author) for each in ours)
            self._keep_from_devices(memory.id for memory in visible)
            if live:
                self.store.residue.note(with_words_of([Forgettable.MEMORIES]))
            self._drop_quotations({memory.project for memory in visible})
        return len(visible)

    def _remove(self, ids: Collection[str]) -> None:
        """Delete copies, in the transaction of the caller, who calls `_follow_up` after it."""
        if not ids:
            return
        chosen = Filter(ids=tuple(ids))
        projects = {memory.project for memory in self._live(ids).values()}
        self.store.memories.delete(chosen)
        self.store.archive.delete_memories(chosen)
        self.store.space_copies.delete(list(ids))
        self._keep_from_devices(ids)
        self.store.residue.note(with_words_of([Forgettable.MEMORIES]))
        self._drop_quotations(projects)

    def _keep_undelivered(self, name: str) -> set[str]:
        """Make memories that never reached the server the user's own; their ids."""
        undelivered = self._undelivered(name)
        own = [memory._replace(surface=OWN_SURFACE, trust=Trust.OWN) for _, memory in undelivered]
        if own:
            self.store.memories.put(own)
        for delivery, _ in undelivered:
            self.store.outgoing.remove(delivery.key)
        return {memory.id for memory in own}

    def _live(self, ids: Iterable[str]) -> dict[str, Memory]:
        wanted = tuple(ids)
        if not wanted:
            return {}
        where = Filter(ids=wanted, kinds=(Kind.MEMORY,))
        return {memory.id: memory for memory in self.store.memories.find(where, Page())}

    def _keep_from_devices(self, ids: Iterable[str]) -> None:
        """The user's other machines have copies of their own, if they joined the space."""
        if self.store.devices.is_possible:
            self.store.devices.settle((_DEVICE_MEMORY, id) for id in ids)

    def _drop_quotations(self, projects: set[str]) -> None:
        self.store.answers.delete_all()
        self.store.injections.delete(projects)

    def _follow_up(self) -> None:
        """After a commit: schedule new briefs and the vectors of new texts."""
        BriefFiles(self.engine.settings.home).clear()
        self.engine.embed_soon()


class _ProjectNames:
    """The local names of a space's projects."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = [each for each in known if Path(each).is_absolute()]
        self._names: dict[str, str] = {"": ""}

    def local_name(self, name: str) -> str:
        if name not in self._names:
            clones = [each for each in self._known if name.casefold() in remotes_of(each)]
            namesakes = [each for each in self._known if PurePath(each).name == name]
            # a directory of the same name may be another project, unless there is only one
            chosen = sorted(clones)[:1] or (namesakes if len(namesakes) == 1 else [])
            self._names[name] = chosen[0] if chosen else name
        return self._names[name]


class _Contacts:
    def __init__(self, home: Path) -> None:
        self._path = home / CONTACTS

    def all(self) -> dict[str, SpaceContact]:
        try:
            body = json.loads(self._path.read_bytes())
            return {name: SpaceContact(str(each["at"]), str(each["problem"])) for name, each in body.items()}
        except (OSError, AttributeError, KeyError, TypeError, ValueError):
            return {}

    def note_success(self, name: str, at: datetime) -> None:
        self._write(self.all() | {name: SpaceContact(iso(at))})

    def note_problem(self, name: str, problem: str) -> None:
        known = self.all()
        self._write(known | {name: known.get(name, SpaceContact())._replace(problem=problem)})

    def remove(self, name: str) -> None:
        self._write({each: contact for each, contact in self.all().items() if each != name})

    def _write(self, contacts: dict[str, SpaceContact]) -> None:
        write_whole(self._path, [json.dumps({name: each._asdict() for name, each in contacts.items()})])


def _chosen(offered: Sequence[OfferedSpace], name: str) -> OfferedSpace:
    listed = ", ".join(each.name for each in offered)
    if not name:
        if len(offered) == 1:
            return offered[0]
        problem = (
            f"The token opens {len(offered)} spaces: {listed}." if offered else "The token opens no space."
        )
        hint = "Choose one with --space." if offered else "Ask a maintainer to add you."
        raise InvalidInput(f"{problem} Nothing was changed.", hint=hint, field="space")
    for each in offered:
        if each.name == name:
            return each
    raise NotFound("space", name, hint=f"The token opens: {listed or 'none'}.")


def _answers(client: SpaceClient, space: str, ids: Sequence[str]) -> Iterator[list[SharedMemory]]:
    """Ask for memories until the server has sent all that it still has."""
    wanted = set(ids)
    while wanted and (memories := client.memories(space, sorted(wanted))):
        yield memories
        arrived = wanted & {memory.id for memory in memories}
        if not arrived:
            return
        wanted -= arrived


def _delivered(delivery: Delivery, memory: Memory) -> DeliveredMemory:
    return DeliveredMemory(
        key=delivery.key,
        text=memory.text,
        kind=kind_of(memory),
        project=_shared_name(memory.project),
        files=tuple(mark.path for mark in marks_of(memory.metadata)),
        made_ms=to_ms(memory.created_at),
        replaces=delivery.replaces,
    )


def _shared_name(project: str) -> str:
    """The name of a project on every machine: its remote, or else its directory."""
    remotes = remotes_of(project) if Path(project).is_absolute() else set()
    # the remote of a clone of a directory is a private path
    hosted = [each for each in remotes if each.partition("/")[0].strip(".~") and "\\" not in each]
    return min(hosted) if hosted else PurePath(project).name


def _memory(shared: SharedMemory, project: str) -> Memory:
    return Memory(
        id=shared.id,
        text=shared.text,
        project=project,
        surface=SPACE_SURFACE,
        created_at=from_ms(shared.created_ms),
        updated_at=from_ms(shared.updated_ms),
        key=shared.key,
        category=shared.category,
        tags=shared.tags,
        metadata=as_metadata(map(FileMark, shared.files)) if shared.files else {},
        trust=Trust.SPACE,
    )
