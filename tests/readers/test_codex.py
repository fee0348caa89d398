"""Codex: messages that come twice, threads that repeat others, and logs that are compressed under the reader."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from backstory.domain import zstd
from backstory.domain.errors import Unreadable
from backstory.readers import ConversationKind, Cursor, Form, Role, Source, Turn, WitnessRank
from backstory.readers.codex import reader

from .golden import ReadConversation, check_golden, merged, sources

HISTORIES = Path(__file__).resolve().parents[3] / "shared/data/histories"
THREAD = "0199bbbb-0000-7000-8000-000000000001"
NAME = f"rollout-2026-01-02T03-04-05-{THREAD}"


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("codex", request)


def entry(kind: str, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": "2026-01-02T03:04:05.000Z", "type": kind, "payload": payload}


def message(role: str, *texts: str) -> dict[str, Any]:
    kind = "output_text" if role == "assistant" else "input_text"
    content = [{"type": kind, "text": text} for text in texts]
    return entry("response_item", type="message", role=role, content=content)


def event(kind: str, /, **payload: Any) -> dict[str, Any]:
    return entry("event_msg", type=kind, **payload)


def content(*lines: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def write(path: Path, *lines: dict[str, Any]) -> Source:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content(*lines))
    return Source(path, Form.LOG)


def told(source: Source) -> dict[str, ReadConversation]:
    return merged(reader.read(source, Cursor()))


def turns(source: Source) -> list[Turn]:
    return list(told(source)[THREAD].turns.values())


def said(source: Source) -> list[tuple[Role, str]]:
    return [(turn.role, turn.text) for turn in turns(source)]


def test_without_any_event_prompts_are_known_by_what_they_do_not_begin_with(tmp_path: Path) -> None:
    source = write(
        tmp_path / f"{NAME}.jsonl",
        message("user", "<environment_context>…</environment_context>"),
        message("user", "fix it"),
    )
    assert said(source) == [
        (Role.SYSTEM, "<environment_context>…</environment_context>"),
        (Role.USER, "fix it"),
    ]


@pytest.mark.parametrize("is_event_first", [True, False])
def test_a_prompt_that_comes_as_item_and_event_is_told_once(tmp_path: Path, is_event_first: bool) -> None:
    pair = [message("user", "fix it"), event("user_message", message="fix it")]
    source = write(tmp_path / f"{NAME}.jsonl", *(pair[::-1] if is_event_first else pair))
    assert said(source) == [(Role.USER, "fix it")]


@pytest.mark.parametrize("is_event_first", [True, False])
def test_an_answer_that_comes_as_item_and_event_is_told_once(tmp_path: Path, is_event_first: bool) -> None:
    pair = [message("assistant", "Done."), event("agent_message", message="Done.")]
    source = write(tmp_path / f"{NAME}.jsonl", *(pair[::-1] if is_event_first else pair))
    assert said(source) == [(Role.ASSISTANT, "Done.")]


def test_where_events_tell_who_typed_an_item_without_one_was_typed_by_nobody(tmp_path: Path) -> None:
    source = write(
        tmp_path / f"{NAME}.jsonl",
        message("user", "injected"),
        message("user", "fix it"),
        event("user_message", message="fix it"),
        message("user", "injected again"),
    )
    assert [role for role, _ in said(source)][1:] == [Role.USER, Role.SYSTEM]


def test_only_the_first_record_of_a_thread_is_its_own(tmp_path: Path) -> None:
    source = write(
        tmp_path / f"{NAME}.jsonl",
        entry("session_meta", id=THREAD, cwd="/w/fork", forked_from_id="parent", source="cli"),
        entry("session_meta", id="parent", cwd="/w/parent", source="cli"),
        message("user", "fix it"),
    )
    header = told(source)[THREAD].header
    assert (header.directory, header.kind, header.parent) == ("/w/fork", ConversationKind.FORK, "parent")


PARENT = "0199aaaa-0000-7000-8000-000000000001"
BEFORE, AFTER = "0199aaab-0000-7000-8000-000000000001", "0199bbbc-0000-7000-8000-000000000001"


def fork(*, has_turns: bool) -> list[dict[str, Any]]:
    """As `codex fork` writes it: its origin's log after its own first record, stamped anew, then what is its own."""
    return [
        entry("session_meta", id=THREAD, cwd="/w/fork", forked_from_id=PARENT, source="cli"),
        entry("session_meta", id=PARENT, cwd="/w/parent", source="cli"),
        *([event("task_started", turn_id=BEFORE)] if has_turns else []),
        message("user", "<environment_context><cwd>/w/parent</cwd></environment_context>"),
        message("user", "Why is it slow?"),
        event("user_message", message="Why is it slow?"),
        message("assistant", "The cache is cold."),
        *([event("task_started", turn_id=AFTER)] if has_turns else []),
        message("user", "Warm it."),
        event("user_message", message="Warm it."),
        message("assistant", "It is warm."),
    ]


def test_what_a_fork_repeats_is_its_origins(tmp_path: Path) -> None:
    found = told(write(tmp_path / f"{NAME}.jsonl", *fork(has_turns=True)))
    own, origin = found[THREAD], found[PARENT]
    assert [turn.text for turn in own.turns.values()] == ["Warm it.", "It is warm."]
    assert (own.header.title, own.header.parent, own.header.directory) == ("Warm it.", PARENT, "/w/fork")
    assert [turn.text for turn in origin.turns.values()][1:] == ["Why is it slow?", "The cache is cold."]
    assert (origin.header.standing, origin.header.directory) == (WitnessRank.REPLAY, "/w/parent")


def test_where_nobody_knows_when_turns_began_all_is_the_forks(tmp_path: Path) -> None:
    found = told(write(tmp_path / f"{NAME}.jsonl", *fork(has_turns=False)))
    said = [turn.text for turn in found[THREAD].turns.values()]
    assert said == ["Why is it slow?", "The cache is cold.", "Warm it.", "It is warm."]


@pytest.mark.parametrize("length", range(1, 11))
def test_a_fork_reads_the_same_however_it_grows(tmp_path: Path, length: int) -> None:
    lines = fork(has_turns=True)
    path = tmp_path / f"{NAME}.jsonl"
    first = list(reader.read(write(path, *lines[:length]), Cursor()))
    cursor = next((piece.cursor for piece in reversed(first) if piece.cursor), Cursor())
    source = write(path, *lines)
    state = json.loads(json.dumps(dict(cursor.state)))
    assert merged(reader.read(source, Cursor(cursor.offset, state)), merged(first)) == told(source)


def test_two_logs_of_a_reverted_thread_do_not_mix_their_turns(tmp_path: Path) -> None:
    one = write(tmp_path / f"{NAME}.jsonl", message("user", "first try"))
    two = write(tmp_path / f"{NAME}_0199cccc-0000.jsonl", message("user", "other try"))
    both = merged(reader.read(two, Cursor()), told(one))
    assert [turn.text for turn in both[THREAD].turns.values()] == ["first try", "other try"]


@pytest.mark.parametrize(
    ("output", "error"),
    [
        ("Process exited with code 0\nOutput:\nfine", ""),
        ("Process exited with code 2\nOutput:\nbad", "Process exited with code 2\nOutput:\nbad"),
        (json.dumps({"output": "bad", "metadata": {"exit_code": 1}}), "bad"),
        (json.dumps({"output": "", "metadata": {"exit_code": 1}}), "exit code 1"),
        (json.dumps({"output": "fine", "metadata": {"exit_code": 0}}), ""),
        ({"content": "bad", "success": False}, "bad"),
        ([{"type": "input_text", "text": "an image"}], ""),
        ("{not JSON", ""),
        (None, ""),
    ],
)
def test_failures_are_known_in_every_form_of_output(tmp_path: Path, output: Any, error: str) -> None:
    source = write(
        tmp_path / f"{NAME}.jsonl",
        entry(
            "response_item", type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"
        ),
        entry("response_item", type="function_call_output", call_id="c1", output=output),
    )
    (turn,) = turns(source)
    assert [(call.command, call.error) for call in turn.calls] == [("ls", error)]


def test_what_is_encrypted_or_repeated_is_not_told(tmp_path: Path) -> None:
    source = write(
        tmp_path / f"{NAME}.jsonl",
        entry("session_meta", id=THREAD, cwd="/w", base_instructions={"text": "hidden"}),
        entry("response_item", type="reasoning", summary=[], encrypted_content="hidden"),
        entry("compacted", message="In short.", replacement_history=[{"role": "user", "content": "hidden"}]),
        message("assistant", "Done."),
    )
    assert said(source) == [(Role.SUMMARY, "In short."), (Role.ASSISTANT, "Done.")]
    assert "hidden" not in repr(told(source))


def test_a_compressed_log_reads_as_the_plain_one(tmp_path: Path) -> None:
    lines = [message("user", "fix it"), message("assistant", "Done. " * 50_000)]
    plain = write(tmp_path / "plain" / f"{NAME}.jsonl", *lines)
    packed = tmp_path / ".codex/archived_sessions" / f"{NAME}.jsonl.zst"
    packed.parent.mkdir(parents=True)
    whole = content(*lines)
    frames = [zstd.compress(part) for part in (whole[:100], whole[100:])]
    packed.write_bytes(b"".join(frames))
    (source,) = sources(reader, tmp_path)
    assert source == Source(packed, Form.DOCUMENT)
    assert told(source)[THREAD].turns == told(plain)[THREAD].turns


def test_a_plain_log_hides_its_compressed_copy(tmp_path: Path) -> None:
    plain = write(tmp_path / ".codex/sessions/2026" / f"{NAME}.jsonl", message("user", "fix it"))
    plain.path.with_name(plain.path.name + ".zst").write_bytes(zstd.compress(b""))
    assert sources(reader, tmp_path) == [plain]


@pytest.mark.parametrize("is_compressed_later", [True, False])
def test_a_log_may_change_its_form_between_being_found_and_being_read(
    tmp_path: Path, is_compressed_later: bool
) -> None:
    plain, packed = tmp_path / f"{NAME}.jsonl", tmp_path / f"{NAME}.jsonl.zst"
    whole = content(message("user", "one"), message("user", "two"))
    plain.write_bytes(whole)
    found = Source(plain, Form.LOG) if is_compressed_later else Source(packed, Form.DOCUMENT)
    *_, last = reader.read(Source(plain, Form.LOG), Cursor())
    if is_compressed_later:
        packed.write_bytes(zstd.compress(whole))
        plain.unlink()
    assert [turn.text for turn in turns(found)] == ["one", "two"]
    assert last.cursor is not None
    assert [turn.text for piece in reader.read(found, last.cursor) for turn in piece.turns] == ["two"]


def test_a_compressed_log_that_is_still_being_written_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.jsonl.zst"
    frames = [zstd.compress(content(message("user", text))) for text in ("one", "two")]
    path.write_bytes(b"".join(frames)[:-5])
    assert [turn.text for turn in turns(Source(path, Form.DOCUMENT))] == ["one"]


def test_a_broken_compressed_log_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.jsonl.zst"
    path.write_bytes(b"not compressed at all")
    with pytest.raises(Unreadable):
        list(reader.read(Source(path, Form.DOCUMENT), Cursor()))


def test_a_broken_old_rollout_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "rollout-2025-01-01-x.json"
    path.write_text('{"session":')
    with pytest.raises(Unreadable):
        list(reader.read(Source(path, Form.DOCUMENT), Cursor()))


def test_the_named_home_is_read_besides_the_usual_one(tmp_path: Path) -> None:
    usual = write(tmp_path / ".codex/sessions/2026" / f"{NAME}.jsonl", message("user", "fix it"))
    named = write(tmp_path / "other/archived_sessions" / f"{NAME}.jsonl", message("user", "fix it"))
    write(tmp_path / ".codex/auth.json", {"token": "hidden"})
    found = sources(reader, tmp_path, environment={"CODEX_HOME": str(tmp_path / "other")})
    assert found == sorted([usual, named])


def test_a_directory_of_logs_may_be_named(tmp_path: Path) -> None:
    log = write(tmp_path / "backup/old" / f"{THREAD}.jsonl", message("user", "fix it"))
    assert sources(reader, tmp_path, roots={"codex": (tmp_path / "backup",)}) == [log]
    assert [turn.text for turn in turns(log)] == ["fix it"]


@pytest.mark.skipif(not HISTORIES.is_dir(), reason="the real logs are not here")
def test_real_logs_give_what_an_independent_parser_counted() -> None:
    """Known differences: parts of one prompt are one, two answers without a result between them are one turn, and
    what a subagent was told is no prompt."""
    counted: Counter[str] = Counter()
    found: Counter[str] = Counter()
    with (HISTORIES / "COUNTS.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            if row["assistant"] == "codex":
                counted.update(
                    {name: int(row[name]) for name in ("human_prompt", "assistant_text", "tool_use")}
                )
                for conversation in told(Source(HISTORIES / row["file"], Form.LOG)).values():
                    found.update(_counts(conversation))
    assert (
        found["human_prompt"] + found["tasks"] == counted["human_prompt"] - 2
    )  # two parts that hold no text
    assert found["assistant_text"] == counted["assistant_text"] - 2
    assert found["tool_use"] == counted["tool_use"]


def _counts(conversation: ReadConversation) -> Counter[str]:
    counts: Counter[str] = Counter()
    is_subagent = conversation.header.kind is ConversationKind.SUBAGENT
    for turn in conversation.turns.values():
        is_task = is_subagent and turn.role is Role.SYSTEM and not turn.text.startswith(("<", "# AGENTS"))
        counts["tasks"] += is_task
        counts["human_prompt"] += turn.role is Role.USER
        counts["assistant_text"] += turn.role is Role.ASSISTANT and bool(turn.text)
        counts["tool_use"] += len(turn.calls)
    return counts


def test_the_list_of_names_names_threads_whose_logs_rest(tmp_path: Path) -> None:
    home = tmp_path / ".codex"
    home.mkdir()
    lines = [{"id": THREAD, "thread_name": name} for name in ("First", "Last")]
    lines.append({"id": "another", "thread_name": "Other"})
    (home / "session_index.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (source,) = sources(reader, tmp_path)
    pieces = list(reader.read(source, Cursor()))
    named = [(piece.header.native_id, piece.header.title, piece.is_name) for piece in pieces]
    assert named == [(THREAD, "Last", True), ("another", "Other", True)]
    assert [piece.cursor for piece in pieces] == [None, Cursor()]


@pytest.mark.parametrize("question", ["", " ", "\u200b"])
def test_answers_to_two_questions_are_two_though_the_second_question_says_nothing(
    tmp_path: Path, question: str
) -> None:
    source = write(
        tmp_path / f"{NAME}.jsonl",
        entry("session_meta", id=THREAD),
        message("user", "First?"),
        message("assistant", "\u200b"),
        message("user", question),
        message("assistant", "Second."),
    )
    answers = [turn.text for turn in turns(source) if turn.role is Role.ASSISTANT]
    assert answers == ["\u200b", "Second."]
