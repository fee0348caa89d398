"""Where memories of other programs came from: the files they lie in, and the places in those files."""

from __future__ import annotations

from pathlib import PurePath
from typing import NamedTuple

from .records import Memory, Trust

ORIGINS = "origins"
"""The field of a memory's metadata that lists programs and paths."""


SUMMARIZED = "conversation"
"""The field that names the conversation of which a memory is a summary."""


_LOADED = {
    ("claude-code-memory", "MEMORY.md"): "claude-code",
    ("gemini-memory", "MEMORY.md"): "gemini-cli",
    ("gemini-memory", "GEMINI.md"): "gemini-cli",
    ("qwen-memory", "MEMORY.md"): "qwen-code",
    ("qwen-memory", "QWEN.md"): "qwen-code",
}
"""By program and name, the client that begins every session with such a file."""


def programs_of(memory: Memory) -> set[str]:
    """The programs whose files hold a memory."""
    return {str(each.get("program", "")) for each in memory.metadata.get(ORIGINS, [])}


def clients_with(memory: Memory) -> set[str]:
    """The clients that load it from a file of their own at the start of a session."""
    places = (
        (each.get("program"), PurePath(str(each.get("path", ""))).name)
        for each in memory.metadata.get(ORIGINS, [])
    )
    return {_LOADED[place] for place in places if place in _LOADED}


def is_loaded_note(memory: Memory) -> bool:
    """Whether a program keeps it in a file of the user's own, from which its sessions know it without a question. A summary of one
    conversation is none."""
    return memory.trust is Trust.OWN and bool(programs_of(memory)) and SUMMARIZED not in memory.metadata


class MemoryFileState(NamedTuple):
    """A file of another program's memories as it was last read."""

    path: str
    program: str
    """The source that its memories name, such as `claude-code-memory`."""
    root: str
    """The directory that must be there before a missing file counts as deleted."""
    project: str
    size: int
    modified_ns: int
    problem: str = ""
    is_gone: bool = False


class MemoryOrigin(NamedTuple):
    """One place in a file that holds what a memory says."""

    path: str
    anchor: str
    """A fingerprint of what names the place: the file, or a heading and the first words."""
    program: str
    memory: str
    project: str
    digest: str
    """A fingerprint of the text, without its layout."""
    is_gone: bool = False
    """The place is not in the file any more, or the file is gone."""


class MemoryFileCensus(NamedTuple):
    """What was read of one program's memories."""

    memories: int
    files: int
    problems: int
