"""Files that conversations read or wrote: the list of all, those of one conversation, and the sessions that touched one file.

Conversations spell one file in several ways; each file is listed once, by its path from the root of its project."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...domain.filters import Filter, Kind
from ...domain.paths import names_a_file, paths_in_project
from ...domain.records import Conversation, Message, TraceHit
from ..part import CorePart

MAX_TRACES = 3_000
"""The newest reads and writes, from which the list of files is made; older files are found by name."""
_TOUCHES = ("read", "written")


class TouchedFile(NamedTuple):
    path: str
    """From the root of the project; absolute outside of it."""
    project: str
    sessions: int
    written: int
    """The number of its edits."""
    last: datetime


class FileSession(NamedTuple):
    conversation: Conversation
    written: int
    read: int
    number: int
    """The number of the message that touched the file first."""
    last: datetime


class FileSessions(NamedTuple):
    project: str
    sessions: list[FileSession]
    """Last touched first."""
    total: int
    other_projects: dict[str, int]
    """The number of sessions in other projects with a file of this name, last touched first."""


class TouchedFiles(CorePart):
    def latest(self, project: str = "") -> tuple[list[TouchedFile], bool]:
        """Files of one project or all, last touched first, and whether these are all that there are."""
        hits = self.engine.store.traces.find(self._in(project), kinds=_TOUCHES, limit=MAX_TRACES)
        conversations, paths = self._paths_by_spelling(hits)
        files: dict[tuple[str, str], list[TraceHit]] = {}
        for hit in hits:
            if path := paths.get((hit.conversation, hit.value)):
                files.setdefault((conversations[hit.conversation].project, path), []).append(hit)
        listed = [
            TouchedFile(
                path,
                project,
                len({hit.conversation for hit in touches}),
                sum(hit.kind == "written" for hit in touches),
                touches[0].at,
            )
            for (project, path), touches in files.items()
        ]
        return listed, len(hits) < MAX_TRACES

    def of(self, conversation: Conversation) -> list[str]:
        """The files that a conversation read or wrote: those it wrote first, of these the most touched."""
        spellings = self.engine.store.traces.files([conversation.id]).get(conversation.id, [])
        return list(dict.fromkeys(_file_paths(spellings, conversation).values()))

    def sessions(self, path: str, project: str, limit: int) -> FileSessions:
        """The sessions that touched the file at a path from the root of a project.

        Without a project: those of the project in which a file whose path ends so was touched last."""
        hits = self.engine.store.traces.touching(path, self._in(project))
        conversations, paths = self._paths_by_spelling(hits)
        hits = [hit for hit in hits if (hit.conversation, hit.value) in paths]
        projects = Counter(
            conversations[id].project for id in dict.fromkeys(hit.conversation for hit in hits)
        )
        project = project or next(iter(projects), "")
        own = [hit for hit in hits if conversations[hit.conversation].project == project]
        if any(paths[hit.conversation, hit.value] == path for hit in own):
            own = [hit for hit in own if paths[hit.conversation, hit.value] == path]
        by_session: dict[str, list[TraceHit]] = {}
        for hit in own:
            by_session.setdefault(hit.conversation, []).append(hit)
        return FileSessions(
            project,
            self._sessions(dict(list(by_session.items())[:limit]), conversations),
            len(by_session),
            {name: count for name, count in projects.items() if name != project},
        )

    def on_disk(self, path: str, project: str) -> str:
        """The file on the caller's machine that conversations call so: in its project, or in the directory of the last
        one that touched it and where it exists."""
        if os.path.isabs(path) or not self.caller.is_local:
            return path
        if project and os.path.isfile(os.path.join(project, path)):
            return os.path.join(project, path)
        hits = self.engine.store.traces.touching(path, self._in(project))
        ids = dict.fromkeys(hit.conversation for hit in hits)
        directories = {each.id: each.directory for each in self.engine.store.conversations.get(list(ids))}
        files = (os.path.join(directories[id], path) for id in ids if directories.get(id))
        return next(filter(os.path.isfile, files), path)

    def _in(self, project: str) -> Filter:
        return self.caller.visible(Filter(kinds=(Kind.MESSAGE,), projects=tuple(filter(None, [project]))))

    def _sessions(
        self, by_session: Mapping[str, Sequence[TraceHit]], conversations: Mapping[str, Conversation]
    ) -> list[FileSession]:
        first = self.load(hits[-1].entry for hits in by_session.values())
        return [
            FileSession(
                conversations[id],
                sum(hit.kind == "written" for hit in hits),
                sum(hit.kind == "read" for hit in hits),
                entry.seq + 1 if isinstance(entry := first.get(hits[-1].entry), Message) else 1,
                hits[0].at,
            )
            for id, hits in by_session.items()
        ]

    def _paths_by_spelling(
        self, hits: Iterable[TraceHit]
    ) -> tuple[dict[str, Conversation], dict[tuple[str, str], str]]:
        """The conversations by id, and the file that each spelling in them means."""
        spellings: dict[str, dict[str, None]] = {}
        for hit in hits:
            spellings.setdefault(hit.conversation, {})[hit.value] = None
        conversations = {each.id: each for each in self.engine.store.conversations.get(sorted(spellings))}
        paths = {
            (id, spelling): path
            for id, each in conversations.items()
            for spelling, path in _file_paths(spellings[id], each).items()
        }
        return conversations, paths


def _file_paths(spellings: Iterable[str], conversation: Conversation) -> dict[str, str]:
    """The files that spellings in a conversation mean, without those that name no file."""
    files = (each for each in spellings if names_a_file(each))
    return paths_in_project(files, conversation.directory, conversation.project)
