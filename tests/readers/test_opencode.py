"""OpenCode: one kind of record in a database, in files, and in exports."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import ConversationKind, Cursor, Form, Piece, Role, Source, WitnessRank, load_readers

from . import golden
from .databases_of import database, write
from .opencode.make import BEGUN, TABLES, data, make_home, message, part, session

reader = load_readers(["opencode"])["opencode"]


def read(path: Path, cursor: Cursor | None = None) -> list[Piece]:
    form = Form.DATABASE if path.suffix == ".db" else Form.DOCUMENT
    return list(reader.read(Source(path, form), cursor or Cursor()))


def test_a_home(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make_home(tmp_path)
    golden.check_golden("opencode", request, tmp_path)


def test_databases_of_all_channels_and_of_the_variable_are_found(tmp_path: Path) -> None:
    make_home(tmp_path)
    other = database(tmp_path / "other.db", TABLES, {})
    database(data(tmp_path) / "mine.db", TABLES, {})
    for told, name in ((str(other), "other.db"), ("mine.db", "mine.db"), (":memory:", "")):
        found = golden.sources(reader, tmp_path, environment={"OPENCODE_DB": told})
        databases = {source.path.name for source in found if source.form is Form.DATABASE}
        assert databases == {"opencode.db", "opencode-beta.db", name} - {""}


def test_only_what_changed_is_read_again(tmp_path: Path) -> None:
    make_home(tmp_path)
    path = data(tmp_path) / "opencode.db"
    cursor = read(path)[-1].cursor
    assert read(path, cursor) == []
    db = sqlite3.connect(path)
    with db:
        db.execute(
            "UPDATE part SET data = ?, time_updated = ? WHERE id = 'prt_c'",
            ('{"type": "text", "text": "New."}', BEGUN + 5),
        )
    db.close()
    (piece,) = read(path, cursor)
    assert (piece.header.native_id, piece.turns[0].text) == ("ses_2", "New.")


def test_the_database_is_a_better_witness_than_the_files_it_took_over(tmp_path: Path) -> None:
    make_home(tmp_path)
    (filed,) = read(data(tmp_path) / "storage" / "session" / "p" / "ses_0.json")
    assert filed.header.standing is WitnessRank.REPLAY
    assert all(piece.header.standing is WitnessRank.OWN for piece in read(data(tmp_path) / "opencode.db"))


def test_broken_rows_are_counted_and_the_others_are_read(tmp_path: Path) -> None:
    rows = {
        "session": [session("s")],
        "message": [
            ("m0", "s", BEGUN, BEGUN, "{half"),
            ("m2", "s", None, None, None),
            message("m1", "s", BEGUN, role="user"),
        ],
        "part": [("p0", "m1", "s", BEGUN, BEGUN, None), part("p1", "m1", "s", type="text", text="Here.")],
    }
    (piece,) = read(database(tmp_path / "opencode.db", TABLES, rows))
    assert [turn.text for turn in piece.turns] == ["Here."]
    assert piece.skipped == {"not JSON": 3}


def test_a_database_with_fewer_columns_is_read(tmp_path: Path) -> None:
    tables = """CREATE TABLE session (id TEXT, directory TEXT); CREATE TABLE message (id TEXT, session_id TEXT, data TEXT);
        CREATE TABLE part (id TEXT, message_id TEXT, data TEXT);"""
    rows: dict[str, list[tuple[Any, ...]]] = {
        "session": [("s", "/w")],
        "message": [("m", "s", '{"role": "user"}')],
        "part": [("p", "m", '{"type": "text", "text": "Here."}')],
    }
    (piece,) = read(database(tmp_path / "opencode.db", tables, rows))
    assert (piece.header.directory, piece.turns[0].text, piece.turns[0].at_ms) == ("/w", "Here.", None)
    assert read(database(tmp_path / "other.db", "CREATE TABLE other (x);", {})) == []


def exported(tmp_path: Path, info: dict[str, Any], *messages: dict[str, Any]) -> list[Piece]:
    return read(write(tmp_path / "export.json", json.dumps({"info": info, "messages": messages})))


def test_an_export_is_read_in_the_order_of_time(tmp_path: Path) -> None:
    def said(id: str, at: int, text: str) -> dict[str, Any]:
        return {
            "info": {"id": id, "role": "user", "time": {"created": at}},
            "parts": [{"id": "2", "type": "text", "text": "b"}, {"id": "1", "type": "text", "text": text}],
        }

    info = {"id": "s", "parentID": "t", "title": "Sub", "directory": "/w", "time": {"created": 1_760_000_000}}
    answer = {"info": {"id": "m9", "role": "assistant", "time": {"created": BEGUN + 1}}, "parts": [{"id": "1", "type": "text", "text": "Done."}]}  # fmt: skip
    (piece,) = exported(
        tmp_path, info, answer, said("m2", BEGUN, "two"), said("m3", 5, "first"), said("m1", BEGUN, "one")
    )
    assert [turn.text for turn in piece.turns] == ["first\n\nb", "one\n\nb", "two\n\nb", "Done."]
    assert {turn.role for turn in piece.turns[:3]} == {Role.SYSTEM}, (
        "a subagent's task is no word of a person"
    )
    header = piece.header
    assert (header.kind, header.parent, header.started_ms) == (ConversationKind.SUBAGENT, "t", BEGUN)
    assert piece.cursor == Cursor()


def test_an_export_may_hold_anything_anywhere(tmp_path: Path) -> None:
    odd: list[dict[str, Any]] = [
        {"info": 7, "parts": 7},
        {
            "info": {"id": "m", "role": "user", "time": 7, "path": 7},
            "parts": [7, {"type": "tool", "state": 7}, {"type": ["x"]}],
        },
        {"info": {"id": "n", "role": "robot"}, "parts": [{"type": "text", "text": "?"}]},
    ]
    pieces = exported(tmp_path, {"id": "s", "title": 7, "time": 7}, *odd)
    assert all(turn.role is Role.SYSTEM for piece in pieces for turn in piece.turns)
    assert exported(tmp_path, {}, *odd) == []
    assert read(write(tmp_path / "list.json", "[1]")) == []


REAL = Path(__file__).resolve().parents[3] / "shared" / "data" / "histories" / "opencode-export"


@pytest.mark.skipif(not REAL.exists(), reason="the real histories are not here")
@pytest.mark.parametrize("name", ["crud.json", "all-tools.json"])
def test_real_exports_are_read_to_the_last_part(name: str) -> None:
    (path,) = REAL.rglob(name)
    told = json.loads(path.read_text("utf-8"))
    parts = [part for message in told["messages"] for part in message["parts"]]
    (piece,) = read(path)
    tools = [part["tool"] for part in parts if part["type"] == "tool"]
    assert sorted(call.name for turn in piece.turns for call in turn.calls if call.name) == sorted(tools)
    texts = [part["text"].strip() for part in parts if part["type"] == "text"]
    assert [turn.text for turn in piece.turns if turn.text] == texts


def test_a_part_that_is_written_after_its_message_is_noticed(tmp_path: Path) -> None:
    make_home(tmp_path)

    def stamp() -> str:
        found = golden.sources(reader, tmp_path)
        return next(source.beside for source in found if source.path.name == "ses_0.json")

    storage = data(tmp_path) / "storage"
    (first, *_) = sorted((storage / "message" / "ses_0").glob("*.json"))
    before = stamp()
    write(storage / "part" / first.stem / "prt_z.json", '{"type": "text", "text": "Late."}')
    assert stamp() != before


RUN_RULES = json.dumps([{"permission": "question", "pattern": "*", "action": "deny"}])


@pytest.mark.parametrize(
    ("rules", "stored", "text"),
    [
        (RUN_RULES, '"Always use tabs here."', "Always use tabs here."),
        (RUN_RULES, '"Print \\"yes\\" at the end."', 'Print "yes" at the end.'),
        (RUN_RULES, '"Two\nlines here."', "Two\nlines here."),
        (RUN_RULES, '"yes"', '"yes"'),  # one word: the user's own quotation marks
        (RUN_RULES, 'fix "the page" and "the link"', 'fix "the page" and "the link"'),
        (RUN_RULES, '"the page" and "the link"', '"the page" and "the link"'),
        (RUN_RULES, '"ends with C:\\"', '"ends with C:\\"'),
        (None, '"Always use tabs here."', '"Always use tabs here."'),  # typed in the terminal program
        ("[]", '"Always use tabs here."', '"Always use tabs here."'),
        ("{half", '"Always use tabs here."', '"Always use tabs here."'),
    ],
)
def test_the_quotation_marks_that_the_command_line_adds_are_not_the_users(
    tmp_path: Path, rules: str | None, stored: str, text: str
) -> None:
    tables = TABLES.replace("version TEXT,", "version TEXT, permission TEXT,", 1)
    id, project, parent, slug, directory, title, version, *times = session("s")
    rows = {
        "session": [(id, project, parent, slug, directory, title, version, rules, *times)],
        "message": [message("m1", "s", BEGUN, role="user"), message("m2", "s", BEGUN + 1, role="assistant")],
        "part": [
            part("p1", "m1", "s", type="text", text=stored),
            part("p2", "m2", "s", type="text", text='"I say so."'),
        ],
    }
    (piece,) = read(database(tmp_path / "opencode.db", tables, rows))
    assert [turn.text for turn in piece.turns] == [text, '"I say so."']


def test_the_quotation_marks_of_the_command_line_are_removed_from_an_export_too(tmp_path: Path) -> None:
    info = {"id": "s", "permission": json.loads(RUN_RULES)}
    typed = {"info": {"id": "m1", "role": "user"}, "parts": [{"type": "text", "text": '"Always use tabs."'}]}
    (piece,) = read(write(tmp_path / "export.json", json.dumps({"info": info, "messages": [typed]})))
    assert piece.turns[0].text == "Always use tabs."
