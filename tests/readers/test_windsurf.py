"""Windsurf: what is in clear is read, what is encrypted is listed, and nothing is guessed."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.readers import Cursor, Form, Piece, Role, Source, WitnessRank, load_readers
from backstory.readers.windsurf.trajectories import summaries_in, trajectory_in

from . import golden
from .databases_of import cached, editor_state, field, lines, step, write
from .windsurf.make import (
    BEGUN_S,
    CLOSED,
    HOOKED,
    SHOWN,
    TITLED,
    make_home,
    state,
    summaries,
    trajectory,
    user_directory,
)

reader = load_readers(["windsurf"])["windsurf"]


def read(path: Path, cursor: Cursor | None = None) -> list[Piece]:
    form = Form.DATABASE if path.suffix == ".vscdb" else Form.DOCUMENT
    return list(reader.read(Source(path, form), cursor or Cursor()))


def everything(home: Path) -> Path:
    return user_directory(home) / "globalStorage" / "state.vscdb"


def test_a_home(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make_home(tmp_path)
    golden.check_golden("windsurf", request, tmp_path)


def test_nothing_else_of_the_state_is_read(tmp_path: Path) -> None:
    make_home(tmp_path)
    assert "never-read" not in json.dumps(golden.read_home(reader, tmp_path))


def test_an_encrypted_conversation_is_listed_and_takes_nothing_away(tmp_path: Path) -> None:
    make_home(tmp_path)
    (piece,) = read(tmp_path / ".codeium" / "windsurf" / "cascade" / f"{CLOSED}.pb")
    assert (piece.header.completeness, piece.header.standing) == ("encrypted", WitnessRank.PROMPTS)
    assert (piece.turns, piece.is_whole) == ((), False)


def test_another_conversation_in_the_cache_says_nothing_of_the_former(tmp_path: Path) -> None:
    path = editor_state(everything(tmp_path), state(**{"cachedActiveTrajectory:w": trajectory(SHOWN)}))
    (first,) = read(path)
    path.unlink()
    titles = summaries(**{SHOWN: "Still known"})
    now = {"cachedActiveTrajectory:w": trajectory(TITLED), "cachedTrajectorySummaries:w": titles}
    editor_state(path, state(**now))
    second, listed = read(path, first.cursor)
    assert second.header.native_id == TITLED
    assert listed.header.native_id == SHOWN
    assert listed.header.standing < first.header.standing, "a weaker witness, so the words stay"


def test_what_did_not_change_is_not_read_again(tmp_path: Path) -> None:
    make_home(tmp_path)
    pieces = read(everything(tmp_path))
    assert read(everything(tmp_path), pieces[-1].cursor) == []


def test_the_transcript_of_a_hook_is_preferred_to_the_cache(tmp_path: Path) -> None:
    make_home(tmp_path)
    assert HOOKED not in {piece.header.native_id for piece in read(everything(tmp_path))}
    (piece,) = read(tmp_path / ".windsurf" / "transcripts" / f"{HOOKED}.jsonl")
    assert piece.header.completeness == "full"


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "",
        "no base64!",
        base64.b64encode(b"\xff\xff").decode(),
        cached(field(1, "not-a-uuid"), step(14, BEGUN_S, field(19, "Hi."))),
        cached(field(1, SHOWN), field(2, b"\xff")),
        cached(field(1, SHOWN), field(2, "text, not a step")),
        cached(field(1, SHOWN), field(2, field(4, 3))),
        base64.b64encode(base64.b64decode(trajectory())[:-3]).decode(),
    ],
)
def test_a_trajectory_of_another_form_is_not_read(value: object) -> None:
    assert trajectory_in(value) is None


def test_steps_of_unknown_types_and_doubtful_texts_say_nothing() -> None:
    found = trajectory_in(
        cached(
            field(1, SHOWN),
            step(99, BEGUN_S, field(20, field(8, "not a reply"))),
            step(14, BEGUN_S, field(19, field(2, b"\x00\x01"))),
            step(15, BEGUN_S, field(20, field(8, b"\xff\xfe"))),
            step(14, 17, field(19, "Plain text, at no time.")),
        )
    )
    assert found
    assert [(turn.id, turn.role, turn.text, turn.at_ms) for turn in found[1]] == [
        ("3", Role.USER, "Plain text, at no time.", None)
    ]


@given(st.binary(max_size=200))
def test_any_bytes_make_no_trajectory_and_no_summary(raw: bytes) -> None:
    value = base64.b64encode(raw).decode()
    assert trajectory_in(value) is None
    assert summaries_in(value) == []


def test_summaries_tell_titles_times_and_folders() -> None:
    (summary,) = summaries_in(summaries(**{TITLED: "Über alles"}))
    assert (summary.title, summary.folder) == ("Über alles", "/w/my app")
    assert summary.times == (BEGUN_S * 1000, (BEGUN_S + 60) * 1000)


@pytest.mark.parametrize("key", ["cascade.chatdata", "windsurf.chatSessionStore"])
def test_old_chats_are_read_under_each_of_their_names(tmp_path: Path, key: str) -> None:
    chat = {"tabs": [{"tabId": "t", "bubbles": [{"type": "user", "id": "q", "text": "Hi."}]}, 7]}
    path = editor_state(user_directory(tmp_path) / "workspaceStorage" / "w" / "state.vscdb", {key: chat})
    (piece,) = read(path)
    assert piece.turns[0].text == "Hi."


def test_an_editor_without_these_keys_tells_nothing(tmp_path: Path) -> None:
    assert read(editor_state(everything(tmp_path), {"codeium.windsurf": "[]"})) == []
    assert read(editor_state(user_directory(tmp_path) / "workspaceStorage" / "w" / "state.vscdb", {})) == []


def test_a_transcript_may_be_cut_and_odd(tmp_path: Path) -> None:
    asked = {
        "type": "user_input",
        "user_input": {"user_response": "Hi."},
        "timestamp": "2026-07-25T12:00:00Z",
    }
    path = write(
        tmp_path / "x.jsonl",
        lines(asked, {"type": 7}, {"type": "user_input", "user_input": "x"}) + '{"type": "pl',
    )
    (piece,) = read(path)
    assert [(turn.text, turn.at_ms) for turn in piece.turns] == [("Hi.", 1_784_980_800_000)]
    assert piece.skipped == {"step of unknown type": 1}
    assert read(write(tmp_path / "empty.jsonl", "")) == []
