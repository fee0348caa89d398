"""Which directory a slug of Cursor's agents stands for: all that is neither letter nor digit became a hyphen.

That cannot be undone by itself: `w-my-app` may be `/w/my-app` or `/w/my/app`. So only directories that other histories
speak of, or that exist, are considered, and a slug that fits several of these stands for none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from ..formats.paths import mounted

_OTHERS = re.compile(r"[^A-Za-z0-9]+")


def slug_of(path: str) -> str:
    return _OTHERS.sub("-", path).strip("-")


class Slugs:
    """Remembers what it found out; good for one search."""

    def __init__(self, projects: Iterable[Path]) -> None:
        self._found: dict[str, str] = {slug_of(str(path)): str(path) for path in projects}

    def directory(self, slug: str) -> str:
        if slug not in self._found:
            existing = list(dict.fromkeys(_existing(slug)))
            self._found[slug] = str(existing[0]) if len(existing) == 1 else ""
        return self._found[slug]


def _existing(slug: str) -> Iterator[Path]:
    first, _, rest = slug.partition("-")
    if len(first) == 1 and rest:  # a drive of Windows, here or seen from WSL
        yield from _below(Path(f"{first}:\\" if os.name == "nt" else mounted(f"{first}:\\")), rest)
    if os.name != "nt":
        yield from _below(Path("/"), slug)


def _below(directory: Path, slug: str) -> Iterator[Path]:
    """The directories whose path below this one has the slug."""
    try:
        names = [entry.name for entry in os.scandir(directory) if entry.is_dir()]
    except OSError:
        return  # gone, or not ours to read
    for name in sorted(names):
        own = slug_of(name)
        if own and own == slug:
            yield directory / name
        elif own and slug.startswith(f"{own}-"):
            yield from _below(directory / name, slug[len(own) + 1 :])
