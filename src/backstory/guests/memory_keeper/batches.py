"""Batches: save, update or delete many items in one transaction, all or none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Literal, NotRequired, TypedDict
from weakref import WeakKeyDictionary

from ...core import Caller, Core
from ...core.memories import MemoryDraft, check_draft
from ...domain.errors import InvalidInput
from ...domain.metadata import as_object
from ...domain.records import Memory, Priority, Session
from ...domain.when import iso
from ...tools import ADDS, REMOVES
from ...tools.budget import fitting
from ...tools.origin import safe_text
from ...tools.params import Json, Range, decode_object
from .deletions import Deletions
from .fitting import AnswerItem, answer_page
from .vocabulary import (
    LONGEST_GLOB,
    CategoryName,
    PriorityName,
    checked_channel,
    session_of,
    surface,
)

MAX_BATCH_ITEMS = 1_000
RESULT_BYTES = 60_000  # size limit of one list in an answer
WILDCARDS = frozenset("*?")


class BatchItem(TypedDict):
    key: str
    value: str
    category: NotRequired[CategoryName]
    priority: NotRequired[PriorityName]
    channel: NotRequired[str]
    metadata: NotRequired[Any]
    private: NotRequired[bool]


class BatchChange(TypedDict):
    key: str
    value: NotRequired[str]
    category: NotRequired[CategoryName]
    priority: NotRequired[PriorityName]
    channel: NotRequired[str]
    metadata: NotRequired[Any]
    private: NotRequired[bool]


class BatchProblem(TypedDict):
    index: int
    key: str
    error: str


class SavedInBatch(TypedDict):
    index: int
    key: str
    success: bool
    action: Literal["created", "updated", "skipped"]
    id: str
    size: int


class BatchSaveAnswer(TypedDict):
    operation: str
    totalItems: int
    succeeded: int
    failed: int
    skipped: int
    totalSize: int
    averageSize: float
    results: list[SavedInBatch]
    errors: list[BatchProblem]
    timestamp: str
    notices: NotRequired[list[str]]


class UpdatedInBatch(TypedDict):
    index: int
    key: str
    updated: bool
    fields: list[str]


class BatchUpdateAnswer(TypedDict):
    operation: str
    totalItems: int
    succeeded: int
    failed: int
    results: list[UpdatedInBatch]
    errors: list[BatchProblem]
    notices: NotRequired[list[str]]


class DeletedInBatch(TypedDict):
    index: int
    key: str
    deleted: bool
    count: int
    id: NotRequired[str]


class ItemToDelete(TypedDict):
    key: str
    value: str
    category: str | None
    priority: str
    channel: str | None


class BatchDeleteAnswer(TypedDict):
    operation: str
    dryRun: NotRequired[bool]
    keys: NotRequired[list[str]]
    pattern: NotRequired[str]
    totalRequested: NotRequired[int]
    totalDeleted: NotRequired[int]
    notFound: NotRequired[list[str]]
    results: NotRequired[list[DeletedInBatch]]
    itemsToDelete: NotRequired[list[ItemToDelete]]
    totalItems: NotRequired[int]
    restorableUntil: NotRequired[str]
    notices: NotRequired[list[str]]


@surface.tool("Save context items", ADDS)
def context_batch_save(
    core: Core,
    items: Annotated[list[BatchItem], "Items as context_save takes them", Range(low=1, high=MAX_BATCH_ITEMS)],
    update_existing: Annotated[
        bool, "Change items whose key the session has already; false leaves these alone"
    ] = True,
) -> BatchSaveAnswer:
    """Save many items at once, all or none: if one is wrong nothing is saved, and details.errors says which and why. An item that is there already
    keeps its id, its history and whatever is not given."""
    entries = _objects_of(items, BatchItem, "items", _check_item)
    session = core.sessions.current()
    memories: list[Memory] = []
    results: list[SavedInBatch] = []
    with core.engine.store.transaction():
        items_by_key = _items_by_key(core, session, entries)
        for index, item in enumerate(entries):
            present = items_by_key.get(item["key"])
            if present is not None and not update_existing:
                results.append(_save_result(index, present, "skipped"))
                continue
            memory = _save(core, session, item, is_known=present is not None)
            items_by_key[item["key"]] = memory
            memories.append(memory)
            results.append(_save_result(index, memory, "created" if present is None else "updated"))
    for memory in memories:
        core.memories.follow_up(memory)
    total = sum(len(memory.text.encode()) for memory in memories)
    page = fitting(results, RESULT_BYTES)
    reply: BatchSaveAnswer = {
        "operation": "batch_save",
        "totalItems": len(entries),
        "succeeded": len(memories),
        "failed": 0,
        "skipped": len(entries) - len(memories),
        "totalSize": total,
        "averageSize": round(total / len(memories), 1) if memories else 0,
        "results": page,
        "errors": [],
        "timestamp": iso(core.engine.now()),
    }
    notices = _left_out(len(results) - len(page), "results")
    return {**reply, "notices": notices} if notices else reply


@surface.tool("Update context items", ADDS)
def context_batch_update(
    core: Core,
    updates: Annotated[
        list[BatchChange],
        "For each the key, and the fields to change; other fields stay",
        Range(low=1, high=MAX_BATCH_ITEMS),
    ],
    session_id: Annotated[str | None, "Whose items to change (default: the current session)"] = None,
) -> BatchUpdateAnswer:
    """Change some fields of many items of one session. An invalid value refuses the whole call; a key that the session does not have is listed in
    errors, and the others are changed. Former values stay in the history."""
    entries = _objects_of(updates, BatchChange, "updates", _check_change)
    session = session_of(core, session_id)
    memories: list[Memory] = []
    results: list[UpdatedInBatch] = []
    errors: list[BatchProblem] = []
    with core.engine.store.transaction():
        items_by_key = _items_by_key(core, session, entries)
        for index, change in enumerate(entries):
            memory = items_by_key.get(change["key"])
            if memory is not None and memory.key is not None and memory.session is not None:
                # the item may be archived, or was changed by an earlier entry of this batch
                memory = core.memories.present(memory.key, memory.session)
            if memory is None:
                errors.append({"index": index, "key": change["key"], "error": "Item not found"})
                continue
            fields = _fields(change)
            memories.append(core.memories.amend(memory, **fields))
            names = [name for name in change if name != "key"]
            results.append({"index": index, "key": change["key"], "updated": True, "fields": names})
    for memory in memories:
        core.memories.follow_up(memory)
    page, problems = fitting(results, RESULT_BYTES // 2), fitting(errors, RESULT_BYTES // 2)
    reply: BatchUpdateAnswer = {
        "operation": "batch_update",
        "totalItems": len(entries),
        "succeeded": len(results),
        "failed": len(errors),
        "results": page,
        "errors": problems,
    }
    notices = [
        *_left_out(len(results) - len(page), "results"),
        *_left_out(len(errors) - len(problems), "errors"),
    ]
    return {**reply, "notices": notices} if notices else reply


@surface.tool("Delete context items", REMOVES)
def context_batch_delete(
    core: Core,
    keys: Annotated[list[str] | None, "Keys of items to delete", Range(low=1, high=MAX_BATCH_ITEMS)] = None,
    key_pattern: Annotated[
        str | None, "Instead of keys: a glob such as temp_*", Range(low=1, high=LONGEST_GLOB)
    ] = None,
    session_id: Annotated[str | None, "Whose items to delete (default: the current session)"] = None,
    dry_run: Annotated[bool, "Only show what would be deleted"] = False,
    confirm: Annotated[
        bool, "Needed for a pattern that matches every key, such as *, unless a dry run of it came before"
    ] = False,
) -> BatchDeleteAnswer:
    """Delete many items of one session with their history, all or none. They are found nowhere any more, can be brought back for 30 days with
    `backstory unarchive ID` (ids are in results), and are erased then."""
    if (keys is None) == (key_pattern is None):
        raise InvalidInput("Give either keys or keyPattern.", hint="Nothing was deleted.", field="keys")
    session = session_of(core, session_id)
    choose = _chooser(core, session, keys, key_pattern)
    if dry_run:
        return _preview(core, choose(), keys, key_pattern, session)
    if key_pattern is not None and not confirm:
        _check_confirmed(core, key_pattern, session)
    memories, restorable_until = Deletions(core).together(choose)
    ids: dict[str, list[str]] = {}
    for memory in memories:
        ids.setdefault(memory.key or memory.id, []).append(memory.id)
    requested = list(ids) if keys is None else keys
    results = [_deletion_result(index, key, ids.get(key, ())) for index, key in enumerate(requested)]
    page = fitting(results, RESULT_BYTES // 2)
    reply: BatchDeleteAnswer = {
        "operation": "batch_delete",
        "keys": fitting(requested, RESULT_BYTES // 4),
        "totalRequested": len(requested),
        "totalDeleted": len(memories),
        "notFound": fitting([key for key in requested if key not in ids], RESULT_BYTES // 4),
        "results": page,
    }
    if ids:
        reply["restorableUntil"] = iso(restorable_until)
    if key_pattern is not None:
        reply["pattern"] = key_pattern
    notices = _left_out(len(results) - len(page), "results")
    return {**reply, "notices": notices} if notices else reply


def _deletion_result(index: int, key: str, ids: Sequence[str]) -> DeletedInBatch:
    result: DeletedInBatch = {"index": index, "key": key, "deleted": bool(ids), "count": len(ids)}
    return {**result, "id": ids[0]} if ids else result


def _objects_of(
    entries: Sequence[Any], shape: type, field: str, check: Callable[[Json], None]
) -> list[dict[str, Any]]:
    """Check the objects of a batch. If some are invalid, the error lists each of them."""
    objects: list[dict[str, Any]] = []
    problems: list[BatchProblem] = []
    for index, each in enumerate(entries):
        try:
            item = decode_object(shape, each)
            check(item)
        except InvalidInput as error:
            key = each.get("key") if isinstance(each, Mapping) else None
            problems.append({"index": index, "key": key if isinstance(key, str) else "", "error": str(error)})
        else:
            objects.append(item)
    if problems:
        first = problems[0]
        raise InvalidInput(
            f"{len(problems)} of {len(entries)} {field} cannot be used; the first is number {first['index']}: {first['error']}",
            hint="Nothing was changed; details.errors has each of them.",
            field=field,
            details={"errors": fitting(problems, RESULT_BYTES)},
        )
    return objects


def _check_item(item: Json) -> None:
    check_draft(MemoryDraft(item["value"], key=item["key"]))
    checked_channel(item.get("channel"))


def _check_change(change: Json) -> None:
    if len(change) < 2:
        raise InvalidInput("No updates provided.", hint="Name a field to change.", field="key")
    if "value" in change:
        check_draft(MemoryDraft(change["value"], key=change["key"]))
    checked_channel(change.get("channel"))


def _items_by_key(core: Core, session: Session | None, entries: Sequence[Json]) -> dict[str, Memory]:
    """Return the items of a session that a batch names and the caller may see, by key."""
    if session is None:
        return {}
    keys = list(dict.fromkeys(item["key"] for item in entries))
    return {memory.key or memory.id: memory for memory in Deletions(core).named(keys, session.id)}


def _save(core: Core, session: Session, item: Json, *, is_known: bool) -> Memory:
    present = core.memories.present(item["key"], session.id) if is_known else None
    if present is None:
        return core.memories.put_item(_draft(item), session)
    return core.memories.amend(present, **_fields(item))


def _save_result(
    index: int, memory: Memory, action: Literal["created", "updated", "skipped"]
) -> SavedInBatch:
    return {
        "index": index,
        "key": memory.key or memory.id,
        "success": action != "skipped",
        "action": action,
        "id": memory.id,
        "size": len(memory.text.encode()),
    }


def _draft(item: Json) -> MemoryDraft:
    return MemoryDraft(
        text=item["value"],
        key=item["key"],
        category=item.get("category"),
        priority=Priority(item.get("priority", Priority.NORMAL)),
        channel=checked_channel(item.get("channel")),
        metadata=as_object(item.get("metadata")),
        private=item.get("private", False),
    )


def _fields(change: Json) -> Json:
    """Return the fields of a memory that a change sets."""
    fields: Json = {name: change[name] for name in ("category", "private") if name in change}
    if "value" in change:
        fields["text"] = change["value"]
    if "priority" in change:
        fields["priority"] = Priority(change["priority"])
    if "channel" in change:
        fields["channel"] = checked_channel(change["channel"])
    if "metadata" in change:
        fields["metadata"] = as_object(change["metadata"])
    return fields


def _chooser(
    core: Core, session: Session | None, keys: list[str] | None, pattern: str | None
) -> Callable[[], list[Memory]]:
    deletions = Deletions(core)
    if session is None:
        return list
    if pattern is not None:
        return lambda: deletions.matching(pattern, session.id)
    return lambda: deletions.named(list(dict.fromkeys(keys or ())), session.id)


def _preview(
    core: Core, memories: list[Memory], keys: list[str] | None, pattern: str | None, session: Session | None
) -> BatchDeleteAnswer:
    bodies = (
        AnswerItem(
            memory.id,
            {
                "key": memory.key or memory.id,
                "value": safe_text(memory.text, memory.trust),
                "category": memory.category,
                "priority": memory.priority.value,
                "channel": memory.channel,
            },
        )
        for memory in memories
    )
    page = answer_page(bodies, offset=0, total=len(memories))
    reply: BatchDeleteAnswer = {
        "operation": "batch_delete",
        "dryRun": True,
        "itemsToDelete": page.items,
        "totalItems": len(memories),
    }
    if pattern is None:
        reply["keys"] = keys or []
    else:
        reply["pattern"] = pattern
        _PREVIEWED.setdefault(core.caller, set()).add((session.id if session else "", pattern))
    notices = _left_out(len(memories) - len(page.items), "items")
    return {**reply, "notices": notices} if notices else reply


_PREVIEWED: WeakKeyDictionary[Caller, set[tuple[str, str]]] = WeakKeyDictionary()
"""Sessions and patterns for which a connection has requested a dry run."""


def _check_confirmed(core: Core, pattern: str, session: Session | None) -> None:
    if set(pattern) <= WILDCARDS and (session.id if session else "", pattern) not in _PREVIEWED.get(
        core.caller, ()
    ):
        raise InvalidInput(
            f"keyPattern {pattern!r} would delete every item of the session; nothing was deleted.",
            hint="See what would go with dryRun: true, or add confirm: true.",
            field="keyPattern",
        )


def _left_out(count: int, noun: str) -> list[str]:
    return [f"{count:,} more {noun} do not fit into this answer; the counts are of all."] if count else []
