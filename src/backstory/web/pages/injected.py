"""Injected: every text that hooks added to sessions, word for word, with its time and effect, and the briefs for new
sessions."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import Core
from ...core.brief.files import BriefFiles
from ...core.hooks.receipts import injected
from ...domain.records import Conversation, Injection
from ...domain.tokens import count_tokens
from ...domain.when import from_ms, iso
from ...readers import reader_names
from ..page_query import PageQuery
from ..view import Json, View
from .cards import conversation_card

MOST_GIVEN = 200


def page(core: Core, asked: PageQuery) -> View:
    files = BriefFiles(core.engine.settings.home)
    briefs = [body for path in files.all() if (body := files.read(path))] if core.caller.is_local else []
    body = {
        "briefs": sorted(map(_brief, briefs), key=lambda each: str(each["project"])),
        "given": _given(core, injected(core, MOST_GIVEN)),
    }
    return View("injected.html", body, "Injected")


def _brief(body: Json) -> Json:
    return {
        "project": body["project"],
        "text": body["text"],
        "tokens": count_tokens(body["text"]),
        "about": iso(from_ms(body["last_at"])) if body["last_at"] else None,
    }


def _given(core: Core, injections: Sequence[Injection]) -> list[Json]:
    ids = {f"{reader}:{each.session}" for each in injections for reader in reader_names()}
    known = {each.native_id: each for each in core.browsing.by_id(ids).values()}
    return [_injection(each, known.get(each.session)) for each in injections]


def _injection(injection: Injection, conversation: Conversation | None) -> Json:
    return {
        "session": injection.session,
        "at": iso(injection.given_at),
        "project": injection.project,
        "event": injection.event,
        "subject": injection.subject,
        "text": injection.text,
        "tokens": count_tokens(injection.text),
        "certainty": injection.certainty,
        "used": injection.used,
        "conversation": None if conversation is None else conversation_card(conversation),
    }
