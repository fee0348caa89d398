"""The worker behind the answers: it survives whatever its work raises, and everybody can see that it fails."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from backstory.core.background import BACKUPS, BRIEFS, DEVICES, ERASURE, RETENTION, SPACES, SYNC, TURNS
from backstory.core.team import TEAM
from backstory.domain.errors import Unavailable
from backstory.domain.when import iso
from backstory.problems import CONSEQUENCES, FOLDER, Problems
from backstory.server.hook_door import HOOKS
from backstory.worker import LONGEST_BACKOFF_S, Worker, backoff_s

from .doubles import DAWN, SteppedClock
from .patience import PATIENCE_S


class Work:
    """Raises what it is given, one after the other, then succeeds; says when it did each."""

    def __init__(self, *errors: BaseException) -> None:
        self.errors = list(errors)
        self.tried = threading.Semaphore(0)
        self.succeeded = threading.Event()

    def __call__(self) -> None:
        self.tried.release()
        if self.errors:
            raise self.errors.pop(0)
        self.succeeded.set()


@pytest.fixture
def problems(tmp_path: Path, clock: SteppedClock) -> Problems:
    return Problems(tmp_path, clock)


@pytest.fixture
def start(problems: Problems) -> Iterator[Callable[..., Worker]]:
    started: list[Worker] = []

    def start(
        work: Callable[[], float | None], rests: Callable[[int], float] = lambda failures: 0.0
    ) -> Worker:
        started.append(Worker("sync", work, problems, backoff_s=rests))
        started[-1].wake()
        return started[-1]

    yield start
    for worker in started:
        worker.close()


@pytest.mark.parametrize(
    "error",
    [Unavailable("Down."), KeyError("private"), MemoryError(), RecursionError(), SystemExit(3)],
    ids=lambda error: type(error).__name__,
)
def test_no_exception_ends_it(start: Callable[..., Worker], error: BaseException) -> None:
    work = Work(error, error)
    start(work)
    assert work.succeeded.wait(PATIENCE_S)


def test_the_first_run_lets_callers_finish(problems: Problems, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("backstory.worker.LONGEST_FIRST_WAIT_S", PATIENCE_S)
    is_calling, checks = threading.Event(), threading.Semaphore(0)
    is_calling.set()

    def is_busy() -> bool:
        checks.release()
        return is_calling.is_set()

    work = Work()
    worker = Worker("sync", work, problems, is_busy=is_busy)
    worker.wake()
    for _ in range(3):
        assert checks.acquire(timeout=PATIENCE_S)
    assert not work.succeeded.is_set()
    is_calling.clear()
    assert work.succeeded.wait(PATIENCE_S)
    worker.close()


def test_callers_that_never_finish_do_not_stop_it(
    problems: Problems, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.worker.LONGEST_FIRST_WAIT_S", 0.0)
    work = Work()
    worker = Worker("sync", work, problems, is_busy=lambda: True)
    worker.wake()
    assert work.succeeded.wait(PATIENCE_S)
    worker.close()


def test_it_rests_longer_after_each_failure_up_to_a_limit() -> None:
    assert [backoff_s(failures) for failures in (1, 2, 3, 4)] == [1, 2, 4, 8]
    assert backoff_s(20) == backoff_s(10_000) == LONGEST_BACKOFF_S


def test_failures_are_counted_in_a_row(start: Callable[..., Worker]) -> None:
    counted: list[int] = []
    work = Work(KeyError(), KeyError(), KeyError())

    def rests(failures: int) -> float:
        counted.append(failures)
        return 0.0

    worker = start(work, rests)
    assert work.succeeded.wait(PATIENCE_S)
    work.errors.append(KeyError())
    worker.wake()
    for _ in range(6):
        assert work.tried.acquire(timeout=PATIENCE_S)
    assert counted == [1, 2, 3, 1]


def test_being_woken_does_not_shorten_the_rest_after_a_failure(start: Callable[..., Worker]) -> None:
    resting, is_over = threading.Event(), threading.Event()

    def rests(failures: int) -> float:
        resting.set()
        is_over.wait(PATIENCE_S)
        return 0.0

    work = Work(KeyError())
    worker = start(work, rests)
    assert resting.wait(PATIENCE_S)
    worker.wake()
    assert not work.succeeded.is_set()
    is_over.set()
    assert work.succeeded.wait(PATIENCE_S)


def test_closing_does_not_wait_for_a_rest_to_be_over(
    start: Callable[..., Worker], problems: Problems
) -> None:
    work = Work(KeyError())
    worker = start(work, lambda failures: 1e6)
    assert work.tried.acquire(timeout=PATIENCE_S)
    worker.close()
    assert not work.succeeded.is_set()


def test_what_is_raised_because_of_closing_is_no_problem(
    start: Callable[..., Worker], problems: Problems
) -> None:
    begun = threading.Event()

    def work() -> None:
        begun.set()
        worker.rest(1e6)
        raise KeyError("the store is closed")

    worker = start(work)
    assert begun.wait(PATIENCE_S)
    worker.close()
    assert problems.reported() == []


def test_a_problem_is_known_here_and_to_other_processes_until_the_next_success(
    problems: Problems, tmp_path: Path, clock: SteppedClock
) -> None:
    problems.failed("sync", Unavailable("The disk is away."))
    clock.step(60)
    problems.failed("sync", Unavailable("The disk is away."))
    (seen,) = Problems(tmp_path).reported()
    assert (seen.worker, seen.message, seen.failures) == ("sync", "The disk is away.", 2)
    assert (iso(seen.since), seen.last) == (iso(DAWN), clock())
    assert problems.notice("sync") == (
        "Histories of other assistants are not read at the moment: The disk is away.",
    )
    problems.succeeded("sync")
    assert Problems(tmp_path).reported() == []
    assert problems.notice("sync") == ()


def test_a_success_in_another_process_ends_the_problem_that_a_dead_one_left(tmp_path: Path) -> None:
    Problems(tmp_path).failed("sync", KeyError())
    Problems(tmp_path).succeeded("sync")
    assert Problems(tmp_path).reported() == []


def test_the_log_has_the_traceback_and_nobody_what_the_error_said(tmp_path: Path) -> None:
    lines: list[tuple[Any, ...]] = []
    problems = Problems(tmp_path, log=lambda *line: lines.append(line))
    word = "a private word"
    try:
        raise KeyError(word)
    except KeyError as error:
        problems.failed("summaries", error)
    (line,) = lines
    assert line[:2] == ("error", "worker_summaries")
    assert "test_worker.py" in line[3]["traceback"][0]
    assert word not in json.dumps(line)
    assert word not in (tmp_path / FOLDER / "summaries.json").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_the_files_are_for_the_user_alone(tmp_path: Path) -> None:
    Problems(tmp_path / "home").failed("sync", KeyError())
    written = tmp_path / "home" / FOLDER
    assert {oct(path.stat().st_mode & 0o777) for path in (written, written / "sync.json")} == {
        "0o700",
        "0o600",
    }


def test_a_place_that_cannot_be_written_is_no_reason_to_fail(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    problems = Problems(tmp_path / "file")
    problems.failed("sync", Unavailable("Down."))
    assert problems.message("sync") == "Down."
    assert problems.reported() == []
    problems.succeeded("sync")
    assert problems.message("sync") is None


def test_every_worker_has_words_for_its_failure(problems: Problems) -> None:
    workers = (SYNC, RETENTION, ERASURE, BACKUPS, BRIEFS, TURNS, DEVICES, SPACES, TEAM, HOOKS)
    for worker in workers:
        problems.failed(worker, Unavailable("The disk is full."))
    sentences = {problem.worker: problem.sentence for problem in problems.reported()}
    assert sentences == {worker: f"{CONSEQUENCES[worker]}: The disk is full." for worker in sentences}
    assert set(sentences) == set(workers)
