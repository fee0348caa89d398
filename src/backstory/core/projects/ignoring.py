"""Patterns of gitignore(5), for use where git cannot be called. Global excludes are not supported."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from .effort import Effort, device_of

FILE = ".gitignore"
LARGEST_FILE = 1_000_000

_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": r" \t", "cntrl": r"\x00-\x1f\x7f", "digit": "0-9",
    "graph": r"\x21-\x7e", "lower": "a-z", "print": r"\x20-\x7e", "punct": r"!-/:-@\[-`{-~", "space": r"\s",
    "upper": "A-Z", "xdigit": "0-9a-fA-F",
}  # fmt: skip


class IgnoreRule(NamedTuple):
    """One line of an ignore file: the names or paths that it matches, and whether it excludes or includes them."""

    pattern: re.Pattern[str]
    is_excluding: bool
    is_for_directories: bool
    is_for_names: bool


class Rules(NamedTuple):
    """The lines of one ignore file, which apply to everything below its directory."""

    base: str
    """Relative to the root, with a slash at its end; empty for the root."""
    rules: tuple[IgnoreRule, ...]


def read_rules(path: Path, base: str) -> Rules:
    """The rules of a file; none if it cannot be read, as in git."""
    try:
        with path.open("rb") as file:
            text = os.fsdecode(file.read(LARGEST_FILE).removeprefix(b"\xef\xbb\xbf"))
    except OSError:
        text = ""
    return Rules(base, tuple(rule for line in text.split("\n") if (rule := _rule(line)) is not None))


def is_ignored(path: str, is_directory: bool, layers: Sequence[Rules]) -> bool:
    """True if the last rule that matches ignores the path, in the file nearest to it. `layers` are from the root down."""
    name = path.rpartition("/")[2]
    for layer in reversed(layers):
        for rule in reversed(layer.rules):
            if rule.is_for_directories and not is_directory:
                continue
            if rule.pattern.fullmatch(name if rule.is_for_names else path[len(layer.base) :]):
                return rule.is_excluding
    return False


def walk(root: Path, effort: Effort, exclude: Path | None = None) -> Iterator[str]:
    """Files below a directory that are not ignored, relative to it. Symbolic links are skipped."""
    device = device_of(root)
    own = () if exclude is None else (read_rules(exclude, ""),)
    waiting: list[tuple[str, tuple[Rules, ...]]] = [("", own)]
    while waiting and not effort.is_over():
        base, layers = waiting.pop()
        layers = (*layers, read_rules(root / base / FILE, base))
        for entry in effort.entries(f"{root}/{base}", device):
            is_directory = entry.is_dir(follow_symlinks=False)
            path = base + entry.name
            if entry.name == ".git" or is_ignored(path, is_directory, layers):
                continue
            if is_directory:
                waiting.append((f"{path}/", layers))
            elif entry.is_file(follow_symlinks=False):
                yield path


def _rule(line: str) -> IgnoreRule | None:
    line = _trimmed(line.removesuffix("\r"))
    if not line or line.startswith("#"):
        return None
    is_excluding = not line.startswith("!")
    pattern = line if is_excluding else line[1:]
    is_for_directories = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    is_for_names = "/" not in pattern
    expression = expression_of(pattern.removeprefix("/"))
    if not pattern or expression is None:
        return None
    return IgnoreRule(re.compile(expression, re.DOTALL), is_excluding, is_for_directories, is_for_names)


def _trimmed(line: str) -> str:
    """The line without trailing blanks, except those escaped by a backslash."""
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 and len(bare) < len(line) else bare


def expression_of(pattern: str) -> str | None:
    """The regular expression of a pattern; None for one that matches nothing."""
    parts: list[str] = []
    at = 0
    while at < len(pattern):
        letter = pattern[at]
        if letter == "*":
            part, at = _stars(pattern, at)
        elif letter == "?":
            part, at = "[^/]", at + 1
        elif letter == "[":
            bracket = _bracket(pattern, at)
            if bracket is None:
                return None
            part, at = bracket
        elif letter == "\\":
            if at + 1 == len(pattern):
                return None
            part, at = re.escape(pattern[at + 1]), at + 2
        else:
            part, at = re.escape(letter), at + 1
        parts.append(part)
    return "".join(parts)


def _stars(pattern: str, start: int) -> tuple[str, int]:
    """Translate stars: `**` between slashes matches any number of directories, other stars the letters of one name."""
    end = start
    while end < len(pattern) and pattern[end] == "*":
        end += 1
    is_alone = (start == 0 or pattern[start - 1] == "/") and (end == len(pattern) or pattern[end] == "/")
    if end - start < 2 or not is_alone:
        return "[^/]*", end
    return (".*", end) if end == len(pattern) else ("(?:.*/)?", end + 1)


def _bracket(pattern: str, start: int) -> tuple[str, int] | None:
    """`[a-z]`, `[!a]`, `[[:digit:]]`; None when it never closes."""
    at = start + 1
    is_negated = pattern[at : at + 1] in ("!", "^")
    at += is_negated
    members: list[str] = []
    is_first = True
    while at < len(pattern) and (is_first or pattern[at] != "]"):
        is_first = False
        if pattern.startswith("[:", at) and (end := pattern.find(":]", at + 2)) != -1:
            name = pattern[at + 2 : end]
            if name not in _CLASSES:
                return None
            members.append(_CLASSES[name])
            at = end + 2
            continue
        low, at = _member(pattern, at)
        if pattern[at : at + 1] == "-" and pattern[at + 1 : at + 2] not in ("", "]"):
            high, at = _member(pattern, at + 1)
            if low <= high:
                members.append(f"{re.escape(low)}-{re.escape(high)}")
            continue
        members.append(re.escape(low))
    if at >= len(pattern):
        return None
    inner = "".join(members)
    if is_negated:
        return f"[^/{inner}]", at + 1
    return (f"(?!/)[{inner}]" if inner else "(?!)"), at + 1


def _member(pattern: str, at: int) -> tuple[str, int]:
    if pattern[at] == "\\" and at + 1 < len(pattern):
        at += 1
    return pattern[at], at + 1
