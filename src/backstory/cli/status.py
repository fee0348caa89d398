"""`backstory status`: where the store is, what it holds, and which settings were changed."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from .. import __version__
from ..app import open_engine, store_place
from ..core import Engine
from ..core.backups import Backups
from ..domain.census import ArchiveCensus, Census, ReaderCensus
from ..domain.lines import counted
from ..domain.when import iso
from ..problems import Problem
from ..search.embed import build_embedder
from ..settings import COMPUTED, TABLE, Settings
from .report import Json, Report, size, table
from .settings import shown_value

PROBLEMS = 5  # shown; the JSON has all


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_engine(settings)) as engine:
        census, waiting = engine.store.census(), count_waiting(engine)
        archived = engine.store.archive.census()
        histories, problems = engine.store.sync.census(), engine.store.sync.problems()
        failing = engine.problems.reported()
        backups = _backups(engine)
    body = {
        "version": __version__,
        "home": str(settings.home),
        "store": store_place(settings),
        "holds": census._asdict() | {"waiting": waiting},
        "archived": archived._asdict(),
        "backups": backups,
        "embeddings": {"source": settings.embeddings, "model": _model(settings)},
        "histories": {name: held._asdict() for name, held in histories.items()},
        "history_problems": problems,
        "problems": [
            {**each._asdict(), "since": iso(each.since), "last": iso(each.last)} for each in failing
        ],
        "changed_settings": _changed(settings),
    }
    return Report(body, _text(body, census, waiting, failing))


def _backups(engine: Engine) -> Json | None:
    """None where a database has its own tools for them."""
    if engine.store.backups is None:
        return None
    found = engine.store.backups.find()
    files = [
        {
            "file": str(each.path),
            "made_at": iso(each.made_at),
            "reason": each.reason or "asked for",
            "bytes": each.bytes,
        }
        for each in reversed(found)
    ]
    return {
        "are_made": engine.makes_backups and not Backups(engine).is_too_large(),
        "count": len(found),
        "bytes": sum(each.bytes for each in found),
        "files": files,
    }


def count_waiting(engine: Engine) -> int:
    """Texts without a vector of the model in use. Vectors of another model do not count."""
    return 0 if engine.backlog is None else engine.store.vectors.count_waiting(engine.backlog.space)


def _text(body: Json, census: Census, waiting: int, failing: Sequence[Problem]) -> str:
    model = body["embeddings"]["model"]
    conversations = counted(census.conversations, "conversation")
    rows = [
        ("version", body["version"]),
        ("store", f"{body['store']} ({size(census.bytes)})"),
        ("holds", f"{counted(census.memories, 'memory', 'memories')} and {conversations}"),
        ("", f"with {counted(census.messages, 'message')}, of {counted(census.projects, 'project')}"),
        ("search", f"by words and by meaning ({model})" if model else "by words alone: embeddings are off"),
    ]
    if archived := _archived(ArchiveCensus(**body["archived"])):
        rows.append(("archived", archived))
    if body["backups"] is not None:
        rows.append(("backups", _shown_backups(body["backups"])))
    if waiting:
        rows.append(("waiting", f"{counted(waiting, 'text')} for vectors; `backstory embed` makes them now"))
    rows += [(name, _history(ReaderCensus(**held))) for name, held in body["histories"].items()]
    rows += [("problem", f"{path}: {problem}") for path, problem in body["history_problems"].items()][
        :PROBLEMS
    ]
    rows += [("problem", f"{each.sentence} (since {iso(each.since)})") for each in failing]
    rows += [("changed", f"{name} = {value}") for name, value in body["changed_settings"].items()]
    return table(rows)


def _shown_backups(backups: Json) -> str:
    off = "" if backups["are_made"] else "; none are made by themselves"
    if not backups["files"]:
        return f"none yet{off}"
    newest = backups["files"][0]
    told = f"{counted(backups['count'], 'file')} ({size(backups['bytes'])})"
    return f"{told}, the last of {newest['made_at'][:16]} ({newest['reason']}): {newest['file']}{off}"


def _archived(held: ArchiveCensus) -> str:
    parts = {
        counted(held.memories, "memory", "memories"): held.memories,
        f"{counted(held.conversations, 'conversation')} with {counted(held.messages, 'message')}": held.conversations,
    }
    told = [part for part, count in parts.items() if count]
    return f"{' and '.join(told)} ({size(held.bytes)})" if told else ""


def _history(held: ReaderCensus) -> str:
    told = f"{counted(held.conversations, 'conversation')}, {counted(held.messages, 'message')}"
    told += f" from {counted(held.sources, 'file')}"
    notes = {"gone by now": held.gone, "secrets redacted": held.redacted, "unreadable": held.problems}
    return "; ".join([told, *(f"{count:,} {note}" for note, count in notes.items() if count)])


def _model(settings: Settings) -> str | None:
    embedder = build_embedder(settings)
    return None if embedder is None else embedder.model


def _changed(settings: Settings) -> Json:
    """What differs from the defaults in the table; `home` and `project` have none there."""
    return {
        setting.name: shown_value(setting, settings)
        for setting in TABLE
        if setting.default is not COMPUTED and getattr(settings, setting.name) != setting.default
    }
