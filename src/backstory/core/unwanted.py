"""Readers that a hook asks for although the settings do not allow them, or no longer do."""

from __future__ import annotations

from collections.abc import Collection

from ..readers import reader_names
from ..settings import Settings
from .client_memories import MEMORIES, chosen_programs
from .watch import Watch


def give_up_unwanted(settings: Settings, names: Collection[str]) -> None:
    """Remove readers that the settings do not allow from the watch list, so that no session waits for them."""
    wanted: set[str] = set()
    if settings.reads_histories:
        wanted |= {*(settings.histories or reader_names())}
        wanted |= {MEMORIES} if chosen_programs(settings.client_memories) else set()
    if unwanted := {*names} - wanted:
        Watch(settings.home).give_up(unwanted, unwanted & {*reader_names()})
