"""Paths and URIs of editors, and where editors keep their files on each platform."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.readers import Places
from backstory.readers.formats.paths import (
    Location,
    editor_directories,
    locate,
    mounted,
    path_of,
    unmounted,
    workspace_folder,
)


@pytest.mark.parametrize(
    ("uri", "location"),
    [
        ("file:///w/my%20app", Location("/w/my app")),
        ("file://localhost/w", Location("/w")),
        ("file:///C%3A/w/app", Location("C:\\w\\app")),
        ("file:///c:/w", Location("C:\\w")),
        ("file://server/share/w", Location("\\\\server\\share\\w")),
        ("vscode-remote://ssh-remote%2Bbox/w/app", Location("/w/app", "ssh-remote+box")),
        ("vscode-remote://wsl%2BUbuntu/home/x", Location("/home/x", "wsl+Ubuntu")),
        ("untitled://x/y", Location("")),
        ("file://[broken", Location("")),
        ("/w/100%25", Location("/w/100%25")),
        ("c:\\w", Location("C:\\w")),
        ("src/a.py", Location("src/a.py")),
        ("", Location("")),
    ],
)
def test_uris_of_editors_name_a_path_and_a_host(uri: str, location: Location) -> None:
    assert locate(uri) == location


def test_a_record_of_a_uri_names_a_path_in_one_of_its_fields() -> None:
    assert path_of({"fsPath": "c:\\w\\a.ts", "path": "/c:/w/a.ts"}) == "C:\\w\\a.ts"
    assert path_of({"external": "file:///c%3A/w/a.ts", "path": "/c:/w/a.ts"}) == "C:\\w\\a.ts"
    assert path_of({"path": "/c:/w/a b.ts"}) == "C:\\w\\a b.ts"
    assert path_of({"fsPath": 7}) == path_of(None) == path_of(["x"]) == ""


@pytest.mark.parametrize(
    ("windows", "linux"), [("C:\\w\\app", "/mnt/c/w/app"), ("D:\\a b", "/mnt/d/a b"), ("C:\\", "/mnt/c")]
)
def test_wsl_and_windows_name_the_same_place(windows: str, linux: str) -> None:
    assert mounted(windows) == mounted(windows.lower()[:1] + windows[1:]) == linux
    assert unmounted(linux) == windows
    assert mounted(linux) == linux
    assert unmounted(windows) == windows


@pytest.mark.parametrize("path", ["/mnt/data/w", "/home/x", "", "c", "/mnt", "relative\\path"])
def test_other_paths_stay(path: str) -> None:
    assert mounted(path) == unmounted(path) == path


@pytest.mark.parametrize(
    ("platform", "inside", "environment"),
    [
        ("linux", ".config/Code/User", {}),
        ("linux", "elsewhere/Code - Insiders/User", {"XDG_CONFIG_HOME": "{home}/elsewhere"}),
        ("darwin", "Library/Application Support/VSCodium/User", {}),
        ("win32", "AppData/Roaming/Cursor/User", {}),
        ("win32", "roaming/Cursor/User", {"APPDATA": "{home}/roaming"}),
        ("linux", ".vscode-server/data/User", {}),
    ],
)
def test_editors_are_found_where_their_platform_keeps_them(
    tmp_path: Path, platform: str, inside: str, environment: dict[str, str]
) -> None:
    (tmp_path / inside).mkdir(parents=True)
    told = {name: value.format(home=tmp_path) for name, value in environment.items()}
    places = Places(tmp_path, told, platform)
    editors = ("Code", "Code - Insiders", "VSCodium", "Cursor")
    assert editor_directories(places, *editors) == [tmp_path / inside]


def test_editors_of_windows_are_found_from_wsl(tmp_path: Path) -> None:
    windows = tmp_path / "mnt/c/Users/me"
    (windows / "AppData/Roaming/Cursor/User").mkdir(parents=True)
    places = Places(tmp_path / "home", {}, "linux", windows_homes=(windows,))
    assert editor_directories(places, "Cursor") == [windows / "AppData/Roaming/Cursor/User"]


@pytest.mark.parametrize(
    ("told", "folder"),
    [
        ({"folder": "file:///w/app"}, "/w/app"),
        ({"workspace": "file:///w/x/team.code-workspace"}, "/w/x"),
        ({"configuration": "file:///c%3A/x/team.code-workspace"}, "C:\\x"),
        ({"workspace": "file:///config/Workspaces/17/workspace.json"}, ""),
        ({"folder": 7}, ""),
        (["folder"], ""),
    ],
)
def test_a_workspace_belongs_to_a_folder(tmp_path: Path, told: object, folder: str) -> None:
    (tmp_path / "workspace.json").write_text(json.dumps(told))
    assert workspace_folder(tmp_path).path == folder


def test_a_workspace_without_a_word_belongs_nowhere(tmp_path: Path) -> None:
    assert workspace_folder(tmp_path) == Location("")
    (tmp_path / "workspace.json").write_text("{half")
    assert workspace_folder(tmp_path) == Location("")
