"""Looking at a directory that is a whole disk, or on a drive that does not answer: bounded, and the answer says so."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core, Engine, abandoning
from backstory.core.calls import Call, Cancelled
from backstory.core.projects import effort as module
from backstory.core.projects.effort import ELSEWHERE, TOO_SLOW, Effort, look
from backstory.core.projects.ignoring import walk
from backstory.domain.errors import TimedOut
from backstory.guests.gandalf.files import list_files, list_paths
from backstory.guests.session_mgmt.project.health import look_at
from backstory.guests.session_mgmt.project.survey import survey
from backstory.store import Store

from ..conftest import caller_of
from ..doubles import DAWN, make_settings
from ..patience import PATIENCE_S
from ..repositories import write


class Ticks:
    """A clock that goes on by a second each time somebody looks at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Twenty directories of a file each, which git knows nothing of."""
    return write(tmp_path / "tree", {f"d{n:02}/file.py": "# TODO\n" for n in range(20)})


@pytest.mark.parametrize(
    "count",
    [
        lambda tree, effort: len(list(walk(tree, effort))),
        lambda tree, effort: len(survey(tree, effort).paths),
        lambda tree, effort: len(list_paths(tree, effort).paths),
        lambda tree, effort: len(list_files(tree, DAWN, effort).files),
        lambda tree, effort: len(look_at(tree, DAWN, effort).survey.paths),
    ],
    ids=["walk", "survey", "list_paths", "list_files", "look_at"],
)
def test_when_the_time_is_over_the_rest_is_left_out_and_that_is_said(
    tree: Path, count: Callable[[Path, Effort], int]
) -> None:
    whole = Effort()
    assert count(tree, whole) == 20
    assert whole.left_out == ()
    short = Effort(12.0, Ticks())
    assert count(tree, short) < 20
    assert TOO_SLOW in short.left_out


def test_other_file_systems_are_left_out_and_that_is_said(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.projects.ignoring.device_of", lambda root: -1)
    effort = Effort()
    assert list(walk(tree, effort)) == []
    assert effort.left_out == (ELSEWHERE,)


@pytest.mark.skipif(not os.path.ismount("/proc"), reason="there is no file system to leave out")
def test_the_root_of_a_machine_is_listed_without_what_the_kernel_invents() -> None:
    effort = Effort(0.5)
    assert not any(path.startswith("proc/") for path in walk(Path("/"), effort))
    assert effort.left_out


def test_a_crowded_directory_is_not_read_in_full(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ENTRIES", 5)
    effort = Effort()
    assert len(list(walk(tree, effort))) == 5
    assert effort.left_out == (module.CROWDED,)


@pytest.fixture
def hang() -> Iterator[Callable[[Effort], bool]]:
    """Work that never comes back, until the test is over."""
    over = threading.Event()
    yield lambda effort: over.wait(PATIENCE_S)
    over.set()
    for thread in abandoning.abandoned:
        thread.join(PATIENCE_S)


def test_nobody_waits_for_a_file_system_that_does_not_answer(hang: Callable[[Effort], bool]) -> None:
    with pytest.raises(TimedOut, match="does not answer"):
        look(hang, Call(), clock=Ticks())


def test_who_withdraws_does_not_wait_for_a_file_system_either(hang: Callable[[Effort], bool]) -> None:
    answers = iter([False, False, True])
    with pytest.raises(Cancelled):
        look(hang, Call(is_cancelled=lambda: next(answers)))


def test_only_so_many_threads_hang_in_file_systems(hang: Callable[[Effort], bool]) -> None:
    for _ in range(abandoning.MOST_ABANDONED):
        with pytest.raises(TimedOut):
            look(hang, Call(), clock=Ticks())
    before = threading.active_count()
    with pytest.raises(TimedOut):
        look(lambda effort: 1, Call())
    assert threading.active_count() == before


def test_what_was_abandoned_stops_at_its_next_step() -> None:
    seen: list[Effort] = []

    def work(effort: Effort) -> None:
        seen.append(effort)
        threading.Event().wait(0.2)

    answers = iter([False, True])
    with pytest.raises(Cancelled):
        look(work, Call(is_cancelled=lambda: next(answers)))
    assert seen[0].is_over()


def test_an_error_of_the_work_is_raised_to_who_asked() -> None:
    def fail(effort: Effort) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        look(fail, Call())


@pytest.mark.parametrize("tool", ["get_project_info", "list_project_files", "init", "status"])
def test_the_tools_say_what_was_left_out(
    store: Store, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    monkeypatch.setattr("backstory.core.projects.ignoring.device_of", lambda root: -1)
    monkeypatch.setattr("backstory.guests.session_mgmt.project.survey.device_of", lambda root: -1)
    core = Core(Engine(make_settings(tmp_path), store, None), Caller(project=str(tree)))
    answer = caller_of(core)(tool) if tool != "get_project_info" else described(core)
    said = answer["project_context"]["left_out"] if "project_context" in answer else answer["notices"]
    assert said == [ELSEWHERE]


def described(core: Core) -> dict[str, Any]:
    from backstory.surfaces import all_tools, load_surfaces

    reply = all_tools(load_surfaces())["get_project_info"].call(core, {})
    assert reply.structured is not None
    return reply.structured
