"""Templates, and how they show times, names and numbers. Whatever is put into one is escaped."""

from __future__ import annotations

import zlib
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from ..domain.when import utc_now
from ..readers import load_readers
from .prose import markdown, marked

TEMPLATES = Path(__file__).with_name("templates")
STATIC = Path(__file__).with_name("static")
HUES = 8


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


def counted(count: int, noun: str, plural: str = "") -> str:
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


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
