"""Export of all records changed after a time, for another machine of the same person that connects over ssh.

The format is JSON lines without encryption, which ssh provides. The first line names the machine and the end of the
exported period.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import __version__
from ...domain.devices import Version, WireRecord, first_stamp
from ...domain.filters import ConversationFilter, Filter, Page
from ...domain.when import to_ms
from ...store import Store
from ...store.devices import ROWS
from ..engine import Engine
from ..forgetting.removal import all_conversations
from .identities import ProjectIdentities
from .loading import LIVE, LoadedMemory, load_conversation, load_memory, load_messages
from .sending import message_groups, message_lines
from .stamping import CONVERSATION, MEMORY, STATE
from .vault import FORMAT
from .wire import conversation_fields, former_digest, former_of, memory_fields, with_former


def export_records(
    engine: Engine, projects: ProjectIdentities, name: str, after_ms: int
) -> Iterator[WireRecord]:
    """A header, and then records with `d` empty where this store has given no stamps yet."""
    store = engine.store
    yield {"format": FORMAT, "name": name, "version": __version__, "mark": str(to_ms(engine.now()))}
    # Deletions come first, so that the other side does not store what it would erase at once.
    for id in store.devices.buried():
        yield {"k": "forget", "id": id, "s": 0, "d": "", "of": CONVERSATION}
    for note in store.devices.all_deletions():
        yield {"k": "forget", "id": note.id, "s": note.stamp, "d": note.device, "of": note.kind}
    for id in _memory_ids(store, after_ms):
        loaded = load_memory(store, id)
        if loaded is not None:
            yield from _memory_records(store, projects, loaded)
    for table in ROWS:
        for row in store.devices.rows_after(table, after_ms):
            key = row.pop(ROWS[table][0])
            if "project" in row:
                row["p"] = projects.identity(row.pop("project"))
            # Outside of a vault these rows have no stamps; their last change gives the same order.
            made_at = max(
                (value for field, value in row.items() if field.endswith("_at") and value), default=0
            )
            yield {"k": table, "id": key, "s": int(made_at) << 16, "d": ""} | row
    for conversation in all_conversations(store, ConversationFilter()):
        # A changed conversation is sent whole: the other side skips messages that it has.
        if to_ms(conversation.updated_at) > after_ms:
            yield from _conversation_records(store, projects, conversation.id)


def _memory_ids(store: Store, after_ms: int) -> list[str]:
    live = store.memories.find(Filter(), Page())
    archived = [each.memory for each in store.archive.find_memories(Filter(), with_forgotten=True)]
    return [memory.id for memory in (*live, *archived) if to_ms(memory.updated_at) > after_ms]


def _memory_records(store: Store, projects: ProjectIdentities, loaded: LoadedMemory) -> Iterator[WireRecord]:
    memory = loaded.memory
    known = {each.digest: each for each in store.devices.versions(MEMORY, memory.id)}
    stamps: list[int] = []
    for each in [*(with_former(memory, former) for former in loaded.history), memory]:
        version = known.get(former_digest(former_of(each)))
        stamp, device = _order(version, to_ms(each.updated_at), stamps)
        stamps.append(stamp)
        record = {"k": MEMORY, "id": memory.id, "s": stamp, "d": device}
        yield record | {"p": projects.identity(memory.project)} | memory_fields(each)
    if loaded.state != LIVE:
        yield {"k": STATE, "id": memory.id, "s": stamps[-1], "d": "", "v": loaded.state, "of": MEMORY}


def _order(version: Version | None, at_ms: int, stamps: Sequence[int]) -> tuple[int, str]:
    return version.order if version is not None else (first_stamp(at_ms, stamps), "")


def _conversation_records(store: Store, projects: ProjectIdentities, id: str) -> Iterator[WireRecord]:
    loaded = load_conversation(store, id)
    if loaded is None:
        return
    header = {"k": CONVERSATION, "id": id, "s": 0, "d": ""} | conversation_fields(loaded.conversation)
    header["p"] = projects.identity(loaded.conversation.project)
    lines = list(message_lines(*load_messages(store, loaded), loaded.conversation.project))
    for some in message_groups(lines):
        yield header | {"messages": some}
