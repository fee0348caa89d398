"""Several machines, a folder on each, and a bad file synchroniser between them: late, in any order, half, twice, with deleted files
brought back and others deleted by mistake. Clocks are wrong by days, and a home is copied.

`World.check` says what must hold when everything was let through. `bench/devices.py` plays it at length."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import NamedTuple

from backstory.app import guest_derivations
from backstory.core import Caller, Core, Engine
from backstory.core.calls import Call
from backstory.core.devices import Carry, Devices
from backstory.core.devices.folder import SUBFOLDER, DeviceFolder
from backstory.core.devices.loading import ARCHIVED, LIVE, load_conversation, load_memory, load_messages
from backstory.core.devices.segments import NotOpened, is_whole, open_segment
from backstory.core.forgetting.erasure import Erasure
from backstory.core.forgetting.removal import ForgetRequest
from backstory.domain.filters import Filter
from backstory.domain.records import Conversation, Message
from backstory.store.sqlite import SqliteStore

from .conftest import open_sqlite
from .doubles import make_settings

SKEWS_S = (0, 0, -5, 40, 86_400 * 3, -86_400 * 400, 86_400 * 4_000)
START = datetime(2026, 3, 1, tzinfo=UTC)
COPY = " (conflicted copy 2026-11-17)"
PROJECT = "/w/shop"
PACKED = {"content": "packed", "archive_pack": "packed", "archived_conversation": "packed"}
SETTLING_ROUNDS = 12
"""A device clears the folder of what others forgot some syncs later."""


class Shown(NamedTuple):
    memories: dict[str, tuple[str, tuple[str, ...], str]]
    """By id: text, earlier texts, and whether it is live."""
    conversations: dict[str, dict[str, str]]
    """By id, the texts of its messages by theirs."""


class Machine:
    def __init__(self, world: World, name: str, home: Path, skew_s: int) -> None:
        self.world = world
        self.name = name
        self.home = home
        self.folder = world.top / f"folder-{name}"
        self.folder.mkdir(parents=True, exist_ok=True)
        home.mkdir(exist_ok=True)
        self.skew = timedelta(seconds=skew_s)
        store = open_sqlite(home / "store.db")
        self.engine = Engine(
            make_settings(home, backups="off", brief="off"),
            store,
            None,
            now=self.now,
            derivations=guest_derivations,
        )
        self.core = Core(self.engine, Caller(project=PROJECT))
        self.devices = Devices(self.engine, home)
        self.is_cut_off = False
        self.present: dict[str, bytes] = {}
        """The files in its folder."""

    def now(self) -> datetime:
        return self.world.now + self.skew

    @property
    def store(self) -> SqliteStore:
        store = self.engine.store
        assert isinstance(store, SqliteStore)
        return store

    def memory_ids(self) -> list[str]:
        return self.store.database.values("SELECT id FROM entry WHERE kind = 'memory' ORDER BY id")

    def all_ids(self) -> list[str]:
        """Of archived memories too."""
        sql = "SELECT id FROM entry WHERE kind = 'memory' UNION SELECT id FROM archived ORDER BY id"
        return self.store.database.values(sql)

    def conversation_ids(self) -> list[str]:
        rows = self.store.database.values(
            "SELECT id FROM conversation UNION SELECT id FROM archived_conversation ORDER BY 1"
        )
        return [str(id) for id in rows]

    def shown(self) -> Shown:
        memories, conversations = {}, {}
        for id in self.all_ids():
            loaded = load_memory(self.store, id)
            assert loaded is not None
            memories[id] = (loaded.memory.text, tuple(each.text for each in loaded.history), loaded.state)
        for id in self.conversation_ids():
            conversation = load_conversation(self.store, id)
            assert conversation is not None
            messages, _, _ = load_messages(self.store, conversation)
            conversations[id] = {message.id: message.text for message in messages}
        return Shown(memories, conversations)

    def files(self) -> dict[str, bytes]:
        root = self.folder / SUBFOLDER
        return {name: (root / name).read_bytes() for name in self._names()}

    def _names(self) -> list[str]:
        root = self.folder / SUBFOLDER
        return [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]

    def put(self, name: str, raw: bytes) -> None:
        """The synchroniser writes a file."""
        path = self.folder / SUBFOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(raw)
        self.present[name] = raw

    def drop(self, name: str) -> None:
        (self.folder / SUBFOLDER / name).unlink(missing_ok=True)
        self.present.pop(name, None)

    def sync(self) -> None:
        self.devices.sync(Call())
        root, names = self.folder / SUBFOLDER, set(self._names())
        new = {name: (root / name).read_bytes() for name in names - self.present.keys()}
        self.world.files.update(new)
        self.world.deleted.update(self.present.keys() - names)
        self.present = {name: raw for name, raw in self.present.items() if name in names} | new

    def bytes_on_disk(self) -> bytes:
        """Of the store, with what is compressed as it was before."""
        Erasure(self.engine).finish()
        packed = [
            zlib.decompress(row[0])
            for table, column in PACKED.items()
            for row in self.store.database.rows(f"SELECT {column} FROM {table}")
        ]
        files = [path.read_bytes() for path in self.home.rglob("*") if path.is_file()]
        return b"\0".join([*files, *packed])

    def segments(self) -> Iterator[tuple[str, str]]:
        """The path and the text of every segment in the folder, under whatever name."""
        folder, vault = DeviceFolder(self.folder), self.devices.setup().vault
        for name, paths in folder.read_listing().segments.items():
            for path in paths:
                raw = folder.read(path)
                if is_whole(name, raw):
                    try:
                        yield path, str(open_segment(vault, name, raw).records)
                    except NotOpened:
                        continue


class World:
    def __init__(self, rng: Random, top: Path, count: int = 3) -> None:
        self.rng = rng
        self.top = top
        self.now = START
        self.files: dict[str, bytes] = {}
        self.deleted: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.versions: dict[str, set[str]] = {}
        """By memory, every text that was acknowledged."""
        self.messages: dict[str, dict[str, str]] = {}
        self.forgotten: set[str] = set()
        self.secrets: list[str] = []
        """Texts that were forgotten."""
        self.machines = [Machine(self, f"m{n}", top / f"home-{n}", rng.choice(SKEWS_S)) for n in range(count)]
        first, *others = self.machines
        first.devices.init(first.folder, first.name, Carry.CONVERSATIONS)
        self.vault_file = (first.folder / SUBFOLDER / "vault-1.json").read_bytes()
        first.sync()
        for each in others:
            self._join(each, first.devices.code())
            each.sync()

    def close(self) -> None:
        for machine in self.machines:
            machine.engine.close()

    def _join(self, machine: Machine, code: str) -> None:
        (machine.folder / SUBFOLDER).mkdir(exist_ok=True)
        (machine.folder / SUBFOLDER / "vault-1.json").write_bytes(self.vault_file)
        machine.devices.join(machine.folder, machine.name, Carry.CONVERSATIONS, code=code)

    def play(self, operations: int, *, with_clone: bool = False) -> None:
        for number in range(operations):
            self.now += timedelta(seconds=self.rng.randrange(1, 600))
            self._operate(self.rng.choice(self.machines), number)
            if with_clone and number == operations // 3:
                self._clone(self.machines[0])
            self._disturb(number)

    def settle(self) -> None:
        """Everything is let through."""
        for _ in range(SETTLING_ROUNDS):
            for machine in self.machines:
                self._carry(machine, everything=True)
                self.now += timedelta(seconds=1)
                machine.sync()

    def check(self) -> None:
        shown = [machine.shown() for machine in self.machines]
        for machine, each in zip(self.machines[1:], shown[1:], strict=True):
            assert each.memories == shown[0].memories, f"{machine.name} shows other memories"
            assert each.conversations == shown[0].conversations, f"{machine.name} shows other conversations"
        for id, texts in self.versions.items():
            if id not in self.forgotten:
                text, history, _ = shown[0].memories[id]
                assert texts <= {text, *history}, f"a version of {id} is lost"
        for id, messages in self.messages.items():
            if id not in self.forgotten:
                assert messages.items() <= shown[0].conversations[id].items(), f"a message of {id} is lost"
        assert not self.forgotten & {*shown[0].memories, *shown[0].conversations}
        for machine in self.machines:
            self._check_bytes(machine)

    def _check_bytes(self, machine: Machine) -> None:
        stored = machine.bytes_on_disk()
        left = [secret for secret in self.secrets if secret.encode() in stored]
        assert left == [], f"the store of {machine.name} holds what was forgotten"
        for path, text in machine.segments():
            left = [secret for secret in self.secrets if f"{secret}." in text]
            assert left == [], f"{path} in the folder of {machine.name} holds what was forgotten"

    def _operate(self, machine: Machine, number: int) -> None:
        choice, ids = self.rng.random(), machine.memory_ids()
        if choice < 0.30 or not ids:
            text = f"memory-{number}-text."
            memory = machine.core.memories.new(text, PROJECT, None)
            with machine.store.transaction():
                machine.core.memories.put(memory)
            self.versions[memory.id] = {text}
        elif choice < 0.52:
            id, text = self.rng.choice(ids), f"memory-{number}-text."
            machine.core.memories.revise(id, text)
            self.versions[id].add(text)
        elif choice < 0.80:
            self._say(machine, number)
        elif choice < 0.90:
            self._archive(machine, self.rng.choice(machine.all_ids()))
        elif choice < 0.96:
            self._forget_memory(machine, self.rng.choice(machine.all_ids()))
        elif conversations := machine.conversation_ids():
            self._forget_conversation(machine, self.rng.choice(conversations))

    def _say(self, machine: Machine, number: int) -> None:
        known = [id for id in machine.conversation_ids() if machine.store.conversations.get([id])]
        id = self.rng.choice(known) if known and self.rng.random() < 0.7 else f"codex:conversation-{number}"
        at = machine.now()
        conversation = Conversation(id, f"About {id}", PROJECT, "codex", at, at, native_id=id)
        present = machine.store.conversations.get([id])
        conversation = present[0]._replace(updated_at=at) if present else conversation
        text = f"message-{number}-text."
        message = Message(f"{id}/{number}", id, number, "user", text, PROJECT, "codex", at)
        machine.store.conversations.add(conversation, [message], [])
        self.messages.setdefault(id, {})[message.id] = text

    def _archive(self, machine: Machine, id: str) -> None:
        loaded = load_memory(machine.store, id)
        assert loaded is not None
        if loaded.state == LIVE:
            if self.rng.random() < 0.5:
                machine.store.archive.put_memories([loaded.memory])
            else:
                machine.core.forgetting.forget(id)
        elif loaded.state == ARCHIVED or self.rng.random() < 0.5:
            machine.store.archive.restore_memories([id])

    def _forget_memory(self, machine: Machine, id: str) -> None:
        Erasure(machine.engine).forget(ForgetRequest(memories=Filter(ids=(id,))))
        self.forgotten.add(id)
        self.secrets += [text.rstrip(".") for text in self.versions[id]]
        self.versions[id] = set()

    def _forget_conversation(self, machine: Machine, id: str) -> None:
        Erasure(machine.engine).forget(ForgetRequest(conversations=[id]))
        self.forgotten.add(id)
        self.secrets += [text.rstrip(".") for text in self.messages[id].values()]

    def _clone(self, machine: Machine) -> None:
        """A home directory is copied to another machine."""
        home = self.top / "home-clone"
        home.mkdir()
        with (
            closing(sqlite3.connect(home / "store.db")) as copy,
            closing(sqlite3.connect(machine.home / "store.db")) as store,
        ):
            store.backup(copy)
        shutil.copy(machine.home / "devices.json", home)
        clone = Machine(self, "clone", home, 0)
        shutil.copytree(machine.folder, clone.folder, dirs_exist_ok=True)
        clone.present = clone.files()
        clone.devices.join(clone.folder, clone.name, Carry.CONVERSATIONS, code=machine.devices.code())
        self.machines.append(clone)

    def _disturb(self, number: int) -> None:
        machine = self.rng.choice(self.machines)
        if self.rng.random() < 0.02:
            machine.is_cut_off = not machine.is_cut_off
        if self.rng.random() < 0.01:
            machine.put("readme.txt", b"foreign")
            machine.put("vault-9.bak", b"foreign")
        segments = sorted(name for name in self.files if name.endswith(".seg"))
        if self.rng.random() < 0.01 and segments:
            name = self.rng.choice(segments)
            self.deleted.add(name)  # somebody deletes a segment by mistake
            self.counts["deleted by mistake"] += 1
        if self.rng.random() < 0.2:
            if not machine.is_cut_off:
                self._carry(machine)
            machine.sync()
            self.counts["syncs"] += 1

    def _carry(self, machine: Machine, *, everything: bool = False) -> None:
        """The synchroniser's visit: some files come, some half, some twice, some deleted ones return."""
        rng = self.rng
        for name, raw in self.files.items():
            if COPY in name:
                continue
            present = machine.present.get(name)
            if name in self.deleted:
                if present is not None and (everything or rng.random() < 0.5):
                    machine.drop(name)
                elif not everything and present is None and rng.random() < 0.002:
                    machine.put(name, raw)
                    self.counts["brought back"] += 1
            elif present != raw and (everything or rng.random() < 0.5):
                if not everything and rng.random() < 0.1:
                    machine.put(name, raw[: rng.randrange(len(raw))])
                    self.counts["half copies"] += 1
                    continue
                machine.put(name, raw)
                if rng.random() < 0.03:
                    machine.put(name.replace(".seg", f"{COPY}.seg"), raw)
                    self.counts["second copies"] += 1
