"""Save a decision, fact, task, preference or error; correct it later, or mark a task as done.

Memories of every surface can be corrected and marked: they retain their id, key and history.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.errors import InvalidInput
from ..domain.filters import Filter, Kind, Order, Page
from ..domain.kinds import MemoryKind, category_of, kind_of
from ..domain.metadata import FileMark, as_metadata, marks_of
from ..domain.private import without_private
from ..domain.records import Memory, Trust
from ..domain.team import SPACE_SURFACE, Delivery, SpaceCopy
from .ask import Ask, Inquiry
from .browsing import Browsing
from .file_marks import mark_files
from .joined import JoinedSpaces
from .memories import Memories
from .part import CallContext, CorePart
from .projects.related import new_project_named
from .proposals import Proposals
from .secrets import redactor
from .tasks import TASK, is_open_task

MOST_SIMILAR = 2
ALIKE = 0.5
"""The minimum certainty of the search that a memory is about the same thing."""
LONGEST_TEXT = 100_000
STATUS, DONE = "status", "done"


class RememberResult(NamedTuple):
    memory: Memory
    is_new: bool
    """True if a memory was saved; an equal text is the same memory."""
    similar: Sequence[Memory] = ()
    """Existing memories that this one may correct."""
    is_proposal: bool = False
    """True if a maintainer of the space has to accept it first."""
    space: str = ""
    """The team's space that receives it in the background."""


class Remembering(CorePart):
    def __init__(
        self, context: CallContext, memories: Memories, browsing: Browsing, ask: Ask, proposals: Proposals
    ) -> None:
        super().__init__(context)
        self._memories = memories
        self._proposals = proposals
        self._browsing = browsing
        self._ask = ask

    def remember(
        self,
        text: str,
        kind: MemoryKind | None = None,
        *,
        replaces: str | None = None,
        files: Sequence[str] = (),
        project: str | None = None,
        space: str | None = None,
    ) -> RememberResult:
        """Committed when this returns. Of a memory that is replaced the kind stays unless one is given. With a space of the
        team's, which this machine has joined, the memory is queued for it; else it stays on this machine."""
        text = checked_text(text)
        if space is not None:
            return self._queued(text, kind, replaces=replaces, files=files, project=project, space=space)
        if replaces is not None:
            memory = self._known(replaces)
            marks = self._marked(files, memory.project) or _unverified(memory)
            if self.caller.proposes:
                draft = self._made(text, kind or kind_of(memory), memory.project, marks)
                return self._proposed(draft, memory)
            changed = self._revised(memory, text, kind, marks)
            return RememberResult(changed, is_new=changed != memory)
        place = self._project(project)
        marks = self._marked(files, place)
        similar = self._similar(text, place)
        if self.caller.proposes:
            draft = self._made(text, kind or MemoryKind.FACT, place, marks)
            return self._proposed(draft, None)._replace(similar=similar)
        with self.engine.store.transaction():
            known = self._same(text, place)
            memory = known or self._made(text, kind or MemoryKind.FACT, place, marks)
            if known is None:
                self._memories.put(memory)
        if known is not None:
            changed = self._revised(known, text, kind, marks)
            return RememberResult(changed, is_new=changed != known, similar=similar)
        self._memories.follow_up(memory)
        return RememberResult(memory, is_new=True, similar=similar)

    def done(self, id: str, note: str = "") -> Memory:
        """Mark a task as done, with an optional note. This cannot be undone."""
        task = self._known(id)
        if task.category not in (TASK, None):
            raise InvalidInput(
                f"{id!r} is a {kind_of(task)}, not a task; nothing was changed.",
                hint="Only tasks can be marked as done; use replaces to correct a memory.",
                field="id",
            )
        if not is_open_task(task._replace(category=TASK)):
            return task
        _check_secrets(note)
        text = f"Done: {task.text}" + (f"\n{note.strip()}" if note.strip() else "")
        return self._revised(task, text, MemoryKind.TASK, {STATUS: DONE})

    def _queued(
        self,
        text: str,
        kind: MemoryKind | None,
        *,
        replaces: str | None,
        files: Sequence[str],
        project: str | None,
        space: str,
    ) -> RememberResult:
        """Save a copy here and a delivery for the team's server in one transaction.

        The id is chosen here and is the memory's on the server too, so that a delivery that arrives twice is known."""
        if not self.caller.is_local:
            raise InvalidInput(
                "space is for a server on the user's own machine; nothing was saved.",
                hint="Leave it out: here memories are saved in the space that you call.",
                field="space",
            )
        joined = JoinedSpaces(self.engine.settings.home)
        joined.check(space)
        former = self._in_space(replaces, space) if replaces is not None else None
        place = former.project if former else self._project(project)
        chosen = kind or (kind_of(former) if former else MemoryKind.FACT)
        draft = self._made(text, chosen, place, self._marked(files, place))
        draft = draft._replace(surface=SPACE_SURFACE, trust=Trust.SPACE, session=None)
        with self.engine.store.transaction():
            joined.check(space)  # once more: from here on `leave` waits
            if (known := self._same_in_space(draft, space)) is not None:
                return RememberResult(known, is_new=False, space=space)
            self._memories.put(draft)
            self.engine.store.space_copies.put([SpaceCopy(draft.id, space, stamp="", author="")])
            delivery = Delivery(draft.id, draft.id, former.id if former else "", self.engine.now())
            self.engine.store.outgoing.add(delivery)
        self._memories.follow_up(draft)
        return RememberResult(draft, is_new=True, space=space)

    def _in_space(self, id: str, space: str) -> Memory:
        """The copy of a memory that another one shall correct there."""
        memory = self._known(id)
        copy = self.engine.store.space_copies.get([memory.id]).get(memory.id)
        if copy is None or copy.space != space:
            raise InvalidInput(
                f"{id!r} is not a memory of the space {space!r}; nothing was saved.",
                hint="Leave out replaces to save a new one there, or space to correct your own.",
                field="replaces",
            )
        return memory

    def _same_in_space(self, draft: Memory, space: str) -> Memory | None:
        where = Filter(
            kinds=(Kind.MEMORY,), surfaces=(SPACE_SURFACE,), projects=(draft.project,), texts=(draft.text,)
        )
        memories = self.engine.store.memories.find(where, Page())
        copies = self.engine.store.space_copies.get(memory.id for memory in memories)
        of_space = [each for each in memories if each.id in copies and copies[each.id].space == space]
        return of_space[0] if of_space else None

    def _revised(
        self, memory: Memory, text: str, kind: MemoryKind | None, metadata: Mapping[str, Any]
    ) -> Memory:
        category = None if kind is None or kind is kind_of(memory) else category_of(kind)
        return self._memories.revise(memory.id, text, category=category, metadata=metadata)

    def _proposed(self, draft: Memory, replaces: Memory | None) -> RememberResult:
        proposal = self._proposals.propose(draft, replaces)
        return RememberResult(proposal.memory, proposal.memory.id == draft.id, is_proposal=True)

    def _known(self, id: str) -> Memory:
        return self._browsing.memory(id)

    def _made(self, text: str, kind: MemoryKind, project: str, metadata: Mapping[str, Any]) -> Memory:
        memory = self._memories.new(text, project, self.caller.session)
        return memory._replace(category=category_of(kind), metadata=metadata)

    def _same(self, text: str, project: str) -> Memory | None:
        where = Filter(kinds=(Kind.MEMORY,), surfaces=(self.surface,), projects=(project,), texts=(text,))
        page = Page(limit=1, order=Order.OLDEST)
        memories = self.engine.store.memories.find(self.caller.visible(where), page)
        return memories[0] if memories else None

    def _similar(self, text: str, project: str) -> list[Memory]:
        where = Filter(kinds=(Kind.MEMORY,), projects=(project,))
        ranking = self._ask.find(Inquiry(text, where=where, least=ALIKE, limit=MOST_SIMILAR + 1))
        similar = self._ask.memories(ranking, MOST_SIMILAR + 1)
        return [memory for memory, _ in similar if memory.text != text][:MOST_SIMILAR]

    def _marked(self, files: Sequence[str], project: str) -> dict[str, Any]:
        if not files:
            return {}
        if not self.caller.is_local:  # its files are not on this machine
            return as_metadata(FileMark(path) for path in files)
        own = self.caller.directory if project == self.caller.project else project
        return as_metadata(mark_files(Path(own), files))

    def _project(self, wanted: str | None) -> str:
        """A path may be that of a project that nothing is known of yet."""
        if wanted is None:
            return self.caller.project
        return new_project_named(wanted, self.engine.store.entries.projects(), is_local=self.caller.is_local)


def _unverified(memory: Memory) -> dict[str, Any]:
    """The files of a memory without their checksums: their current state was not verified."""
    marks = marks_of(memory.metadata)
    return as_metadata(FileMark(mark.path) for mark in marks) if marks else {}


def checked_text(text: str) -> str:
    if not text.strip():
        raise InvalidInput(
            "text is empty.", hint="Nothing was saved; pass the text to remember.", field="text"
        )
    text = without_private(text).text
    if not text.strip():
        raise InvalidInput("text is entirely private; nothing was saved.", field="text")
    if len(text) > LONGEST_TEXT:
        raise InvalidInput(
            f"text has {len(text):,} characters; at most {LONGEST_TEXT:,} are saved.",
            hint="Nothing was saved; save a summary instead.",
            field="text",
        )
    _check_secrets(text)
    return text.strip()


def _check_secrets(text: str) -> None:
    """Refuse texts with a secret, independent of the setting for histories: memories are written on purpose."""
    redacted = redactor("standard").redact(text)
    if redacted.found:
        names = dict.fromkeys(re.findall(r"\[redacted: ([^\[\]]+)\]", redacted.text))
        raise InvalidInput(
            f"text contains a possible secret ({', '.join(names)}); nothing was saved.",
            hint="Leave it out, and save where it is stored instead.",
            field="text",
        )
