"""The answers, in as few words as a model needs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from ...core.browsing import ConversationList
from ...core.browsing.pages import ConversationPage, PagedMessage, TextPage, pieces
from ...core.forgetting import Forgotten
from ...core.memories.remembering import RememberResult
from ...core.names import short_memory_id
from ...core.quoting import plain
from ...core.search.lookup import CONVERSATION, LookupAnswer, LookupHit
from ...domain.kinds import kind_of
from ...domain.lines import one_line
from ...domain.provenance import Provenance
from ...domain.records import Memory, Message, Trust
from ...tools.origin import safe_excerpt, safe_text

FEW, MANY = (5, 900), (20, 3_000)
"""Hits, and the tokens that so many may cost."""
HEAD_TOKENS = 40
"""Of the line before a passage."""
FRAME_TOKENS = 60
LONGEST_PASSAGE = 150  # tokens
LONGEST_NAME = 40
SHOWN_FORMER = 5


def recall_text(answer: LookupAnswer, limit: int) -> str:
    most, tokens = FEW if limit <= FEW[0] else MANY
    room = min((tokens - FRAME_TOKENS) // most - HEAD_TOKENS, LONGEST_PASSAGE)
    if not answer.hits:
        return "\n".join(("Nothing found.", *answer.notices))
    lines = [] if answer.is_sure else ["Nothing sure; nearest:"]
    lines += [line for hit in answer.hits for line in _hit(hit, room)]
    if answer.more:
        lines.append(f"{answer.more} more; narrow the query or raise limit.")
    return "\n".join((*lines, *answer.notices))


def _hit(hit: LookupHit, tokens: int) -> Iterator[str]:
    what = hit.source if hit.kind == CONVERSATION else hit.kind
    parts = [hit.name, f"{hit.at:%Y-%m-%d}", f"{_project(hit.project)}, {what}"]
    if hit.places > 1:
        parts.append(f"{hit.places} places")
    if hit.trust is not Trust.OWN:
        parts.append(f"{hit.trust.value}, not the user's words")
    elif hit.provenance is not Provenance.OWN:
        parts.append(f"{hit.provenance.name.lower()} text in it, not the user's words")
    if hit.later:
        parts.append(f"superseded by {hit.later}")
    if hit.freshness:
        parts.append(one_line(hit.freshness, 80))
    yield "  ".join(parts)
    passage = safe_excerpt(" ".join(hit.passage.split()))
    shown = next(pieces(passage, tokens))
    yield f"  {shown}{'…' if shown != passage else ''}"


def remember_text(made: RememberResult, *, is_replacement: bool) -> str:
    memory = made.memory
    if not made.is_new:
        first = f"Known already as {memory.id}."
    else:
        first = f"{'Corrected' if is_replacement else 'Saved'} {memory.id} ({kind_of(memory)})."
    if not made.similar:
        return first
    lines = [first, "Similar; if this corrects one, call again with replaces:"]
    lines += [
        f"  {short_memory_id(each.id)}  {one_line(safe_text(each.text, each.trust), 120)}"
        for each in made.similar
    ]
    return "\n".join(lines)


def open_text(page: TextPage | ConversationPage) -> str:
    return _conversation(page) if isinstance(page, ConversationPage) else _text(page)


def _conversation(page: ConversationPage) -> str:
    told = page.conversation
    branch = f", {one_line(safe_excerpt(told.branch), LONGEST_NAME)}" if told.branch else ""
    head = f"{told.id}  {told.updated_at:%Y-%m-%d}  {_project(told.project)}, {told.surface}{branch}"
    if told.trust is not Trust.OWN:
        head += f"  ({told.trust.value}, not the user's words)"
    lines = [head, one_line(safe_excerpt(told.name), 100), *map(_message, page.messages)]
    if not page.messages:
        lines.append("It has no readable messages.")
    lines.append(
        f"next: at={page.next} of {page.total}" if page.next is not None else f"end ({page.total} messages)"
    )
    return "\n".join(lines)


def _message(paged: PagedMessage) -> str:
    message = paged.message
    cut = f" […{paged.left_out:,} more characters: open {message.id}]" if paged.left_out else ""
    return f"#{paged.number} {message.role}: {safe_excerpt(paged.text).strip()}{cut}"


def _text(page: TextPage) -> str:
    entry = page.entry
    lines = [_message_head(entry) if isinstance(entry, Message) else _memory_head(entry, page.freshness)]
    lines.append(safe_text(page.text, entry.trust) if isinstance(entry, Memory) else safe_excerpt(page.text))
    if page.number < page.total:
        lines.append(f"next: at={page.number + 1} of {page.total}")
    if page.history and page.number == 1:
        lines.append("before:")
        lines += [
            f"  {former.saved_at:%Y-%m-%d}  {one_line(safe_text(former.text, entry.trust), 160)}"
            for former in reversed(page.history[-SHOWN_FORMER:])
        ]
    return "\n".join(lines)


def _memory_head(memory: Memory, freshness: str) -> str:
    parts = [memory.id, f"{memory.updated_at:%Y-%m-%d}", f"{_project(memory.project)}, {kind_of(memory)}"]
    if memory.key:
        parts.append(f"key {one_line(safe_excerpt(memory.key), LONGEST_NAME)}")
    if memory.trust is not Trust.OWN:
        parts.append(f"{memory.trust.value}, not the user's words")
    return "  ".join(filter(None, (*parts, freshness)))


def _message_head(message: Message) -> str:
    return (
        f"message #{message.seq + 1} of {message.conversation}, {message.role}, {message.created_at:%Y-%m-%d}"
    )


def list_text(found: ConversationList, project: str) -> str:
    if not found.conversations:
        return f"No sessions of {_project(project)}." if project != "*" else "No sessions."
    lines = []
    for conversation, name, messages in found.conversations:
        branch = (
            f", {one_line(safe_excerpt(conversation.branch), LONGEST_NAME)}" if conversation.branch else ""
        )
        where = f"{_project(conversation.project)}, {conversation.surface}{branch}"
        title = one_line(safe_excerpt(plain(conversation.name)), 80)
        lines.append(f"{name}  {conversation.updated_at:%Y-%m-%d}  {where}  {title} ({messages})")
    if found.total > len(lines):
        lines.append(f"{found.total - len(lines)} more; narrow with since or until, or raise limit.")
    return "\n".join(lines)


def question(memory: Memory, for_good: bool) -> str:
    how = "Erase this memory for good?" if for_good else "Forget this memory? It can be restored for 30 days."
    return f"{how}\n\n{one_line(safe_text(memory.text, memory.trust), 300)}"


def forgotten(gone: Forgotten) -> str:
    if gone.until is not None:
        return (
            f"Forgotten. Until {gone.until:%Y-%m-%d} it can be restored: backstory unarchive {gone.memory.id}"
        )
    return "\n".join(("Erased for good.", *gone.notices))


def _project(path: str) -> str:
    return one_line(safe_excerpt(PurePath(path).name or path or "no project"), LONGEST_NAME)
