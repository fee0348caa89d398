"""The text of answers, in as few words as a model needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import PurePath
from typing import TYPE_CHECKING

from ...core.ask import CONVERSATION
from ...core.browsing import ConversationList
from ...core.failures.hint import fix_sentence
from ...core.lookup import LookupAnswer, LookupHit
from ...core.names import short_memory_id
from ...core.pages import ConversationPage, PagedMessage, TextPage, pieces
from ...core.proposals import SpaceProposal
from ...core.quoting import plain
from ...domain.kinds import kind_of
from ...domain.lines import one_line
from ...domain.provenance import Provenance
from ...domain.records import Memory, Message, Trust
from ...domain.runs import Fix
from ...domain.story import FileStory, StoryEvent, label, notes
from ...domain.tokens import count_tokens
from ...tools.origin import safe_excerpt, safe_text

if TYPE_CHECKING:
    # importing these two would add 100 and 10 ms to the first `recall`
    from ...core.forgetting import Forgotten
    from ...core.remembering import RememberResult

FEW, MANY = (5, 900), (20, 3_000)
"""Maximum number of hits, and the number of tokens they may use."""
HEAD_TOKENS = 40
"""Maximum number of tokens in the line before a passage."""
FRAME_TOKENS = 60
LONGEST_PASSAGE = 150  # tokens
LONGEST_NAME = 40
SHOWN_FORMER = 5
SHOWN_FIXES = 2
MAX_EVENTS = 30
MAX_READERS = 5
EVENT_CHARS = 240


def recall_text(answer: LookupAnswer, limit: int, fixes: Sequence[Fix] = ()) -> str:
    most, tokens = FEW if limit <= FEW[0] else MANY
    room = min((tokens - FRAME_TOKENS) // most - HEAD_TOKENS, LONGEST_PASSAGE)
    lines = [fix_sentence(fix) for fix in fixes[:SHOWN_FIXES]]
    if not answer.hits:
        return "\n".join((*(lines or ["Nothing found."]), *answer.notices))
    lines += [] if answer.is_sure else ["Nothing sure; nearest:"]
    blocks = [[*_hit(hit, room)] for hit in answer.hits]
    end = [f"{answer.more} more; narrow the query or raise limit."] if answer.more else []
    spare = tokens - count_tokens("\n".join((*lines, *chain(*blocks), *end, *answer.notices)))
    for hit, block in zip(answer.hits, blocks, strict=True):
        for line in _further(hit, room):
            spare -= count_tokens(line) + 1
            block += [line] if spare >= 0 else []
    return "\n".join((*lines, *chain(*blocks), *end, *answer.notices))


def _hit(hit: LookupHit, tokens: int) -> Iterator[str]:
    what = hit.source if hit.kind == CONVERSATION else hit.kind
    parts = [hit.name, f"{hit.at:%Y-%m-%d}", f"{_project(hit.project)}, {what}"]
    if hit.confirmations:
        parts.append(f"said {hit.confirmations + 1} times")
    if hit.places > 1:
        parts.append(f"{hit.places} places")
    if hit.trust is not Trust.OWN:
        whose = _author(hit.author) or "not the user's words"
        parts.append(f"{hit.trust.value}, {whose}")
    elif hit.author:
        parts.append(_author(hit.author))
    elif hit.provenance is not Provenance.OWN:
        parts.append(f"{hit.provenance.name.lower()} text in it, not the user's words")
    if hit.later:
        parts.append(f"superseded by {hit.later}")
    if hit.freshness:
        parts.append(one_line(hit.freshness, 80))
    yield "  ".join(parts)
    yield f"  {_excerpt(hit.passage, tokens)}"


def _further(hit: LookupHit, tokens: int) -> Iterator[str]:
    for number, passage in hit.further:
        yield f"  #{number}: {_excerpt(passage, tokens)}"


def _excerpt(text: str, tokens: int) -> str:
    passage = safe_excerpt(" ".join(text.split()))
    excerpt = next(pieces(passage, tokens))
    return f"{excerpt}{'…' if excerpt != passage else ''}"


def remember_text(result: RememberResult, *, is_replacement: bool) -> str:
    memory = result.memory
    if result.space:
        state = "Saved" if result.is_new else "Known already as"
        first = f"{state} {memory.id} ({kind_of(memory)}) for the space {result.space}; it is delivered in the background."
    elif result.is_proposal:
        first = f"{'Proposed' if result.is_new else 'Proposed already'} as {memory.id}; a maintainer of the space accepts or dismisses it."
    elif not result.is_new:
        first = f"Known already as {memory.id}."
    else:
        first = f"{'Corrected' if is_replacement else 'Saved'} {memory.id} ({kind_of(memory)})."
    if not result.similar:
        return first
    lines = [first, "Similar; if this corrects one, call again with replaces:"]
    lines += [
        f"  {short_memory_id(each.id)}  {one_line(safe_text(each.text, each.trust), 120)}"
        for each in result.similar
    ]
    return "\n".join(lines)


def open_text(page: TextPage | ConversationPage) -> str:
    return _conversation(page) if isinstance(page, ConversationPage) else _text(page)


def _conversation(page: ConversationPage) -> str:
    conversation = page.conversation
    branch = f", {one_line(safe_excerpt(conversation.branch), LONGEST_NAME)}" if conversation.branch else ""
    head = f"{conversation.id}  {conversation.updated_at:%Y-%m-%d}  {_project(conversation.project)}, {conversation.surface}{branch}"
    if conversation.trust is not Trust.OWN:
        head += f"  ({conversation.trust.value}, not the user's words)"
    lines = [head, one_line(safe_excerpt(conversation.name), 100), *map(_message, page.messages)]
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


def list_text(listing: ConversationList, project: str) -> str:
    if not listing.conversations:
        return f"No sessions of {_project(project)}." if project != "*" else "No sessions."
    lines = []
    for conversation, name, messages in listing.conversations:
        branch = (
            f", {one_line(safe_excerpt(conversation.branch), LONGEST_NAME)}" if conversation.branch else ""
        )
        where = f"{_project(conversation.project)}, {conversation.surface}{branch}"
        title = one_line(safe_excerpt(plain(conversation.name)), 80)
        lines.append(f"{name}  {conversation.updated_at:%Y-%m-%d}  {where}  {title} ({messages})")
    if listing.total > len(lines):
        lines.append(f"{listing.total - len(lines)} more; narrow with since or until, or raise limit.")
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


def proposals_text(proposals: Sequence[SpaceProposal], limit: int) -> str:
    if not proposals:
        return "No pending proposals."
    lines = []
    for memory, contribution, former in proposals[:limit]:
        head = [
            memory.id,
            f"{contribution.made_at:%Y-%m-%d}",
            f"{_project(memory.project)}, {kind_of(memory)}",
        ]
        head.append(f"proposed {_author(contribution.author_name)}")
        if former is not None:
            head.append(f"replaces {former.id}: {one_line(safe_text(former.text, former.trust), 120)}")
        lines += ["  ".join(head), f"  {one_line(safe_text(memory.text, memory.trust), 600)}"]
    if len(proposals) > limit:
        lines.append(f"{len(proposals) - limit} more; raise limit.")
    return "\n".join((*lines, "A maintainer accepts one with done and dismisses one with forget."))


def story_text(story: FileStory) -> str:
    """One event on each line, in the order of time."""
    path = one_line(safe_excerpt(story.path), EVENT_CHARS)
    if not story.events:
        read = f" It was read in {', '.join(story.readers[:MAX_READERS])}." if story.readers else ""
        return f"The story of {path} is unknown.{read}"
    lines = [path, *map(_event, story.events)]
    if len(story.paths) > 1:
        paths = one_line(safe_excerpt(", ".join(story.paths)), EVENT_CHARS)
        lines.insert(1, f"Several files have this name: {paths}.")
    if story.total > len(story.events):
        lines.append(f"{story.total - len(story.events)} more, less relevant or older.")
    return "\n".join(lines)


def _event(event: StoryEvent) -> str:
    marks = one_line(safe_excerpt("; ".join(notes(event))), EVENT_CHARS)
    text = one_line(safe_excerpt(event.text), EVENT_CHARS)
    return f"{event.at:%Y-%m-%d}  {event.name}  {label(event)}: {text}{f' ({marks})' if marks else ''}"


def _author(name: str) -> str:
    return f"by {one_line(safe_excerpt(name), LONGEST_NAME)}" if name else ""


def _project(path: str) -> str:
    return one_line(safe_excerpt(PurePath(path).name or path or "no project"), LONGEST_NAME)
