r"""The rule for "about this file": when two spellings of a path mean the same file.

Whole parts are compared from the end, ignoring case: `src/auth.py`, `/home/me/app/src/auth.py` and `SRC\\auth.py` match
each other; `lib/auth.py` matches none of them. A bare `auth.py` may be any file of that name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import lru_cache

from .lazy import lazy_pattern

MAX_FOLDER_CHARS = 300  # longest path before a file's name in a text
_PART = r"[\w@.+-]"
_FOLDERS = lazy_pattern(r"[\w@.+~:/-]*$")
_NO_FOLDERS = ("", ".", "..", "~")


_EXTENSION = lazy_pattern(r"\.(?=[a-z0-9_+-]*[a-z])[a-z0-9_+-]{1,12}$")
_NO_FILE = lazy_pattern(r"[*?<>|\"\n\t`]|\$[({A-Za-z]|://|^[-$#&!=]|[/.\\]$|^\s|\s$")
"""Patterns, variables, URLs, options, folders and parts of expressions, which occur next to files in shell commands."""
_BARE_NAMES = frozenset(
    {
        "authors", "brewfile", "build", "caddyfile", "cargo.lock", "changelog", "codeowners", "configure", "contributing",
        "copying", "dockerfile", "gemfile", "gradlew", "install", "jenkinsfile", "justfile", "license", "makefile", "mvnw", "news",
        "notice", "pipfile", "podfile", "procfile", "rakefile", "readme", "todo", "vagrantfile", "version", "workspace",
    }
)  # fmt: skip
_SCRIPT_FOLDERS = frozenset({"bin", "sbin", "scripts", "hooks", ".ci", "libexec"})
"""Folders whose files often have no extension."""
_DOT_FILES = lazy_pattern(
    r"\.[a-z0-9_-]*(?:ignore|rc|config|attributes|profile|env|keep|version|modules|history)$"
)


_DRIVE = lazy_pattern(r"^(?:/mnt|/cygdrive)?/([A-Za-z])(?:/|$)")
_WORKTREE = lazy_pattern(r"(?:/\.claude/|/\.|__|[._-])worktrees/[^/]+/(?=.)")
"""The part of a path after the project's root that leads to another checkout (worktree), inside the project or next
to it."""


@lru_cache(maxsize=4_096)
def names_a_file(path: str) -> bool:
    """True if the spelling of a path looks like a file, not like a folder, a pattern or part of an expression."""
    parts = path_parts(path)
    if not parts or _NO_FILE.search(path):
        return False
    name = parts[-1]
    if name.startswith(".") and "." not in name[1:]:
        return bool(_DOT_FILES.fullmatch(name))
    if _EXTENSION.search(name):
        return True
    return name in _BARE_NAMES or (len(parts) > 1 and parts[-2] in _SCRIPT_FOLDERS)


def path_in_project(path: str, directory: str, project: str) -> str:
    """Return the spelling of a file that lists use: relative to its project or checkout, absolute for files outside.

    `path` may be relative to `directory`."""
    whole = path.replace("\\", "/")
    is_whole = is_absolute(whole)
    roots = [root.replace("\\", "/").rstrip("/") for root in (project, directory)]
    if not is_whole:
        whole = f"{roots[1] or roots[0]}/{whole}"
    whole = posixpath.normpath(whole)
    for root in filter(None, roots):
        if inside := _below(whole, root) or _below(_on_drive(whole), _on_drive(root)):
            return inside
    return whole.lstrip("/") if not is_whole and not any(roots) else whole


def paths_in_project(paths: Iterable[str], directory: str, project: str) -> dict[str, str]:
    """The file that each path in one conversation means, in the spelling of `path_in_project`, by its own spelling.

    Commands also run in folders of a project: a relative path with a folder that no tool named from the root means the
    one file below the root whose path ends with it, if there is one."""
    files = {path: path_in_project(path, directory, project) for path in dict.fromkeys(paths)}
    rooted = {files[path] for path in files if is_absolute(path) and not is_absolute(files[path])}
    for path, file in files.items():
        if not is_absolute(path) and file not in rooted and "/" in file:
            longer = [each for each in rooted if each.lower().endswith(f"/{file.lower()}")]
            files[path] = longer[0] if len(longer) == 1 else file
    return files


def is_absolute(path: str) -> bool:
    """True if a path begins at a root, a home directory or a drive."""
    return path.startswith(("/", "~", "\\")) or path[1:3] in (":/", ":\\")


def _below(path: str, root: str) -> str:
    """The part of a path below a root, or below another checkout of it; "" if it is elsewhere."""
    if not path.lower().startswith(root.lower()):
        return ""
    rest = path[len(root) :]
    if checkout := _WORKTREE.match(rest):
        return rest[checkout.end() :]
    return rest[1:] if rest.startswith("/") else ""


def _on_drive(path: str) -> str:
    """`/mnt/d/x` and `/d/x`, as WSL, Git Bash and Cygwin spell `D:/x`. Other paths are returned as they are."""
    return _DRIVE.sub(lambda match: f"{match[1]}:/", path)


def distinct_names(projects: Iterable[str]) -> dict[str, str]:
    """Return a short unique name for each project: the last part of its path, preceded by the fewest parts that make it
    unique."""
    parts = {each: each.replace("\\", "/").rstrip("/").split("/") for each in projects}
    names: dict[str, str] = {}
    alike: dict[str, list[str]] = {}
    for each, own in parts.items():
        alike.setdefault(own[-1], []).append(each)
    for same_name in alike.values():
        for each in same_name:
            own, length = parts[each], 1
            others = [parts[other] for other in same_name if other != each]
            while length < len(own) and any(other[-length:] == own[-length:] for other in others):
                length += 1
            names[each] = "/".join(own[-length:]) or each
    return names


class PathMatch(IntEnum):
    """The kind of match between a path and the requested one."""

    OTHER = 0
    NAME = 1
    """The path is a bare name, and the requested one has folders."""
    ENDS_ALIKE = 2
    """One path is the end of the other."""
    SAME = 3


def path_parts(path: str) -> tuple[str, ...]:
    parts = path.strip().lower().replace("\\", "/").split("/")
    return tuple(part for part in parts if part not in _NO_FOLDERS)


def match_path(path: str, wanted: str) -> PathMatch:
    parts, wanted_parts = path_parts(path), path_parts(wanted)
    shared = min(len(parts), len(wanted_parts))
    if not shared or parts[-shared:] != wanted_parts[-shared:]:
        return PathMatch.OTHER
    if parts == wanted_parts:
        return PathMatch.SAME
    return PathMatch.NAME if len(parts) == 1 else PathMatch.ENDS_ALIKE


def is_about_file(path: str, wanted: str) -> bool:
    """True if a path from a tool or a person means the requested file."""
    return match_path(path, wanted) >= PathMatch.ENDS_ALIKE


def match_in_text(text: str, wanted: str) -> PathMatch:
    """Return the best match among the paths in a text."""
    return max((match_path(path, wanted) for path in paths_named(text, wanted)), default=PathMatch.OTHER)


def paths_named(text: str, wanted: str) -> Iterator[str]:
    """Yield the paths in a text that end in the same file name.

    Only a full stop at the end of a sentence may follow."""
    parts = path_parts(wanted)
    if not parts:
        return
    text = text.replace("\\", "/")
    name = re.compile(rf"(?<!{_PART}){re.escape(parts[-1])}(?!{_PART}*[\w@+-])", re.IGNORECASE)
    for place in name.finditer(text):
        # look back a bounded distance: a pattern that begins with folders would reread a long run of folders from each one
        before = _FOLDERS.search(text, max(place.start() - MAX_FOLDER_CHARS, 0), place.start())
        yield (before.group() if before else "") + place.group()
