"""Kilo Code since it is based on OpenCode. The reader of Cline reads its earlier files."""

from __future__ import annotations

from collections.abc import Iterator

from . import Form, Places, Reader, Resume, Source
from .formats.opencode_sessions import find_filed, read
from .formats.paths import data_home


def find(places: Places) -> Iterator[Source]:
    roots = [data_home(places) / "kilo"]
    roots += [home / ".local" / "share" / "kilo" for home in places.windows_homes]
    for root in dict.fromkeys([*roots, *places.roots.get("kilo", ())]):
        yield from (Source(path, Form.DATABASE) for path in sorted(root.glob("kilo*.db")))
        yield from find_filed(root)


reader = Reader("kilo", "Kilo Code", find, read, resume=Resume(("kilo", "--session", "{id}")))
