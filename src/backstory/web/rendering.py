"""Templates, and how they show times, names and numbers. Whatever is put into one is escaped."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from ..core.names import short_memory_id
from ..domain.lines import counted
from ..domain.when import utc_now
from ..readers import load_readers
from ..search.terms import stem

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")
HUES = 8
LONGEST_RENDERED = 8_000
"""Characters; a longer text is a log or a file, and is shown as it is."""


@lru_cache(maxsize=1)
def templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    environment.filters |= {
        "ago": ago,
        "assistant": assistant_name,
        "clock": lambda text: f"{_local(text):%H:%M}",
        "counted": counted,
        "day": lambda text: _day(_local(text)),
        "hue": hue,
        "markdown": markdown,
        "marked": marked,
        "moment": lambda text: f"{_day(_local(text))}, {_local(text):%H:%M}",
        "number": lambda value: f"{value:,}",
        "project": project_name,
        "segment": lambda text: quote(text, safe=""),
        "short_id": short_memory_id,
        "short": lambda text: f"{_local(text).day} {_local(text):%b}",
        "weekday": lambda text: f"{_local(text):%A}",
    }
    environment.globals["query"] = query
    return environment


def query(parameters: dict[str, Any], **changes: Any) -> str:
    """The parameters with some changed, as the end of an address; what is empty is left out."""
    changed = {name: value for name, value in {**parameters, **changes}.items() if value not in ("", None)}
    return f"?{urlencode(changed)}" if changed else ""


def project_name(project: str) -> str:
    return PurePosixPath(project.replace("\\", "/")).name or project or "no project"


def assistant_name(surface: str) -> str:
    return _titles().get(surface, surface)


@lru_cache(maxsize=1)
def _titles() -> dict[str, str]:
    return {name: reader.title for name, reader in load_readers().items()}


def hue(name: str) -> str:
    """The class that colours a name, the same on every page."""
    known = list(_titles())
    number = known.index(name) if name in known else zlib.crc32(name.encode())
    return f"hue{number % HUES}"


def ago(text: str) -> str:
    """How long ago, as people say it; the day itself when that is long."""
    moment = _local(text)
    passed = utc_now() - moment
    for limit, length, unit in _AGO:
        if passed < limit:
            return f"{counted(max(passed // length, 1), unit)} ago" if passed >= length else "just now"
    return _day(moment)


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_AGO = ((_HOUR, _MINUTE, "minute"), (_DAY, _HOUR, "hour"), (7 * _DAY, _DAY, "day"))


def _local(text: str) -> datetime:
    """In the time of the machine that serves the page."""
    return datetime.fromisoformat(text).astimezone()


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("js-default", {"html": False, "linkify": False, "breaks": True})
    parser.disable("image")  # it would be asked for elsewhere
    parser.validateLink = lambda url: url.startswith(("https://", "http://"))  # type: ignore[method-assign]  # markdown-it's own way
    parser.add_render_rule("heading_open", _heading)
    parser.add_render_rule("heading_close", lambda *_: "</p>\n")
    parser.add_render_rule("table_open", lambda *_: '<div class="wide" tabindex="0" role="group"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", _code)
    parser.add_render_rule("code_block", _code)
    return parser


def _heading(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    """Of a message, not of the page: those have an order of their own."""
    return f'<p class="heading {tokens[place].tag}">'


def _code(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    language = token.info.split()[0] if token.info.strip() else ""
    label = f'<span class="language">{escape(language[:20])}</span>' if language else ""
    return f'<div class="code">{label}<pre tabindex="0"><code>{escape(token.content)}</code></pre></div>\n'


def markdown(text: str) -> Markup:
    if len(text) > LONGEST_RENDERED:
        return plain(text)
    return Markup(_parser().render(text))


def plain(text: str) -> Markup:
    return Markup('<div class="plain">{}</div>').format(text)


def marked(text: str, words: Sequence[str]) -> Markup:
    """The text with every word of the search marked, whatever its ending."""
    stems = sorted({re.escape(stem(word.lower())) for word in words if word.strip()}, key=len, reverse=True)
    if not stems:
        return escape(text)
    pattern = re.compile(rf"(?<![^\W_])(?:{'|'.join(stems)})\w*", re.IGNORECASE)
    shown, end = Markup(), 0
    for found in pattern.finditer(text):
        shown += escape(text[end : found.start()]) + Markup("<mark>{}</mark>").format(found[0])
        end = found.end()
    return shown + escape(text[end:])
