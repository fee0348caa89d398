"""Write the state of a project into the files that other programs load at the start of a session.

Only with the user's consent, only into private files of one project in the user's home, and only between two
markers. The bytes before and after the block are never changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...clients import files as client_files
from ...clients.edits import line_end
from ...clients.steps import Action, StepOutcome
from ...domain.errors import BackstoryError
from ...domain.lazy import lazy_pattern
from ...domain.origins import programs_of
from ...domain.records import Memory, Trust
from ...domain.statements import Speaker
from ...readers import Places
from ...readers.formats.paths import project_slug
from ...readers.gemini_cli import project_folders
from .. import Caller, Core
from ..brief.sections import sections_of
from ..engine import Engine
from ..exclusion import Exclusion
from ..projects import is_repository, work_tree
from ..projects.git import ask
from ..quoting import quote
from ..secrets import redactor
from ..state import ProjectState
from .blocks import find_block, is_sound, rendered
from .fed import FedFile, FedState, line_digest, load_fed, save_fed
from .files import INDEX, PROGRAMS, claude_homes, qwen_homes, recorded_directory, with_known_projects

FEEDABLE = ("claude-code", "gemini-cli", "qwen-code")
"""Clients that load a private file for each project."""
HEADING = "## What holds in this project (from every assistant)"
MAX_LINES = 15
MAX_CHARS = 1_500
MAX_LINE_CHARS = 200
MAX_FILE_LINES = 180
"""Claude Code and Qwen Code load 200 lines of the file, so our block shrinks to leave room for theirs."""
MAX_PUT_BACKS = 3
"""A program that removed the block this often does not want it."""
BROKEN_MARKERS = "its markers of Backstory are not one pair; take them out by hand"
SECTIONS = {
    "Next:": "Next: ",
    "Rules of the user:": "",
    "Decisions in force:": "",
    "Noted by assistants:": "",
}
LEASE, LEASE_MS = "memory-files", 15_000
_IMPORT = lazy_pattern(r"(?<!\w)@(?=[\w./~])")
"""Programs replace `@path` by the contents of the file."""
_BOM = "\ufeff"


class FedPlace(NamedTuple):
    """The file from which one client loads notes about one project."""

    client: str
    project: str
    path: Path


class Feeding:
    """One look at all projects of this user."""

    def __init__(self, engine: Engine, places: Places) -> None:
        self._engine = engine
        self._home = engine.settings.home
        self._exclusion = Exclusion(engine.settings.exclude)
        self._places = with_known_projects(places, engine.store)

    def start(self, clients: Iterable[str]) -> list[StepOutcome]:
        """Feed these clients from now on."""
        state = load_fed(self._home)
        files = tuple(each._replace(lost=0) for each in state.files)
        save_fed(self._home, state._replace(clients=tuple({*state.clients, *clients}), files=files))
        return self.refresh()

    def refresh(self) -> list[StepOutcome]:
        """Update every file, and remove the block from projects without any current statements.

        Returns nothing if no client is fed, or if another process is updating."""
        holder, leases = self._engine.new_id(), self._engine.store.leases
        if not load_fed(self._home).clients or not leases.take(LEASE, holder, for_ms=LEASE_MS):
            return []
        try:
            wanted = list(self.places(load_fed(self._home).clients))
            paths = {str(each.path) for each in wanted}
            gone = [each for each in load_fed(self._home).files if each.path not in paths]
            outcomes = [self._refreshed(each) for each in wanted]
            outcomes += [take_out(self._home, each) for each in gone]
        finally:
            leases.drop(LEASE, holder)
        return [each for each in outcomes if each.action != "unchanged"]

    def places(self, clients: Sequence[str]) -> Iterator[FedPlace]:
        """The private files of known projects, for clients that were used there.

        Two projects with the same folder name get none: the statements of one would reach the other."""
        projects = [path for path in self._places.projects if path.is_absolute()]
        slugs = [project_slug(str(path)) for path in projects]
        for project, slug in zip(projects, slugs, strict=True):
            if slugs.count(slug) == 1 and not self._exclusion.excludes_project(str(project)):
                yield from self._places_of(str(project), slug, clients)

    def _places_of(self, project: str, slug: str, clients: Sequence[str]) -> Iterator[FedPlace]:
        folders: list[tuple[str, Path]] = []
        if "claude-code" in clients and _has_auto_memory(
            self._places.environment, claude_homes(self._places)[0]
        ):
            folders.append(("claude-code", claude_homes(self._places)[0] / "projects" / slug))
        if "qwen-code" in clients:
            folders.append(("qwen-code", qwen_homes(self._places)[0] / "projects" / slug))
        if "gemini-cli" in clients:
            known_folders = (
                (folder, directory) for _, each in project_folders(self._places) for folder, directory in each
            )
            folders += [("gemini-cli", folder) for folder, directory in known_folders if directory == project]
        for client, folder in folders:
            if folder.is_dir() and recorded_directory(folder) in ("", project):
                yield FedPlace(client, project, folder / "memory" / INDEX)

    def lines(self, place: FedPlace) -> list[str]:
        """The lines for a client: next steps, rules and decisions of the user's own that the client's file does not
        contain."""
        core = Core(self._engine, Caller(project=place.project, directory=place.project))
        state = _own(core.state.of(place.project), PROGRAMS[place.client].source)
        redact = redactor("standard").redact
        lines: list[str] = []
        for section in sections_of(core, place.project, state):
            if section.title in SECTIONS:
                for item in section.items:
                    text = quote(f"{SECTIONS[section.title]}{item.label}{item.text}", MAX_LINE_CHARS)
                    source = f" [{item.source}]" if item.source else ""
                    lines.append(f"- {_IMPORT.sub('(at)', redact(text).text)}{source}")
        return _that_fit(list(dict.fromkeys(lines)))

    def _refreshed(self, place: FedPlace) -> StepOutcome:
        state = load_fed(self._home)
        known = next((each for each in state.files if each.path == str(place.path)), None)
        try:
            text = client_files.read(place.path)
            lines = self.lines(place)
            if refusal := self._refusal(place, text, known):
                return _outcome(place, "left", refusal)
            room = MAX_FILE_LINES - len(_rest(text or "").splitlines()) - 3
            lines = lines[: max(room, 0)]
            if not lines:
                return take_out(self._home, known) if known else _outcome(place, "unchanged")
            return self._write(place, text, lines, state, known)
        except BackstoryError as error:
            return _outcome(place, "failed", str(error))

    def _refusal(self, place: FedPlace, text: str | None, known: FedFile | None) -> str:
        if text is not None and not is_sound(text):
            return BROKEN_MARKERS
        if known is not None and known.lost >= MAX_PUT_BACKS:
            return f"its program removed the block {known.lost} times; `backstory install --memory-files` tries again"
        return "" if _is_private(place.path) else "git would take it in"

    def _write(
        self, place: FedPlace, text: str | None, lines: list[str], state: FedState, known: FedFile | None
    ) -> StepOutcome:
        before = text or ""
        block = find_block(before)
        new = rendered([HEADING, *lines], line_end(before))
        start = block.start() if block else len(_BOM) * before.startswith(_BOM)
        after = (
            before[:start] + new + _foreign_lines(before, state) + before[block.end() if block else start :]
        )
        if after == before:
            return _outcome(place, "unchanged")
        is_lost = known is not None and block is None
        file = known or FedFile(
            str(place.path),
            place.client,
            place.project,
            tuple(map(str, client_files.missing_folders(place.path))),
            is_made=text is None,
        )
        file = file._replace(lost=file.lost + 1 if is_lost else file.lost)
        # before the file, so that a crash leaves nothing unknown
        save_fed(self._home, state.with_file(file).with_lines([HEADING, *lines]))
        client_files.write(place.path, after, text)
        return _outcome(place, "updated" if known else "added")


def stop_feeding(home: Path, clients: Iterable[str]) -> list[StepOutcome]:
    """Remove the blocks from the files of these clients, and stop feeding them.

    Written lines stay recorded, so that copies of them are still not imported."""
    chosen = set(clients)
    state = load_fed(home)
    if not chosen & {*state.clients, *(each.client for each in state.files)}:
        return []
    save_fed(home, state._replace(clients=tuple(each for each in state.clients if each not in chosen)))
    return [take_out(home, each) for each in state.files if each.client in chosen]


def withdraw(home: Path) -> list[str]:
    """Remove every block now, because something was forgotten; the next refresh writes the current state.

    Returns the changed files."""
    outcomes = [take_out(home, each) for each in load_fed(home).files]
    return [each.target for each in outcomes if each.action == "removed"]


def take_out(home: Path, file: FedFile) -> StepOutcome:
    """Restore a file: the bytes that were there, or no file where there was none."""
    place = FedPlace(file.client, file.project, Path(file.path))
    state = load_fed(home)
    try:
        text = client_files.read(place.path)
        action: Action = "unchanged"
        if text is not None and not is_sound(text):
            return _outcome(place, "left", BROKEN_MARKERS)
        if text is not None and (block := find_block(text)) is not None:
            after = text[: block.start()] + _foreign_lines(text, state) + text[block.end() :]
            if file.is_made and not after.strip(_BOM + " \t\r\n"):
                client_files.remove(place.path.resolve(), list(map(Path, file.folders)))
            else:
                client_files.write(place.path, after, text)
            action = "removed"
    except BackstoryError as error:
        return _outcome(place, "failed", str(error))
    save_fed(home, load_fed(home).without_file(file.path))
    return _outcome(place, action)


def refused_files(home: Path) -> dict[str, str]:
    """Files that are not brought up to date, and why."""
    refused = {}
    for file in load_fed(home).files:
        text = client_files.read(Path(file.path)) or ""
        if not is_sound(text):
            refused[file.path] = BROKEN_MARKERS
        elif file.lost >= MAX_PUT_BACKS and find_block(text) is None:
            refused[file.path] = f"its program removed the block {file.lost} times"
    return refused


def _outcome(place: FedPlace, action: Action, message: str = "") -> StepOutcome:
    return StepOutcome(place.client, str(place.path), action, message)


def _own(state: ProjectState, source: str) -> ProjectState:
    """The state without other people's words, and without the contents of the program's own file."""

    def is_news(memory: Memory) -> bool:
        return memory.trust is Trust.OWN and source not in programs_of(memory)

    return state._replace(
        statements=[
            each for each in state.statements if each.trust is Trust.OWN or each.speaker is Speaker.LOG
        ],
        decisions=list(filter(is_news, state.decisions)),
        preferences=list(filter(is_news, state.preferences)),
        notes=list(filter(is_news, state.notes)),
    )


def _that_fit(lines: Sequence[str]) -> list[str]:
    chosen: list[str] = []
    for line in lines[:MAX_LINES]:
        if sum(map(len, chosen)) + len(line) <= MAX_CHARS:
            chosen.append(line)
    return chosen


def _rest(text: str) -> str:
    block = find_block(text)
    return text if block is None else text[: block.start()] + text[block.end() :]


def _foreign_lines(text: str, state: FedState) -> str:
    """Lines that were added inside the block by others; they are preserved outside of it."""
    block = find_block(text)
    if block is None:
        return ""
    known = set(state.lines)
    lines = block["lines"].splitlines(keepends=True)
    return "".join(line for line in lines if line.strip() and line_digest(line) not in known)


def _is_private(path: Path) -> bool:
    """True if no repository would include the file: it is in none, or git ignores it."""
    folder = next(each for each in path.parents if each.is_dir())
    if not is_repository(work_tree(folder)):
        return True
    tracked = ask(folder, "ls-files", "-z", "--", str(path))
    is_ignored = ask(folder, "check-ignore", "-q", "--no-index", "--", str(path)).is_ok
    return tracked.is_ok and not tracked.text and is_ignored


def _has_auto_memory(environment: Mapping[str, str], home: Path) -> bool:
    """True if Claude Code loads its memory files, which it does by default."""
    if environment.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").lower() in ("1", "true"):
        return False
    try:
        settings = json.loads((home / "settings.json").read_bytes())
    except (OSError, ValueError):
        return True
    return not isinstance(settings, dict) or settings.get("autoMemoryEnabled") is not False
