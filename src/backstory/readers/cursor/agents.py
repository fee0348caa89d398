"""The store of Cursor's agents: transcripts, which have no times, and a database next to each, which has little
else."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from glob import escape
from pathlib import Path
from typing import Any, NamedTuple

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from .. import ConversationHeader, ConversationKind, Piece, Role, Source, ToolCall, Turn, WitnessRank
from ..formats.blocks import Block, Use, blocks_of, output_of, text_in, thinking_in
from ..formats.databases import document, open_database, tables
from ..formats.documents import read_beside
from ..formats.files import open_regular, read_text
from ..formats.lines import OBJECTS, read_records
from ..formats.noise import head_and_tail, without_blocks
from ..formats.paths import path_of
from ..formats.pieces import whole
from ..formats.protobuf import fields_in
from ..formats.touched import tool_call
from ..formats.values import fields_of, text_of, time_ms

QUERY = lazy_pattern(r"<user_query>(.*?)</user_query>", re.DOTALL)
INJECTED = (
    "user_info",
    "git_status",
    "project_layout",
    "rules",
    "timestamp",
    "external_links",
    "attached_files",
    "open_and_recently_viewed_files",
    "system_reminder",
)
RESULTS = ("tool_result", "tool-result")
SILENT = ("turn_ended", "error")
CALLS = {"tool_use": ("name", "input"), "tool_call": ("name", "input"), "tool-call": ("toolName", "args")}
SPEAKER = lazy_pattern(r"^(user|assistant|A):[ \t]*$", re.MULTILINE)
SECTION = lazy_pattern(r"^\[(Thinking|Tool call|Tool result)\][ \t]*(.*)$", re.MULTILINE)
UNKNOWN = "record of unknown kind"
WITHHELD = "[REDACTED]"  # placeholder for the model's thoughts
REFERENCE_BYTES = 32


class About(NamedTuple):
    """Properties of a transcript, from other files in its directory."""

    name: str = ""
    model: str = ""
    directory: str = ""
    created_ms: int | None = None
    updated_ms: int | None = None


def read_transcript(source: Source) -> Iterator[Piece]:
    """Read a transcript of JSON lines or, from older builds, of plain text. The only time is that of the file."""
    path = source.path
    skipped: Counter[str] = Counter()
    if path.suffix == ".txt":
        turns = list(_text_turns(read_text(path)))
    else:
        with open_regular(path) as file:
            turns = list(_turns((record for _, record in read_records(file, OBJECTS, skipped)), skipped))
    if turns:
        yield whole(_header(source), turns, skipped)


def _header(source: Source) -> ConversationHeader:
    path = source.path
    about = _about_beside(_above(path, "projects"), path.stem)
    parts = path.parts
    is_subagent = "subagents" in parts
    parent = parts[parts.index("subagents") - 1] if is_subagent else ""
    return ConversationHeader(
        path.stem,
        str(path),
        title=about.name,
        directory=about.directory or source.directory,
        kind=ConversationKind.SUBAGENT if is_subagent else ConversationKind.MAIN,
        parent=parent if parent not in ("", "agent-transcripts") else None,
        model=about.model,
        started_ms=about.created_ms,
        ended_ms=about.updated_ms or path.stat().st_mtime_ns // 1_000_000,
        standing=WitnessRank.REPLAY,  # the editor's own database has more data about the same conversation
    )


def _above(path: Path, *names: str) -> Path:
    """Return the root of the agents' store."""
    return next((parent.parent for parent in path.parents if parent.name in names), path.parent)


def _turns(records: Iterable[dict[str, Any]], skipped: Counter[str]) -> Iterator[Turn]:
    """Yield turns, identified by the number of their record. A tool's answer belongs to the turn that called it."""
    waiting: Turn | None = None
    answers: list[Block] = []
    messages = [(record, _blocks(record)) for record in records]
    is_tagged = any(_has_query(record, blocks) for record, blocks in messages)
    for number, (record, blocks) in enumerate(messages):
        role = record.get("role")
        answers += (block for block in blocks if block.get("type") in RESULTS)
        if turn := _turn(str(number), role, blocks, is_tagged):
            if waiting:
                yield _with_outputs(waiting, answers)
            waiting, answers = turn, []
        elif role not in ("user", "assistant", "tool", "system") and record.get("type") not in SILENT:
            skipped[UNKNOWN] += 1
    if waiting:
        yield _with_outputs(waiting, answers)


def _blocks(record: Mapping[str, Any]) -> list[Block]:
    return blocks_of(fields_of(record.get("message")).get("content") or record.get("content"))


def _has_query(record: Mapping[str, Any], blocks: list[Block]) -> bool:
    return record.get("role") == "user" and QUERY.search(text_in(blocks)) is not None


def _turn(id: str, role: object, blocks: list[Block], is_tagged: bool) -> Turn | None:
    if role == "user":
        prompt, is_typed = prompt_in(text_in(blocks), is_tagged)
        return Turn(id, Role.USER if is_typed else Role.SYSTEM, prompt) if prompt else None
    if role != "assistant":
        return None
    blocks = [block for block in blocks if block.get("text") != WITHHELD]
    calls = tuple(_calls(blocks))
    thinking = thinking_in(
        block | {"type": "thinking"} if block.get("type") == "reasoning" else block for block in blocks
    )
    return _assistant_turn(id, text_in(blocks), thinking, calls)


def _assistant_turn(id: str, text: str, thinking: str, calls: tuple[ToolCall, ...]) -> Turn | None:
    return Turn(id, Role.ASSISTANT, text, None, thinking, calls) if text or thinking or calls else None


def _calls(blocks: Iterable[Block]) -> Iterator[ToolCall]:
    for block in blocks:
        if keys := CALLS.get(text_of(block.get("type"))):
            yield Use("", text_of(block.get(keys[0])), block.get(keys[1])).call()


def _with_outputs(turn: Turn, answers: list[Block]) -> Turn:
    """Add results to the calls of a turn in order, because calls have no ids here."""
    calls = list(turn.calls)
    for position, answer in enumerate(answers[: len(calls)]):
        calls[position] = output_of(answer).added_to(calls[position])
    return turn._replace(calls=tuple(calls))


def prompt_in(text: str, is_tagged: bool) -> tuple[str, bool]:
    """Return the person's text and True; or, if there is none, the harness's text and False.

    If a transcript tags typed text, all other text in the person's name is the harness's."""
    typed = "\n\n".join(query.strip() for query in QUERY.findall(text))
    if not typed and not is_tagged:
        typed = without_blocks(text, INJECTED)
    return (typed, True) if typed else (head_and_tail(text.strip()), False)


def _text_turns(text: str) -> Iterator[Turn]:
    """Parse the old format: `user:` and `assistant:` on separate lines, and sections in brackets."""
    _, *parts = SPEAKER.split(text)
    is_tagged = QUERY.search(text) is not None
    for number, (speaker, spoken_text) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
        if speaker == "user":
            typed, is_typed = prompt_in(spoken_text.strip(), is_tagged)
            if typed:
                yield Turn(str(number), Role.USER if is_typed else Role.SYSTEM, typed)
        elif turn := _answer(str(number), spoken_text):
            yield turn


def _answer(id: str, spoken_text: str) -> Turn | None:
    head, *sections = SECTION.split(spoken_text)
    texts, thoughts, calls = [head], [], []
    for kind, line, rest in zip(sections[::3], sections[1::3], sections[2::3], strict=True):
        body, _, after = rest.partition("\n\n")
        if kind == "Thinking":
            thoughts.append(f"{line}\n{body}".strip())
            texts.append(after)
        elif kind == "Tool call":
            pairs = (pair.partition(":") for pair in body.split("\n") if pair.startswith((" ", "\t")))
            calls.append(tool_call(line.strip(), {key.strip(): value.strip() for key, _, value in pairs}))
            texts.append(after)
    text = "\n\n".join(filter(None, (each.strip() for each in texts)))
    return _assistant_turn(id, text, "\n\n".join(thoughts), tuple(calls))


def _about_beside(root: Path, id: str) -> About:
    for directory in root.glob(f"chats/*/{escape(id)}"):
        return _about(directory)
    return About()


def _about(directory: Path) -> About:
    meta = fields_of(read_beside(directory / "meta.json"))
    facts: dict[str, Any] = {}
    try:
        with open_database(directory / "store.db") as connection:
            facts = _meta(connection)
    except (OSError, Unreadable):
        pass  # the database is a separate source, which reports the problem
    return _known(meta, facts)


def _known(meta: Mapping[str, Any], facts: Mapping[str, Any]) -> About:
    return About(
        text_of(facts.get("name")),
        text_of(facts.get("lastUsedModel")),
        path_of(meta.get("cwd")),
        time_ms(meta.get("createdAtMs")) or time_ms(facts.get("createdAt")),
        time_ms(meta.get("updatedAtMs")),
    )


def _meta(connection: sqlite3.Connection) -> dict[str, Any]:
    """Return the metadata, which is JSON in hexadecimal digits."""
    if "meta" not in tables(connection):
        return {}
    row = connection.execute("SELECT value FROM meta WHERE key = '0'").fetchone()
    try:
        return fields_of(document(bytes.fromhex(str(row[0])) if row else None))
    except ValueError:
        return fields_of(document(row[0]))


def read_store(source: Source) -> Iterator[Piece]:
    """Read a conversation that exists only in the database.

    If there is a transcript, that is better, and nothing is read here."""
    path = source.path
    id = path.parent.name
    transcripts = f"projects/*/agent-transcripts/{escape(id)}"
    root = _above(path, "chats", "acp-sessions")
    if any(any(root.glob(transcripts + ending)) for ending in (".*", f"/{escape(id)}.jsonl")):
        return
    with open_database(path) as connection:
        facts = _meta(connection)
        turns = list(_turns(_messages(connection, text_of(facts.get("latestRootBlobId"))), Counter()))
    about = _known(fields_of(read_beside(path.with_name("meta.json"))), facts)
    if turns or about.name:
        header = ConversationHeader(
            text_of(facts.get("agentId")) or id,
            str(path),
            title=about.name,
            directory=about.directory or source.directory,
            model=about.model,
            started_ms=about.created_ms,
            ended_ms=about.updated_ms,
            completeness="partial",
            standing=WitnessRank.REPLAY if turns else WitnessRank.PROMPTS,
        )
        yield whole(header, turns)._replace(is_whole=bool(turns))


def _messages(connection: sqlite3.Connection, root: str) -> Iterator[dict[str, Any]]:
    """Yield the messages that the root refers to, if they clearly are messages. Other kinds of blobs are ignored."""
    if "blobs" not in tables(connection):
        return
    for field in fields_in(_blob(connection, root)) or ():
        if isinstance(field.value, bytes) and len(field.value) == REFERENCE_BYTES:
            message = fields_of(document(_blob(connection, field.value.hex())))
            if message.get("role") in ("user", "assistant", "tool") and "content" in message:
                yield message


def _blob(connection: sqlite3.Connection, id: str) -> bytes:
    row = connection.execute("SELECT data FROM blobs WHERE id = ?", (id,)).fetchone()
    data = row[0] if row else b""
    return data.encode("utf-8", "replace") if isinstance(data, str) else bytes(data or b"")
