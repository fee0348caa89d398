"""Locations of sessions: `<sessions>/YYYY-MM-DD/<name>/`. Nothing is written or read outside the sessions directory.

A session is written to a hidden folder in the same directory, which is then renamed to the session's name. It is
complete or absent, and two processes that want the same name get two names."""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import InvalidInput, NoFolder, NoName, NotWritten, Unreadable
from ...domain.lazy import lazy_pattern
from ...domain.when import to_ms
from ...store.whole_files import is_running, sync

DEFAULT = Path(".codearchitect", "sessions")
FULL, SUMMARY = "full.md", "summary.md"
MOST_NAMES = 1_000
DRAFT_S = 60.0
"""Age in seconds after which a draft counts as abandoned. Writing a session takes less."""
_DRAFT = lazy_pattern(r"\.(\d+)-[0-9a-f]{12}")
_ROOT_MARKS = (
    *(".git", ".hg", ".svn", "package.json", "pyproject.toml", "setup.py", "Cargo.toml", "go.mod", "pom.xml"),
    *("build.gradle", "build.gradle.kts", "composer.json", "Gemfile", "mix.exs", "CMakeLists.txt"),
)
_REFUSED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class SessionsPlace(NamedTuple):
    """A sessions directory."""

    root: Path
    bounds: Path
    """The directory that a symbolic link must not leave."""
    is_guessed: bool = False
    """True if nothing indicates that the containing directory is a project."""


class SessionFile(NamedTuple):
    """A session in the tree. `day` is "" if it is not in the folder of a day."""

    name: str
    day: str
    file: Path


def sessions_place(requested: str | None, configured: str, directory: str) -> SessionsPlace:
    """Return the argument's directory, else the configured one, else the project's own."""
    chosen = configured or None if requested is None else requested
    if chosen is None:
        project = Path(directory)
        is_project = any((project / mark).exists() for mark in _ROOT_MARKS)
        return SessionsPlace(project / DEFAULT, project, is_guessed=not is_project)
    try:
        if not chosen.strip() or "\0" in chosen:
            raise ValueError(chosen)
        root = Path(directory, Path(chosen).expanduser())
    except (ValueError, RuntimeError):
        raise InvalidInput(f"{chosen!r} is not a directory.", field="sessions_dir") from None
    return SessionsPlace(root, root)


def save(
    place: SessionsPlace,
    day: str,
    name: str,
    files: Mapping[str, str],
    modified: datetime,
    record: Callable[[Path], None],
) -> Path:
    """Write the files to a new folder with this name, or the name and a number. Return the folder.

    The folder is recorded before it exists, and again if another process took the name."""
    folder = place.root / day
    _make_folder(folder, place)
    _sweep(place)
    draft = folder / f".{os.getpid()}-{os.urandom(6).hex()}"
    try:
        draft.mkdir()
        for each, text in files.items():
            _write(draft / each, text, modified)
        sync(draft)
        return _claim(draft, folder, name, record)
    except OSError as error:
        raise NotWritten(
            f"{folder / name} cannot be written: {error.strerror}.", hint="Nothing was saved."
        ) from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _sweep(place: SessionsPlace) -> None:
    """Remove the drafts of processes that were killed, and nothing else."""
    for day in days(place):
        try:
            with os.scandir(place.root / day) as entries:
                drafts = [Path(entry.path) for entry in entries if _is_stale_draft(entry)]
        except OSError:
            continue
        for draft in drafts:
            shutil.rmtree(draft, ignore_errors=True)


def _is_stale_draft(entry: os.DirEntry[str]) -> bool:
    match = _DRAFT.fullmatch(entry.name)
    if match is None or not entry.is_dir(follow_symlinks=False):
        return False
    path = Path(entry.path)
    # a process on another machine or in another container may be writing it
    is_old = time.time() - entry.stat(follow_symlinks=False).st_mtime > DRAFT_S
    return is_old and not is_running(int(match[1]), path) and set(os.listdir(path)) <= {FULL, SUMMARY}


def remove(folder: Path) -> None:
    """Remove the folder that `save` just created."""
    shutil.rmtree(folder, ignore_errors=True)


def _make_folder(folder: Path, place: SessionsPlace) -> None:
    try:
        if not _is_inside(folder, place):
            raise NoFolder(
                f"{folder} is a symbolic link out of {place.bounds}.",
                hint="Nothing was saved.",
                field="sessions_dir",
            )
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        kind = NotWritten if error.errno in _REFUSED else NoFolder
        raise kind(f"{folder} cannot be made: {error.strerror}.", hint="Nothing was saved.") from error


def _write(path: Path, text: str, modified: datetime) -> None:
    with path.open("xb") as file:
        file.write(text.encode())
        file.flush()
        os.fsync(file.fileno())
    nanoseconds = to_ms(modified) * 1_000_000
    os.utime(path, ns=(nanoseconds, nanoseconds))


def _claim(draft: Path, folder: Path, name: str, record: Callable[[Path], None]) -> Path:
    for number in range(MOST_NAMES + 1):
        target = folder / (f"{name}-{number}" if number else name)
        if os.path.lexists(target):  # os.rename would replace an empty folder
            continue
        record(target)
        try:
            os.rename(draft, target)
        except OSError as error:
            if error.errno in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                continue  # another process took the name first
            raise
        sync(folder)
        return target
    raise NoName(
        f"{name} and its {MOST_NAMES} numbered names are taken on this day.",
        hint="Give another topic.",
        field="topic",
    )


def days(place: SessionsPlace) -> Iterator[str]:
    """Yield the folders of days, newest first, then "" for sessions outside of them."""
    names = [entry.name for entry in _entries(place.root, place) if is_day(entry.name) and entry.is_dir()]
    yield from sorted(names, reverse=True)
    yield ""


def found_on(place: SessionsPlace, day: str) -> list[SessionFile]:
    """Return the sessions in the folder of a day, by name."""
    folder = place.root / day
    files: dict[str, SessionFile] = {}
    for entry in _entries(folder, place):
        if not day and is_day(entry.name):
            continue
        for name, file in _sessions_at(entry, day, place):
            known = files.get(name)
            if known is None or _rank(file) < _rank(known.file):
                files[name] = SessionFile(name, day, file)
    return sorted(files.values())


def _sessions_at(entry: os.DirEntry[str], day: str, place: SessionsPlace) -> Iterator[tuple[str, Path]]:
    """Yield the session in a folder with full.md or summary.md, or in a file whose name may end in `-full` or
    `-summary`."""
    if entry.is_dir():
        files = {inner.name: inner for inner in _listed(Path(entry.path), place) if inner.is_file()}
        yield from ((entry.name, Path(files[each].path)) for each in (FULL, SUMMARY) if each in files)
    elif entry.is_file() and entry.name.endswith(".md"):
        if entry.name in (FULL, SUMMARY):  # written by the original program if the topic became empty
            yield day or place.root.name, Path(entry.path)
        else:
            stem = entry.name.removesuffix(".md")
            yield entry.name if base_name(stem) == stem else base_name(stem), Path(entry.path)


def base_name(stem: str) -> str:
    """Return the name of the session to which `topic-full` and `topic-summary` belong."""
    for ending in ("-full", "-summary"):
        if stem.endswith(ending) and stem != ending:
            return stem.removesuffix(ending)
    return stem


def choose(files: Iterable[SessionFile], wanted: str) -> list[SessionFile]:
    """Return the files that a name matches: exactly, else without `.md`, else also without `-full` or `-summary`."""
    stem = wanted.removesuffix(".md")
    levels: tuple[list[SessionFile], ...] = ([], [], [])
    for each in files:
        names = (each.name, each.name.removesuffix(".md"))
        for level, name in enumerate((wanted, stem, base_name(stem))):
            if name in names:
                levels[level].append(each)
                break
    return next((some for some in levels if some), [])


def _rank(file: Path) -> int:
    if file.name.endswith(FULL):
        return 0
    return 1 if file.name.endswith(SUMMARY) else 2


def is_day(name: str) -> bool:
    try:
        return len(name) == 10 and datetime.strptime(name, "%Y-%m-%d").strftime("%Y-%m-%d") == name  # noqa: DTZ007  (a day has no zone)
    except ValueError:
        return False


def _entries(folder: Path, place: SessionsPlace) -> list[os.DirEntry[str]]:
    """Return the entries of a folder, except hidden ones and links to the outside."""
    return _listed(folder, place) if _is_inside(folder, place) else []


def _listed(folder: Path, place: SessionsPlace) -> list[os.DirEntry[str]]:
    """Return the entries of a folder that is known to be inside the bounds, except hidden ones and links to the
    outside."""
    try:
        with os.scandir(folder) as entries:
            return [
                entry
                for entry in entries
                if not entry.name.startswith(".")
                and (not entry.is_symlink() or _is_inside(Path(entry.path), place))
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise Unreadable(f"{folder} cannot be read: {error.strerror}.") from error


def _is_inside(path: Path, place: SessionsPlace) -> bool:
    try:
        return path.resolve().is_relative_to(place.bounds.resolve())
    except (OSError, RuntimeError):  # a cycle of links
        return False
