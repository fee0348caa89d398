"""basic-memory: Markdown notes as the primary data, and an SQLite index for notes whose files are missing.

A note is a memory. Each of its observations, `- [category] text #tag (context)`, and each relation, `- type [[Other
note]]`, is a memory too."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import Unreadable
from ...domain.fences import outside_fences
from ...domain.lazy import lazy_pattern
from ...domain.when import from_ms
from ...readers import Places
from ...readers.formats.documents import read_document
from ...readers.formats.files import read_text
from ...readers.formats.paths import homes
from ...readers.formats.values import fields_of, fingerprint, text_of
from ..contents import ForeignMemory, Record, UnplacedRecords, category_of, relation
from ..stores import Importer, existing_path
from ..tables import Row, Tables, by, sqlite_tables

NAME = "basic-memory"
CONFIG, INDEX, SETTINGS = "config.json", "memory.db", ".basic-memory"
_FRONT = lazy_pattern(r"\A---\n(?P<lines>.*?)^---\s*\n", re.DOTALL | re.MULTILINE)
_FACT = lazy_pattern(r"(?P<name>[\w-]+):\s*(?P<value>.*)")
_OBSERVATION = lazy_pattern(
    r"\s*[-*] \[(?P<category>[^\[\]()]{2,})\] (?P<text>.+?)(?: \((?P<context>[^()]*)\))?"
)
_RELATION = lazy_pattern(r"\s*[-*] (?P<type>[^\[\]]*?)\s*\[\[(?P<target>[^\[\]]+)\]\].*")
_TAG = lazy_pattern(r"(?<!\S)#([\w/-]+)")


class Note(NamedTuple):
    """A file, or the index entry of a missing one."""

    folder: str
    path: str
    about: Mapping[str, str]
    tags: tuple[str, ...]
    text: str
    created_at: datetime
    updated_at: datetime

    @property
    def title(self) -> str:
        return self.about.get("title") or Path(self.path).stem

    @property
    def place(self) -> str:
        """A unique name. A note retains its permalink when it is moved."""
        return f"{self.folder}\n{self.about.get('permalink') or self.path}"


def find(places: Places) -> Iterator[Path]:
    named = places.environment.get("BASIC_MEMORY_CONFIG_DIR", "")
    folders = [Path(named)] if named else [home / SETTINGS for home in homes(places)]
    settings = [folder for folder in folders if (folder / CONFIG).exists()]
    notes = places.environment.get("BASIC_MEMORY_HOME", "")
    yield from settings or ([Path(notes)] if notes else [home / NAME for home in homes(places)])


def locate(path: Path) -> Path:
    """Return the folder of its settings, the index, or a folder of notes."""
    path = existing_path(path)
    return path.parent if path.name == CONFIG else path


def folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def read(path: Path) -> Iterator[Record]:
    if path.is_file():
        yield from _indexed(path, {})
        return
    projects = _projects(path / CONFIG)
    if not (path / CONFIG).exists():
        yield from _notes(path, is_required=True)
        return
    present = {name: notes for name, notes in projects.items() if notes.is_dir()}
    for notes in present.values():
        yield from _notes(notes)
    if len(present) < len(projects) and (path / INDEX).exists():
        yield from _indexed(path / INDEX, present)


def _projects(config: Path) -> dict[str, Path]:
    """Return the folders of notes by project name. Older files contain the path itself instead of an object."""
    try:
        configured = fields_of(fields_of(read_document(config)).get("projects"))
    except OSError:
        return {}
    paths = {name: text_of(each) or text_of(fields_of(each).get("path")) for name, each in configured.items()}
    return {name: Path(path).expanduser() for name, path in paths.items() if path}


def _notes(folder: Path, *, is_required: bool = False) -> Iterator[Record]:
    files = [file for file in sorted(folder.rglob("*.md")) if not _is_hidden(file.relative_to(folder))]
    if not files and is_required:
        raise Unreadable(f"{folder} has no notes and no {CONFIG}.", hint="Nothing was imported.")
    notes = []
    for file in files:
        try:
            notes.append(_note(file, folder))
        except OSError as error:
            yield UnplacedRecords("notes", f"cannot be read: {error.strerror or error}")
    titles = {
        name.casefold() for note in notes for name in (note.title, note.about.get("permalink", ""), note.path)
    }
    for note in notes:
        yield _memory(note)
        yield from _statements(note, titles)


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _note(file: Path, folder: Path) -> Note:
    text = read_text(file)
    front = _FRONT.match(text)
    about, tags = _front_matter(front["lines"] if front else "")
    modified = from_ms(file.stat().st_mtime_ns // 1_000_000)
    times = Row(about)
    return Note(
        str(folder.resolve()),
        file.relative_to(folder).with_suffix("").as_posix(),
        about,
        tags,
        text[front.end() :].strip("\n") if front else text.strip("\n"),
        times.time("created", "date", default=modified),
        times.time("modified", "updated", default=modified),
    )


def _front_matter(lines: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """Parse names and values on one line each, and the list of tags in any of its spellings."""
    about: dict[str, str] = {}
    tags: list[str] = []
    name = ""
    for line in lines.split("\n"):
        if match := _FACT.fullmatch(line):
            name, value = match["name"], match["value"].strip().strip("'\"")
            about[name] = value
            if name == "tags" and value:
                tags += value.strip("[]").split(",")
        elif name == "tags" and line.strip().startswith("-"):
            tags.append(line.strip()[1:])
    about.pop("tags", None)
    return about, tuple(dict.fromkeys(filter(None, (tag.strip(" #'\"") for tag in tags))))


def _memory(note: Note) -> ForeignMemory:
    return ForeignMemory(
        kind="notes",
        place=f"note\n{note.place}",
        text=note.text,
        created_at=note.created_at,
        updated_at=note.updated_at,
        project=note.folder,
        category=category_of(note.about.get("type", "note")),
        tags=note.tags,
        metadata={"title": note.title, "file": note.path, **note.about},
    )


def _statements(note: Note, titles: set[str]) -> Iterator[ForeignMemory]:
    lines = note.text.split("\n")
    for number in outside_fences(lines):
        line = lines[number]
        if match := _OBSERVATION.fullmatch(line):
            yield _observation(note, match["category"], match["text"], match["context"] or "")
        elif match := _RELATION.fullmatch(line):
            yield _relation(note, match["type"] or "relates_to", match["target"], titles)


def _observation(note: Note, category: str, text: str, context: str) -> ForeignMemory:
    extra = {"context": context} if context else {}
    return ForeignMemory(
        kind="observations",
        place=f"observation\n{note.place}\n{fingerprint(category, text)}",
        text=f"{note.title}: {text}",
        created_at=note.created_at,
        updated_at=note.updated_at,
        project=note.folder,
        category=category_of(category),
        tags=tuple(dict.fromkeys(_TAG.findall(text))),
        metadata={"note": note.title, "type": category, **extra},
        part=f"observations of\n{note.place}",
    )


def _relation(note: Note, kind: str, target: str, titles: set[str]) -> ForeignMemory:
    return relation(
        f"relation\n{note.place}\n{fingerprint(kind, target)}",
        note.title,
        kind,
        target,
        note.updated_at,
        extra={} if target.casefold() in titles else {"unresolved": True},
        project=note.folder,
    )


def _indexed(path: Path, present: Mapping[str, Path]) -> Iterator[Record]:
    """Read projects whose files are missing from the index: everything except the prose."""
    with sqlite_tables(path, "entity.permalink", "project") as tables:
        projects = {row.id("id"): row for row in tables("project") if row.text("name") not in present}
        entities = {row.id("id"): row for row in tables("entity") if row.id("project_id") in projects}
        texts = {row.id("entity_id"): row.text("markdown_content") for row in tables("note_content")}
        notes = {
            id: _indexed_note(row, projects[row.id("project_id")], texts.get(id, ""))
            for id, row in entities.items()
        }
        for note in notes.values():
            if note.text:
                yield _memory(note)
            else:
                yield UnplacedRecords("notes", "its file is gone, and the index does not contain its text")
        yield from _indexed_statements(tables, notes)


def _indexed_note(row: Row, project: Row, text: str) -> Note:
    created_at = row.time("created_at")
    path = row.text("file_path").removesuffix(".md")
    about = {name: row.text(name) for name in ("title", "permalink") if row.text(name)}
    front = _FRONT.match(text)
    return Note(
        project.text("path"),
        path,
        about | {"type": row.text("note_type", "entity_type") or "note"},
        Row(row.object("entity_metadata")).texts("tags"),
        text[front.end() :].strip("\n") if front else text.strip("\n"),
        created_at,
        row.time("updated_at", default=created_at),
    )


def _indexed_statements(tables: Tables, notes: Mapping[str, Note]) -> Iterator[Record]:
    titles = {note.title.casefold() for note in notes.values()}
    for id, rows in by(tables("observation"), "entity_id").items():
        if id in notes:
            for row in rows:
                yield _observation(notes[id], row.text("category"), row.text("content"), row.text("context"))
    for row in tables("relation"):
        source, target = notes.get(row.id("from_id")), notes.get(row.id("to_id"))
        if source is not None:
            name = target.title if target is not None else row.text("to_name")
            yield _relation(source, row.text("relation_type"), name, titles)


importer = Importer(NAME, "Basic Memory", read, locate, find, folder, realm=lambda path: "")
