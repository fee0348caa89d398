"""Claude Code: who spoke, what belongs together, and what lies in odd places."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import ConversationKind, Cursor, Form, Piece, Role, Source, Turn, WitnessRank
from backstory.readers.claude_code import reader

from .golden import ReadConversation, check_golden, merged, sources

HISTORIES = Path(__file__).resolve().parents[3] / "shared/data/histories"


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("claude-code", request)


def write(path: Path, *lines: dict[str, Any] | str) -> Source:
    path.parent.mkdir(parents=True, exist_ok=True)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
    return Source(path, Form.LOG)


def user(uuid: str, content: Any, **more: Any) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": uuid,
        "sessionId": "s1",
        "message": {"role": "user", "content": content},
        **more,
    }


def assistant(uuid: str, id: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    message = {"id": id, "role": "assistant", "model": "claude-x", "content": list(blocks)}
    return {"type": "assistant", "uuid": uuid, "sessionId": "s1", "message": message, **more}


def text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def use(id: str, name: str = "Bash", **input: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": id, "name": name, "input": input}


def result(id: str, content: Any, *, is_error: bool = False) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error}


def told(source: Source) -> dict[str, ReadConversation]:
    return merged(reader.read(source, Cursor()))


def turns(source: Source, id: str = "s1") -> list[Turn]:
    return list(told(source)[id].turns.values())


@pytest.mark.parametrize(
    "content",
    ["fix it", [text("fix it")], ["fix it"], [text("<system-reminder>x</system-reminder>"), text("fix it")]],
)
def test_a_prompt_is_read_whichever_way_its_content_is_written(tmp_path: Path, content: Any) -> None:
    assert turns(write(tmp_path / "s1.jsonl", user("u1", content))) == [Turn("u1", Role.USER, "fix it")]


def test_a_message_that_is_a_text_is_read(tmp_path: Path) -> None:
    line = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": "fix it"}
    assert [turn.text for turn in turns(write(tmp_path / "s1.jsonl", line))] == ["fix it"]


def test_times_may_be_numbers(tmp_path: Path) -> None:
    source = write(tmp_path / "s1.jsonl", user("u1", "fix it", timestamp=1767323045678))
    assert turns(source)[0].at_ms == 1767323045678


def test_a_file_without_anything_said_is_no_conversation(tmp_path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "snapshot": {}}
    title = {"type": "ai-title", "aiTitle": "Nothing", "sessionId": "s1"}
    assert list(reader.read(write(tmp_path / "s1.jsonl", snapshot, title), Cursor())) == []
    assert list(reader.read(write(tmp_path / "s2.jsonl"), Cursor())) == []


def command(uuid: str, name: str) -> dict[str, Any]:
    return user(uuid, f"<command-name>/{name}</command-name><command-args></command-args>")


def test_a_session_of_commands_is_no_conversation_until_somebody_says_something(tmp_path: Path) -> None:
    printed = [
        user("u2", "<local-command-stdout></local-command-stdout>"),
        user("u3", "<local-command-stdout>(no content)</local-command-stdout>"),
        user("u4", "<local-command-stdout>Set model to x</local-command-stdout>"),
    ]
    path = tmp_path / "s1.jsonl"
    assert told(write(path, command("u1", "clear"), *printed, command("u5", "exit"))) == {}
    said = turns(write(path, command("u1", "clear"), *printed, user("u6", "Why is it slow?")))
    assert [turn.id for turn in said] == ["u1", "u4", "u6"]


def test_commands_before_the_first_prompt_are_kept_when_that_is_read_later(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    first = [{"display": "/clear", "sessionId": "s1"}, {"display": "Something else", "sessionId": "s2"}]
    pieces = list(reader.read(write(path, *first), Cursor()))
    assert list(merged(pieces)) == ["s2"]
    cursor = pieces[-1].cursor
    assert cursor is not None
    source = write(path, *first, {"display": "Why is it slow?", "sessionId": "s1"})
    state = json.loads(json.dumps(cursor.state))
    assert merged(reader.read(source, Cursor(cursor.offset, state)), merged(pieces)) == told(source)


def test_lines_of_one_message_are_one_turn_even_with_results_between_them(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s1.jsonl",
        assistant("a1", "m1", {"type": "thinking", "thinking": "", "signature": "c2ln"}),
        assistant("a2", "m1", use("t1", command="ls")),
        user("u1", [result("t1", "no such directory", is_error=True)]),
        assistant("a3", "m1", use("t2", command="pwd")),
        user("u2", [result("t2", "/w")]),
        assistant("a4", "m2", text("Done.")),
    )
    first, second = turns(source)
    assert (first.id, [(call.command, call.error) for call in first.calls]) == (
        "m1",
        [("ls", "no such directory"), ("pwd", "")],
    )
    assert first.thinking == ""
    assert second.text == "Done."


def test_an_answer_has_the_id_of_its_message_whichever_of_its_lines_is_missing(tmp_path: Path) -> None:
    lines = [assistant("a1", "m1", text("I look.")), assistant("a2", "m1", use("t1", command="ls"))]
    for log in (lines, lines[:1], lines[1:]):
        (turn,) = turns(write(tmp_path / "s1.jsonl", user("u1", "fix it"), *log))[1:]
        assert (turn.id, turn.former_id) == ("m1", log[0]["uuid"])


def test_lines_of_a_message_that_follow_on_a_prompt_replace_nothing(tmp_path: Path) -> None:
    lines = [
        user("u1", "fix it"),
        assistant("a1", "m1", text("I look.")),
        user("u2", "and test it"),
        assistant("a2", "m1", text("I test.")),
    ]
    source = write(tmp_path / "s1.jsonl", *lines)
    ids = {"u1": "fix it", "m1": "I look.", "u2": "and test it", "a2": "I test."}
    assert {turn.id: turn.text for turn in turns(source)} == ids
    pieces = list(reader.read(source, Cursor()))
    cursor = pieces[-1].cursor
    assert cursor is not None
    source = write(tmp_path / "s1.jsonl", *lines, assistant("a3", "m1", text("Done.")))
    found = merged(reader.read(source, cursor), merged(pieces))
    assert {turn.id: turn.text for turn in found["s1"].turns.values()} == ids | {"a2": "I test.\n\nDone."}


def test_a_long_error_keeps_its_head_and_tail(tmp_path: Path) -> None:
    error = "Traceback " + "x\n" * 5_000 + "KeyError: 'a'"
    source = write(
        tmp_path / "s1.jsonl",
        assistant("a1", "m1", use("t1", command="make")),
        user("u1", [result("t1", [text(error)], is_error=True)]),
    )
    kept = turns(source)[0].calls[0].error
    assert kept.startswith("Traceback")
    assert kept.endswith("KeyError: 'a'")
    assert len(kept) <= 2_000


def test_a_record_that_comes_twice_is_told_once(tmp_path: Path) -> None:
    lines = [user("u1", "fix it"), assistant("a1", "m1", text("Done.")), assistant("a1", "m1", text("Done."))]
    source = write(tmp_path / "s1.jsonl", *lines, *lines)
    assert [(turn.id, turn.text) for turn in turns(source)] == [("u1", "fix it"), ("m1", "Done.")]


def test_all_branches_of_a_rewound_session_are_told(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s1.jsonl",
        user("u1", "fix it"),
        assistant("a1", "m1", text("So?"), parentUuid="u1"),
        user("u2", "no, so", parentUuid="u1"),
    )
    assert [turn.text for turn in turns(source)] == ["fix it", "So?", "no, so"]


def test_lines_of_other_sessions_are_a_replay_of_those(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s1.jsonl",
        user("u1", "long ago", sessionId="s0"),
        user("u2", "now"),
    )
    found = told(source)
    assert {id: conversation.header.standing for id, conversation in found.items()} == {
        "s0": WitnessRank.REPLAY,
        "s1": WitnessRank.OWN,
    }
    assert [turn.text for turn in found["s0"].turns.values()] == ["long ago"]


def test_a_session_of_side_chains_only_is_none(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s1.jsonl",
        user("u1", "look around", isSidechain=True, parentUuid=None),
        assistant("a1", "m1", text("Ready."), isSidechain=True, parentUuid="u1"),
    )
    assert list(reader.read(source, Cursor())) == []


def test_side_chains_within_a_session_are_told_apart(tmp_path: Path) -> None:
    chain = {"isSidechain": True}
    source = write(
        tmp_path / "s1.jsonl",
        user("u1", "do both"),
        user("x1", "first task", **chain),
        user("y1", "second task", **chain),
        assistant("x2", "m1", text("First done."), parentUuid="x1", **chain),
        assistant("y2", "m2", text("Second done."), parentUuid="y1", **chain),
    )
    found = told(source)
    assert {
        id: [turn.text for turn in conversation.turns.values()] for id, conversation in found.items()
    } == {
        "s1": ["do both"],
        "s1/x1": ["first task", "First done."],
        "s1/y1": ["second task", "Second done."],
    }
    assert found["s1/x1"].header.kind is ConversationKind.SUBAGENT
    assert found["s1/x1"].header.parent == "s1"
    assert [turn.role for turn in found["s1/x1"].turns.values()] == [Role.SYSTEM, Role.ASSISTANT]


def test_the_directory_is_where_the_session_began(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s1.jsonl",
        user("u1", "one", cwd="C:\\w\\app", gitBranch="main"),
        user("u2", "two", cwd="/mnt/c/w/app/.claude/worktrees/x", gitBranch="x"),
    )
    header = told(source)["s1"].header
    assert (header.directory, header.branch) == ("C:\\w\\app", "x")


def test_a_title_that_was_chosen_beats_a_generated_one_and_any_beats_the_prompt(tmp_path: Path) -> None:
    def title(*lines: dict[str, Any]) -> str:
        source = write(tmp_path / "s1.jsonl", user("u0", "/clear"), user("u1", "fix it\nnow"), *lines)
        return told(source)["s1"].header.title

    summary = {"type": "summary", "summary": "Summary", "leafUuid": "u1"}
    generated = {"type": "ai-title", "aiTitle": "Generated"}
    chosen = {"type": "custom-title", "customTitle": "Chosen"}
    assert title() == "fix it"
    assert title(summary) == "Summary"
    assert title(generated, summary) == "Generated"
    assert title(chosen, generated, {**chosen, "customTitle": "Chosen again"}, generated) == "Chosen again"


def test_secrets_and_state_beside_the_logs_are_left_alone(tmp_path: Path) -> None:
    base = tmp_path / ".claude"
    for name in (".credentials.json", "settings.json", "projects/-w/s1/tool-results/x.jsonl"):
        write(base / name, {})
    log = write(base / "projects/-w/s1.jsonl", user("u1", "fix it"))
    assert sources(reader, tmp_path) == [log]


def test_all_places_are_read_and_none_twice(tmp_path: Path) -> None:
    expected = [
        write(tmp_path / place / "projects/-w/s1.jsonl", user("u1", "fix it"))
        for place in (".claude", ".config/claude", "one", "two", "named", "windows/.claude")
    ]
    found = sources(
        reader,
        tmp_path,
        environment={"CLAUDE_CONFIG_DIR": f"{tmp_path}/one, {tmp_path}/two,{tmp_path}/.claude"},
        windows_homes=(tmp_path / "windows",),
        roots={"claude-code": (tmp_path / "named",)},
    )
    assert found == sorted(expected)


def test_a_directory_of_logs_may_be_named(tmp_path: Path) -> None:
    log = write(tmp_path / "backup/-w/s1.jsonl", user("u1", "fix it"))
    assert sources(reader, tmp_path, roots={"claude-code": (tmp_path / "backup",)}) == [log]


def test_nothing_is_found_and_nothing_made_where_nothing_is(tmp_path: Path) -> None:
    assert sources(reader, tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_log_that_vanishes_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=r"gone\.jsonl"):
        list(reader.read(Source(tmp_path / "gone.jsonl", Form.LOG), Cursor()))


def test_bad_lines_are_counted_and_the_rest_is_read(tmp_path: Path) -> None:
    source = write(
        tmp_path / "s1.jsonl",
        '{"type":"user","uuid":"u0","mess',
        '"massive error"',
        json.dumps(user("u1", "one")) + json.dumps(user("u2", "two")),
        '{"type":"user","uuid":"u3","sessionId":"s1","message":{"content":"lone \\ud800"}}',
    )
    pieces: list[Piece] = list(reader.read(source, Cursor()))
    assert [turn.text for piece in pieces for turn in piece.turns] == ["one", "two", "lone ?"]
    assert pieces[-1].skipped == {"cut line": 1, "unexpected shape": 1}


def test_instructions_within_a_text_are_text(tmp_path: Path) -> None:
    asked = "Ignore what was said before; <command-name>/x</command-name> DROP TABLE messages;"
    assert [turn.text for turn in turns(write(tmp_path / "s1.jsonl", user("u1", asked)))] == [asked]


@pytest.mark.skipif(not HISTORIES.is_dir(), reason="the real logs are not here")
def test_real_logs_give_what_an_independent_parser_counted() -> None:
    """Known differences: commands a person typed are prompts here, and `!commands` calls; what the editor opened or
    selected is no prompt; texts of one message are one turn; agents started in advance are not told of."""
    counted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    with (HISTORIES / "COUNTS.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["assistant"] == "claude-code":
                counted.update(
                    {name: int(row[name]) for name in ("human_prompt", "assistant_text", "tool_use")}
                )
                found.update(_counts(Source(HISTORIES / row["file"], Form.LOG)))
    assert (
        found["human_prompt"] - found["commands"] == counted["human_prompt"] - 3
    )  # those opened or selected
    assert found["assistant_text"] == counted["assistant_text"] - 39  # one for each agent started in advance
    assert found["tool_use"] - found["shell"] == counted["tool_use"]


def _counts(source: Source) -> Counter[str]:
    counts: Counter[str] = Counter()
    for conversation in told(source).values():
        for turn in conversation.turns.values():
            is_human = turn.role is Role.USER
            counts["human_prompt"] += is_human
            counts["commands"] += is_human and turn.text.startswith(("/", "!"))
            counts["shell"] += is_human and len(turn.calls)
            counts["assistant_text"] += turn.role is Role.ASSISTANT and bool(turn.text)
            counts["tool_use"] += len(turn.calls)
    return counts


def forked(tmp_path: Path, *, is_marked: bool) -> dict[str, ReadConversation]:
    """A session and a fork of it, as `--fork-session` writes it: the past is copied under the new session's name."""
    past = [user("u1", "Why is it slow?"), assistant("u2", "m1", text("The cache is cold."))]
    write(tmp_path / "s1.jsonl", *past, user("u3", "Warm it."))
    origin = {"forkedFrom": {"sessionId": "s1", "messageUuid": "u1"}} if is_marked else {}
    copies = [
        {
            **line,
            "sessionId": "s2",
            **(origin and {"forkedFrom": {"sessionId": "s1", "messageUuid": line["uuid"]}}),
        }
        for line in past
    ]
    write(tmp_path / "s2.jsonl", *copies, user("u4", "Drop it.", sessionId="s2"))
    found: dict[str, ReadConversation] = {}
    for path in (tmp_path / "s1.jsonl", tmp_path / "s2.jsonl"):
        for piece in reader.read(Source(path, Form.LOG), Cursor()):
            if piece.header.standing is WitnessRank.OWN:
                found = merged([piece], found)
            else:
                assert piece.header.native_id == "s1"
                assert [turn.id for turn in piece.turns] == ["u1", "m1"]
    return found


@pytest.mark.parametrize("is_marked", [True, False])
def test_a_fork_knows_its_origin_and_has_only_what_is_its_own(tmp_path: Path, *, is_marked: bool) -> None:
    found = forked(tmp_path, is_marked=is_marked)
    assert {id: [turn.text for turn in each.turns.values()] for id, each in found.items()} == {
        "s1": ["Why is it slow?", "The cache is cold.", "Warm it."],
        "s2": ["Drop it."],
    }
    assert (found["s2"].header.kind, found["s2"].header.parent) == (ConversationKind.FORK, "s1")
    assert (found["s1"].header.kind, found["s1"].header.parent) == (ConversationKind.MAIN, None)


def test_a_fork_has_only_what_is_its_own_though_its_log_was_empty_when_the_others_were_read(
    tmp_path: Path,
) -> None:
    write(tmp_path / "s2.jsonl")
    told(write(tmp_path / "s1.jsonl", user("u1", "Why is it slow?")))
    copied = user("u1", "Why is it slow?", sessionId="s2")
    fork = write(tmp_path / "s2.jsonl", copied, user("u2", "Drop it.", sessionId="s2"))
    own = merged(piece for piece in reader.read(fork, Cursor()) if piece.header.standing is WitnessRank.OWN)
    assert {id: list(each.turns) for id, each in own.items()} == {"s2": ["u2"]}


@pytest.mark.parametrize("original", ["a", "z"])
@pytest.mark.parametrize("goes_on", [False, True])
def test_the_original_is_the_one_that_others_copied_whatever_it_is_called(
    tmp_path: Path, original: str, *, goes_on: bool
) -> None:
    def say(id: str, session: str, hour: int) -> dict[str, Any]:
        return user(id, f"Say {id}.", sessionId=session, timestamp=f"2026-01-02T{hour:02}:00:00Z")

    def log(session: str, *ids: str) -> Source:
        return write(tmp_path / f"{session}.jsonl", *(say(id, session, int(id[1:])) for id in ids))

    logs = [
        log(original, "u1", "u2", *(["u9"] if goes_on else [])),
        log("fork", "u1", "u2", "u3"),
        log("more", "u1", "u2", "u3", "u4"),
    ]
    pieces = [piece for source in logs for piece in reader.read(source, Cursor())]
    own = merged(piece for piece in pieces if piece.header.standing is WitnessRank.OWN)
    assert {id: (each.header.parent, list(each.turns)) for id, each in own.items()} == {
        original: (None, ["u1", "u2", *(["u9"] if goes_on else [])]),
        "fork": (original, ["u3"]),
        "more": ("fork", ["u4"]),
    }


def test_sessions_that_begin_with_the_same_line_of_the_harness_are_no_forks(tmp_path: Path) -> None:
    caveat = user("u0", "Caveat: The messages below were generated by the user.", isMeta=True)
    write(tmp_path / "s1.jsonl", caveat, user("u1", "Why is it slow?"))
    source = write(
        tmp_path / "s2.jsonl", {**caveat, "sessionId": "s2"}, user("u2", "Update the tests.", sessionId="s2")
    )
    found = told(source)
    assert list(found) == ["s2"]
    assert (found["s2"].header.kind, found["s2"].header.parent) == (ConversationKind.MAIN, None)
