"""`backstory status`: the place and the contents of the store, unread histories, and changed settings."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing

from .. import __version__
from ..app import open_engine, store_place
from ..core import Engine
from ..core.contents import backup_state, contents_of, waiting_texts
from ..domain.census import ArchiveCensus, Census, ReaderCensus
from ..domain.lines import counted
from ..domain.when import iso
from ..problems import Problem
from ..search.embed import build_embedder, reason_for_words_only
from ..settings import COMPUTED, TABLE, Settings
from .first_look import stored_histories
from .report import Json, Report, conversation_count, size, table
from .settings import shown_value

PROBLEMS = 5  # shown; the JSON has all


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_engine(settings)) as engine:
        contents, waiting = contents_of(engine), waiting_texts(engine)
        failing = engine.problems.reported()
        backups = _backups(engine)
        census, histories = contents.census, contents.histories
        unread = {} if histories or census.conversations else stored_histories(engine)
    body = {
        "version": __version__,
        "home": str(settings.home),
        "store": store_place(settings),
        "holds": census._asdict() | {"waiting": waiting},
        "archived": contents.archived._asdict(),
        "backups": backups,
        "embeddings": {"source": settings.embeddings, "model": _model(settings)},
        "histories": {name: counts._asdict() for name, counts in histories.items()},
        "unread_histories": unread,
        "history_problems": contents.unreadable,
        "client_memories": {name: counts._asdict() for name, counts in contents.client_memories.items()},
        "without_results": contents.without_results,
        "problems": [
            {**each._asdict(), "since": iso(each.since), "last": iso(each.last)} for each in failing
        ],
        "changed_settings": _changed(settings),
    }
    return Report(body, _text(body, census, waiting, failing))


def _backups(engine: Engine) -> Json | None:
    """The backups of the store; None if the database has its own tools for them."""
    state = backup_state(engine)
    if state is None:
        return None
    files = [
        {
            "file": str(each.path),
            "made_at": iso(each.made_at),
            "reason": each.reason or "manual",
            "bytes": each.bytes,
        }
        for each in reversed(state.files)
    ]
    return {
        "are_made": state.are_made,
        "count": len(state.files),
        "bytes": sum(each.bytes for each in state.files),
        "files": files,
    }


def _text(body: Json, census: Census, waiting: int, failing: Sequence[Problem]) -> str:
    model = body["embeddings"]["model"]
    conversations = conversation_count(census.conversations, census.subagents)
    rows = [
        ("version", body["version"]),
        ("store", f"{body['store']} ({size(census.bytes)})"),
        ("contents", f"{counted(census.memories, 'memory', 'memories')} and {conversations}"),
        ("", f"with {counted(census.messages, 'message')}, of {counted(census.projects, 'project')}"),
        (
            "search",
            f"by words and by meaning ({model})" if model else f"by words alone: {reason_for_words_only()}",
        ),
    ]
    if archived := _archived(ArchiveCensus(**body["archived"])):
        rows.append(("archived", archived))
    if body["backups"] is not None:
        rows.append(("backups", _shown_backups(body["backups"])))
    if waiting:
        rows.append(("waiting", f"{counted(waiting, 'text')} for vectors; `backstory embed` makes them now"))
    rows += [(name, _history(ReaderCensus(**counts))) for name, counts in body["histories"].items()]
    rows += _first_steps(body, census)
    rows += [
        (name, f"{counted(counts['memories'], 'memory', 'memories')} from {counted(counts['files'], 'file')}")
        for name, counts in body["client_memories"].items()
    ]
    if lost := body["without_results"]:
        note = f"of {counted(lost, 'conversation')}: the source was gone before results were stored"
        rows.append(("no results", note))
    rows += [("problem", f"{path}: {problem}") for path, problem in body["history_problems"].items()][
        :PROBLEMS
    ]
    rows += [("problem", f"{each.sentence} (since {iso(each.since)})") for each in failing]
    rows += [("changed", f"{name} = {value}") for name, value in body["changed_settings"].items()]
    return table(rows)


def _first_steps(body: Json, census: Census) -> list[tuple[str, str]]:
    """Rows for a store without conversations: the histories on this machine, and the next command."""
    if body["histories"] or census.conversations:
        return []
    files = [f"{title} ({counted(count, 'file')})" for title, count in body["unread_histories"].items()]
    if not files:
        return [
            (
                "next",
                "`backstory install` adds Backstory to your assistants; `backstory demo` shows an example",
            )
        ]
    return [
        ("on disk", f"not read yet: {', '.join(files)}"),
        ("next", "`backstory install` adds Backstory to your assistants and reads these conversations;"),
        ("", "`backstory sync` only reads them"),
    ]


def _shown_backups(backups: Json) -> str:
    off = "" if backups["are_made"] else "; automatic backups are off"
    if not backups["files"]:
        return f"none yet{off}"
    newest = backups["files"][0]
    text = f"{counted(backups['count'], 'file')} ({size(backups['bytes'])})"
    return f"{text}, the last of {newest['made_at'][:16]} ({newest['reason']}): {newest['file']}{off}"


def _archived(census: ArchiveCensus) -> str:
    parts = {
        counted(census.memories, "memory", "memories"): census.memories,
        f"{counted(census.conversations, 'conversation')} with {counted(census.messages, 'message')}": census.conversations,
    }
    words = [part for part, count in parts.items() if count]
    return f"{' and '.join(words)} ({size(census.bytes)})" if words else ""


def _history(census: ReaderCensus) -> str:
    text = (
        f"{conversation_count(census.conversations, census.subagents)}, {counted(census.messages, 'message')}"
    )
    text += f" from {counted(census.sources, 'file')}"
    notes = {"deleted since": census.gone, "secrets redacted": census.redacted, "unreadable": census.problems}
    return "; ".join([text, *(f"{count:,} {note}" for note, count in notes.items() if count)])


def _model(settings: Settings) -> str | None:
    embedder = build_embedder(settings)
    return None if embedder is None else embedder.model


def _changed(settings: Settings) -> Json:
    """Settings that differ from their defaults; `home` and `project` have no defaults in the table."""
    return {
        setting.name: shown_value(setting, settings)
        for setting in TABLE
        if setting.default is not COMPUTED and getattr(settings, setting.name) != setting.default
    }
