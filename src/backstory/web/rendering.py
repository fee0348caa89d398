"""Templates, and their filters for times, names and numbers. All values are escaped."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from ..core.names import short_memory_id
from ..domain.lazy import lazy_pattern
from ..domain.lines import counted, dollars, short_count
from ..domain.when import utc_now
from ..readers import load_readers
from .colour import coloured, language_of
from .heat import week_cells, year_cells
from .passages import inline, marked, passage, passage_line

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")
HUES = 12
_HUE_ORDER = (
    "claude-code", "codex", "cursor", "copilot", "gemini-cli", "opencode", "cline", "pi", "qwen-code", "zed",
    "goose",
)  # fmt: skip
"""Assistants with distinct colours; the others get colours in the order of the readers."""
LONGEST_RENDERED = 40_000
"""Characters; a longer text is a log or a file, and is shown as it is."""


_PATH_PART = lazy_pattern(r"[^/\\]*[/\\]*")
_PARAGRAPH_END = lazy_pattern(r"\n[ \t]*\n+")


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
        "about_link": lambda id: query({}, about=id),
        "ago": ago,
        "assistant": assistant_name,
        "breakable": breakable,
        "by_project_name": _by_project_name,
        "clock": lambda text: f"{_local(text):%H:%M}",
        "coloured": lambda text, path: coloured(text, language_of(path)),
        "counted": counted,
        "day": lambda text: _day(_local(text)),
        "dollars": dollars,
        "duration": duration,
        "file_name": file_name,
        "hue": hue,
        "in_two": in_two,
        "inline": inline,
        "markdown": markdown,
        "marked": marked,
        "marked_text": marked_text,
        "moment": lambda text: f"{_day(_local(text))}, {_local(text):%H:%M}",
        "month": lambda text: f"{_local(text):%b %Y}",
        "number": lambda value: f"{value:,}",
        "passage": passage,
        "passage_line": passage_line,
        "project": project_name,
        "segment": lambda text: quote(text, safe=""),
        "short_id": short_memory_id,
        "short_count": short_count,
        "short": lambda text: f"{_local(text).day} {_local(text):%b}",
        "week_cells": week_cells,
        "weekday": lambda text: f"{_local(text):%A}",
        "year_cells": year_cells,
    }
    environment.globals["query"] = query
    return environment


def query(parameters: dict[str, Any], **changes: Any) -> str:
    """The query string with some parameters changed; empty ones are left out."""
    changed = {name: value for name, value in {**parameters, **changes}.items() if value not in ("", None)}
    return f"?{urlencode(changed)}" if changed else ""


_project_names: ContextVar[Mapping[str, str]] = ContextVar("project names", default=MappingProxyType({}))


@contextmanager
def with_project_names(names: Mapping[str, str]) -> Iterator[None]:
    """Let templates use these names of projects; a missing one is shown by the last part of its path."""
    token = _project_names.set(names)
    try:
        yield
    finally:
        _project_names.reset(token)


def project_name(project: str) -> str:
    return _project_names.get().get(project) or file_name(project) or "no project"


def _by_project_name(projects: Sequence[str], chosen: str) -> list[str]:
    """Projects in the order of their names, the chosen one among them. Without the one that has no name: a filter with an
    empty value filters nothing."""
    return sorted(filter(None, {*projects, chosen}), key=lambda each: project_name(each).casefold())


def file_name(path: str) -> str:
    return PurePosixPath(path.replace("\\", "/")).name or path


def breakable(path: str) -> Markup:
    """A path that a browser wraps behind its slashes and not within names."""
    return Markup("<wbr>").join(escape(part) for part in _PATH_PART.findall(path))


def assistant_name(surface: str) -> str:
    return _titles().get(surface, surface)


@lru_cache(maxsize=1)
def _titles() -> dict[str, str]:
    return {name: reader.title for name, reader in load_readers().items()}


def hue(name: str) -> str:
    """The class that colours a name, the same on every page."""
    known = list(dict.fromkeys((*_HUE_ORDER, *_titles())))
    number = known.index(name) if name in known else zlib.crc32(name.encode())
    return f"hue{number % HUES}"


def ago(text: str) -> str:
    """The age of a time in words; the date if it is long ago."""
    moment = _local(text)
    passed = utc_now() - moment
    for limit, length, unit in _AGO:
        if passed < limit:
            return f"{counted(max(passed // length, 1), unit)} ago" if passed >= length else "just now"
    return _day(moment)


_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_AGO = ((_HOUR, _MINUTE, "minute"), (_DAY, _HOUR, "hour"), (7 * _DAY, _DAY, "day"))


def duration(seconds: float) -> str:
    """A length of time with the two largest units that say enough: 340 ms, 4.2 s, 3 min 5 s, 2 h 10 min."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def _local(text: str) -> datetime:
    """A time in the time zone of the machine that serves the page."""
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
    """Render a heading of a message as a paragraph: the headings of the page have an order of their own."""
    return f'<p class="heading {tokens[place].tag}">'


def _code(renderer: Any, tokens: Sequence[Any], place: int, options: Any, environment: Any) -> str:
    token = tokens[place]
    language = token.info.split()[0] if token.info.strip() else ""
    label = f'<span class="language">{escape(language[:20])}</span>' if language else ""
    code = coloured(token.content, language)
    return f'<div class="code">{label}<pre tabindex="0"><code>{code}</code></pre></div>\n'


def markdown(text: str) -> Markup:
    if len(text) > LONGEST_RENDERED:
        return plain(text)
    return Markup(_parser().render(text))


def in_two(text: str, chars: int) -> tuple[str, str]:
    """A long text as its beginning and the rest, parted between two paragraphs and not within a block of code."""
    ends = [match.end() for match in _PARAGRAPH_END.finditer(text, 0, chars)]
    end = next((each for each in reversed(ends) if text.count("```", 0, each) % 2 == 0), chars)
    return text[:end], text[end:]


def plain(text: str) -> Markup:
    return Markup('<div class="plain">{}</div>').format(text)


def marked_text(text: str, wanted: str) -> Markup:
    """The text with every occurrence of another marked, in any case."""
    parts = re.split(f"({re.escape(wanted)})", text, flags=re.IGNORECASE) if wanted else [text]
    return Markup().join(
        Markup("<mark>{}</mark>").format(part) if place % 2 else escape(part)
        for place, part in enumerate(parts)
    )
