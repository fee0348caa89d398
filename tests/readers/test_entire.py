"""Entire."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from backstory.readers import load_readers

from ..repositories import git
from .entire.make import BRANCH, SESSION, make_home
from .golden import check_golden, read, sources

REAL = Path(__file__).resolve().parents[3] / "shared/data/client-memories/entire"
reader = load_readers(["entire"])["entire"]


def test_a_home_reads_as_expected(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    project = make_home(tmp_path)
    check_golden("entire", request, tmp_path, projects=(project,))


def test_a_branch_is_found_where_it_is_packed_or_only_fetched_and_nothing_is_checked_out(
    tmp_path: Path,
) -> None:
    project = make_home(tmp_path)
    git(project, "pack-refs", "--all")
    (packed,) = sources(reader, tmp_path, projects=(project,))
    assert packed.path.name == "packed-refs"
    assert read(reader, packed)[SESSION].turns
    git(project, "update-ref", f"refs/remotes/origin/{BRANCH}", f"refs/heads/{BRANCH}")
    git(project, "branch", "-qD", BRANCH)
    (fetched,) = sources(reader, tmp_path, projects=(project,))
    assert read(reader, fetched)[SESSION].turns
    assert git(project, "status", "--porcelain") == ""


def test_a_project_without_the_branch_has_no_source(tmp_path: Path) -> None:
    project = make_home(tmp_path)
    git(project, "branch", "-qD", BRANCH)
    assert sources(reader, tmp_path, projects=(project,)) == []


@pytest.mark.skipif(not REAL.is_dir(), reason="the samples of client memories are not here")
def test_a_real_checkpoint_is_one_conversation(tmp_path: Path) -> None:
    project = make_home(tmp_path)
    git(project, "checkout", "-q", BRANCH)
    git(project, "rm", "-rqf", ".")
    shutil.copytree(REAL, project, dirs_exist_ok=True)
    git(project, "add", "--all")
    git(project, "commit", "-qm", "Real")
    (source,) = sources(reader, tmp_path, projects=(project,))
    (conversation,) = read(reader, source).values()
    assert conversation.header.session == "1ecba475-5b18-4058-a0cb-e87703f6f792"
    assert conversation.header.directory == str(project)
    assert len(conversation.turns) > 5
