"""Much to read is decoded by another process: the store is the same whether there is one, none, or one that dies."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import pytest

from backstory.core.calls import Call, Cancelled
from backstory.core.sync import Sync, decoder_process, reading
from backstory.core.sync.decoder_process import DecoderLost, DecoderProcess
from backstory.core.sync.decoding import DueSource, Portion, SourceDecoder
from backstory.core.sync.files import Stamp
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

    def __init__(self, reader: Reader, redaction: Redaction, due: list[DueSource]) -> None:
        self._portions = chain.from_iterable(map(SourceDecoder(reader, redaction).portions, due))

    def portions(self) -> Iterator[list[Portion]]:
        for number, portion in enumerate(self._portions):
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
    monkeypatch.setattr(reading, "DecoderProcess", DyingDecoder)
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
    much: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[DecoderProcess] = []

    class Noted(DecoderProcess):
        def portions(self) -> Iterator[list[Portion]]:
            started.append(self)
            return super().portions()

    monkeypatch.setattr(reading, "DecoderProcess", Noted)
    engine = engine_over(tmp_path / "s.db")
    with pytest.raises(Cancelled):
        Sync(engine).run(
            load_readers(["codex"]).values(),
            Places(SAMPLES / "codex" / "home", {}, "linux"),
            call=Call(is_cancelled=lambda: bool(started)),
        )
    (decoder,) = started
    assert decoder._process is not None
    assert decoder._process.returncode is not None
    engine.close()


def test_a_process_is_started_for_much_and_where_there_is_a_core_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    much = [DueSource(None, Stamp(decoder_process.MUCH_BYTES, 0), None)]  # type: ignore[arg-type]
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert decoder_process.is_worth_it(much)
    assert not decoder_process.is_worth_it(much[:0])
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    assert not decoder_process.is_worth_it(much)
