"""The first look after an installation: read the histories, render the briefs, and suggest a question."""

from __future__ import annotations

from contextlib import closing, suppress
from pathlib import PurePath
from typing import NamedTuple

from ..app import history_places, open_engine
from ..clients import files
from ..clients.formats import FORMATS
from ..clients.machine import Machine
from ..core.brief.files import Briefs
from ..core.client_memories import ClientMemories
from ..core.contents import contents_of, latest_project
from ..core.engine import Engine
from ..domain.errors import BackstoryError
from ..domain.lines import counted
from ..readers import load_readers
from ..settings import Settings
from .sync import read_histories

CLEANUP_DAYS = 30
"""Days after which Claude Code deletes transcripts by default."""


class FirstLook(NamedTuple):
    """The contents of the store after the first sync."""

    conversations: int
    assistants: int
    projects: int
    question: str
    """A question to try, about the latest work, or ""."""

    @property
    def sentence(self) -> str:
        if not self.conversations:
            return "No conversations of your assistants were found."
        counts = f"{counted(self.conversations, 'conversation')} of {counted(self.assistants, 'assistant')}"
        return f"{counts} in {counted(self.projects, 'project')}."


def look(settings: Settings) -> FirstLook:
    """Read the histories with a progress display, and render the briefs for the next session of each client."""
    with closing(open_engine(settings)) as engine:
        if settings.reads_histories:
            read_histories(engine, list(load_readers(settings.histories).values()))
            ClientMemories(engine).run(history_places(engine))
        if settings.brief != "off":
            Briefs(engine).refresh()
        contents = contents_of(engine)
        latest = PurePath(latest_project(engine)).name
    return FirstLook(
        contents.census.conversations,
        contents.assistants,
        contents.census.projects,
        f"Where did we leave off in {latest}?" if latest else "",
    )


def stored_histories(engine: Engine) -> dict[str, int]:
    """Number of files with conversations on this machine, by the title of their assistant. Nothing is read."""
    settings = engine.settings
    if not settings.reads_histories:
        return {}
    places = history_places(engine)
    counts: dict[str, int] = {}
    for reader in load_readers(settings.histories).values():
        with suppress(OSError):  # a folder that cannot be listed is reported by the sync
            if not reader.is_export and (count := sum(1 for _ in reader.find(places))):
                counts[reader.title] = count
    return counts


def cleanup_warning(machine: Machine) -> str:
    """A warning that Claude Code deletes transcripts, with the user's own number of days."""
    days: object = CLEANUP_DAYS
    try:
        text = files.read(machine.path("{claude}/settings.json"))
        configured = FORMATS["json"].parse(text) if text else {}
        days = configured.get("cleanupPeriodDays", CLEANUP_DAYS) if isinstance(configured, dict) else days
    except BackstoryError:  # the step for this file has already reported the problem
        pass
    return (
        f"Claude Code deletes transcripts after {days} days (cleanupPeriodDays in its settings.json);"
        " Backstory keeps what it has read of them."
    )
