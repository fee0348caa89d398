"""Origins of memories that were read from other programs: files, and places in those files."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple

from .records import Memory, Trust

ORIGINS = "origins"
"""The metadata field that lists programs and paths."""


SUMMARIZED = "conversation"
"""The metadata field that names the conversation that the memory summarizes."""


_LOADED = {
    ("claude-code-memory", "MEMORY.md"): "claude-code",
    ("gemini-memory", "MEMORY.md"): "gemini-cli",
    ("gemini-memory", "GEMINI.md"): "gemini-cli",
    ("qwen-memory", "MEMORY.md"): "qwen-code",
    ("qwen-memory", "QWEN.md"): "qwen-code",
}
"""The client that loads a file at the start of every session, by program and file name."""


def programs_of(memory: Memory) -> set[str]:
    """Return the programs whose files contain the memory."""
    return {str(each.get("program", "")) for each in memory.metadata.get(ORIGINS, [])}


def clients_with(memory: Memory) -> set[str]:
    """Return the clients that load the memory from their own file at the start of a session."""
    places = (
        (each.get("program"), PurePath(str(each.get("path", ""))).name)
        for each in memory.metadata.get(ORIGINS, [])
    )
    return {_LOADED[place] for place in places if place in _LOADED}


def is_loaded_note(memory: Memory) -> bool:
    """True if a program loads the memory from one of the user's own files, and its sessions know it without asking.

    A summary of one conversation is not loaded."""
    return memory.trust is Trust.OWN and bool(programs_of(memory)) and SUMMARIZED not in memory.metadata


class MemoryFileState(NamedTuple):
    """A file of another program's memories, as of the last read."""

    path: str
    program: str
    """The source named by its memories, such as `claude-code-memory`."""
    root: str
    """The directory that must exist before a missing file counts as deleted."""
    project: str
    size: int
    modified_ns: int
    problem: str = ""
    is_gone: bool = False


class MemoryOrigin(NamedTuple):
    """One place in a file that contains the text of a memory."""

    path: str
    anchor: str
    """A fingerprint of the place's name: the file, or a heading and the first words."""
    program: str
    memory: str
    project: str
    digest: str
    """A fingerprint of the text, without its layout."""
    is_gone: bool = False
    """True if the place is no longer in the file, or the file no longer exists."""


class MemoryFileCensus(NamedTuple):
    """Counts of the memories read from one program."""

    memories: int
    files: int
    problems: int
