"""Locations of assistants' files on each platform, and the meaning of their URIs and paths."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from ...domain.lazy import lazy_pattern
from .. import Places
from .files import read_text

EDITORS = ("Code", "Code - Insiders", "VSCodium", "Code - OSS", "Cursor", "Windsurf")
"""Editors that support extensions for VS Code."""
EDITOR_SERVERS = {"Code": ".vscode-server", "Cursor": ".cursor-server", "Windsurf": ".windsurf-server"}
"""Folders below the home directory that an editor uses on a machine it connects to."""


_NO_LETTER = lazy_pattern(r"[^A-Za-z0-9]")


class Location(NamedTuple):
    path: str
    host: str = ""
    """The host of a remote window, such as `ssh-remote+box` or `wsl+Ubuntu`; "" for this machine."""


def locate(uri: str) -> Location:
    """Return the location of an editor's URI, `file:` or `vscode-remote:`, percent-decoded.

    A path is returned as it is."""
    if "://" not in uri:
        return Location(native(uri))
    try:
        scheme, host, path, *_ = urlsplit(uri)
    except ValueError:
        return Location("")
    host, path = unquote(host), native(unquote(path))
    if scheme == "vscode-remote":
        return Location(path, host)
    if scheme != "file":
        return Location("")
    is_share = host not in ("", "localhost")
    return Location(rf"\\{host}" + path.replace("/", "\\") if is_share else path)


def path_of(uri: object) -> str:
    """Return the path in an editor's record of a URI: text, or an object with fsPath, external and path."""
    if isinstance(uri, str):
        return locate(uri).path
    parts = uri if isinstance(uri, dict) else {}
    for key in ("fsPath", "external", "path"):
        if isinstance(value := parts.get(key), str) and value:
            return locate(value).path
    return ""


def native(path: str) -> str:
    r"""Return a path on a Windows drive in Windows notation: `/c:/w`, `c:\w` and `C:/w` become `C:\w`.

    Others are unchanged."""
    bare = path[1:] if path[:1] == "/" and path[2:3] == ":" else path
    if len(bare) > 1 and bare[1] == ":" and bare[0].isalpha() and bare[2:3] in ("", "\\", "/"):
        return bare[0].upper() + bare[1:].replace("/", "\\")
    return path


def mounted(path: str) -> str:
    r"""Return a path on a Windows drive as WSL sees it: `C:\w` becomes `/mnt/c/w`. Others are unchanged."""
    path = native(path)
    return f"/mnt/{path[0].lower()}{path[2:]}".replace("\\", "/").rstrip("/") if path[1:2] == ":" else path


def unmounted(path: str) -> str:
    r"""Return a path on a drive mounted by WSL as Windows sees it: `/mnt/c/w` becomes `C:\w`. Others are unchanged."""
    match path.split("/"):
        case ["", "mnt", drive, *rest] if len(drive) == 1 and drive.isalpha():
            return f"{drive.upper()}:\\" + "\\".join(rest)
    return path


def config_home(places: Places) -> Path:
    """Return the directory for configuration of XDG programs."""
    return _xdg(places, "XDG_CONFIG_HOME", ".config")


def data_home(places: Places) -> Path:
    """Return the directory for data of XDG programs."""
    return _xdg(places, "XDG_DATA_HOME", ".local/share")


def _xdg(places: Places, variable: str, usual: str) -> Path:
    named = places.environment.get(variable, "")
    return Path(named) if named else places.home / usual


def homes(places: Places) -> tuple[Path, ...]:
    return (places.home, *places.windows_homes)


def application_data(places: Places) -> Iterator[Path]:
    """Yield the directories that contain one directory per desktop program."""
    if places.platform == "darwin":
        yield places.home / "Library" / "Application Support"
    elif places.platform == "win32":
        roaming = places.environment.get("APPDATA", "")
        yield Path(roaming) if roaming else places.home / "AppData" / "Roaming"
    else:
        yield config_home(places)
    for home in places.windows_homes:
        yield home / "AppData" / "Roaming"


def editor_directories(places: Places, *editors: str) -> list[Path]:
    """Return the existing `User` directories of editors like VS Code, by their installed names."""
    candidates = [
        programs / editor / "User" for programs in application_data(places) for editor in editors
    ] + [
        places.home / EDITOR_SERVERS[editor] / "data" / "User"
        for editor in editors
        if editor in EDITOR_SERVERS
    ]
    return [path for path in dict.fromkeys(candidates) if path.is_dir()]


def workspace_folder(storage: Path) -> Location:
    """Return the folder that a directory of `workspaceStorage` belongs to; for a `.code-workspace`, the folder of that
    file."""
    try:
        document = json.loads(read_text(storage / "workspace.json"))
    except (OSError, ValueError):
        return Location("")
    if not isinstance(document, dict):
        return Location("")
    if isinstance(folder := document.get("folder"), str):
        return locate(folder)
    if isinstance(uri := document.get("workspace") or document.get("configuration"), str) and uri.endswith(
        ".code-workspace"
    ):
        path, host = locate(uri)
        separator = "\\" if "\\" in path else "/"
        return Location(path.rpartition(separator)[0], host)
    return Location("")


def project_slug(directory: str) -> str:
    """Return the name of the folder in which Claude Code and Qwen Code store a directory's sessions."""
    return _NO_LETTER.sub("-", directory)
