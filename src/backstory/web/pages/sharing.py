"""One conversation as a file: HTML to share, redacted once more, or Markdown; and the whole result of one tool call."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ...core import Core, stored_exports
from ...core.browsing.export import ConversationTree, as_markdown, file_stem
from ...core.secrets import redactor
from ...core.secrets.user_names import without_user_names
from ...domain.errors import NotFound
from ...domain.lines import strings_in
from ..page_query import PageQuery
from ..rendering import STATIC, templates
from ..view import Download, Json, View
from .cards import conversation_card
from .conversation import message_bodies, named_conversation

DEFAULT_REDACTION = "standard"


def export(core: Core, asked: PageQuery) -> Download:
    """The complete conversation with its subagents, as one self-contained file."""
    conversation = core.replay.conversation(asked.text("id"))
    form = asked.choice("as", ("html", "md")) or "html"
    tree = core.export.transcript(conversation)
    name = f"{file_stem(conversation)}.{form}".encode("ascii", "ignore").decode()
    if form == "md":
        return Download(name, "text/markdown; charset=utf-8", "".join(as_markdown(tree)))
    return Download(name, "text/html; charset=utf-8", html_to_share(core, tree))


def html_to_share(core: Core, tree: ConversationTree) -> str:
    """A conversation as one HTML document without secrets, home directories and user names."""
    body = shareable(_transcript(core, tree), core.engine.settings.redaction)
    style = (STATIC / "style.css").read_text("utf-8")
    return templates().get_template("export.html").render(transcript=body, style=Markup(style))


def stored_export(core: Core, asked: PageQuery) -> Download:
    """An export that a caller of a team server made, by the name it was given."""
    name = stored_exports.export_name(asked.text("name"), "name")
    text = stored_exports.read(core.engine, name)
    file = name.rpartition("/")[2].encode("ascii", "ignore").decode()
    return Download(file, "text/plain; charset=utf-8", text)


def _transcript(core: Core, tree: ConversationTree) -> Json:
    whole = core.replay.part(tree.conversation)
    prompts = {each.seq: each for each in core.replay.prompts(tree.conversation)}
    return {
        "conversation": conversation_card(tree.conversation, whole.end),
        "usage": core.usage.of(tree.conversation),
        "messages": message_bodies(whole, prompts),
        "started": [_transcript(core, each) for each in tree.started],
    }


def shareable(body: Json, mode: str) -> Json:
    """Remove secrets (also those that were stored unredacted), home directories and user names."""
    texts = list(strings_in(body))
    redacted, _ = redactor(DEFAULT_REDACTION if mode == "off" else mode).redact_all(texts)
    replaced = dict(zip(texts, without_user_names(redacted), strict=True))
    shared: Json = _with(body, replaced)
    return shared


def _with(value: Any, replaced: dict[str, str]) -> Any:
    if isinstance(value, str):
        return replaced[value]
    if isinstance(value, dict):
        return {name: _with(each, replaced) for name, each in value.items()}
    return [_with(each, replaced) for each in value] if isinstance(value, list) else value


def result_page(core: Core, asked: PageQuery) -> View:
    """The complete stored result of one call: `message` is the id of its message, `call` its index there."""
    conversation = named_conversation(core, asked.text("id"))
    message = core.replay.message(conversation, asked.text("message"))
    place = asked.number("call", 1, least=1)
    calls = core.replay.part(conversation, message.seq, 1).call_bodies(message)
    if place > len(calls) or calls[place - 1]["result"] is None:
        raise NotFound("result", f"{conversation.id}#{message.seq + 1}", hint="Its log contains no result.")
    call = calls[place - 1]
    body = {"conversation": conversation_card(conversation), "number": message.seq + 1, "call": call}
    return View("result.html", body, f"Result of {call['name']}", "result_text.html")
