"""Whatever is done to files between syncs, the store holds what a fresh sync of all that ever existed would give.

Homes of every reader are copied, moved, compressed, deleted, restored, continued, cut and touched in three places, with a
sync now and then. `BACKSTORY_SEQUENCES=500 pytest tests/core/test_keeper_sequences.py` tries more of them."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backstory.core import Engine
from backstory.core.sync import Sync
from backstory.core.sync.pieces import conversation_id, messages_of
from backstory.domain import zstd
from backstory.domain.filters import ConversationFilter
from backstory.domain.records import Conversation
from backstory.domain.when import from_ms
from backstory.readers import Cursor, Form, Places, Reader, Source, load_readers
from backstory.store import Store

from ..conftest import open_sqlite
from ..doubles import make_settings

EXAMPLES = int(os.environ.get("BACKSTORY_SEQUENCES", "4"))
STEPS = 10
PLACES = 3
READERS = sorted(name for name, reader in load_readers().items() if not reader.is_export and name != "entire")
"""Not one whose sessions are objects of a git repository, which only git writes."""
APART = [name for name in READERS if name not in ("aider", "windsurf")]
"""Not those whose conversations are named after their file, or that tell less where another file tells more."""
TITLED_BY_OTHERS = frozenset({"claude-code"})
"""Readers that find titles of a conversation in other logs that lie beside its own."""
HOMES = Path(__file__).resolve().parents[1] / "readers"
AT_NS = 1_770_000_000 * 10**9

Told = dict[str, dict[str, str]]
"""Texts by message, by conversation."""


class Change(NamedTuple):
    what: str
    file: int
    place: int
    other: int
    part: float
    is_synced: bool


def changes(*whats: str) -> st.SearchStrategy[list[Change]]:
    place = st.integers(0, PLACES - 1)
    change = st.builds(
        Change, st.sampled_from(whats), st.integers(0, 9), place, place, st.floats(0.05, 1), st.booleans()
    )
    return st.lists(change, min_size=2, max_size=STEPS)


class World:
    """The files of one reader in several places, each of which holds a home of its own."""

    def __init__(self, name: str, top: Path) -> None:
        self.reader = load_readers([name])[name]
        self.top = top
        self.clock = 0
        template = top / "template"
        _make_home(name, template)
        self.whole = {
            str(source.path.relative_to(template)): source.path.read_bytes()
            for source in self._find_in(template)
            if not _is_list_of_names(self.reader, source)
        }
        self.names = sorted(self.whole)
        self.former: dict[str, list[bytes]] = {name: [] for name in self.names}
        for place in range(PLACES):
            shutil.copytree(template, self.home(place))
            for name in self.names:
                (self.home(place) / name).unlink()
        for name in self.names:
            self.write(self.home(0) / name, self.whole[name])

    def home(self, place: int) -> Path:
        return self.top / f"place{place}"

    def _find_in(self, home: Path) -> list[Source]:
        return sorted(self.reader.find(Places(home, {}, "linux", projects=(home / "project", home / "shop"))))

    def find(self, _places: Places) -> Iterator[Source]:
        for place in range(PLACES):
            yield from self._find_in(self.home(place))

    def write(self, path: Path, raw: bytes) -> None:
        """The clock makes no two contents look alike, and stays within a millisecond."""
        self.clock += 1
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        os.utime(path, ns=(AT_NS + self.clock, AT_NS + self.clock))

    def apply(self, change: Change) -> None:
        name = self.names[change.file % len(self.names)]
        path, other = self.home(change.place) / name, self.home(change.other) / name
        packed = path.with_name(path.name + ".zst")
        if change.what == "unpack" and packed.exists():
            self.write(path, zstd.decompress(packed.read_bytes()))
            packed.unlink()
        is_restored = change.what == "restore" or (change.what == "bring back" and not other.exists())
        if is_restored and self.former[name]:
            self.write(other, self.former[name][change.file % len(self.former[name])])
        if not path.exists():
            return
        raw = path.read_bytes()
        self.former[name].append(raw)
        match change.what:
            case "copy" if path != other:
                self.write(other, raw)
            case "move" if path != other:
                self.write(other, raw)
                path.unlink()
            case "delete":
                path.unlink()
            case "touch":
                self.write(path, raw)
            case "pack" if self.reader.name == "codex" and path.suffix == ".jsonl":
                self.write(packed, zstd.compress(raw))
                path.unlink()
            case "grow":
                longer = _part(name, self.whole[name], change.part)
                if len(longer) >= len(raw):
                    self.write(path, longer)
            case "cut":
                self.write(path, _part(name, self.whole[name], change.part))
            case "edit":
                self.write(path, _edited(raw, change.part))
            case "continue" if path.suffix == ".jsonl":
                self.write(path, _continued(raw, change.part, self.clock))


def _make_home(name: str, home: Path) -> None:
    if (HOMES / name / "home").is_dir():
        shutil.copytree(HOMES / name / "home", home)
    else:
        home.mkdir()
        importlib.import_module(f"..readers.{name}.make", __package__).make_home(home)


def _is_list_of_names(reader: Reader, source: Source) -> bool:
    return all(piece.is_name for piece in reader.read(source, Cursor()))


def _part(name: str, whole: bytes, part: float) -> bytes:
    """The beginning of a file, as it may have been earlier. A database is always whole."""
    if whole.startswith(b"SQLite"):
        return whole
    if not name.endswith(".json"):
        return whole[: max(1, int(len(whole) * part))]
    return json.dumps(_shortened(json.loads(whole), part)).encode()


_WORD = re.compile(rb"(?<=[a-z] )[a-z]{5,}(?= [a-z])")


def _edited(raw: bytes, part: float) -> bytes:
    """Some word in a sentence is another, and longer. Files that hold more than text stay."""
    words = [] if raw.startswith(b"SQLite") else list(_WORD.finditer(raw))
    if not words:
        return raw
    word = words[int(part * (len(words) - 1))]
    return raw[: word.start()] + b"edited" + word[0] + raw[word.end() :]


def _continued(raw: bytes, part: float, clock: int) -> bytes:
    """A log was cut at a line, and goes on with other words than before, as on another machine."""
    lines = raw.splitlines(keepends=True)
    kept = max(1, int(len(lines) * part))
    return b"".join([*lines[:kept], *(_said_otherwise(line, clock) for line in lines[kept - 1 :])])


def _said_otherwise(line: bytes, clock: int) -> bytes:
    return _WORD.sub(lambda word: b"%s%d" % (word[0], clock), line)


def _shortened(value: Any, part: float, depth: int = 0) -> Any:
    """A document with fewer records."""
    if isinstance(value, list) and all(isinstance(item, dict) for item in value):
        return value[: max(1, round(len(value) * part))]
    if isinstance(value, dict) and depth < 2:
        return {key: _shortened(item, part, depth + 1) for key, item in value.items()}
    return value


class Reading(NamedTuple):
    """All that a file tells, read by itself from its beginning."""

    raw: bytes
    modified_ns: int
    told: Told
    standing: Mapping[str, int]


def read_alone(reader: Reader, source: Source) -> Reading:
    told: Told = {}
    standing = {}
    for piece in reader.read(source, Cursor()):
        if piece.is_name:
            continue
        id = conversation_id(reader.name, piece.header.native_id)
        texts = {} if piece.is_whole else told.get(id, {})
        row = Conversation(id, "", "", "", from_ms(0), from_ms(0))
        for turn in piece.turns:
            for message in list(texts):
                if message.partition("#")[0] == f"{id}/{turn.id}":
                    texts[message] = ""
            texts |= {message.id: message.text for message in messages_of(row, [turn], {}, -1, from_ms(0))}
        told[id] = {message: text for message, text in texts.items() if text}
        standing[id] = int(piece.header.standing)
    return Reading(source.path.read_bytes(), source.path.stat().st_mtime_ns, told, standing)


class Known(NamedTuple):
    texts: frozenset[str]
    """One, or more where files that are there tell it differently."""
    tellers: frozenset[str]
    """The files that are there and tell it; none when only vanished ones did."""


class Model:
    """What is to be kept, worked out from whole files."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.files: dict[str, Reading] = {}
        self.living: set[str] = set()
        self.kept: dict[str, dict[str, Known]] = {}
        self.standing: dict[str, int] = {}
        self.most_often: Counter[tuple[str, str]] = Counter()
        """How often one file ever said the same in one conversation."""

    def sync(self, sources: list[Source]) -> None:
        found = {str(source.path): source for source in sources}
        for path in self.living - found.keys():
            self.vanish(path)
        for path in sorted(found):
            former = self.files.get(path) if path in self.living else None
            if former is None or found[path].path.stat().st_mtime_ns != former.modified_ns:
                self.read(path, found[path], former)
        self.living = set(found)

    def vanish(self, path: str) -> None:
        for messages in self.kept.values():
            for id, known in messages.items():
                messages[id] = known._replace(tellers=known.tellers - {path})

    def read(self, path: str, source: Source, former: Reading | None) -> None:
        now = self.files[path] = read_alone(self.reader, source)
        for id, texts in now.told.items():
            for text, count in Counter(texts.values()).items():
                self.most_often[id, text] = max(self.most_often[id, text], count)
        for id, texts in now.told.items():
            if now.standing[id] > self.standing.get(id, -1):
                self.standing[id] = now.standing[id]
                self.kept[id] = {}
            if now.standing[id] == self.standing[id]:
                self._tell(
                    path,
                    self.kept[id],
                    texts,
                    former and former.told.get(id, {}),
                    _goes_on(source, former, now),
                )

    def _tell(
        self,
        path: str,
        kept: dict[str, Known],
        texts: dict[str, str],
        before: dict[str, str] | None,
        goes_on: bool,
    ) -> None:
        for id in [id for id, known in kept.items() if path in known.tellers and id not in texts]:
            kept[id] = kept[id]._replace(tellers=kept[id].tellers - {path})
            if not kept[id].tellers:
                del kept[id]
        for id, text in texts.items():
            known = kept.get(id, Known(frozenset(), frozenset()))
            fullest = frozenset(
                max(text, other, key=len) if other.startswith(text) else text for other in known.texts
            )
            if not known.texts or (before is not None and not goes_on and known.tellers == {path}):
                fullest = frozenset({text})
            elif goes_on and before is not None and before.get(id) == text:
                fullest |= known.texts  # it may not have been read again
            kept[id] = Known(fullest, known.tellers | {path})


def _goes_on(source: Source, former: Reading | None, now: Reading) -> bool:
    """As an appended log does, or a database, of which only what changed is read."""
    is_appended = source.form is Form.LOG and former is not None and now.raw.startswith(former.raw)
    return is_appended or source.form is Form.DATABASE


def kept_in(store: Store) -> dict[str, dict[str, str]]:
    conversations = [talk.id for talk in store.conversations.find(ConversationFilter())]
    found = {id: {message.id: message.text for message in store.messages.of(id)} for id in conversations}
    return {id: messages for id, messages in found.items() if messages}


def check(store: Store, model: Model) -> None:
    kept = kept_in(store)
    expected = {id: messages for id, messages in model.kept.items() if messages}
    assert {id: set(messages) for id, messages in kept.items()} == {
        id: set(messages) for id, messages in expected.items()
    }
    for id, messages in expected.items():
        for message, known in messages.items():
            assert kept[id][message] in known.texts, message
        for path in set.intersection(*(set(known.tellers) for known in messages.values())):
            said = [message for message in model.files[path].told.get(id, ()) if "#" not in message]
            assert not said or [message for message in kept[id] if "#" not in message] == said
    check_words(store, model)
    assert store.problems() == []


def check_words(store: Store, model: Model) -> None:
    """Whatever ids a reader gives: what a file says that is there is kept, and no oftener than one file ever said it."""
    kept = {id: Counter(messages.values()) for id, messages in kept_in(store).items()}
    for path in model.living:
        reading = model.files[path]
        for id, messages in reading.told.items():
            if reading.standing[id] == model.standing[id]:
                lost = Counter(messages.values()) - kept.get(id, Counter())
                lost_texts = [text for text in lost if not any(each.startswith(text) for each in kept[id])]
                assert not lost_texts, f"{path} says it"
    for id, texts in kept.items():
        for text, count in texts.items():
            assert count <= model.most_often[id, text], f"{text!r} is there {count} times"


CI = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize="BACKSTORY_SEQUENCES" not in os.environ,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)


@pytest.mark.parametrize("name", READERS)
@CI
@given(changes=changes("copy", "move", "delete", "restore", "grow", "cut", "cut", "touch", "pack", "unpack"))
def test_after_any_sequence_the_store_holds_what_every_file_told_last(
    name: str, changes: list[Change]
) -> None:
    run_sequence(name, changes)


def run_sequence(name: str, changes: list[Change]) -> None:
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        world = World(name, Path(folder))
        engine = Engine(make_settings(), open_sqlite(Path(folder) / "store.db"), None)
        reader = world.reader._replace(find=world.find)
        sync, model, places = Sync(engine), Model(reader), Places(Path(folder), {}, "linux")
        for change in [*changes, changes[-1]._replace(what="", is_synced=True)]:
            world.apply(change)
            if change.is_synced:
                outcome = sync.run([reader], places)
                assert outcome is not None
                assert outcome[name].problems == {}
                model.sync(list(world.find(places)))
                check(engine.store, model)
        engine.close()


NAMED_BY_CONTENT = ["codex", "trae-cli"]


@pytest.mark.parametrize("name", NAMED_BY_CONTENT)
@CI
@given(changes=changes("edit", "continue", "continue", "copy", "move", "delete", "restore", "grow", "touch"))
def test_logs_that_are_edited_or_continued_on_two_machines_lose_and_double_nothing(
    name: str, changes: list[Change]
) -> None:
    run_sequence(name, changes)


@pytest.mark.parametrize("name", APART)
@CI
@given(changes=changes("copy", "move", "delete", "bring back", "grow", "touch", "pack", "unpack"))
def test_where_nothing_is_taken_back_it_is_a_fresh_sync_of_all_that_ever_existed(
    name: str, changes: list[Change]
) -> None:
    with tempfile.TemporaryDirectory(prefix="backstory-") as folder:
        world = World(name, Path(folder))
        reader = world.reader._replace(find=world.find)
        places = Places(Path(folder), {}, "linux")
        stores = [open_sqlite(Path(folder) / f"{number}.db") for number in range(2)]
        homes: list[Path] = []
        ever: set[tuple[str, bytes]] = set()
        for change in [*changes, changes[-1]._replace(what="", is_synced=True)]:
            world.apply(change)
            if change.is_synced:
                assert Sync(Engine(make_settings(), stores[0], None)).run([reader], places) is not None
                for source in world.find(places):
                    inside = Path(*source.path.relative_to(world.top).parts[1:])
                    version = (str(inside), source.path.read_bytes())
                    if version not in ever and str(inside).removesuffix(".zst") in world.whole:
                        ever.add(version)
                        homes.append(world.top / f"version{len(homes):03}")
                        shutil.copytree(world.top / "template", homes[-1])
                        for other in world.names:
                            (homes[-1] / other).unlink()
                        world.write(homes[-1] / inside, version[1])
        fresh = world.reader._replace(
            find=lambda _: [each for home in homes for each in world._find_in(home)]
        )
        assert Sync(Engine(make_settings(), stores[1], None)).run([fresh], places) is not None
        assert kept_in(stores[0]) == kept_in(stores[1])
        rows = [
            {
                (talk.id, "" if name in TITLED_BY_OTHERS else talk.title, talk.updated_at, talk.created_at)
                for talk in store.conversations.find(ConversationFilter())
            }
            for store in stores
        ]
        assert rows[0] == rows[1]
        for store in stores:
            store.close()
