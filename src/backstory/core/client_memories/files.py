"""The memory files of other programs. Opens only files that reveal the project of a folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ...domain.records import Trust
from ...readers import Places
from ...readers.formats.files import open_regular
from ...readers.formats.paths import homes, project_slug
from ...readers.gemini_cli import project_folders
from ...store import Store
from . import notes
from .notes import Parse

INDEX = "MEMORY.md"
MAX_FILES = 2_000
"""The maximum number of files per program."""
PEEKED_BYTES = 65_536
"""The part of a session file to read; the directory is in one of its first lines."""


class MemoryFile(NamedTuple):
    path: Path
    root: Path
    """The directory that must be there before a missing file counts as deleted, and that no link leads out of."""
    parse: Parse
    project: str = ""
    """The project, or "" if the notes apply to every project."""
    trust: Trust = Trust.OWN


class MemoryProgram(NamedTuple):
    name: str
    """The name in the setting `client_memories`."""
    source: str
    """The surface of its memories."""
    title: str
    find: Callable[[Places], Iterable[MemoryFile]]


def with_known_projects(places: Places, store: Store) -> Places:
    """The places with every project of the store that is a local directory."""
    known = (*places.projects, *map(Path, store.entries.projects()))
    return places._replace(
        projects=tuple(path for path in dict.fromkeys(known) if path.is_absolute() and path.is_dir())
    )


def memory_files(program: MemoryProgram, places: Places) -> list[MemoryFile]:
    """The first MAX_FILES that are regular files and lie below their root."""
    real: dict[str, str] = {}  # of folders: to follow every link of every path takes longer than all else

    def is_inside(file: MemoryFile) -> bool:
        folder, name = os.path.split(file.path)
        for each in (folder, str(file.root)):
            if each not in real:
                real[each] = os.path.realpath(each)
        path = os.path.join(real[folder], name)
        if os.path.islink(path):
            path = os.path.realpath(path)
        return os.path.isfile(path) and path.startswith(real[str(file.root)] + os.sep)

    return list(islice(filter(is_inside, program.find(places)), MAX_FILES))


def claude_homes(places: Places) -> list[Path]:
    return _homes(places, "CLAUDE_CONFIG_DIR", ".claude")


def qwen_homes(places: Places) -> list[Path]:
    return _homes(places, "QWEN_HOME", ".qwen")


def _homes(places: Places, variable: str, usual: str) -> list[Path]:
    named = places.environment.get(variable, "")
    return list(dict.fromkeys([*([Path(named)] if named else []), *(home / usual for home in homes(places))]))


def _claude(places: Places) -> Iterator[MemoryFile]:
    slugs = _by_slug(places.projects)
    for home in claude_homes(places):
        yield from _filed_by_slug(home, home / "projects", slugs)
        yield from _folder(home / "agent-memory", home)
    for project in places.projects:
        for name in ("agent-memory", "agent-memory-local"):
            yield from _folder(project / ".claude" / name, project, str(project), Trust.PROJECT)


def _qwen(places: Places) -> Iterator[MemoryFile]:
    slugs = _by_slug(places.projects)
    base = places.environment.get("QWEN_CODE_MEMORY_BASE_DIR", "")
    for home in qwen_homes(places):
        yield from _filed_by_slug(home, home / "projects", slugs)
        yield from _folder(home / "memories", home)
        yield MemoryFile(home / "QWEN.md", home, notes.bullets_under("Qwen Added Memories"))
    if base:
        yield from _filed_by_slug(Path(base), Path(base) / "projects", slugs)


def _gemini(places: Places) -> Iterator[MemoryFile]:
    for home, folders in project_folders(places):
        yield MemoryFile(home / "GEMINI.md", home, notes.bullets_under("Gemini Added Memories"))
        for folder, directory in folders:
            for path in sorted((folder / "memory").glob("*.md")):
                yield MemoryFile(path, home, _parse_of(path), directory)


def _codex(places: Places) -> Iterator[MemoryFile]:
    for home in _homes(places, "CODEX_HOME", ".codex"):
        for folder in (home / "memories", home / "memories_v2"):
            yield MemoryFile(folder / INDEX, home, notes.codex)
            for path in sorted((folder / "rollout_summaries").glob("*.md")):
                yield MemoryFile(path, home, notes.rollout_summary)


def _serena(places: Places) -> Iterator[MemoryFile]:
    yield from _documents(places, ".serena/memories", "**/*.md")
    for home in homes(places):
        for path in sorted((home / ".serena" / "memories").glob("**/*.md")):
            yield MemoryFile(path, home, notes.sections)


def _memory_bank(places: Places) -> Iterator[MemoryFile]:
    yield from _documents(places, "memory-bank", "*.md")


def _kiro(places: Places) -> Iterator[MemoryFile]:
    yield from _documents(places, ".kiro/steering", "*.md")
    for home in homes(places):
        for path in sorted((home / ".kiro" / "steering").glob("*.md")):
            yield MemoryFile(path, home, notes.sections)


def _beads(places: Places) -> Iterator[MemoryFile]:
    for project in places.projects:
        present = [project / ".beads" / name for name in ("issues.jsonl", "beads.jsonl")]
        # the file under the older name may remain next to the newer one
        for path in [path for path in present if path.is_file()][:1]:
            yield MemoryFile(path, project, notes.beads, str(project), Trust.PROJECT)


def _documents(places: Places, folder: str, pattern: str) -> Iterator[MemoryFile]:
    for project in places.projects:
        if (project / folder).is_dir() and project not in homes(places):
            for path in sorted((project / folder).glob(pattern)):
                yield MemoryFile(path, project, notes.sections, str(project), Trust.PROJECT)


def _filed_by_slug(root: Path, projects: Path, slugs: Mapping[str, tuple[str, ...]]) -> Iterator[MemoryFile]:
    for memory in sorted(projects.glob("*/memory")):
        yield from _folder(memory, root, project_of_folder(memory.parent, slugs))


def _folder(folder: Path, root: Path, project: str = "", trust: Trust = Trust.OWN) -> Iterator[MemoryFile]:
    for path in sorted(folder.glob("**/*.md")):
        yield MemoryFile(path, root, _parse_of(path), project, trust)


def _parse_of(path: Path) -> Parse:
    return notes.index if path.name == INDEX else notes.topic


def _by_slug(projects: Iterable[Path]) -> dict[str, tuple[str, ...]]:
    by_slug: dict[str, tuple[str, ...]] = {}
    for project in projects:
        slug = project_slug(str(project))
        by_slug[slug] = (*by_slug.get(slug, ()), str(project))
    return by_slug


def project_of_folder(folder: Path, slugs: Mapping[str, tuple[str, ...]]) -> str:
    """The directory that a folder of Claude Code or Qwen Code belongs to.

    The only known project of its name, else the directory that its session files record, else ""."""
    known = slugs.get(folder.name, ())
    return known[0] if len(known) == 1 else recorded_directory(folder)


def recorded_directory(folder: Path) -> str:
    for log in islice(sorted((*folder.glob("*.jsonl"), *folder.glob("chats/*.jsonl"))), 3):
        try:
            with open_regular(log) as file:
                lines = file.read(PEEKED_BYTES).splitlines()
        except OSError:
            continue
        for line in lines:
            try:
                directory = json.loads(line).get("cwd")
            except (ValueError, AttributeError):
                continue  # the last line may be cut
            if isinstance(directory, str) and project_slug(directory) == folder.name:
                return directory
    return ""


PROGRAMS = {
    program.name: program
    for program in (
        MemoryProgram("claude-code", "claude-code-memory", "Claude Code", _claude),
        MemoryProgram("codex", "codex-memory", "Codex", _codex),
        MemoryProgram("gemini-cli", "gemini-memory", "Gemini CLI", _gemini),
        MemoryProgram("qwen-code", "qwen-memory", "Qwen Code", _qwen),
        MemoryProgram("serena", "serena", "Serena", _serena),
        MemoryProgram("memory-bank", "memory-bank", "Memory Bank", _memory_bank),
        MemoryProgram("kiro", "kiro-steering", "Kiro", _kiro),
        MemoryProgram("beads", "beads", "beads", _beads),
    )
}
SOURCES = frozenset(program.source for program in PROGRAMS.values())
