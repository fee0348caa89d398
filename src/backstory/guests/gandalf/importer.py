"""Gandalf: the output of its export, one conversation per file, as JSON, Markdown or plain text.

Exports of the original program contain only names and counts, without messages, and are not imported. Exports of our
own tool of the same name contain everything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from ...domain.errors import Unreadable
from ...domain.lazy import lazy_pattern
from ...domain.records import Conversation, Message
from ...domain.when import from_ms
from ...importers.contents import ForeignConversation, Record, UnplacedRecords
from ...importers.stores import Importer, existing_path
from ...importers.tables import Row, rows_of
from ...readers import Places
from ...readers.formats.files import read_text
from ...readers.formats.paths import homes

NAME = "gandalf"
KIND = "conversations"
FORMS = (".json", ".md", ".txt")
"""File formats, most exact first."""

_TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z"
_HEADS = {
    ".md": lazy_pattern(rf"^#+ (?P<name>[^\n]+) \((?P<at>{_TIME})\)\n\n", re.MULTILINE),
    ".txt": lazy_pattern(rf"^\[(?P<at>{_TIME})\] (?P<name>[^\n]+):\n", re.MULTILINE),
}
_FACT = lazy_pattern(r"^(?:- )?(?P<name>[a-z][a-z _]*): (?P<value>[^\n]+)$", re.MULTILINE)
_ROLES = ("user", "assistant", "system", "summary", "tool", "thinking")
_QUOTED = ("tool", "thinking")


class Export(NamedTuple):
    """A parsed file in any of the formats."""

    about: Row
    messages: list[Row]


def find(places: Places) -> Iterator[Path]:
    yield from (home / ".gandalf" / "exports" for home in homes(places))


def read(path: Path) -> Iterator[Record]:
    files = sorted(path.iterdir(), key=_rank) if path.is_dir() else [path]
    seen: set[str] = set()
    for file in files:
        if file.suffix.lower() not in FORMS or not file.is_file():
            continue
        export = _export(file)
        id = "" if export is None else export.about.text("id")
        if export is None or not export.messages or not id:
            yield UnplacedRecords(KIND, "the file holds no messages")
        elif id in seen:
            yield UnplacedRecords(KIND, "the same conversation is there in another form")
        else:
            yield _conversation(export, id, file)
        seen.add(id)


def _rank(file: Path) -> tuple[int, str]:
    suffix = file.suffix.lower()
    return (FORMS.index(suffix) if suffix in FORMS else len(FORMS), file.name)


def _export(file: Path) -> Export | None:
    try:
        text = read_text(file)
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror or error}.") from error
    if file.suffix.lower() != ".json":
        return _parsed(text, _HEADS[file.suffix.lower()])
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return Export(Row(body), list(rows_of(body.get("messages")))) if isinstance(body, dict) else None


def _parsed(text: str, head: re.Pattern[str]) -> Export:
    """Parse a text: title and facts are before the first message, and each message is below its speaker and time."""
    heads = list(head.finditer(text))
    opening = text[: heads[0].start()] if heads else text
    facts = {heading["name"].replace(" ", "_"): heading["value"] for heading in _FACT.finditer(opening)}
    title = opening.partition("\n")[0].lstrip("# ").strip()
    ends = [following.start() for following in heads[1:]] + [len(text)]
    messages: list[dict[str, Any]] = []
    for heading, end in zip(heads, ends, strict=True):
        name, body = heading["name"], text[heading.end() : end].strip("\n")
        role = name.lower() if name.lower() in _ROLES else "assistant"
        if role in _QUOTED:
            body = re.sub(r"^> ?", "", body, flags=re.MULTILINE)
        messages.append({"role": role, "text": body, "created_at": heading["at"]})
    return Export(Row(facts | {"title": title}), list(map(Row, messages)))


def _conversation(export: Export, id: str, file: Path) -> ForeignConversation:
    about = export.about
    created_at = about.time("created_at", default=_modified(file))
    row = Conversation(
        id=f"{NAME}:{id}",
        title=about.text("title"),
        project=about.text("project"),
        surface=NAME,
        created_at=created_at,
        updated_at=about.time("updated_at", default=created_at),
        native_id=id,
        source=str(file),
        directory=about.text("project"),
        branch=about.text("branch"),
        model=about.text("model"),
        subject=about.text("conversation_type") or "general",
    )
    messages = tuple(_message(row, seq, message) for seq, message in enumerate(export.messages))
    return ForeignConversation(KIND, row, messages, also=(id,))


def _message(row: Conversation, seq: int, message: Row) -> Message:
    role = message.text("role")
    return Message(
        id=f"{row.id}/{seq}",
        conversation=row.id,
        seq=seq,
        role=role if role in _ROLES else "assistant",
        text=message.text("text"),
        project=row.project,
        surface=NAME,
        created_at=message.time("created_at", default=row.created_at),
    )


def _modified(file: Path) -> datetime:
    return from_ms(file.stat().st_mtime_ns // 1_000_000)


importer = Importer(
    NAME, "Gandalf's exports", read, existing_path, find, folder=lambda path: None, realm=lambda path: ""
)
