"""List a project's files, and score how relevant they are now.

A score has five parts, each from 0 to 1: how recently a file changed, how often it was committed lately, its type, its
location, and its size. Only names, sizes and times are read."""

from __future__ import annotations

import math
import os
import stat
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ...core.freshness import freshness
from ...core.projects.effort import Effort
from ...core.projects.git import git, names, printable
from ...core.projects.ignoring import walk
from ...domain.errors import NotAllowed, NotFound
from ...domain.when import iso, to_ms

MOST_FILES = 200_000
"""Maximum number of files to list. A notice says when there are more: the root may be an entire disk."""
MORE = f"The project has more than {MOST_FILES:,} files; the rest was not looked at."

ACTIVE_DAYS = 90
MOST_COMMITS = 500
LOG_TIMEOUT_S = 3

WEIGHTS = {"recency": 0.30, "activity": 0.25, "type": 0.20, "location": 0.15, "size": 0.10}
HIGH, MEDIUM = 0.7, 0.45

SOURCE = frozenset(
    ("py", "pyi", "js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte", "go", "rs", "java", "kt", "kts", "scala",
     "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "fs", "m", "mm", "swift", "rb", "php", "pl", "lua", "r", "jl",
     "ex", "exs", "erl", "hs", "ml", "clj", "dart", "zig", "nim", "sql", "sh", "bash", "zsh", "fish", "ps1", "proto",
     "graphql", "tf", "ipynb")
)  # fmt: skip
SETUP = frozenset(
    ("toml", "yaml", "yml", "json", "ini", "cfg", "conf", "xml", "gradle", "cmake", "mk", "properties", "env")
)
PROSE = frozenset(("md", "rst", "adoc", "txt", "org", "tex", "html", "css", "scss", "less"))
MADE = frozenset(("lock", "sum", "map", "snap", "min.js", "min.css", "log", "out", "tmp", "bak", "orig"))
SETUP_NAMES = frozenset(
    ("makefile", "dockerfile", "justfile", "rakefile", "gemfile", "procfile", "jenkinsfile")
)

FOREIGN_FOLDERS = frozenset(
    ("node_modules", "vendor", "third_party", "site-packages", "dist", "build", "target", "out", "coverage", "generated")
)  # fmt: skip
SOURCE_FOLDERS = frozenset(("src", "lib", "app", "apps", "packages", "pkg", "cmd", "internal", "core"))
SIDE_FOLDERS = frozenset(
    ("test", "tests", "spec", "specs", "__tests__", "docs", "doc", "examples", "fixtures")
)


class Paths(NamedTuple):
    """Sorted unique paths relative to the root, with `/`."""

    paths: list[str]
    by_git: bool


class ProjectFile(NamedTuple):
    path: str
    size: int
    score: float | None = None
    commits: int = 0

    @property
    def priority(self) -> str | None:
        if self.score is None:
            return None
        return "high" if self.score >= HIGH else "medium" if self.score >= MEDIUM else "low"


class FileList(NamedTuple):
    files: list[ProjectFile]
    """All files, best first; by path if they were not scored."""
    notices: tuple[str, ...]


def list_files(
    root: Path, now: datetime, effort: Effort, *, types: Collection[str] = (), is_scored: bool = True
) -> FileList:
    """List a project's files of these types (`py` or `.py`), or of all types."""
    _check(root)
    paths = list_paths(root, effort)
    endings = tuple(f".{ending.lower().removeprefix('.')}" for ending in types)
    wanted = [path for path in paths.paths if path.lower().endswith(endings)] if endings else paths.paths
    commits = recent_commits(root, now) if paths.by_git and is_scored else None
    if paths.by_git and is_scored and commits is None:
        effort.leave_out("git did not tell in time what was committed lately; that part of the scores is 0.")
    there = regular_files(root, wanted, effort)
    if not is_scored:
        files = [ProjectFile(printable(path), about.st_size) for path, about in there.items()]
        return FileList(files, effort.left_out)
    scored = _scored(there, commits or {}, to_ms(now))
    return FileList(sorted(scored, key=lambda file: (-(file.score or 0), file.path)), effort.left_out)


def list_paths(root: Path, effort: Effort) -> Paths:
    """Return the files that git tracks or would track; without git, the files not ignored by .gitignore files."""
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    listed = git(root, *words, timeout_s=effort.left_s / 2)  # leave half of the time for a directory walk
    listing: Iterable[str] = (
        dict.fromkeys(names(listed))  # a conflict lists a file three times
        if listed is not None
        else walk(root, effort, root / ".git" / "info" / "exclude")
    )
    paths = list(islice(listing, MOST_FILES + 1))
    if len(paths) > MOST_FILES:
        effort.leave_out(MORE)
    return Paths(sorted(paths[:MOST_FILES]), listed is not None)


def recent_commits(root: Path, now: datetime) -> Mapping[str, int] | None:
    """Return the number of recent commits that changed each file; None if git does not answer."""
    since = iso(now - timedelta(days=ACTIVE_DAYS))
    log = git(
        root, "log", f"--since={since}", f"--max-count={MOST_COMMITS}", "--no-merges", "--no-renames",
        "--no-show-signature", "--no-ext-diff", "--relative", "--name-only", "-z", "--format=",
        timeout_s=LOG_TIMEOUT_S,
    )  # fmt: skip
    if log is None and git(root, "rev-parse", "--quiet", "--verify", "HEAD") is None:
        return {}  # nothing was ever committed
    return None if log is None else Counter(names(log))


def _check(root: Path) -> None:
    if not root.is_dir():
        raise NotFound("project directory", printable(str(root)))
    if not os.access(root, os.R_OK | os.X_OK):
        raise NotAllowed(f"{printable(str(root))} may not be read.", hint="Check its owner and mode.")


def regular_files(root: Path, paths: Iterable[str], effort: Effort) -> dict[str, os.stat_result]:
    """Return the paths that are regular files now. Git also lists links, submodules and deleted files."""
    there: dict[str, os.stat_result] = {}
    for path in paths:
        if effort.is_over():
            break
        if (about := _about(root, path)) is not None:
            there[path] = about
    return there


def _about(root: Path, path: str) -> os.stat_result | None:
    """Return None if the path is not a file: a submodule, a link, or a deletion that is not committed yet."""
    try:
        about = os.lstat(f"{root}/{path}")
    except (OSError, ValueError):
        return None
    return about if stat.S_ISREG(about.st_mode) else None


def _scored(
    there: Mapping[str, os.stat_result], commits: Mapping[str, int], now_ms: int
) -> Iterable[ProjectFile]:
    busiest = math.log1p(max((commits.get(path, 0) for path in there), default=0))
    folders: dict[str, float] = {}
    for path, about in there.items():
        folder, _, name = path.rpartition("/")
        if folder not in folders:
            folders[folder] = _location(folder)
        times = commits.get(path, 0)
        score = (
            WEIGHTS["recency"] * freshness(about.st_mtime_ns / 1_000_000, now_ms)
            + WEIGHTS["activity"] * (math.log1p(times) / busiest if times else 0.0)
            + WEIGHTS["type"] * _type(name.lower())
            + WEIGHTS["location"] * folders[folder]
            + WEIGHTS["size"] * _size(about.st_size)
        )
        yield ProjectFile(printable(path), about.st_size, round(score, 3), times)


def _type(name: str) -> float:
    stem, _, ending = name.rpartition(".")
    if ending in SOURCE and not stem.endswith(".min"):
        return 1.0
    if name in SETUP_NAMES or name.startswith("readme"):
        return 0.8
    if ending in MADE or stem.endswith((".min", "-lock")):
        return 0.1
    return 0.6 if ending in SETUP else 0.5 if ending in PROSE else 0.2


def _location(folder: str) -> float:
    """Score a location: the top of a project and its sources are highest, third-party code is lowest."""
    parts = folder.lower().split("/") if folder else []
    if not FOREIGN_FOLDERS.isdisjoint(parts):
        return 0.1
    if any(part.startswith(".") for part in parts):
        return 0.3
    near = max(1.0 - 0.1 * len(parts), 0.5)
    if not SIDE_FOLDERS.isdisjoint(parts):
        return min(near, 0.6)
    return 1.0 if not SOURCE_FOLDERS.isdisjoint(parts) else near


def _size(size: int) -> float:
    """Score a size: empty files have no content, and huge ones too much."""
    return 0.1 if size == 0 else 1.0 if size <= 100_000 else 0.5 if size <= 1_000_000 else 0.1
