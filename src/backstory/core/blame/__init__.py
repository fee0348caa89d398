"""The origin of a line: its commit, and the conversation and message in which an assistant wrote it.

The text of edits and its context decide. If a file was written without a known text (by a command), the time of the
commit decides, and the result is marked as less sure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from ...domain.errors import InvalidInput, NotFound, Unreadable
from ...domain.lazy import lazy_pattern
from ...domain.lines import counted
from ...domain.records import Conversation
from ...readers import Places
from ..part import CorePart
from ..projects import project_root, work_tree
from ..projects.git import ask, printable, without_filters
from ..projects.related import projects_named, related_projects
from .matching import SURE_WEIGHT, Match, author, matches
from .writings import IsFile, Writing, Writings, find_writings

LARGEST_FILE = 5_000_000
SLACK = timedelta(minutes=5)
"""The maximum difference between the clocks of the assistant and of git."""
NEAR = timedelta(days=1)
"""Before a commit: an earlier writing without a text is no evidence."""
TIMEOUT_S = 60
_HEADER = lazy_pattern(r"([0-9a-f]{40,64}) \d+ \d+(?: \d+)?")


class Sureness(StrEnum):
    EXACT = "exact"
    """The text is in an edit of this file, and its context agrees or no other edit has this line."""
    LIKELY = "likely"
    """The text is in an edit, but is too common to be certain."""
    TIME = "by time"
    """The file was written shortly before the commit, with a text that is not known."""


class LineOrigin(NamedTuple):
    """The place in a conversation where an assistant wrote a line."""

    conversation: Conversation
    number: int
    """The number of the message."""
    at: datetime
    sureness: Sureness


class BlamedLine(NamedTuple):
    number: int
    text: str
    commit: Commit | None
    """None if the line is not committed."""
    origin: LineOrigin | None
    """None if no assistant is known to have written it."""


class BlamedFile(NamedTuple):
    """A file at a commit, with all that assistants ever wrote into it."""

    lines: list[BlamedLine]
    writings: Writings
    numbers: dict[str, int]
    """The numbers of the messages with edits, by message id."""

    def remover(self, removed: Sequence[str], until: datetime) -> LineOrigin | None:
        """The edit that removed these lines before a time; None if there is none."""
        wanted = {line.strip() for line in removed} - {""}
        for writing in reversed(self.writings.edits):
            if writing.at > until + SLACK or not wanted:
                continue
            old, new = ({line.strip() for line in text.split("\n")} for text in (writing.old, writing.new))
            if wanted <= old - new:
                return _made(self.writings, self.numbers, writing, Sureness.EXACT)
        return None


class Blame(CorePart):
    def lines(self, path: str, places: Places, first: int = 1, last: int | None = None) -> list[BlamedLine]:
        """Blame the lines `first` to `last` of a file on this machine. `places` are the folders of assistants.

        Raises NotFound for a missing file, and InvalidInput for missing lines."""
        self.caller.check_local("path", hint="Use a server on your own machine for this: backstory serve.")
        named = os.path.abspath(os.path.join(self.caller.directory, os.path.expanduser(path)))
        # Only the folder is resolved: git knows the file by its own name, even where that is a link.
        file = Path(named).parent.resolve() / os.path.basename(named)
        texts = _read(file)
        last = len(texts) if last is None else last
        if not 0 < first <= max(last, 1) or last > len(texts):
            raise InvalidInput(
                f"{file.name} has {counted(len(texts), 'line')}.",
                hint="The first line is 1.",
                field="line",
            )
        tree = work_tree(file.parent)
        inside = file.relative_to(tree).as_posix()
        commits = commits_of_lines(tree, inside)
        if len(commits) != len(texts):  # no repository, or a file that it does not know
            commits = [None] * len(texts)
        # Assistants log the path as they were given it, before or after links were followed.
        writings = self._writings(tree, inside, commits, places, {named, str(file)})
        return self._blamed(texts, commits, writings)[first - 1 : last]

    def at_commit(
        self, tree: Path, path: str, commit: str, places: Places, begun: Mapping[str, datetime]
    ) -> BlamedFile:
        """Blame a file of a checkout as of a commit; no lines if the commit does not contain it, or it is not a text.

        `begun` maps commits to the time of their predecessor: an earlier author of the same words did not write a
        line that came back later."""
        self.caller.check_local("path", hint="Use a server on your own machine for this: backstory serve.")
        blob = ask(tree, "cat-file", "blob", f"{commit}:{path}")
        data = os.fsencode(blob.text) if blob.is_ok else b""
        # Git itself looks for a null byte in the first 8,000 bytes to tell binary files.
        texts = [] if b"\0" in data[:8_000] or len(data) > LARGEST_FILE else _lines(data)
        commits = commits_of_lines(tree, path, commit) if texts else []
        if len(commits) != len(texts):
            commits = [None] * len(texts)
        writings = self._writings(tree, path, commits, places, {str(tree / path)})
        lines = self._blamed(texts, commits, writings, begun)
        return BlamedFile(lines, writings, self._numbers(writings))

    def _writings(
        self, tree: Path, inside: str, commits: Sequence[Commit | None], places: Places, paths: set[str]
    ) -> Writings:
        """The edits by assistants of a file under any of its names."""
        names = {inside, *(each.path for each in commits if each and each.path)}
        last_parts = sorted({name.rpartition("/")[2] for name in names})
        is_file = self._is_file(paths, tree, names)
        return find_writings(self.engine, self.caller, places, last_parts, is_file)

    def _blamed(
        self,
        texts: Sequence[str],
        commits: Sequence[Commit | None],
        writings: Writings,
        begun: Mapping[str, datetime] = MappingProxyType({}),
    ) -> list[BlamedLine]:
        by_line = matches(texts, [(each.old, each.new) for each in writings.edits])
        numbers = self._numbers(writings)
        lines = []
        for number, (text, commit) in enumerate(zip(texts, commits, strict=True), 1):
            since = begun.get(commit.hash) if commit else None
            candidates = by_line[number - 1]
            # Words that were removed and came back have two authors; the one after the previous commit wrote these.
            recent = [match for match in candidates if since and writings.edits[match.edit].at >= since]
            origin = _origin(writings, numbers, commit, recent) if author(recent) else None
            origin = origin or _origin(writings, numbers, commit, candidates)
            lines.append(BlamedLine(number, text, commit, origin))
        return lines

    def _is_file(self, paths: set[str], tree: Path, names: set[str]) -> IsFile:
        """One of the paths, or the same place in a checkout of the same project."""
        own = str(project_root(tree))
        known = self.engine.store.conversations.projects()
        declared = self.engine.settings.related_projects
        # Clones and worktrees of one project are different directories, and a log names the one it ran in.
        alike = {
            own,
            str(tree),
            *projects_named(Path(own).name, known),
            *related_projects([own], declared, known),
        }
        ends = tuple(f"/{name.lower()}" for name in names)

        def is_file(conversation: Conversation, recorded: str) -> bool:
            path = os.path.normpath(os.path.join(conversation.directory, recorded)).replace("\\", "/")
            return path in paths or (conversation.project in alike and path.lower().endswith(ends))

        return is_file

    def _numbers(self, writings: Writings) -> dict[str, int]:
        """The numbers of messages, by id: of the spoken turn, or of the tool calls in it."""
        ids: dict[str, list[str]] = {}
        for each in (*writings.edits, *writings.silent):
            # An edit is a tool call, which is stored beside the spoken message of the same turn.
            ids.setdefault(each.conversation, []).extend((each.message, f"{each.message}#tool"))
        numbers: dict[str, int] = {}
        for conversation, some in ids.items():
            places = self.engine.store.messages.places(conversation, list(dict.fromkeys(some)))
            numbers |= {id.removesuffix("#tool"): seq + 1 for id, seq in places.items()}
        return numbers


def _origin(
    writings: Writings, numbers: dict[str, int], commit: Commit | None, candidates: Sequence[Match]
) -> LineOrigin | None:
    # Nobody edits a line after its commit; the slack is for clocks and for amended commits.
    latest = None if commit is None else commit.committed_at + SLACK
    in_time = [match for match in candidates if latest is None or writings.edits[match.edit].at <= latest]
    match = author(in_time)
    if match is not None:
        # One clearly distinctive line is proof enough as long as no other session wrote the same line.
        has_rivals = len({writings.edits[each.edit].conversation for each in candidates}) > 1
        is_sure = match.weight >= SURE_WEIGHT or (match.weight >= 1 and not has_rivals)
        sureness = Sureness.EXACT if is_sure else Sureness.LIKELY
        return _made(writings, numbers, writings.edits[match.edit], sureness)
    # Shell commands write files without leaving their text; then only the time connects them with a commit.
    near = [each for each in writings.silent if latest is None or latest - NEAR <= each.at <= latest]
    last = max(near, key=lambda each: each.at, default=None)
    return None if last is None else _made(writings, numbers, last, Sureness.TIME)


def _made(writings: Writings, numbers: dict[str, int], writing: Writing, sureness: Sureness) -> LineOrigin:
    conversation = writings.conversations[writing.conversation]
    return LineOrigin(conversation, numbers.get(writing.message, 1), writing.at, sureness)


def _read(file: Path) -> list[str]:
    try:
        if file.stat().st_size > LARGEST_FILE:
            raise InvalidInput(f"{file} is larger than {LARGEST_FILE:,} bytes.", field="path")
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        raise NotFound("file", str(file)) from None
    except OSError as error:
        raise Unreadable(f"{file} cannot be read: {error.strerror}.") from None
    if b"\0" in data[:8_000]:
        raise InvalidInput(f"{file} is not a text.", field="path")
    return _lines(data)


def _lines(data: bytes) -> list[str]:
    """The lines as git counts them: separated by newlines alone."""
    lines = data.decode("utf-8", "replace").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


class Commit(NamedTuple):
    hash: str
    author: str
    written_at: datetime
    committed_at: datetime
    """Later than it was written when the commit was amended or moved."""
    subject: str
    path: str
    """The name of the file at that time."""


def commits_of_lines(tree: Path, path: str, commit: str = "") -> list[Commit | None]:
    """The commit of each line of a file on disk, or at a commit; None for uncommitted lines.

    Empty without a repository, or for an untracked file."""
    words = ("blame", "--porcelain", "--no-textconv", *([commit] if commit else []), "--", path)
    output = ask(tree, *without_filters(tree), *words, timeout_s=TIMEOUT_S)
    return list(_read_commits(printable(output.text))) if output.is_ok else []


def _read_commits(text: str) -> Iterator[Commit | None]:
    known: dict[str, dict[str, str]] = {}
    facts: dict[str, str] = {}
    hash = ""
    for line in text.split("\n"):
        if header := _HEADER.fullmatch(line):
            hash = header[1]
            # Git prints the facts of a commit once, at the first of its lines.
            facts = known.setdefault(hash, {})
        elif line.startswith("\t"):
            # A hash of zeros stands for changes that are not committed.
            yield _commit(hash, facts) if hash.strip("0") else None
        else:
            name, _, value = line.partition(" ")
            facts[name] = value


def _commit(hash: str, facts: dict[str, str]) -> Commit:
    return Commit(
        hash,
        facts.get("author", ""),
        _time(facts.get("author-time", "")),
        _time(facts.get("committer-time", "")),
        facts.get("summary", ""),
        facts.get("filename", ""),
    )


def _time(seconds: str) -> datetime:
    return datetime.fromtimestamp(int(seconds) if seconds.isdigit() else 0, UTC)
