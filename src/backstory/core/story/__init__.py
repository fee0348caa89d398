"""The story of a file in chronological order: requests, decisions, reversals, dropped attempts, failures, fixes and
commits. The command `why`, the prompt and the resource of that name and the page of a file all show it. Only events
about exactly this file count: requests that changed or mention it, and statements made during the work on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import InvalidInput
from ...domain.filters import Filter, Kind
from ...domain.lines import one_line
from ...domain.neutral import neutral
from ...domain.paths import path_in_project, path_parts
from ...domain.records import Conversation, TraceHit
from ...domain.story import FileStory, StoryEvent, StoryKind, in_order
from ...search.families import family_heads
from ...search.file_mentions import mentions
from ..browsing import Browsing
from ..names import ConversationNames
from ..part import CallContext, CorePart
from ..projects import is_repository, work_tree
from ..quoting import plain
from ..search.running import running_conversations
from ..state import ProjectStates
from .commits import published
from .failures import command_name, failures_in, outcome_of
from .file import StoryFile, path_in_checkout, story_file
from .requests import FileWrite, Requests, UserRequest, writes_of
from .saved import FileMemories
from .stated import FileStatements, statement_events, without_repetition

EVENT_CHARS = 400
"""The maximum characters of a request or a statement."""


class _Touches(NamedTuple):
    """The reads and writes of the file by conversations."""

    file: StoryFile
    hits: Sequence[TraceHit]
    """Reads and edits, the last first."""
    conversations: Mapping[str, Conversation]
    heads: Mapping[str, str]
    """For each conversation, the one that started it, or itself."""
    writes: Sequence[FileWrite]


class Stories(CorePart):
    def __init__(self, context: CallContext, states: ProjectStates, browsing: Browsing) -> None:
        super().__init__(context)
        self._states = states
        self._browsing = browsing

    def of(
        self,
        path: str,
        projects: tuple[str, ...] | None = None,
        *,
        limit: int | None = None,
        is_from_root: bool = False,
    ) -> FileStory:
        """The story of a file in these projects; without any, in the caller's own. An empty tuple means all
        projects.

        With a limit, decisions, rules and memories come before everything else, and newer events before older ones.
        `is_from_root` means that the path begins at the root of the project, not where the caller is. Raises
        InvalidInput."""
        if not path_parts(path):
            raise InvalidInput("file is empty.", hint="Name a file.", field="file")
        self.engine.sync_first(self.call)
        self.engine.sync_recent(self.call)
        projects = (self.caller.project,) if projects is None else projects
        if not is_from_root and projects == (self.caller.project,):
            path, is_from_root = self._path(path)
        touches = self._touches(path, projects, is_from_root)
        names = _ShortNames(self._browsing.names())
        events = [
            *self._said(touches, projects, names),
            *self._failures(touches, names),
            *FileMemories(self.context).events(touches.file, projects),
        ]
        return FileStory(
            path=touches.file.path,
            paths=_paths(touches),
            events=in_order(events, limit),
            total=len(events),
            readers=_readers(touches, events, names),
        )

    def _touches(self, path: str, projects: tuple[str, ...], is_from_root: bool) -> _Touches:
        """Reads and edits of the file in conversations that the caller may see and is not in."""
        store = self.engine.store
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=projects))
        running = running_conversations(self.engine, self.caller)
        alike = [
            hit
            for hit in store.traces.touching(path_parts(path)[-1], where)
            if hit.conversation not in running
        ]
        conversations = {
            each.id: each for each in store.conversations.get(sorted({hit.conversation for hit in alike}))
        }
        file = story_file(path, is_from_root, alike, conversations)
        hits = [
            hit
            for hit in alike
            if (known := conversations.get(hit.conversation)) and file.is_at(hit.value, known)
        ]
        heads = family_heads(store, {hit.conversation for hit in hits})
        times = {hit.entry: hit.at for hit in hits if hit.kind == "written"}
        writes = writes_of(store.entries.outlines(times, where), times, heads)
        return _Touches(file, hits, conversations, heads, writes)

    def _path(self, path: str) -> tuple[str, bool]:
        """The path from the root of the caller's project, and whether it is known to begin there."""
        if self.caller.is_local and (inside := path_in_checkout(path, self.caller.directory)):
            return inside, True
        inside = path_in_project(path, "", self.caller.project)
        return (inside, True) if path_parts(inside) != path_parts(path) else (path, False)

    def _said(
        self, touches: _Touches, projects: tuple[str, ...], names: Mapping[str, str]
    ) -> Iterator[StoryEvent]:
        """Requests, and the statements, commits and pull requests during the work on them."""
        store, file = self.engine.store, touches.file
        requests = Requests(store)
        changing = requests.counted(touches.writes)
        statements = [
            each
            for project in projects or sorted({each.project for each in touches.conversations.values()})
            for each in self._states.of(project).statements
        ]
        about = FileStatements(store, file, requests, changing, touches.conversations).among(statements)
        places = requests.places(touches.writes)
        asked = [
            self._request_event(request, changing[request], requests, names)
            for request in {*changing, *self._naming(file, projects, requests)}
        ]
        yield from without_repetition(asked, [*statement_events(about, names)])
        yield from statement_events(published(statements, places, file, self._checkout()), names)

    def _naming(
        self, file: StoryFile, projects: tuple[str, ...], requests: Requests
    ) -> Iterator[UserRequest]:
        """Requests whose prompt names the file."""
        where = self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=projects))
        running = running_conversations(self.engine, self.caller)
        for outline, _ in mentions(self.engine.store, file.path, where):
            if outline.role != "user" or outline.thread is None or outline.thread in running:
                continue
            request = requests.at(outline.thread, outline.seq)
            if file.is_named_in(requests.prompt(request), outline.project):
                yield request

    def _request_event(
        self, request: UserRequest, edits: int, requests: Requests, names: Mapping[str, str]
    ) -> StoryEvent:
        (conversation,) = self.engine.store.conversations.get([request.conversation])
        has_prompt = request.place >= 0
        text = requests.prompt(request) if has_prompt else conversation.name
        return StoryEvent(
            at=requests.begun_at(request) or conversation.created_at,
            kind=StoryKind.PROMPT if has_prompt else StoryKind.EDIT,
            text=neutral(one_line(plain(text), EVENT_CHARS) or one_line(text, EVENT_CHARS)),
            name=f"{names[conversation.id]}#{request.place + 1}" if has_prompt else names[conversation.id],
            conversation=conversation.id,
            number=request.place + 1,
            answers=neutral(requests.question_before(request)) if has_prompt else "",
            edits=edits,
            trust=conversation.trust,
        )

    def _failures(self, touches: _Touches, names: Mapping[str, str]) -> Iterator[StoryEvent]:
        store = self.engine.store
        for id in dict.fromkeys(hit.conversation for hit in touches.hits):
            conversation = touches.conversations[id]
            failures = list(failures_in(store, conversation, touches.file))
            places = store.messages.places(id, [each.step.message for each in failures]) if failures else {}
            for failure in failures:
                number = places.get(failure.step.message, 0) + 1
                error = f": {failure.error}" if failure.error else ""
                yield StoryEvent(
                    at=failure.step.at,
                    kind=StoryKind.FAILURE,
                    text=neutral(one_line(f"`{command_name(failure.step)}`{error}", EVENT_CHARS)),
                    name=f"{names[id]}#{number}",
                    conversation=id,
                    number=number,
                    outcome=neutral(outcome_of(failure, touches.file, conversation)),
                    trust=conversation.trust,
                )

    def _checkout(self) -> Path | None:
        """The checkout in which git lists the files of a commit."""
        if not self.caller.is_local:
            return None
        tree = work_tree(Path(self.caller.directory))
        return tree if is_repository(tree) else None


class _ShortNames(dict[str, str]):
    """The short names of conversations by id."""

    def __init__(self, names: ConversationNames) -> None:
        super().__init__()
        self._names = names

    def __missing__(self, id: str) -> str:
        name = self[id] = self._names.short(id)
        return name


def _paths(touches: _Touches) -> list[str]:
    """The files that the traces mean, the last touched first."""
    known = touches.conversations
    inside = (
        path_in_project(hit.value, known[hit.conversation].directory, known[hit.conversation].project)
        for hit in touches.hits
    )
    return list(dict.fromkeys(inside))


def _readers(touches: _Touches, events: Sequence[StoryEvent], names: Mapping[str, str]) -> list[str]:
    telling = {touches.heads.get(each.conversation, each.conversation) for each in events}
    heads = dict.fromkeys(touches.heads[hit.conversation] for hit in touches.hits)
    return [names[head] for head in heads if head not in telling]
