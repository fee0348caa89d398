"""The commits and pull requests that contain the edits of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from ...domain.lazy import lazy_pattern
from ...domain.paths import PathMatch, match_path
from ...domain.statements import Statement, StatementKind
from ..projects.git import git, printable
from .file import StoryFile

GIT_TIMEOUT_S = 2.0
_HASH = lazy_pattern(r"\b[0-9a-f]{7,40}\b")


def published(
    statements: Sequence[Statement],
    places: Mapping[str, Sequence[int]],
    file: StoryFile,
    checkout: Path | None,
) -> list[Statement]:
    """For each edit of the file the next commit of the same conversation, and the next pull request after that.

    `places` are those of the edits, by conversation. A commit that git knows in `checkout`, and that leaves the file as it
    was, is passed over."""
    near = [each for each in statements if each.conversation in places]
    commits = [each for each in near if each.kind is StatementKind.COMMIT]
    others = _of_other_files(commits, file, checkout) if checkout else frozenset()
    commits = [each for each in commits if each.id not in others]
    requests = [each for each in near if each.kind is StatementKind.PULL_REQUEST]
    chosen: dict[str, Statement] = {}
    for conversation, edited in places.items():
        for place in edited:
            commit = _next(commits, conversation, place)
            request = _next(requests, conversation, commit.place if commit else place)
            chosen |= {each.id: each for each in (commit, request) if each}
    return list(chosen.values())


def _next(statements: Iterable[Statement], conversation: str, place: int) -> Statement | None:
    later = (each for each in statements if each.conversation == conversation and each.place >= place)
    return min(later, key=lambda each: each.place, default=None)


def _of_other_files(commits: Iterable[Statement], file: StoryFile, checkout: Path) -> frozenset[str]:
    """The statements of commits that git knows and that did not change the file."""
    hashes = {each.id: match.group() for each in commits if (match := _HASH.search(each.text))}
    if not hashes or not file.is_whole:
        return frozenset()
    changed = _changed_files(checkout, sorted(set(hashes.values())))
    return frozenset(
        id
        for id, hash in hashes.items()
        for known, files in changed.items()
        if known.startswith(hash) and not any(match_path(path, file.path) is PathMatch.SAME for path in files)
    )


def _changed_files(checkout: Path, hashes: Sequence[str]) -> dict[str, list[str]]:
    """The changed files of each commit, by complete hash. Git does not know commits that were rebased away."""
    options = (
        "--no-walk=unsorted",
        "--ignore-missing",
        "--format=%x1e%H",
        "--name-only",
        "-m",
        "--first-parent",
    )
    output = git(
        checkout, "-c", "core.quotePath=false", "log", *options, *hashes, "--", timeout_s=GIT_TIMEOUT_S
    )
    records = [printable(record).split("\n") for record in (output or "").split("\x1e")[1:]]
    return {hash.strip(): list(filter(None, files)) for hash, *files in records}
