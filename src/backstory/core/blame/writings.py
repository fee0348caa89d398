"""The edits of a file by assistants, in chronological order.

The store knows which files were written, and the beginning of each tool call's arguments. The complete text is in the
assistants' own files, which are read again for the relevant conversations. If they are gone, the stored beginning is
used."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.filters import Filter, Kind
from ...domain.lazy import lazy_pattern
from ...domain.records import Conversation, Message, TraceHit
from ...domain.sources import source_path
from ...domain.when import from_ms
from ...readers import LONGEST_ARGUMENTS, Cursor, Places, Reader, Source, Turn, load_readers, reader_names
from ...readers.formats.edits import INSERTED, REPLACED, WHOLE, Edit, edits_of
from ..engine import Caller, Engine
from ..sync.pieces import conversation_id, message_ids

MOST_CONVERSATIONS = 200
"""Maximum number of conversations to search, newest first."""
LARGEST_SOURCE = 1_000_000_000
"""Bytes. For a larger file only stored data is used."""

IsFile = Callable[[Conversation, str], bool]
"""Returns whether a path recorded in a conversation is the file in question."""


class Writing(NamedTuple):
    conversation: str
    message: str
    """The id of the message, without the suffix for tools."""
    at: datetime
    old: str
    new: str


class Writings(NamedTuple):
    edits: list[Writing]
    """The edits in chronological order."""
    silent: list[Writing]
    """Writes without a known text: by a command, or because the text can no longer be read completely."""
    conversations: dict[str, Conversation]


def find_writings(
    engine: Engine, caller: Caller, places: Places, names: Sequence[str], is_file: IsFile
) -> Writings:
    """Find the edits of a file. `names` are the last parts of its current and former paths."""
    store = engine.store
    where = caller.visible(Filter(kinds=(Kind.MESSAGE,)))
    hits = [hit for name in names for hit in store.traces.touching(name, where) if hit.kind == "written"]
    known = {each.id: each for each in store.conversations.get(sorted({hit.conversation for hit in hits}))}
    hits = [hit for hit in hits if hit.conversation in known]  # others were forgotten just now
    same_file = [hit for hit in hits if is_file(known[hit.conversation], hit.value)]
    # Reading a source again costs seconds for large logs, so only the newest conversations are read.
    newest = list(
        dict.fromkeys(hit.conversation for hit in sorted(same_file, key=lambda hit: hit.at, reverse=True))
    )
    wanted = {id: known[id] for id in newest[:MOST_CONVERSATIONS]}
    entries = store.entries.load(hit.entry for hit in same_file if hit.conversation in wanted)
    messages = {n: entry for n, entry in entries.items() if isinstance(entry, Message)}
    stored = {message.id.removesuffix("#tool") for message in messages.values()}
    edits = list(_read_again(wanted, places, is_file, stored))
    message_ids = {writing.message for writing in edits}
    silent = []
    for hit in same_file:
        message = messages.get(hit.entry)
        if message is None or (base := message.id.removesuffix("#tool")) in message_ids:
            continue
        copies = list(_kept(message, base, hit))
        edits += copies
        # Truncated arguments may lack the lines in question: the write is then known by its time as well.
        if not copies or len(message.text) >= LONGEST_ARGUMENTS:
            silent.append(Writing(hit.conversation, base, hit.at, "", ""))
    return Writings(sorted(edits, key=lambda each: each.at), silent, wanted)


def _read_again(
    wanted: dict[str, Conversation], places: Places, is_file: IsFile, stored: Collection[str]
) -> Iterator[Writing]:
    by_reader: dict[str, list[Conversation]] = {}
    for conversation in wanted.values():
        by_reader.setdefault(conversation.surface, []).append(conversation)
    for name in by_reader.keys() & set(reader_names()):
        reader = load_readers([name])[name]
        files = {str(source.path): source for source in reader.find(places)}
        # Several conversations can be in one file or database, which is read once for all of them.
        needed = {source_path(each.source, files.keys()) for each in by_reader[name]}
        for path in sorted(path for path in needed if path):
            yield from _read_source(reader, files[path], wanted, is_file, stored)


def _read_source(
    reader: Reader,
    source: Source,
    wanted: dict[str, Conversation],
    is_file: IsFile,
    stored: Collection[str],
) -> Iterator[Writing]:
    try:
        if os.path.getsize(source.path) > LARGEST_SOURCE:
            return
        for piece in reader.read(source, Cursor()):
            id = conversation_id(reader.name, piece.header.native_id)
            if (conversation := wanted.get(id)) is None:
                continue
            for turn in piece.turns:
                at = conversation.created_at if turn.at_ms is None else from_ms(turn.at_ms)
                for edit in (edit for call in turn.calls for edit in edits_of(call)):
                    if is_file(conversation, edit.path):
                        yield Writing(id, _stored_id(id, turn, stored), at, edit.old, edit.new)
    except (OSError, Unreadable):
        return  # the file is gone or has changed; use the stored beginning instead


def _stored_id(conversation: str, turn: Turn, stored: Collection[str]) -> str:
    """The id of a turn in the store, which is the former one until a sync reads that part of the file again."""
    id = message_ids(conversation, turn.id)[0]
    former = message_ids(conversation, turn.former_id)[0]
    return former if former in stored and id not in stored else id


def _kept(message: Message, base: str, hit: TraceHit) -> Iterator[Writing]:
    for edit in _edits_in(message.text):
        yield Writing(hit.conversation, base, hit.at, edit.old, edit.new)


_NEW_KEYS = {new: old for old, new in REPLACED} | dict.fromkeys((*WHOLE, *INSERTED), "")
_KEYS = "|".join(re.escape(key) for key in dict.fromkeys((*_NEW_KEYS, *(old for old, _ in REPLACED))))
_ARGUMENT = lazy_pattern(rf"^(?:\S+ )?({_KEYS}): ", re.MULTILINE)


def _edits_in(text: str) -> Iterator[Edit]:
    """The edits in stored arguments, which are `name: value` on separate lines; the last line may be truncated."""
    parts = list(_ARGUMENT.finditer(text))
    values: dict[str, str] = {}
    ends = [part.start() for part in parts[1:]] + [len(text)]
    for part, end in zip(parts, ends, strict=False):
        value = text[part.end() : end].rstrip("\n")
        # The last line may be cut in the middle, and half a line would match nothing or something else.
        if end == len(text) >= LONGEST_ARGUMENTS:
            value = value.rpartition("\n")[0]
        values[part[1]] = value
        if part[1] in _NEW_KEYS:
            yield Edit("", values.get(_NEW_KEYS[part[1]], ""), value)
