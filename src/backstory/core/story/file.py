"""Identify the file of a story among files of the same name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from ...domain.paths import PathMatch, match_path, path_in_project, path_parts, paths_named
from ...domain.records import Conversation, TraceHit
from ..projects import work_tree


class StoryFile(NamedTuple):
    path: str
    """The path from the project's root if that is known, otherwise the requested path."""
    is_whole: bool
    """True if `path` begins at the root of the project: it then matches no file in another folder."""
    has_unique_name: bool
    """True if no other file of that name was read or written: a text with only the name then refers to this file."""

    def is_at(self, value: str, conversation: Conversation) -> bool:
        """True if a path that a tool received in a conversation is the file."""
        match = match_path(value, self.path)
        if match < PathMatch.ENDS_ALIKE or not self.is_whole:
            return match >= PathMatch.ENDS_ALIKE
        inside = path_in_project(value, conversation.directory, conversation.project)
        if match_path(inside, self.path) is PathMatch.SAME:
            return True
        # a checkout elsewhere: a path with folders says enough, a bare name does not
        return _is_outside(value, conversation.project) and self._has_folders

    def is_named_in(self, text: str, project: str) -> bool:
        return any(self._is_spelled(spelling, project) for spelling in paths_named(text, self.path))

    def _is_spelled(self, spelling: str, project: str) -> bool:
        match = match_path(spelling, self.path)
        if match is PathMatch.NAME:
            return self.has_unique_name
        if match < PathMatch.ENDS_ALIKE or not self.is_whole or self._has_folders:
            return match >= PathMatch.ENDS_ALIKE
        return match_path(path_in_project(spelling, "", project), self.path) is PathMatch.SAME

    @property
    def _has_folders(self) -> bool:
        return len(path_parts(self.path)) > 1


def path_in_checkout(spelling: str, directory: str) -> str:
    """A file as it is called within its checkout, which is how it is called in every other; "" where there is none."""
    whole = os.path.abspath(os.path.join(directory, os.path.expanduser(spelling)))
    if not os.path.lexists(whole):
        return ""
    # the folder alone is resolved: a link that is checked in is a file of its own
    folder = Path(whole).parent.resolve()
    inside = os.path.relpath(folder / os.path.basename(whole), work_tree(folder))
    return inside.replace(os.sep, "/")


def story_file(
    path: str, is_from_root: bool, traces: Iterable[TraceHit], conversations: Mapping[str, Conversation]
) -> StoryFile:
    """The file that a path means, determined from the traces of all files of that name."""
    inside = [
        path_in_project(trace.value, conversation.directory, conversation.project)
        for trace in traces
        if (conversation := conversations.get(trace.conversation))
    ]
    is_whole = is_from_root or any(match_path(each, path) is PathMatch.SAME for each in inside)
    least = PathMatch.SAME if is_whole else PathMatch.ENDS_ALIKE
    return StoryFile(path, is_whole, all(match_path(each, path) >= least for each in inside))


def _is_outside(value: str, project: str) -> bool:
    """True if a path is outside of the project. A relative path is inside."""
    value, root = value.replace("\\", "/"), project.replace("\\", "/").rstrip("/")
    is_absolute = value.startswith(("/", "~")) or value[1:3] == ":/"
    return is_absolute and not (root and value.lower().startswith(f"{root.lower()}/"))
