"""A log that grows: however it is cut into appends, reading on gives what reading at once gives."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backstory.readers import PIECE_BYTES, Cursor, Form, Reader, Source, load_readers

from .golden import ReadConversation, merged

HERE = Path(__file__).parent
LOGS = {
    "claude-code": sorted((HERE / "claude-code/home").rglob("*.jsonl")),
    # the list of names is a document: it is read whole whenever it changes
    "codex": sorted(
        set((HERE / "codex/home").rglob("*.jsonl")) - set((HERE / "codex").rglob("session_index.jsonl"))
    ),
    **{
        name: sorted((HERE / name / "home").rglob("*.jsonl"))
        for name in ("pi", "factory-droid", "qwen-code", "kiro", "trae-cli")
    },
}
CASES = [pytest.param(name, log, id=log.stem[-12:]) for name, logs in LOGS.items() for log in logs]


def read_as_it_grows(
    reader: Reader, path: Path, content: bytes, cuts: list[int]
) -> dict[str, ReadConversation]:
    told: dict[str, ReadConversation] = {}
    cursor = Cursor()
    for end in (*sorted(cuts), len(content)):
        path.write_bytes(content[:end])
        for piece in reader.read(Source(path, Form.LOG), cursor):
            told = merged([piece], told)
            if piece.cursor is not None:
                cursor = Cursor(piece.cursor.offset, json.loads(json.dumps(piece.cursor.state)))
    return told


@pytest.mark.parametrize(("name", "log"), CASES)
@settings(database=None)
@given(data=st.data())
def test_a_log_read_as_it_grows_tells_the_same_as_read_at_once(
    name: str, log: Path, data: st.DataObject
) -> None:
    content = log.read_bytes()
    line_ends = [at + 1 for at, byte in enumerate(content) if byte == 10]
    anywhere = st.integers(0, len(content)) | st.sampled_from(line_ends)
    cuts = data.draw(st.lists(anywhere, min_size=1, max_size=6))
    reader = load_readers([name])[name]
    with TemporaryDirectory() as directory:
        path = Path(directory, log.name)
        grown = read_as_it_grows(reader, path, content, cuts)
        assert grown == merged(reader.read(Source(path, Form.LOG), Cursor()))


@pytest.mark.parametrize("shift", range(3))
@pytest.mark.parametrize(("name", "log"), CASES)
def test_glued_lines_read_as_they_grow_tell_the_same_as_read_at_once(
    name: str, log: Path, shift: int, tmp_path: Path
) -> None:
    lines = [b""] * shift + log.read_bytes().split(b"\n")
    glued = b"\n".join(b"".join(lines[at : at + 3]) for at in range(0, len(lines), 3)) + b"\n"
    line_ends = [at + 1 for at, byte in enumerate(glued) if byte == 10]
    reader = load_readers([name])[name]
    path = tmp_path / log.name
    grown = read_as_it_grows(reader, path, glued, line_ends)
    assert grown == merged(reader.read(Source(path, Form.LOG), Cursor()))


def test_a_large_log_comes_in_bounded_pieces_that_can_each_be_the_last(tmp_path: Path) -> None:
    path = tmp_path / "5e55.jsonl"
    with path.open("w", encoding="utf-8") as log:
        for number in range(3_000):
            said = {
                "id": f"m{number}",
                "model": "x",
                "content": [{"type": "text", "text": f"answer {number} " * 50}],
            }
            line = {"type": "assistant", "uuid": f"a{number}", "sessionId": "5e55", "message": said}
            log.write(json.dumps({**line, "toolUseResult": "x" * 9_000}) + "\n")
    reader = load_readers(["claude-code"])["claude-code"]
    source = Source(path, Form.LOG)
    pieces = list(reader.read(source, Cursor()))
    assert len(pieces) >= path.stat().st_size // (PIECE_BYTES + 100_000)
    starts = [0, *(piece.cursor.offset for piece in pieces if piece.cursor)]
    assert all(end - start <= PIECE_BYTES + 100_000 for start, end in itertools.pairwise(starts))
    middle = pieces[2].cursor
    assert middle is not None
    rest = merged(reader.read(source, middle), merged(pieces[:3]))
    assert rest == merged(pieces)
    assert len(rest["5e55"].turns) == 3_000
