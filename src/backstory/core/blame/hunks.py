"""The hunks of a range of commits, as reported by git."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import GitFailed, InvalidInput
from ...domain.lazy import lazy_pattern
from ..projects.git import ask, git, printable
from ..team.branch import shared_commit

TIMEOUT_S = 60
MAX_COMMITS = 10_000
"""The number of commits whose times are read; a line from an older one has no time."""
_HUNK = lazy_pattern(r"@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


class CommitRange(NamedTuple):
    first: str
    """The commit before the first one of the range."""
    last: str
    ended_at: datetime
    begun: Mapping[str, datetime]
    """The time of the commit before each of them."""


class Hunk(NamedTuple):
    path: str
    """The path at the end of the range, or before its deletion."""
    first: int
    """The first line at the end of the range; if lines were only removed, the line before them."""
    added: int
    """The number of added lines; 0 if lines were only removed."""
    removed: tuple[str, ...]


def commit_range(tree: Path, text: str) -> CommitRange:
    """Parse `A..B`, `A...B` or a single commit. "" means the commits of the current branch. Raises InvalidInput."""
    # Anything with a dash would be an option of git, which has some that run programs.
    if text.startswith("-"):
        raise InvalidInput(f"{text!r} is not a range of commits.")
    begin, dots, end = text.partition("...") if "..." in text else text.partition("..")
    last = _commit(tree, end or "HEAD") if dots or not text else _commit(tree, text)
    if not text:
        shared = shared_commit(tree)
        first = _base(tree, shared, last) if shared else ""
    elif dots:
        first = _commit(tree, begin or "HEAD")
        # As in `git diff`: three dots compare with the point where the branches parted.
        first = _base(tree, first, last) if dots == "..." else first
    else:
        parent = git(tree, "rev-parse", "--verify", "--quiet", f"{last}^")
        # The first commit has no parent and is compared with the empty tree, whose hash depends on the format.
        first = (parent or git(tree, "hash-object", "-t", "tree", "--stdin") or "").strip()
    if not first:
        raise GitFailed(
            "There is no shared branch to compare with.", hint="Name a range: backstory pr main..HEAD"
        )
    seconds = (git(tree, "show", "-s", "--format=%ct", last) or "0").strip()
    return CommitRange(first, last, datetime.fromtimestamp(int(seconds), UTC), _begun(tree, last))


def _begun(tree: Path, last: str) -> dict[str, datetime]:
    # by author time, because a rebase creates all commits again
    log = (
        git(tree, "log", f"--max-count={MAX_COMMITS}", "--format=%H %at %P", last, timeout_s=TIMEOUT_S) or ""
    )
    rows = [line.split() for line in log.splitlines()]
    written = {hash: int(seconds) for hash, seconds, *_ in rows}
    return {
        hash: datetime.fromtimestamp(max(times), UTC)
        for hash, _, *parents in rows
        if (times := [written[parent] for parent in parents if parent in written])
    }


def _base(tree: Path, one: str, other: str) -> str:
    return (git(tree, "merge-base", one, other) or "").strip()


def _commit(tree: Path, name: str) -> str:
    commit = git(tree, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if commit is None:
        raise InvalidInput(f"There is no commit {name!r}.", hint="Use a range in git syntax: main..HEAD")
    return commit.strip()


def hunks_of(tree: Path, commits: CommitRange) -> list[Hunk]:
    """The hunks, ordered by file and line. Raises GitFailed."""
    words = (
        "-c", "core.quotePath=false", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "-U0", "-M",
    )  # fmt: skip
    output = ask(
        tree, *words, "--src-prefix=a/", "--dst-prefix=b/", commits.first, commits.last, timeout_s=TIMEOUT_S
    )
    if not output.is_ok:
        raise GitFailed("git diff failed.", hint="Run it in a terminal to see why.")
    return list(_hunks(printable(output.text)))


def _hunks(text: str) -> Iterator[Hunk]:
    """Parse a diff. Each header states the number of lines that follow, so no line of a file is taken for a header."""
    old = path = ""
    lines = iter(text.split("\n"))
    for line in lines:
        if line.startswith("--- "):
            old = line[4:].removeprefix("a/").rstrip("\t")
        elif line.startswith("+++ "):
            # A deleted file is known by its former name.
            path = old if line == "+++ /dev/null" else line[4:].removeprefix("b/").rstrip("\t")
        elif match := _HUNK.match(line):
            removed_count, first, count = (int(number or "1") for number in match.groups())
            removed = tuple(next(lines, "")[1:] for _ in range(removed_count))
            rest = (next(lines, "") for _ in range(count))
            # git prints "\ No newline at end of file" between the two parts
            if count and next(rest, "").startswith("\\"):
                next(lines, "")
            for _ in rest:
                pass
            yield Hunk(path, first, count, removed)
