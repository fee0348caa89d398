"""The file changes of a session: its edits of each file, folded into one diff.

Built from stored calls, which are redacted and limited to `LONGEST_ARGUMENTS` characters each. It therefore works
without the assistant's own log and shows nothing that was forgotten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from ...domain.paths import path_in_project
from ...domain.records import Conversation
from ...readers import LONGEST_ARGUMENTS
from ...readers.formats.edits import INSERTED, LISTS, PATCHES, REPLACED, WHOLE, Edit, edits_in
from ...readers.formats.touched import PATH_KEYS
from ..engine import Engine

_COUNTERPARTS = tuple({old, new} for old, new in REPLACED)
CONTEXT_LINES = 3
MAX_FILES = 200
_KEYS = (*PATH_KEYS, *WHOLE, *INSERTED, *LISTS, *PATCHES, *(key for pair in REPLACED for key in pair))
_FIELD = re.compile(
    rf"^({'|'.join(map(re.escape, sorted(set(_KEYS), key=len, reverse=True)))}): ?", re.MULTILINE
)


class ChangedLine(NamedTuple):
    kind: str
    """new, gone, plain or place."""
    text: str


class ChangedFile(NamedTuple):
    path: str
    lines: list[ChangedLine]
    added: int
    removed: int
    edits: int
    messages: list[int]
    """Numbers of the messages that changed it, in their order."""
    is_cut: bool
    """True if an edit was longer than its stored part."""


class _Region(NamedTuple):
    """A part of a file: its text before the session, and after the edits so far."""

    old: str
    new: str
    is_whole: bool


class _History:
    def __init__(self) -> None:
        self.regions: list[_Region] = []
        self.messages: list[int] = []
        self.edits = 0
        self.is_cut = False

    def add(self, edit: Edit) -> None:
        """Fold an edit into the region that contains its old text, or into a new region."""
        self.edits += 1
        if edit.is_whole:
            whole = next((each for each in self.regions if each.is_whole), None)
            self.regions = [_Region(whole.old if whole else "", edit.new, is_whole=True)]
            return
        for place, region in enumerate(self.regions):
            if edit.old and edit.old in region.new:
                changed = region.new.replace(edit.old, edit.new, 1)
                self.regions[place] = region._replace(new=changed)
                return
        self.regions.append(_Region(edit.old, edit.new, is_whole=False))


def session_changes(engine: Engine, conversation: Conversation) -> list[ChangedFile]:
    """The files that a conversation changed, in the order of their first edit; failed calls changed nothing."""
    store, histories = engine.store, dict[str, _History]()
    messages = {each.id: each for each in store.messages.of(conversation.id) if each.role == "tool"}
    for call in store.results.of(conversation.id):
        message = messages.get(call.message)
        if message is None or (call.result is not None and call.result.is_error):
            continue
        text = call.arguments.within(message.text)
        for edit in _edits_in_text(text):
            path = path_in_project(edit.path, conversation.directory, conversation.project)
            history = histories.setdefault(path, _History())
            history.add(edit)
            history.is_cut |= len(text) >= LONGEST_ARGUMENTS
            if message.seq + 1 not in history.messages:
                history.messages.append(message.seq + 1)
    changes = (_change(path, history) for path, history in list(histories.items())[:MAX_FILES])
    return [each for each in changes if each.added or each.removed or each.is_cut]


def _edits_in_text(text: str) -> Iterator[Edit]:
    """The edits in the stored arguments of a call, `name: value` on lines of their own."""
    starts: list[re.Match[str]] = []
    for match in _FIELD.finditer(text):
        if _may_follow(match[1], [each[1] for each in starts]):
            starts.append(match)
    ends = [match.start() for match in starts[1:]] + [len(text)]
    arguments: dict[str, Any] = {}
    for match, end in zip(starts, ends, strict=False):
        arguments[match[1]] = _value(match[1], text[match.end() : end].removesuffix("\n"))
    yield from edits_in(arguments or {"patch": text})


def _may_follow(key: str, before: Sequence[str]) -> bool:
    """True if a line that looks like an argument is one, and not a part of a value.

    A path occurs once, and a text is followed only by a path or, in a replacement, by its counterpart."""
    if key in PATH_KEYS:
        return PATH_KEYS.isdisjoint(before)
    texts = [each for each in before if each not in PATH_KEYS]
    return not texts or (len(texts) == 1 and {texts[0], key} in _COUNTERPARTS)


def _value(key: str, text: str) -> Any:
    if key not in LISTS:
        return text
    try:
        return json.loads(text)
    except ValueError:
        return None  # cut where it was stored


def _change(path: str, history: _History) -> ChangedFile:
    lines: list[ChangedLine] = []
    for region in history.regions:
        changed = list(_difference(_split(region.old), _split(region.new)))
        if any(line.kind in ("new", "gone") for line in changed):
            lines += [ChangedLine("place", "⋯")] if lines else []
            lines += changed
    return ChangedFile(
        path,
        lines,
        sum(line.kind == "new" for line in lines),
        sum(line.kind == "gone" for line in lines),
        history.edits,
        history.messages,
        history.is_cut,
    )


def _split(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _difference(old: Sequence[str], new: Sequence[str]) -> Iterator[ChangedLine]:
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for number, group in enumerate(matcher.get_grouped_opcodes(CONTEXT_LINES)):
        if number:
            yield ChangedLine("place", "⋯")
        for tag, first, last, start, end in group:
            if tag == "equal":
                yield from (ChangedLine("plain", line) for line in old[first:last])
                continue
            yield from (ChangedLine("gone", line) for line in old[first:last])
            yield from (ChangedLine("new", line) for line in new[start:end])
