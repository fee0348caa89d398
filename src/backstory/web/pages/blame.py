"""Blame: the source of a file with the session that wrote each run of lines, its prompt, and the shares of authors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

from ...core import Core
from ...core.blame import BlamedLine, Sureness
from ...core.changes import prompts_before
from ...domain.errors import InvalidInput, NotAllowed
from ...domain.lines import one_line
from ...domain.when import iso
from ...readers import Places
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, View

MAX_LINES = 3_000
PROMPT_CHARS = 400

FindPlaces = Callable[[], Places]


def page(core: Core, asked: PageQuery, places: FindPlaces | None) -> View:
    """`places` is where assistants keep their files; a team server has none, and no files of its users either."""
    path = asked.text("path")
    if not path:
        raise InvalidInput("path is empty.", hint="Name a file.", field="path")
    if places is None:
        raise NotAllowed(
            "This server has no access to your files.", hint="Use `backstory web` on your own machine."
        )
    name = core.files.on_disk(path, asked.text("project"))
    version = os.stat(name).st_mtime_ns if os.path.isfile(name) else 0
    lines = figure(core, ("blame", name, version), lambda: core.blame.lines(name, places()))
    visible_lines = lines[:MAX_LINES]
    prompts = prompts_before(core, [line.origin for line in visible_lines if line.origin])
    body = {
        "path": path,
        "project": asked.text("project"),
        "file": name,
        "total": len(lines),
        "runs": [_run(list(run), prompts) for _, run in groupby(visible_lines, key=_author)],
        "shares": _shares(lines),
        "is_cut": len(lines) > MAX_LINES,
    }
    return View("blame.html", body, f"Blame: {path}")


def _author(line: BlamedLine) -> tuple[str, ...]:
    if line.origin is not None:
        return (line.origin.conversation.id, str(line.origin.number), line.origin.sureness.value)
    return (line.commit.hash if line.commit else "",)


def _run(lines: Sequence[BlamedLine], prompts: Mapping[tuple[str, int], str]) -> Json:
    first, origin, commit = lines[0], lines[0].origin, lines[0].commit
    session = origin and {
        "id": origin.conversation.id,
        "title": origin.conversation.name,
        "assistant": origin.conversation.surface,
        "number": origin.number,
        "at": iso(origin.at),
        "prompt": one_line(prompts.get((origin.conversation.id, origin.number), ""), PROMPT_CHARS),
    }
    return {
        "first": first.number,
        "lines": [line.text for line in lines],
        "session": session,
        "sureness": origin and origin.sureness.value,
        "commit": commit
        and {
            "hash": commit.hash,
            "author": commit.author,
            "subject": commit.subject,
            "committed_at": iso(commit.committed_at),
        },
    }


def _shares(lines: Sequence[BlamedLine]) -> list[Json]:
    """Lines by author. Only those whose text is in an edit count as an assistant's."""
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        if line.origin is not None and line.origin.sureness is Sureness.EXACT:
            counts["assistant", line.origin.conversation.surface] += 1
        else:
            counts["person", line.commit.author if line.commit else ""] += 1
    return [
        {"kind": kind, "name": name, "lines": count, "share": count / len(lines)}
        for (kind, name), count in counts.most_common()
    ]
