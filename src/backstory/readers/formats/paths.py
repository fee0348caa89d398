"""Where assistants keep their files on each platform, and what their URIs and paths mean."""

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
"""Those that take extensions of VS Code."""
EDITOR_SERVERS = {"Code": ".vscode-server", "Cursor": ".cursor-server", "Windsurf": ".windsurf-server"}
"""What an editor keeps on the machine it was connected to, below the home."""


_NO_LETTER = lazy_pattern(r"[^A-Za-z0-9]")


class Location(NamedTuple):
    path: str
    host: str = ""
    """Of a remote window: `ssh-remote+box`, `wsl+Ubuntu`; empty for this machine."""


def locate(uri: str) -> Location:
    """What a URI of an editor names: `file:` and `vscode-remote:`, percent-decoded. A path is taken as it is."""
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
    """The path that an editor's record of a URI names: text, or an object with fsPath, external and path."""
    if isinstance(uri, str):
        return locate(uri).path
    parts = uri if isinstance(uri, dict) else {}
    for key in ("fsPath", "external", "path"):
        if isinstance(value := parts.get(key), str) and value:
            return locate(value).path
    return ""


def native(path: str) -> str:
    r"""A path of a Windows drive as Windows writes it: of `/c:/w`, `c:\w` and `C:/w` comes `C:\w`. Others stay."""
    bare = path[1:] if path[:1] == "/" and path[2:3] == ":" else path
    if len(bare) > 1 and bare[1] == ":" and bare[0].isalpha() and bare[2:3] in ("", "\\", "/"):
        return bare[0].upper() + bare[1:].replace("/", "\\")
    return path


def mounted(path: str) -> str:
    r"""A path of a Windows drive as WSL sees it, `C:\w` as `/mnt/c/w`; others stay."""
    path = native(path)
    return f"/mnt/{path[0].lower()}{path[2:]}".replace("\\", "/").rstrip("/") if path[1:2] == ":" else path


def unmounted(path: str) -> str:
    r"""A path below a drive that WSL mounted as Windows sees it, `/mnt/c/w` as `C:\w`; others stay."""
    match path.split("/"):
        case ["", "mnt", drive, *rest] if len(drive) == 1 and drive.isalpha():
            return f"{drive.upper()}:\\" + "\\".join(rest)
    return path


def config_home(places: Places) -> Path:
    """Where programs of the XDG kind keep their configuration."""
    return _xdg(places, "XDG_CONFIG_HOME", ".config")


def data_home(places: Places) -> Path:
    """Where programs of the XDG kind keep their data."""
    return _xdg(places, "XDG_DATA_HOME", ".local/share")


def _xdg(places: Places, variable: str, usual: str) -> Path:
    named = places.environment.get(variable, "")
    return Path(named) if named else places.home / usual


def homes(places: Places) -> tuple[Path, ...]:
    return (places.home, *places.windows_homes)


def application_data(places: Places) -> Iterator[Path]:
    """The directories that hold one directory for each desktop program."""
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
    """The existing `User` directories of editors like VS Code, by the names they are installed under."""
    candidates = [
        programs / editor / "User" for programs in application_data(places) for editor in editors
    ] + [
        places.home / EDITOR_SERVERS[editor] / "data" / "User"
        for editor in editors
        if editor in EDITOR_SERVERS
    ]
    return [path for path in dict.fromkeys(candidates) if path.is_dir()]


def workspace_folder(storage: Path) -> Location:
    """The folder that a directory of `workspaceStorage` belongs to, the one of the file for a `.code-workspace`."""
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
    """The folder that Claude Code and Qwen Code keep a directory's sessions in."""
    return _NO_LETTER.sub("-", directory)
