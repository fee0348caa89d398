"""Conversations from other programs: archives that a service provides to its users (read by the readers of exports),
and logs that contain only prompts."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ..core.subjects import OPENING, subject_of
from ..core.sync.pieces import conversation_id, merged, messages_of, traces_of
from ..domain.errors import Unreadable
from ..domain.records import Trust
from ..domain.when import to_ms
from ..readers import (
    ConversationHeader,
    ConversationKind,
    Cursor,
    Piece,
    Places,
    Reader,
    Role,
    Turn,
    WitnessRank,
)
from .contents import ForeignConversation, Record, UnplacedRecords
from .stores import Importer, existing_path


def archive_importer(reader: Reader) -> Importer:
    def read(path: Path) -> Iterator[Record]:
        places = Places(path.parent, {}, sys.platform, roots={reader.name: (path,)})
        sources = list(reader.find(places))
        if not sources:
            raise Unreadable(
                f"{path} has no conversations.json.", hint="Choose the archive as it was downloaded."
            )
        conversations = passed_over = 0
        for source in sources:
            modified_ms = source.path.stat().st_mtime_ns // 1_000_000
            for piece in reader.read(source, Cursor()):
                conversations += bool(piece.turns)
                passed_over += sum(piece.skipped.values())
                if piece.turns:
                    yield conversation_of(reader.name, "conversations", piece, modified_ms)
                for reason, count in piece.skipped.items():
                    yield UnplacedRecords("conversations", reason, count)
        if passed_over and not conversations:
            raise Unreadable(
                f"{path} contains nothing that {reader.title} wrote.",
                hint="Is it the archive of another service?",
            )

    return Importer(
        reader.name,
        reader.title,
        read,
        locate=existing_path,
        find=lambda places: (),
        folder=lambda path: None,
        realm=lambda path: "",
    )


def conversation_of(
    program: str,
    kind: str,
    piece: Piece,
    modified_ms: int,
    *,
    project: str = "",
    also: tuple[str, ...] = (),
) -> ForeignConversation:
    """Convert a complete conversation to the records that a sync would store.

    `modified_ms` is used for a conversation without times."""
    row = merged(program, piece, None, project=project, modified_ms=modified_ms, trust=Trust.IMPORTED)
    prompts = [turn.text for turn in piece.turns if turn.role == "user" and turn.text]
    row = row._replace(subject=subject_of(row.title, prompts[:OPENING]))
    messages = messages_of(row, piece.turns, {}, -1, row.created_at)
    traces = [trace for turn in piece.turns for trace in traces_of(row.id, turn)]
    return ForeignConversation(kind, row, tuple(messages), tuple(traces), also)


class Prompt(NamedTuple):
    id: str
    text: str
    at: datetime


def prompt_log(
    program: str,
    session: str,
    prompts: Sequence[Prompt],
    *,
    source: str,
    project: str,
    assistants: Sequence[str],
) -> ForeignConversation:
    """Convert the prompts of a session.

    The result is skipped if the history of one of the assistants contains the session."""
    turns = [Turn(each.id, Role.USER, each.text, to_ms(each.at)) for each in prompts if each.text.strip()]
    header = ConversationHeader(
        session,
        source,
        kind=ConversationKind.PROMPT_LOG,
        standing=WitnessRank.PROMPTS,
        completeness="partial",
    )
    also = tuple(conversation_id(assistant, session) for assistant in assistants)
    return conversation_of(program, "prompt logs", Piece(header, turns), 0, project=project, also=also)
