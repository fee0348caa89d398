"""`backstory status`: where the store is, what it holds, and which settings were changed."""

from __future__ import annotations

import argparse

from .. import __version__
from ..app import open_engine, store_path
from ..core import Engine
from ..search.embed import build_embedder
from ..settings import COMPUTED, TABLE, Settings
from ..store import Census
from .report import Json, Report, counted, size, table
from .settings import shown_value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    pass


def run(options: argparse.Namespace, settings: Settings) -> Report:
    engine = open_engine(settings)
    try:
        census, waiting = engine.store.census(), count_waiting(engine)
    finally:
        engine.close()
    body = {
        "version": __version__,
        "home": str(settings.home),
        "store": str(store_path(settings)),
        "holds": census._asdict() | {"waiting": waiting},
        "embeddings": {"source": settings.embeddings, "model": _model(settings)},
        "changed_settings": _changed(settings),
    }
    return Report(body, _text(body, census, waiting))


def count_waiting(engine: Engine) -> int:
    """Texts without a vector of the model in use. Vectors of another model do not count."""
    return 0 if engine.backlog is None else engine.store.count_waiting(engine.backlog.space)


def _text(body: Json, census: Census, waiting: int) -> str:
    model = body["embeddings"]["model"]
    conversations = counted(census.conversations, "conversation")
    rows = [
        ("version", body["version"]),
        ("store", f"{body['store']} ({size(census.bytes)})"),
        ("holds", f"{counted(census.memories, 'memory', 'memories')} and {conversations}"),
        ("", f"with {counted(census.messages, 'message')}, of {counted(census.projects, 'project')}"),
        ("search", f"by words and by meaning ({model})" if model else "by words alone: embeddings are off"),
    ]
    if waiting:
        rows.append(("waiting", f"{counted(waiting, 'text')} for vectors; `backstory embed` makes them now"))
    rows += [("changed", f"{name} = {value}") for name, value in body["changed_settings"].items()]
    return table(rows)


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
