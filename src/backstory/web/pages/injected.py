"""Injected: what new sessions are told where a project stands, which of them were told it, when, and what it costs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from ...clients.hook import checksum
from ...core import Core
from ...core.briefs import GIVEN, BriefFiles
from ...domain.tokens import count_tokens
from ...domain.when import from_ms, iso
from ...readers import reader_names
from ..asked import Asked
from ..view import Json, View
from .cards import conversation_card

MOST_GIVEN = 200


def page(core: Core, asked: Asked) -> View:
    files = BriefFiles(core.engine.settings.home)
    briefs = [body for path in files.all() if (body := files.read(path))] if core.caller.is_local else []
    texts = {checksum(text): body for body in briefs for text in (body["text"], body["continued"]) if text}
    body = {
        "briefs": sorted(map(_brief, briefs), key=lambda each: str(each["project"])),
        "given": _given(core, files, texts) if core.caller.is_local else [],
    }
    return View("injected.html", body, "Injected")


def _brief(body: Json) -> Json:
    return {
        "project": body["project"],
        "text": body["text"],
        "tokens": count_tokens(body["text"]),
        "about": iso(from_ms(body["last_at"])) if body["last_at"] else None,
    }


def _given(core: Core, files: BriefFiles, texts: dict[str, Json]) -> list[Json]:
    """The last first. A session's note holds the mark of the text; which text it was is known while the brief says the same."""
    notes = sorted((files.folder / GIVEN).glob("*"), key=_changed, reverse=True)[:MOST_GIVEN]
    ids = [f"{reader}:{note.name}" for note in notes for reader in reader_names()]
    conversations = {each.native_id: each for each in core.engine.store.conversations.get(ids)}
    told = []
    for note in notes:
        brief = texts.get(_read(note))
        known = conversations.get(note.name)
        told.append(
            {
                "session": note.name,
                "at": iso(datetime.fromtimestamp(_changed(note), UTC)),
                "project": brief["project"] if brief else known.project if known else "",
                "tokens": count_tokens(brief["text"]) if brief else None,
                "conversation": None if known is None else conversation_card(known),
            }
        )
    return told


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # swept meanwhile
        return 0.0


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError:
        return ""
