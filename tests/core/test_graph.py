"""The graph is read lazily, in bounded batches that can be followed and cancelled."""

from __future__ import annotations

import pytest

from backstory.core import Core, graph
from backstory.core.calls import Call, Cancelled
from backstory.core.memories import MemoryDraft
from backstory.domain.filters import Filter


@pytest.fixture
def core_of_ten(core: Core) -> Core:
    for n in range(10):
        core.memories.save_item(MemoryDraft(f"AB-{n} is open", key=f"k{n}"))
    return core


def test_saving_extracts_nothing(core_of_ten: Core) -> None:
    assert core_of_ten.engine.store.graph.entities(Filter()) == []


def test_reading_reports_progress(core_of_ten: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "AT_ONCE", 4)
    steps: list[tuple[float, float | None]] = []
    call = Call(progress=lambda done, total, message: steps.append((done, total)))
    assert core_of_ten.during(call).graph.update() == 0
    assert steps == [(4, 10), (8, 10)]


def test_a_cancelled_call_keeps_what_was_read(core_of_ten: Core, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph, "AT_ONCE", 4)
    answers = iter([False, True])
    with pytest.raises(Cancelled):
        core_of_ten.during(Call(is_cancelled=lambda: next(answers))).graph.update()
    issues = [each for each in core_of_ten.engine.store.graph.entities(Filter()) if each.type == "issue"]
    assert len(issues) == 4


def test_one_call_reads_so_many_and_says_how_many_wait(
    core_of_ten: Core, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph, "MOST_AT_A_CALL", 6)
    assert core_of_ten.graph.analyze(Filter(), 1).pending == 4
    assert core_of_ten.graph.analyze(Filter(), 1).pending == 0


def test_a_surface_graphs_only_its_own_items(core_of_ten: Core) -> None:
    assert core_of_ten.through("other").graph.analyze(Filter(), 5).entities == []


def test_the_same_question_has_the_same_answer(core_of_ten: Core) -> None:
    assert core_of_ten.graph.analyze(Filter(), 3) == core_of_ten.graph.analyze(Filter(), 3)
    assert core_of_ten.graph.related("k1", 3, (), 5) == core_of_ten.graph.related("k1", 3, (), 5)
