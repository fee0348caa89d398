"""When two spellings of a path mean the same file."""

from __future__ import annotations

import pytest

from backstory.domain.paths import (
    PathMatch,
    distinct_names,
    is_about_file,
    match_in_text,
    match_path,
    names_a_file,
    path_in_project,
    paths_in_project,
)


@pytest.mark.parametrize(
    ("path", "wanted", "match"),
    [
        ("src/auth.py", "src/auth.py", PathMatch.SAME),
        ("./src/auth.py", "SRC\\Auth.py", PathMatch.SAME),
        ("/home/me/app/src/auth.py", "src/auth.py", PathMatch.ENDS_ALIKE),
        ("src/auth.py", "/home/me/app/src/auth.py", PathMatch.ENDS_ALIKE),
        ("~/app/src/auth.py", "/home/me/app/src/auth.py", PathMatch.ENDS_ALIKE),
        ("src/auth.py", "auth.py", PathMatch.ENDS_ALIKE),
        ("auth.py", "src/auth.py", PathMatch.NAME),
        ("lib/auth.py", "src/auth.py", PathMatch.OTHER),
        ("src/oauth.py", "auth.py", PathMatch.OTHER),
        ("", "auth.py", PathMatch.OTHER),
        ("auth.py", " ", PathMatch.OTHER),
    ],
)
def test_paths_agree_from_their_end_by_whole_parts(path: str, wanted: str, match: PathMatch) -> None:
    assert match_path(path, wanted) is match
    assert is_about_file(path, wanted) is (match >= PathMatch.ENDS_ALIKE)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("We changed src/auth.py.", PathMatch.SAME),
        ("see (https://host/app/blob/main/src/auth.py:12)", PathMatch.ENDS_ALIKE),
        ('File "C:\\app\\src\\auth.py", line 3', PathMatch.ENDS_ALIKE),
        ("auth.py is slow", PathMatch.NAME),
        ("lib/auth.py is slow", PathMatch.OTHER),
        ("lib/auth.py is slow, and auth.py too", PathMatch.NAME),
        ("src/auth.pyc, oauth.py and src/auth.py-old", PathMatch.OTHER),
        ("a/" * 50_000 + "auth.py", PathMatch.OTHER),
    ],
)
def test_a_text_is_about_the_file_that_it_names_best(text: str, match: PathMatch) -> None:
    assert match_in_text(text, "src/auth.py") is match


@pytest.mark.parametrize(
    "path",
    [
        "src/auth.py", "/w/app/[id].tsx", "Makefile", ".gitignore", ".env.local", "scripts/deploy", "a/.github/workflows/ci.yml",
        "C:\\work\\main.rs", "My notes.md", "x.h",
    ],
)  # fmt: skip
def test_files_are_told_by_their_spelling(path: str) -> None:
    assert names_a_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "", "\\", "Sessions", "*.md", "src/**/*.py", "/home/me/app/", ".", "src", ".git", "$HOME/x.py", "${dir}/a.py",
        "https://example.org/a.html", "-n", "1.5", "end.", "<script>alert(1)</script>.js",
    ],
)  # fmt: skip
def test_folders_patterns_and_words_are_no_files(path: str) -> None:
    assert not names_a_file(path)


@pytest.mark.parametrize(
    ("path", "directory", "expected"),
    [
        ("src/a.py", "/w/shop", "src/a.py"),
        ("./src/../src/a.py", "/w/shop", "src/a.py"),
        ("/w/shop/src/a.py", "/w/shop", "src/a.py"),
        ("a.py", "/w/shop/src", "src/a.py"),
        ("src/a.py", "/w/trees/fix", "src/a.py"),
        ("/w/trees/fix/src/a.py", "/w/trees/fix", "src/a.py"),
        ("/etc/hosts", "/w/shop", "/etc/hosts"),
        ("src\\a.py", "/w/shop", "src/a.py"),
        ("/w/shop/.claude/worktrees/agent-1/src/a.py", "/w/shop", "src/a.py"),
        ("/w/shop__worktrees/fix/src/a.py", "/w/shop", "src/a.py"),
        ("/w/shop.worktrees/fix/src/a.py", "/w/shop", "src/a.py"),
        ("/w/shopping/src/a.py", "/w/shop", "/w/shopping/src/a.py"),
    ],
)
def test_a_file_of_a_project_has_one_path(path: str, directory: str, expected: str) -> None:
    assert path_in_project(path, directory, "/w/shop") == expected


@pytest.mark.parametrize(
    "path", ["D:\\shop\\src\\a.py", "/d/shop/src/a.py", "/mnt/d/shop/src/a.py", "/cygdrive/d/shop/src/a.py"]
)
@pytest.mark.parametrize("project", ["/mnt/d/shop", "D:\\shop"])
def test_a_drive_has_one_spelling(path: str, project: str) -> None:
    assert path_in_project(path, "", project) == "src/a.py"
    assert path_in_project(path, "", "/mnt/e/shop") == path.replace("\\", "/")


def test_a_path_of_a_command_in_a_folder_means_the_file_that_a_tool_named_from_the_root() -> None:
    named = ["/w/shop/web/src/a.py", "src/a.py", "a.py", "/w/shop/one/lib/b.py", "/w/shop/two/lib/b.py", "lib/b.py", "/w/shop/web/src/c.py", "/w/shop/src/c.py", "src/c.py"]  # fmt: skip
    assert paths_in_project(named, "/w/shop", "/w/shop") == {
        "/w/shop/web/src/a.py": "web/src/a.py",
        "src/a.py": "web/src/a.py",
        "a.py": "a.py",  # any file may have this name
        "/w/shop/one/lib/b.py": "one/lib/b.py",
        "/w/shop/two/lib/b.py": "two/lib/b.py",
        "lib/b.py": "lib/b.py",  # two could be meant
        "/w/shop/web/src/c.py": "web/src/c.py",
        "/w/shop/src/c.py": "src/c.py",
        "src/c.py": "src/c.py",  # which was named from the root
    }


def test_a_relative_path_without_a_project_stays() -> None:
    assert path_in_project("src/a.py", "", "") == "src/a.py"


def test_projects_of_one_name_are_told_apart_by_the_parts_before_it() -> None:
    projects = ["/work/shop", "/old/work/api", "/new/work/api", "/play/api", "C:\\code\\blog"]
    assert distinct_names(projects) == {
        "/work/shop": "shop",
        "/old/work/api": "old/work/api",
        "/new/work/api": "new/work/api",
        "/play/api": "play/api",
        "C:\\code\\blog": "blog",
    }
