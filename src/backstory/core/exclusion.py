"""Excluded projects and paths: the setting `exclude`, and `.backstoryignore` in a project.

Checked before a foreign file is opened if its path or project is enough to decide, and otherwise before anything of
it is stored.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from ..domain.errors import NotAllowed
from ..domain.lazy import lazy_name, lazy_pattern
from .projects import project_root, work_tree
from .projects.ignoring import Rules, expression_of, is_ignored, read_rules

if TYPE_CHECKING:
    from ..readers.formats.paths import project_slug
    from ..readers.formats.values import fingerprint
else:  # 15 ms, which a first save does without
    project_slug = lazy_name("backstory.readers.formats.paths", "project_slug")
    fingerprint = lazy_name("backstory.readers.formats.values", "fingerprint")

IGNORE_FILE = ".backstoryignore"
_GLOB = lazy_pattern(r"[*?\[]")
_ANY_NAME = "backstory-any-name"
"""A name that no rule is about, unless it is about all of them."""
_IGNORES_CASE = sys.platform in ("darwin", "win32")


class Exclusion:
    """The exclusion rules for one sync: ignore files are read once. `patterns` are paths and globs, and include subdirectories."""

    def __init__(self, patterns: Sequence[str], home: str | None = None) -> None:
        self.patterns = tuple(patterns)
        self._expanded = [_expanded(pattern, home) for pattern in patterns]
        self._expressions = [_compiled(pattern) for pattern in self._expanded]
        self._by_directory: dict[str, bool] = {}
        self._rules: dict[str, tuple[str, Rules | None]] = {}

    @cached_property
    def fingerprint(self) -> str:
        """A fingerprint of the rules. When it changes, files are read again."""
        return fingerprint(*self.patterns)

    @cached_property
    def _slugs(self) -> set[str]:
        return {
            project_slug(pattern)
            for pattern in self._expanded
            if pattern.startswith("/") and not _GLOB.search(pattern)
        }

    def excludes_source(self, path: Path, directory: str = "") -> bool:
        """True if a foreign file must not be opened: by its path, its project, or a folder named after an excluded directory."""
        if self._expressions and (self._matches(str(path)) or not self._slugs.isdisjoint(path.parts)):
            return True
        return self.excludes_project(directory)

    def excludes_project(self, directory: str) -> bool:
        """True if everything done in a directory is excluded."""
        if not directory:
            return False
        if directory not in self._by_directory:
            self._by_directory[directory] = self._is_excluded(directory)
        return self._by_directory[directory]

    def excludes_file(self, path: str, directory: str) -> bool:
        """True if a file that was touched in a project must not be mentioned."""
        root, rules = self._ignored_in(directory)
        if rules is None and not self._expressions:
            return False
        whole = os.path.normpath(os.path.join(directory, path))
        if self._matches(whole):
            return True
        relative = os.path.relpath(whole, root) if rules and os.path.isabs(whole) else ""
        if not rules or not relative or relative.startswith(".."):
            return False
        parts = relative.replace(os.sep, "/").split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts))]
        return any(is_ignored(each, True, [rules]) for each in above) or is_ignored(
            "/".join(parts), False, [rules]
        )

    def check(self, project: str) -> None:
        """Raise NotAllowed for an excluded project."""
        if self.excludes_project(project):
            raise NotAllowed(
                "This project is excluded; nothing was saved.",
                hint="`backstory exclude` lists the rules.",
            )

    def _is_excluded(self, directory: str) -> bool:
        places = {directory, os.path.realpath(directory)}
        if os.path.isdir(directory):
            places.add(str(project_root(Path(directory))))
        if any(map(self._matches, places)):
            return True
        _, rules = self._ignored_in(directory)
        return rules is not None and is_ignored(_ANY_NAME, False, [rules])

    def _matches(self, path: str) -> bool:
        path = path.replace("\\", "/").rstrip("/")
        return any(expression.fullmatch(path) for expression in self._expressions)

    def _ignored_in(self, directory: str) -> tuple[str, Rules | None]:
        """The root of a project, and the rules of its ignore file."""
        if directory not in self._rules:
            self._rules[directory] = _ignore_rules(directory)
        return self._rules[directory]


def _ignore_rules(directory: str) -> tuple[str, Rules | None]:
    if not os.path.isabs(directory) or not os.path.isdir(directory):
        return directory, None
    root = work_tree(Path(directory))
    file = root / IGNORE_FILE
    return str(root), read_rules(file, "") if file.is_file() else None


def _expanded(pattern: str, home: str | None) -> str:
    pattern = pattern.replace("\\", "/") if os.sep == "\\" else pattern
    if pattern == "~" or pattern.startswith("~/"):
        pattern = (home or os.path.expanduser("~")).replace("\\", "/") + pattern[1:]
    while pattern.endswith(("/**", "/")) and len(pattern) > 1:
        pattern = pattern.removesuffix("/**").removesuffix("/")
    return pattern


def _compiled(pattern: str) -> re.Pattern[str]:
    """Matches a path, and everything below it. A relative pattern may begin at any folder."""
    expression = expression_of(pattern) or "(?!)"
    is_absolute = pattern.startswith("/") or pattern[1:2] == ":"
    start = "" if is_absolute else "(?:.*/)?"
    return re.compile(f"{start}{expression}(?:/.*)?", re.DOTALL | (re.IGNORECASE if _IGNORES_CASE else 0))
