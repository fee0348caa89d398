"""OpenCode: its database, its files (before 1.2), and the output of `opencode export`."""

from __future__ import annotations

from collections.abc import Iterator

from . import Form, Places, Reader, Resume, Source
from .formats.opencode_sessions import find_filed, read
from .formats.opencode_writing import write_session
from .formats.paths import data_home


def find(places: Places) -> Iterator[Source]:
    roots = [data_home(places) / "opencode"]
    roots += [home / ".local" / "share" / "opencode" for home in places.windows_homes]
    databases = [path for root in roots for path in sorted(root.glob("opencode*.db"))]
    if named := places.environment.get("OPENCODE_DB", ""):
        databases.append(roots[0] / named)  # an absolute path is used unchanged
    more = places.roots.get("opencode", ())
    databases += [path for root in more for path in sorted(root.glob("*.db"))]
    yield from (Source(path, Form.DATABASE) for path in dict.fromkeys(databases) if path.is_file())
    for root in (*roots, *more):
        yield from find_filed(root)
    for root in more:
        yield from (Source(path, Form.DOCUMENT) for path in sorted(root.glob("*.json")))


reader = Reader(
    "opencode",
    "OpenCode",
    find,
    read,
    resume=Resume(("opencode", "--session", "{id}")),
    write=write_session,
    prompt_words=("opencode", "--prompt", "{prompt}"),
)
