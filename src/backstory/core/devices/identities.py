"""Projects across machines: recognised by their repository, not by their path.

A record carries the project's remotes, root commit, path with the home as `~`, and name. An arriving record belongs
to the first matching local project, or to a placeholder name until a matching project appears.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePath
from typing import Any

from ...domain.devices import KnownProject
from ...store.devices import DeviceRoom
from ..projects.git import git
from ..projects.related import remotes_of

ROOT_TIMEOUT_S = 5.0
"""Time limit for finding the root commit, for which git walks the whole history."""
HOME_MARK = "~"

Identity = Mapping[str, Any]


class ProjectIdentities:
    """The projects known to one sync."""

    def __init__(self, room: DeviceRoom, home: Path, device_name: str) -> None:
        self._room = room
        self._home = home
        self._device_name = device_name
        self._known = {each.path: each for each in room.projects()}
        self._local_names: dict[str, str] = {}

    def identity(self, path: str) -> Identity:
        """The properties by which another machine recognises a project of this store."""
        if not path:
            return {}
        if path not in self._known:
            self._known[path] = KnownProject(path, self._read(path), is_local=True)
            # Stored at once: git is asked for each project once and not at every sync.
            self._room.put_project(self._known[path])
        return self._known[path].identity

    def local_name(self, identity: Identity) -> str:
        """The local name of an arriving record's project."""
        if not identity:
            return ""
        # A segment repeats the identity of a project in every record of it.
        key = repr(sorted(identity.items(), key=str))
        if key not in self._local_names:
            match = next((each for each in self._known.values() if self._is_same(each, identity)), None)
            if match is None:
                match = self._by_path(identity) or KnownProject(
                    _label(identity), dict(identity), is_local=False
                )
                self._known[match.path] = match
                self._room.put_project(match)
            self._local_names[key] = match.path
        return self._local_names[key]

    def match_new(self, candidates: Iterable[str]) -> dict[str, str]:
        """Projects of other machines that one of these directories is a clone of, as a map from former to present name.

        The caller moves the rows."""
        moved: dict[str, str] = {}
        for path in candidates:
            # Names that are no paths are the placeholders of projects on other machines.
            if Path(path).is_absolute() and path not in self._known and Path(path).is_dir():
                self.identity(path)
        local = [each for each in self._known.values() if each.is_local]
        for foreign in [each for each in self._known.values() if not each.is_local]:
            match = next((each for each in local if self._is_same(each, foreign.identity)), None)
            match = match or self._by_path(foreign.identity)
            if match is not None:
                moved[foreign.path] = match.path
                self._known[match.path] = match
                self._room.put_project(match)
                del self._known[foreign.path]
        self._local_names.clear()
        return moved

    def _read(self, path: str) -> dict[str, Any]:
        place = Path(path)
        is_here = place.is_absolute() and place.is_dir()
        # The root commit survives renamed remotes and works for repositories that have none.
        root = (
            git(place, "rev-list", "--max-parents=0", "HEAD", timeout_s=ROOT_TIMEOUT_S) if is_here else None
        )
        return {
            "remotes": sorted(remotes_of(path)) if is_here else [],
            "root": sorted((root or "").split())[0] if root and root.split() else "",
            "path": self._with_mark(path),
            "name": PurePath(path.replace("\\", "/")).name,
            "device": self._device_name,
        }

    def _with_mark(self, path: str) -> str:
        home = str(self._home)
        return (
            HOME_MARK + path[len(home) :]
            if path == home or path.startswith((f"{home}/", f"{home}\\"))
            else path
        )

    def _is_same(self, known: KnownProject, identity: Identity) -> bool:
        ours, theirs = set(known.identity["remotes"]), set(identity["remotes"])
        if ours & theirs:
            return True
        if ours and theirs:  # forks and templates share their first commit
            return False
        if identity["root"] and known.identity["root"]:
            return bool(identity["root"] == known.identity["root"])
        # nothing of git contradicts: the same place below the home, or the same one of the same machine
        if known.identity["path"] != identity["path"]:
            return False
        if known.is_local:  # `/workspace` is another project in every container
            return str(identity["path"]).startswith(HOME_MARK) and Path(known.path).is_dir()
        return bool(known.identity["device"] == identity["device"])

    def _by_path(self, identity: Identity) -> KnownProject | None:
        """The local directory at the same path below the home, if it exists and git does not contradict."""
        path = str(identity["path"])
        place = str(self._home) + path[1:].replace("\\", "/")
        if not path.startswith((f"{HOME_MARK}/", f"{HOME_MARK}\\")) or not Path(place).is_dir():
            return None
        candidate = KnownProject(place, self._read(place), is_local=True)
        return candidate if self._is_same(candidate, identity) else None


def _label(identity: Identity) -> str:
    """The name of a project that is not on this machine, equal on every machine. Its last part is the project's name."""
    if identity["remotes"]:
        return str(min(identity["remotes"]))
    path = str(identity["path"]).replace("\\", "/")
    return f"{identity['device']}:{path}"
