"""Antigravity, the editor and its command line, as far as its files are readable.

Its transcripts are logs of steps. Conversations without a transcript are encrypted or in an unpublished format. For
these, only the assistant's plans and the log of prompts are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import ConversationHeader, Cursor, Form, Piece, Places, Reader, Role, Source, Turn, WitnessRank
from ..formats.files import open_regular, read_text
from ..formats.lines import OBJECTS, read_records
from ..formats.logs import Log
from ..formats.paths import homes
from ..formats.pieces import whole
from ..formats.values import text_of, time_ms
from .transcripts import read_transcript

PROMPT_LOG = "history.jsonl"
TRANSCRIPT = ".system_generated/logs/transcript.jsonl"
PLANS = ("implementation_plan.md", "task.md", "walkthrough.md")


def find(places: Places) -> Iterator[Source]:
    for root in dict.fromkeys(_roots(places)):
        workspaces = _workspaces(root / PROMPT_LOG)
        if (root / PROMPT_LOG).is_file():
            yield Source(root / PROMPT_LOG, Form.LOG)
        for brain in sorted(root.glob("brain/*/")):
            directory = workspaces.get(brain.name, "")
            if (path := brain / TRANSCRIPT).is_file():
                yield Source(path, Form.DOCUMENT, directory)
            else:
                plans = (brain / name for name in PLANS)
                yield from (Source(path, Form.DOCUMENT, directory) for path in plans if path.is_file())
        for path in sorted(root.glob("conversations/*")):
            if path.suffix in (".pb", ".db") and not (root / "brain" / path.stem / TRANSCRIPT).is_file():
                yield Source(path, Form.DOCUMENT, workspaces.get(path.stem, ""))


def _roots(places: Places) -> Iterator[Path]:
    yield from places.roots.get("antigravity", ())
    for home in homes(places):
        yield from sorted(path for path in home.glob(".gemini/antigravity*") if path.is_dir())


def _workspaces(path: Path) -> dict[str, str]:
    """Return the directory of each conversation in the log of prompts."""
    try:
        with open_regular(path) as stream:
            records = [record for _, record in read_records(stream, OBJECTS, Counter())]
    except OSError:
        return {}
    return {text_of(each.get("conversationId")): text_of(each.get("workspace")) for each in records}


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    if source.form is Form.LOG:
        yield from _read_prompts(source.path, cursor)
    elif source.path.suffix == ".jsonl":
        yield from read_transcript(source, source.path.parents[2].name)
    elif source.path.suffix == ".md":
        yield from _read_plan(source)
    else:
        yield _name_only(source)


def _read_prompts(path: Path, cursor: Cursor) -> Iterator[Piece]:
    log = Log(str(path), cursor)

    def hear(record: dict[str, Any]) -> None:
        id, text = text_of(record.get("conversationId")), text_of(record.get("display")).strip()
        if id and text:
            conversation = log.prompt(id, text, time_ms(record.get("timestamp")))
            conversation.directory = conversation.directory or text_of(record.get("workspace"))

    with open_regular(path) as stream:
        yield from log.read(stream, OBJECTS, hear)


def _read_plan(source: Source) -> Iterator[Piece]:
    """Read a plan as a turn of its conversation. Each plan is a separate file."""
    text = read_text(source.path).strip()
    turns = [Turn(source.path.stem, Role.ASSISTANT, text)] if text else []
    header = ConversationHeader(
        source.path.parent.name,
        str(source.path),
        directory=source.directory,
        completeness="plans only",
        standing=WitnessRank.PROMPTS,
    )
    yield whole(header, turns)._replace(is_whole=False)


def _name_only(source: Source) -> Piece:
    """Return a piece without turns, which only records that the conversation exists."""
    header = ConversationHeader(
        source.path.stem,
        str(source.path),
        directory=source.directory,
        completeness="encrypted" if source.path.suffix == ".pb" else "not readable",
        standing=WitnessRank.PROMPTS,
    )
    return Piece(header, (), Cursor())


reader = Reader("antigravity", "Antigravity", find, read)
