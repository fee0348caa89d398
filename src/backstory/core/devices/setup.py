"""The vault settings of this machine: a file in the data directory that only the user can read, and its allowed location."""

from __future__ import annotations

import json
import os
from pathlib import Path, PurePath
from typing import NamedTuple

from ...domain.devices import DEVICE_SETUP, Carry
from ...domain.errors import InvalidInput, NotAllowed, NotFound, Unreadable
from ...store.whole_files import write_whole
from .vault import Vault

_SYNCED_NAMES = (
    "dropbox", "onedrive", "google drive", "googledrive", "mobile documents", "icloud drive", "icloud~", "nextcloud",
    "owncloud", "pcloud", "mega", "megasync",
)  # fmt: skip
_SYNCED_MARKS = (".stfolder", ".dropbox", ".nextcloudsync.log", ".owncloudsync.log")


class DeviceSetup(NamedTuple):
    folder: Path
    vault: Vault
    name: str
    carry: str
    with_git: bool = False


def setup_path(home: Path) -> Path:
    return home / DEVICE_SETUP


def read_setup(home: Path) -> DeviceSetup:
    """The device settings. Raises NotFound if this machine has no vault."""
    path = setup_path(home)
    try:
        body = json.loads(path.read_text("utf-8"))
        vault = Vault(body["vault"], body["number"], bytes.fromhex(body["key"]))
        carry = body["carry"] if body["carry"] in Carry.CHOICES else Carry.MEMORIES
        return DeviceSetup(Path(body["folder"]), vault, body["name"], carry, bool(body.get("git")))
    except FileNotFoundError:
        raise NotFound(
            "vault of devices",
            str(home),
            reason="is not set up",
            hint="`backstory devices init FOLDER` makes one, `backstory devices join FOLDER` joins one.",
        ) from None
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise Unreadable(
            f"{path} cannot be read: {error}.", hint="`backstory devices join FOLDER` creates it again."
        ) from None


def write_setup(home: Path, setup: DeviceSetup) -> None:
    body = {
        "folder": str(setup.folder),
        "vault": setup.vault.id,
        "number": setup.vault.number,
        "key": setup.vault.key.hex(),
        "name": setup.name,
        "carry": setup.carry,
        "git": setup.with_git,
    }
    # The file contains the key of the vault.
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(setup_path(home), [json.dumps(body, indent=1), "\n"])


def remove_setup(home: Path) -> None:
    setup_path(home).unlink(missing_ok=True)


def synced_place(place: Path) -> str:
    """The reason why a directory seems to be copied by a file synchroniser, or "" if it does not."""
    place = Path(os.path.abspath(place))
    for part in place.parts:
        if any(
            part.lower() == name or part.lower().startswith(f"{name} ") for name in _SYNCED_NAMES
        ) or part.lower().startswith(("onedrive -", "com~apple~clouddocs", "googledrive-", "dropbox (")):
            return f"it lies in {part}"
    for parent in (place, *place.parents):
        for mark in _SYNCED_MARKS:
            if (parent / mark).exists():
                return f"{parent} holds {mark}"
    return ""


def check_places(home: Path, folder: Path) -> None:
    """Raise NotAllowed if a synchroniser copies the data directory, and InvalidInput if the folder overlaps it."""
    if why := synced_place(home):
        raise NotAllowed(
            f"The data directory {home} is copied by a file synchroniser ({why}), which damages databases.",
            hint="Move it to a place that is not synchronised (--home or BACKSTORY_HOME); nothing was set up.",
        )
    # Real paths, since a link can lead from one into the other.
    ours, theirs = PurePath(os.path.realpath(home)), PurePath(os.path.realpath(folder))
    if ours == theirs or ours in theirs.parents or theirs in ours.parents:
        raise InvalidInput(
            f"The folder {folder} and the data directory {home} overlap; nothing was set up.",
            hint="Name a folder of its own, such as one in your synchronised files.",
            field="folder",
        )
