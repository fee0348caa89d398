"""Statements that answer a query, ranked before the conversations that a search returns.

The search returns messages. If one of them contains a statement that the query asks for, the statement itself comes
first: in its first wording, with its reason, regardless of later repetitions, and marked if a later one superseded
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..domain.kinds import MemoryKind
from ..domain.records import Conversation, Message
from ..domain.statements import Statement, StatementKind, StatementState
from ..search.engine import Hit
from .ask import Inquiry
from .browsing import Browsing
from .part import CallContext, CorePart
from .statements.relations import StatedText, StatementRelation, relation

if TYPE_CHECKING:
    from .state import ProjectStates  # 20 ms with all that derives statements, and most hits state nothing

ANSWERING_KINDS = (StatementKind.DECISION, StatementKind.PREFERENCE, StatementKind.DROPPED)
MAX_STATEMENTS = 3
MAX_HITS = 20
MAX_PROJECTS = 2
"""The number of projects, those of the best hits, whose state is computed for one query."""
SHARED_WORDS = 2
"""Content words of the question that a statement must have; all of them, if the question has fewer."""
REPEATED_IN = 2
"""If this number of the found conversations repeat a statement, one shared word is enough: "PostgreSQL" does not
contain "which database"."""


class AnsweringStatement(NamedTuple):
    statement: Statement
    name: str
    """The message that states it, as people name it."""
    later: str
    """The message that superseded it, if one did."""
    assistant: str
    certainty: float


class _StatedHit(NamedTuple):
    """A statement in a message that the search found."""

    message: Message
    text: str
    certainty: float


class StatementAnswers(CorePart):
    def __init__(self, context: CallContext, states: Callable[[], ProjectStates], browsing: Browsing) -> None:
        super().__init__(context)
        self._states = states
        self._browsing = browsing

    def find(self, inquiry: Inquiry, hits: Sequence[Hit], limit: int) -> list[AnsweringStatement]:
        """The statements in the hits of a search that answer the question: statements in force first, then the most
        confirmed."""
        if inquiry.kind not in (None, MemoryKind.DECISION, MemoryKind.PREFERENCE):
            return []
        certainties: dict[str, float] = {}
        statements: dict[str, Statement] = {}
        for hit, statement in self._originals(inquiry, hits):
            statements[statement.id] = statement
            certainties[statement.id] = max(hit.certainty, certainties.get(statement.id, 0.0))
        ids = sorted({each.conversation for each in statements.values()})
        conversations = {each.id: each for each in self.engine.store.conversations.get(ids)}
        names = {id: self._browsing.names([id]).short(id) for id in ids}
        order = sorted(
            (
                each
                for each in statements.values()
                if _passes(each, conversations[each.conversation], inquiry)
            ),
            key=lambda each: (not each.holds, -each.confirmations, -certainties[each.id]),
        )
        return [
            AnsweringStatement(
                each,
                _name(each, names),
                _name(statements[each.superseded_by], names) if each.superseded_by in statements else "",
                conversations[each.conversation].surface,
                certainties[each.id],
            )
            for each in order[: min(MAX_STATEMENTS, limit)]
        ]

    def _originals(self, inquiry: Inquiry, hits: Sequence[Hit]) -> Iterator[tuple[_StatedHit, Statement]]:
        question = StatedText.of(inquiry.query)
        stated = [each for each in self._stated(hits, inquiry.kind) if _shares_words(each.text, question, 1)]
        projects = list(dict.fromkeys(each.message.project for each in stated))[:MAX_PROJECTS]
        states = {project: self._states().of(project).statements for project in projects}
        chains = [(each, [*_chain(each, states.get(each.message.project, ()))]) for each in stated]
        repeated: dict[str, set[str]] = {}
        for each, chain in chains:
            for statement in chain[:1]:
                repeated.setdefault(statement.id, set()).add(each.message.conversation)
        for each, chain in chains:
            is_repeated = bool(chain) and len(repeated[chain[0].id]) >= REPEATED_IN
            if is_repeated or _shares_words(each.text, question, SHARED_WORDS):
                yield from ((each, statement) for statement in chain)

    def _stated(self, hits: Sequence[Hit], kind: str | None) -> Iterator[_StatedHit]:
        """The statements in the messages that were found, of one kind or of all kinds that answer queries."""
        kinds = ANSWERING_KINDS if kind is None else (StatementKind(kind),)
        certainties = {
            entry: hit.certainty
            for hit in hits[:MAX_HITS]
            if hit.conversation
            for entry in (hit.entry, *hit.other_places)
        }
        entries = self.load(self.engine.store.sayings.stating(certainties, kinds))
        messages = {
            each.id: (each, certainties[n]) for n, each in entries.items() if isinstance(each, Message)
        }
        for id, texts in self.engine.store.sayings.by_message(list(messages), kinds).items():
            message, certainty = messages[id]
            yield from (_StatedHit(message, text, certainty) for text in texts)


def _name(statement: Statement, names: Mapping[str, str]) -> str:
    return f"{names[statement.conversation]}#{statement.place + 1}"


def _shares_words(text: str, question: StatedText, count: int) -> bool:
    """True if a text has at least `count` content words of the question, or all of them if the question has fewer."""
    needed = min(count, len(question.words))
    return needed > 0 and len(question.words & StatedText.of(text).words) >= needed


def _chain(hit: _StatedHit, statements: Sequence[Statement]) -> Iterator[Statement]:
    """The statement itself, or the one it confirms, and the statements that superseded it."""
    stated = StatedText.of(hit.text)
    of_project = {each.id: each for each in statements if each.kind in ANSWERING_KINDS}
    original = next(
        (each for each in of_project.values() if each.message == hit.message.id and each.text == hit.text),
        None,
    ) or next(
        (
            each
            for each in of_project.values()
            if relation(stated, StatedText.of(each.text)) is StatementRelation.CONFIRMS
        ),
        None,
    )
    while original is not None and original.state is not StatementState.DISMISSED:
        yield original
        original = of_project.get(original.superseded_by)


def _passes(statement: Statement, conversation: Conversation, inquiry: Inquiry) -> bool:
    """True if a statement passes the filters of the query: it may be older than the message that was found."""
    return (
        (inquiry.since is None or statement.at >= inquiry.since)
        and (inquiry.until is None or statement.at < inquiry.until)
        and inquiry.assistant in (None, conversation.surface)
    )
