"""Which statements of a project are about a file, and how they became events of its story."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ...domain.lazy import lazy_pattern
from ...domain.neutral import neutral
from ...domain.records import Conversation, Trust
from ...domain.statements import Speaker, Statement, StatementKind, StatementState
from ...domain.story import EventReference, StoryEvent, StoryKind
from ...store import Store
from ..statements.commands import QUIET_COMMIT
from .file import StoryFile
from .requests import Requests, UserRequest

STORY_KINDS = (StatementKind.DECISION, StatementKind.PREFERENCE, StatementKind.DROPPED, StatementKind.FIX)
MAX_FILES_OF_A_REQUEST = 3
"""Maximum number of files that a request changed for its decisions to count for each file.

With more files, a decision that names none of them is about the work in general."""
REPEATED_SHARE = 0.5
"""The share of a request's characters."""
_WORD = lazy_pattern(r"[\w@.+-]+")


class FileStatements:
    """The statements about one file, with the statements that they superseded or were superseded by."""

    def __init__(
        self,
        store: Store,
        file: StoryFile,
        requests: Requests,
        changing: Iterable[UserRequest],
        conversations: Mapping[str, Conversation],
    ) -> None:
        self._store = store
        self._file = file
        self._requests = requests
        self._conversations = conversations
        self._changing = {each: self._other_files(each) for each in changing}

    def among(self, statements: Sequence[Statement]) -> list[Statement]:
        """The statements about the file, in the given order."""
        known = {each.id: each for each in statements if each.kind in STORY_KINDS and _counts(each)}
        chosen = {id for id, each in known.items() if self._is_about(each)}
        chosen |= {each.superseded_by for each in known.values() if each.id in chosen} & known.keys()
        chosen |= {each.id for each in known.values() if each.superseded_by in chosen}
        return [each for id, each in known.items() if id in chosen]

    def _is_about(self, statement: Statement) -> bool:
        if self._file.is_named_in(statement.text, statement.project):
            return True
        request = self._requests.at(statement.conversation, statement.place)
        if request not in self._changing:
            return False
        others = self._changing[request]
        words = {word.rstrip(".").lower() for word in _WORD.findall(statement.text)}
        return len(others) < MAX_FILES_OF_A_REQUEST and others.isdisjoint(words)

    def _other_files(self, request: UserRequest) -> set[str]:
        """The names of the other files that a request changed."""
        conversation = self._conversations.get(request.conversation)
        traces = self._store.traces.of(request.conversation, range(max(request.place, 0), request.end))
        return {
            trace.value.replace("\\", "/").rpartition("/")[2].lower()
            for trace in traces
            if trace.kind == "written" and not (conversation and self._file.is_at(trace.value, conversation))
        }


def statement_events(statements: Sequence[Statement], names: Mapping[str, str]) -> Iterator[StoryEvent]:
    """`names` has, by id, the name of each conversation."""
    by_id = {each.id: each for each in statements}
    for each in statements:
        later = by_id.get(each.superseded_by)
        yield StoryEvent(
            at=each.at,
            kind=StoryKind(each.kind.value),
            text=neutral(each.text.removeprefix(QUIET_COMMIT)),
            name=_name(each, names),
            conversation=each.conversation,
            number=each.place + 1,
            reason=neutral(each.reason),
            state=each.state.value,
            superseded_by=_reference(later, names) if later else None,
            supersedes=tuple(
                _reference(other, names) for other in statements if other.superseded_by == each.id
            ),
            confirmations=each.confirmations,
            # what a log records is as good as the log, which was chosen
            trust=Trust.OWN if each.speaker is Speaker.LOG and each.trust is Trust.TOOL else each.trust,
        )


def without_repetition(asked: Iterable[StoryEvent], stated: Sequence[StoryEvent]) -> list[StoryEvent]:
    """Both lists, without requests that say little more than their statement, which then gets their edits."""
    statements = list(stated)
    requests = []
    for request in asked:
        places = [
            place
            for place, event in enumerate(statements)
            if (event.conversation, event.number) == (request.conversation, request.number)
        ]
        if sum(len(statements[place].text) for place in places) < REPEATED_SHARE * len(request.text):
            requests.append(request)
        else:
            first = statements[places[0]]
            statements[places[0]] = first._replace(edits=request.edits, answers=request.answers)
    return [*requests, *statements]


def _reference(statement: Statement, names: Mapping[str, str]) -> EventReference:
    return EventReference(_name(statement, names), neutral(statement.text), neutral(statement.reason))


def _name(statement: Statement, names: Mapping[str, str]) -> str:
    return f"{names[statement.conversation]}#{statement.place + 1}"


def _counts(statement: Statement) -> bool:
    return statement.state is not StatementState.DISMISSED
