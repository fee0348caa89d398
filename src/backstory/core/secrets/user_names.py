"""Texts without user names and home directories, for files that leave the machine.

Names are taken from home directories and from the owners in listings of `ls -l`; then they are replaced wherever they
stand as a word. No list of people is needed, and a name that occurs in neither place is not found."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ...domain.lazy import lazy_pattern
from ...domain.words import STOP_WORDS

USER, GROUP, HOME = "user", "group", "~"
MIN_NAME_CHARS = 3
"""Shorter names are replaced in paths and listings only: elsewhere they may be words or variables."""

_HOME_DIRECTORY = lazy_pattern(r"(?:/home|/Users|[A-Za-z]:\\+Users)[/\\]+([^/\\\s\"'<>:]+)")
_PROJECT_FOLDER = lazy_pattern(r"(?<![\w-])-(?:Users|home)-[^-\s/\\\"'<>]+")
"""Claude Code names its folder of a project after the path, with a hyphen for each slash."""
_LISTED = lazy_pattern(
    r"^(\s*[-bcdlps][-rwxsStT]{9}[.+@]?\s+\d+\s+)([^\s\d]\S*)(\s+)([^\s\d]\S*)(?=\s)", re.MULTILINE
)
_NAME = lazy_pattern(r"\w(?:[\w.-]*\w)?")
_SHARED_NAMES = frozenset(
    {
        "admin", "administrator", "agent", "app", "build", "builder", "claude", "cline", "code", "codex", "copilot", "cursor",
        "default", "deploy", "dev", "developer", "docker", "example", "gemini", "git", "guest", "home", "jenkins", "me", "name",
        "node", "opencode", "postgres", "public", "python", "root", "runner", "sandbox", "shared", "system", "test", "tester",
        "testuser", "ubuntu", "user", "username", "users", "vscode", "web", "work", "workspace", "you", "yourname",
    }
)  # fmt: skip
"""Names that identify nobody, and words of their own."""


def without_user_names(texts: Sequence[str]) -> list[str]:
    """The texts with `~` for home directories, `user` and `group` in listings of files, and `user` for names elsewhere."""
    names = {name for text in texts for name in _names(text)}
    words = _words({name for name in names if _identifies(name)})
    return [_without(text, words) for text in texts]


def _names(text: str) -> list[str]:
    named = [*_HOME_DIRECTORY.findall(text), *(match[2] for match in _LISTED.finditer(text))]
    return [name[0] for each in named if (name := _NAME.match(each)) is not None]


def _identifies(name: str) -> bool:
    known = name.lower()
    return len(name) >= MIN_NAME_CHARS and known not in _SHARED_NAMES and known not in STOP_WORDS


def _words(names: set[str]) -> re.Pattern[str] | None:
    # the longest first: `anna.b` is not `anna` and a rest; folders of projects spell it `anna-b`
    spellings = names | {re.sub(r"[^A-Za-z0-9]", "-", name) for name in names}
    if not spellings:
        return None
    choices = "|".join(re.escape(each) for each in sorted(spellings, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{choices})(?![A-Za-z0-9])")


def _without(text: str, words: re.Pattern[str] | None) -> str:
    text = _LISTED.sub(_listing, _HOME_DIRECTORY.sub(HOME, text))
    if words is not None:
        text = words.sub(USER, text)
    return _PROJECT_FOLDER.sub(f"-{HOME}", text)


def _listing(match: re.Match[str]) -> str:
    """The columns of a line of `ls -l` up to the group, with the others still below each other."""
    owner, group = (
        name if name.lower() in _SHARED_NAMES else f"{word:<{len(name)}}"
        for name, word in ((match[2], USER), (match[4], GROUP))
    )
    return f"{match[1]}{owner}{match[3]}{group}"
