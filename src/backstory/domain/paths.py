"""The one rule for "about this file": when two spellings of a path mean the same file.

Whole parts are compared from the end, upper and lower case alike: `src/auth.py`, `/home/me/app/src/auth.py` and `SRC\\auth.py` agree,
`lib/auth.py` agrees with none of them. A bare `auth.py` may be any file of that name."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator
from enum import IntEnum

from .lazy import lazy_pattern

MAX_FOLDER_CHARS = 300  # of the path before a file's name in a text
_PART = r"[\w@.+-]"
_FOLDERS = lazy_pattern(r"[\w@.+~:/-]*$")
_NO_FOLDERS = ("", ".", "..", "~")


_EXTENSION = lazy_pattern(r"\.(?=[a-z0-9_+-]*[a-z])[a-z0-9_+-]{1,12}$")
_NO_FILE = lazy_pattern(r"[*?<>|\"\n\t`]|\$[({A-Za-z]|://|^[-$#&!=]|[/.\\]$|^\s|\s$")
"""Patterns, variables, addresses, options, folders and parts of expressions, which shell commands name beside files."""
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


def names_a_file(path: str) -> bool:
    """Whether a path that a tool or a command named is that of a file, judged by its spelling: not a folder, a pattern or a
    word of an expression."""
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
    """The one spelling of a file in lists: relative to its project, or to the checkout that a conversation was in; whole where
    it lies outside. `path` is relative to `directory`."""
    whole = path.replace("\\", "/")
    is_whole = whole.startswith(("/", "~")) or whole[1:3] == ":/"
    roots = [root.replace("\\", "/").rstrip("/") for root in (project, directory)]
    if not is_whole:
        whole = f"{roots[1] or roots[0]}/{whole}"
    whole = posixpath.normpath(whole)
    for root in filter(None, roots):
        if whole.lower().startswith(f"{root.lower()}/"):
            return whole[len(root) + 1 :]
    return whole.lstrip("/") if not is_whole and not any(roots) else whole


def distinct_names(projects: Iterable[str]) -> dict[str, str]:
    """A short name of each project: the last part of its path, with as many parts before it as tell it from the others."""
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
    """How well a path agrees with the one that is asked for."""

    OTHER = 0
    NAME = 1
    """It is a bare name, and the one asked for has folders."""
    ENDS_ALIKE = 2
    """One of them is the end of the other."""
    SAME = 3


def path_parts(path: str) -> tuple[str, ...]:
    parts = path.strip().lower().replace("\\", "/").split("/")
    return tuple(part for part in parts if part not in _NO_FOLDERS)


def match_path(path: str, wanted: str) -> PathMatch:
    parts, asked = path_parts(path), path_parts(wanted)
    shared = min(len(parts), len(asked))
    if not shared or parts[-shared:] != asked[-shared:]:
        return PathMatch.OTHER
    if parts == asked:
        return PathMatch.SAME
    return PathMatch.NAME if len(parts) == 1 else PathMatch.ENDS_ALIKE


def is_about_file(path: str, wanted: str) -> bool:
    """Whether a path that a tool or a person gave means the file that is asked for."""
    return match_path(path, wanted) >= PathMatch.ENDS_ALIKE


def match_in_text(text: str, wanted: str) -> PathMatch:
    """How well the best of the paths in a text agrees with the one that is asked for."""
    return max((match_path(path, wanted) for path in _paths_named(text, wanted)), default=PathMatch.OTHER)


def _paths_named(text: str, wanted: str) -> Iterator[str]:
    """Paths in a text that end in the same name. Nothing may follow it but a full stop that ends a sentence."""
    parts = path_parts(wanted)
    if not parts:
        return
    text = text.replace("\\", "/")
    name = re.compile(rf"(?<!{_PART}){re.escape(parts[-1])}(?!{_PART}*[\w@+-])", re.IGNORECASE)
    for place in name.finditer(text):
        # a bounded look back: a pattern that begins with folders reads a long run of them again from each one
        before = _FOLDERS.search(text, max(place.start() - MAX_FOLDER_CHARS, 0), place.start())
        yield (before.group() if before else "") + place.group()
