"""Much to read is decoded by another process: the store is the same whether there is one, none, or one that dies."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from itertools import chain
from pathlib import Path

import pytest

from backstory.core import sync
from backstory.core.calls import Call, Cancelled
from backstory.core.exclusion import Exclusion
from backstory.core.sync import Sync, decoder_process, reading
from backstory.core.sync.decoder_process import DecoderLost, DecoderProcess
from backstory.core.sync.decoding import DueSource, Portion, SourceDecoder
from backstory.core.sync.files import Stamp, stamp_of
from backstory.core.sync.redacting import Redaction
from backstory.readers import Places, Reader, load_readers

from .test_sync import dump, engine_over, fill
from .toy_reader import toy_reader

SAMPLES = Path(__file__).resolve().parents[1] / "readers"
SAMPLED = ("claude-code", "codex")


@pytest.fixture
def much(monkeypatch: pytest.MonkeyPatch) -> None:
    """A single byte is much to read, on however few cores."""
    monkeypatch.setattr(reading, "is_worth_it", bool)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[bytes]]:
    """The processes that a sync started."""
    noted: list[subprocess.Popen[bytes]] = []

    class Noted(DecoderProcess):
        def _started(self) -> subprocess.Popen[bytes]:
            noted.append(super()._started())
            return noted[-1]

    monkeypatch.setattr(sync, "DecoderProcess", Noted)
    return noted


def refuse(*_: object) -> Iterator[Portion]:
    raise AssertionError("it was decoded by the process that writes")


def test_another_process_decodes_what_this_one_would(
    much: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readers = load_readers(SAMPLED)
    results = []
    for way in ("aside", "none", "here"):
        engine = engine_over(tmp_path / f"{way}.db")
        with monkeypatch.context() as patch:
            if way == "aside":
                patch.setattr(SourceDecoder, "portions", refuse)
            elif way == "none":
                patch.setattr(sys, "executable", str(tmp_path / "no python"))
            else:
                patch.setattr(reading, "is_worth_it", lambda due: False)
            for name in SAMPLED:
                run = Sync(engine).run([readers[name]], Places(SAMPLES / name / "home", {}, "linux"))
                assert run is not None
                assert run[name].turns
        results.append((dump(engine.store), [state.state for state in engine.store.sync.sources().values()]))
        assert engine.store.problems() == []
        engine.close()
    assert results[0] == results[1] == results[2]


class DyingDecoder:
    """Decodes here, and is lost after so many portions."""

    at = 0
    is_closed = False

    def __init__(self, redaction: Redaction, exclusion: Exclusion) -> None:
        self._decoder = partial(SourceDecoder, redaction=redaction, exclusion=exclusion)

    def portions(self, reader: Reader, due: list[DueSource]) -> Iterator[list[Portion]]:
        portions = chain.from_iterable(map(self._decoder(reader).portions, due))
        for number, portion in enumerate(portions):
            if number == self.at:
                raise DecoderLost
            yield [portion]

    def close(self) -> None:
        type(self).is_closed = True


@pytest.mark.parametrize("small_bytes", [1, 4_000_000])
@pytest.mark.parametrize("at", [0, 1, 2, 5])
def test_what_a_lost_process_did_not_give_is_read_here(
    much: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, small_bytes: int
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", small_bytes)
    monkeypatch.setattr(sync, "DecoderProcess", DyingDecoder)
    fill(home)
    results = []
    for name, lost_at in (("lost", at), ("whole", 1000)):
        monkeypatch.setattr(DyingDecoder, "at", lost_at)
        engine = engine_over(tmp_path / f"{name}.db")
        run = Sync(engine).run([toy_reader(1)], Places(home, {}, "linux"))
        results.append((dump(engine.store), run))
        engine.close()
    assert results[0] == results[1]
    assert DyingDecoder.is_closed


def test_a_cancelled_sync_leaves_no_process(
    much: None, tmp_path: Path, started: list[subprocess.Popen[bytes]]
) -> None:
    engine = engine_over(tmp_path / "s.db")
    with pytest.raises(Cancelled):
        Sync(engine).run(
            load_readers(["codex"]).values(),
            Places(SAMPLES / "codex" / "home", {}, "linux"),
            call=Call(is_cancelled=lambda: bool(started)),
        )
    (process,) = started
    assert process.returncode is not None
    engine.close()


def test_one_process_decodes_what_several_readers_find(
    much: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[subprocess.Popen[bytes]]
) -> None:
    monkeypatch.setattr(SourceDecoder, "portions", refuse)
    engine = engine_over(tmp_path / "s.db")
    homes = {"claude-code": ".claude", "codex": ".codex"}
    roots = {name: (SAMPLES / name / "home" / home,) for name, home in homes.items()}
    run = Sync(engine).run(load_readers(SAMPLED).values(), Places(tmp_path, {}, "linux", roots=roots))
    assert run is not None
    assert all(run[name].turns for name in SAMPLED)
    assert len(started) == 1
    engine.close()


def test_a_process_that_was_left_with_work_gives_none_of_it_to_the_next(tmp_path: Path) -> None:
    codex = load_readers(["codex"])["codex"]
    found = sorted(
        codex.find(Places(SAMPLES / "codex" / "home", {}, "linux")), key=lambda source: source.path
    )
    due = [DueSource(source, stamp_of(source), None) for source in found]
    redaction = Redaction("standard")
    with closing(DecoderProcess(redaction, Exclusion(()))) as process:
        next(process.portions(codex, due))
        here = [
            portion
            for some in SourceDecoder(codex, redaction, Exclusion(())).portions_of(due[-1:])
            for portion in some
        ]
        there = [portion for some in process.portions(codex, due[-1:]) for portion in some]
    assert [portion.steps[0].piece.header for portion in there] == [
        portion.steps[0].piece.header for portion in here
    ]


def test_a_process_is_started_for_much_and_where_there_is_a_core_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    much = [DueSource(None, Stamp(decoder_process.MUCH_BYTES, 0), None)]  # type: ignore[arg-type]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert decoder_process.is_worth_it(much)
    assert not decoder_process.is_worth_it(much[:0])
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert not decoder_process.is_worth_it(much)
