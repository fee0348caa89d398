"""Threads that run calls: few at a time while they are quick, and none waits for a slow one."""

from __future__ import annotations

import time
from threading import Event, Lock, Semaphore

import pytest

from backstory.server import workers
from backstory.server.workers import Workers

PATIENCE_S = 60.0


class Task:
    size = 1

    def __init__(self, number: int) -> None:
        self.number = number


def test_quick_calls_run_few_at_a_time_and_all_are_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SLOW_S", PATIENCE_S)
    lock, running, most, done = Lock(), 0, 0, []

    def run(task: Task) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.001)
        with lock:
            running -= 1
            done.append(task.number)

    pool = Workers(8, 1_000, run, at_once=2)
    for number in range(100):
        pool.submit(Task(number))
    assert pool.wait(PATIENCE_S)
    assert sorted(done) == list(range(100))
    assert most <= 2


def test_slow_calls_keep_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SLOW_S", 0.01)
    released, done = Event(), Event()

    def run(task: Task) -> None:
        if task.number < 7:
            assert released.wait(PATIENCE_S)
        else:
            done.set()

    pool = Workers(8, 1_000, run, at_once=2)
    for number in range(8):
        pool.submit(Task(number))
    assert done.wait(PATIENCE_S)
    released.set()
    assert pool.wait(PATIENCE_S)


def test_a_call_that_is_forgotten_does_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SLOW_S", PATIENCE_S)
    released, ran = Event(), []

    def run(task: Task) -> None:
        ran.append(task.number)
        assert released.wait(PATIENCE_S)

    pool = Workers(8, 1_000, run, at_once=1)
    tasks = [Task(number) for number in range(3)]
    for task in tasks:
        pool.submit(task)
    pool.forget(tasks[1])
    released.set()
    assert pool.wait(PATIENCE_S)
    assert ran == [0, 2]


def test_the_figures_tell_how_many_calls_wait_and_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "SLOW_S", PATIENCE_S)
    released, running = Event(), Semaphore(0)

    def run(task: Task) -> None:
        running.release()
        assert released.wait(PATIENCE_S)

    pool = Workers(8, 1_000, run, at_once=2)
    assert pool.figures() == (0, 0)
    for number in range(5):
        pool.submit(Task(number))
    for _ in range(2):
        assert running.acquire(timeout=PATIENCE_S)
    assert pool.figures() == (3, 2)
    released.set()
    assert pool.wait(PATIENCE_S)
    assert pool.figures() == (0, 0)
