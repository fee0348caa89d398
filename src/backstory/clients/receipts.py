"""Receipts of changes to files, for uninstalling. One per client and scope."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from ..domain.errors import Unreadable
from ..store.whole_files import write_whole
from .edits import Splice
from .formats import MISSING, Change, Entry

FOLDER = "clients"


class FileReceipt(NamedTuple):
    """The edit of one file."""

    path: Path
    format: str
    existed: bool
    folders: tuple[Path, ...]
    """Folders that were created for the file."""
    before: str
    """Fingerprints of the text."""
    after: str
    entries: tuple[Entry, ...]


class ProgramReceipt(NamedTuple):
    """An entry or a plugin that the client's own command added."""

    name: str
    """`entry` or `plugin`."""
    replaced: Any
    value: Any


class InstallReceipt(NamedTuple):
    client: str
    scope: str
    project: str
    """The project, or "" for the scope of a user."""
    files: tuple[FileReceipt, ...] = ()
    programs: tuple[ProgramReceipt, ...] = ()


def load(data: Path, client: str, scope: str, project: str) -> InstallReceipt:
    """An empty one where nothing was installed."""
    path = _path(data, client, scope, project)
    return _read(path) if path.exists() else InstallReceipt(client, scope, project)


def load_all(data: Path) -> list[InstallReceipt]:
    return [_read(path) for path in sorted((data / FOLDER).glob("*.json"))]


def _read(path: Path) -> InstallReceipt:
    try:
        return _receipt(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unreadable(
            f"{path} is not a receipt that this version can read.",
            hint="Remove the entry by hand, then this file.",
        ) from None


def save(data: Path, receipt: InstallReceipt) -> None:
    path = _path(data, receipt.client, receipt.scope, receipt.project)
    if not receipt.files and not receipt.programs:
        path.unlink(missing_ok=True)
        return
    for folder in (data, data / FOLDER):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(path, [json.dumps(_body(receipt), ensure_ascii=False, indent=2)])


def copy(data: Path, client: str, path: Path, text: str) -> Path:
    """Save the former text of a file. Here, and not next to it: it may contain keys, and a repository would include it."""
    target = copy_path(data, client, path)
    for folder in (data, data / FOLDER, target.parent):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(target, [text])
    return target


def copy_path(data: Path, client: str, path: Path) -> Path:
    place = sha256(str(path).encode()).hexdigest()[:8]
    return data / FOLDER / "copies" / f"{client}-{place}-{path.name}"


def _path(data: Path, client: str, scope: str, project: str) -> Path:
    place = "-" + sha256(project.encode()).hexdigest()[:12] if project else ""
    return data / FOLDER / f"{client}-{scope}{place}.json"


def _body(receipt: InstallReceipt) -> dict[str, Any]:
    return {
        **receipt._asdict(),
        "files": [
            {
                **file._asdict(),
                "path": str(file.path),
                "folders": [str(folder) for folder in file.folders],
                "entries": [_entry_body(entry) for entry in file.entries],
            }
            for file in receipt.files
        ],
        "programs": [
            {"name": each.name, "value": each.value, **_optional("replaced", each.replaced)}
            for each in receipt.programs
        ],
    }


def _entry_body(entry: Entry) -> dict[str, Any]:
    return {
        "change": entry.change._asdict(),
        "made": entry.made,
        "splices": [splice._asdict() for splice in entry.splices],
        **_optional("replaced", entry.replaced),
    }


def _optional(name: str, value: Any) -> dict[str, Any]:
    return {} if value is MISSING else {name: value}


def _receipt(body: Mapping[str, Any]) -> InstallReceipt:
    return InstallReceipt(
        body["client"],
        body["scope"],
        body["project"],
        tuple(map(_file, body["files"])),
        tuple(
            ProgramReceipt(each["name"], each.get("replaced", MISSING), each["value"])
            for each in body["programs"]
        ),
    )


def _file(body: Mapping[str, Any]) -> FileReceipt:
    return FileReceipt(
        Path(body["path"]),
        body["format"],
        body["existed"],
        tuple(map(Path, body["folders"])),
        body["before"],
        body["after"],
        tuple(map(_entry, body["entries"])),
    )


def _entry(body: Mapping[str, Any]) -> Entry:
    change = body["change"]
    return Entry(
        Change(tuple(change["path"]), change["value"], change["is_element"]),
        body.get("replaced", MISSING),
        body["made"],
        tuple(Splice(**splice) for splice in body["splices"]),
    )
