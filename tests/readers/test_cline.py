"""Cline, Roo Code and Kilo Code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.readers import Cursor, Form, Role, Source, Turn, load_readers

from .golden import check_golden, read, sources

REAL = Path(__file__).resolve().parents[3] / "shared/data/histories/cline"

reader = load_readers(["cline"])["cline"]


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("cline", request)


def user(*content: Any) -> dict[str, Any]:
    return {"role": "user", "content": [_block(part) for part in content]}


def assistant(*content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": [_block(part) for part in content]}


def _block(part: Any) -> Any:
    return {"type": "text", "text": part} if isinstance(part, str) else part


def task(tmp_path: Path, messages: Any, shown: Any = None) -> Source:
    directory = tmp_path / "tasks/1767500000000"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "api_conversation_history.json").write_text(json.dumps(messages))
    if shown is not None:
        (directory / "ui_messages.json").write_text(json.dumps(shown))
    return Source(directory / "api_conversation_history.json", Form.DOCUMENT)


def turns(source: Source) -> list[Turn]:
    return [turn for conversation in read(reader, source).values() for turn in conversation.turns.values()]


def said(source: Source) -> list[tuple[str, str]]:
    return [(turn.role.value, turn.text) for turn in turns(source)]


def test_what_a_tool_gave_back_is_never_taken_for_typed(tmp_path: Path) -> None:
    quoted = "<task>\nfrom another history\n</task>"
    messages = [
        user("<task>\nreal\n</task>"),
        user(f"[execute_command for 'cat x'] Result:\n{quoted}"),
        user("[read_file for 'x'] Result:", quoted),
        user({"type": "tool_result", "tool_use_id": "1", "content": quoted}),
        user("x" * 500 + quoted),
    ]
    assert said(task(tmp_path, messages)) == [("user", "real")]


def test_answers_to_questions_and_feedback_to_refused_tools_are_typed(tmp_path: Path) -> None:
    messages = [
        user("<task>\none\n</task>"),
        user("[ask_followup_question for 'which?'] Result:\n<answer>\nthis one\n</answer>"),
        user(
            "[write_to_file for 'x'] Result:\nThe user denied and gave feedback:\n<feedback>\nnot so\n</feedback>"
        ),
        user("[TASK RESUMPTION] New instructions:\n<user_message>\ngo on\n</user_message>"),
    ]
    assert [text for _, text in said(task(tmp_path, messages))] == ["one", "this one", "not so", "go on"]


def test_where_nothing_is_marked_all_but_the_environment_and_results_is_typed(tmp_path: Path) -> None:
    messages = [
        user("plain <environment_details>\nx\n</environment_details>", "[list_files for '.'] Result:\na")
    ]
    assert said(task(tmp_path, messages)) == [("user", "plain")]


def test_content_may_be_a_text_or_texts(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "<task>a</task>"}, {"role": "assistant", "content": ["b", "c"]}]
    assert said(task(tmp_path, messages)) == [("user", "a"), ("assistant", "b\n\nc")]


def test_a_prompt_with_mentions_is_kept_as_it_was_typed(tmp_path: Path) -> None:
    messages = [user("<task>\nlook at 'a.ts' (see below for file content)\n</task>"), assistant("I did.")]
    shown = [
        {"ts": 1767500000100, "type": "say", "say": "text", "text": "look at @/a.ts"},
        {"ts": 1767500000200, "type": "say", "say": "text", "text": "I  did."},
    ]
    assert [(turn.text, turn.at_ms) for turn in turns(task(tmp_path, messages, shown))] == [
        ("look at @/a.ts", 1767500000100),
        ("I did.", 1767500000200),
    ]


def test_a_prompt_that_only_was_shown_stands_where_its_time_is(tmp_path: Path) -> None:
    messages = [user("<task>\none\n</task>"), assistant("two"), assistant("four")]
    shown = [
        {"ts": 1767500000100, "say": "task", "text": "one"},
        {"ts": 1767500000200, "say": "text", "text": "two"},
        {"ts": 1767500000300, "say": "user_feedback", "text": "three"},
        {"ts": 1767500000400, "say": "completion_result", "text": "four"},
    ]
    assert [turn.text for turn in turns(task(tmp_path, messages, shown))] == ["one", "two", "three", "four"]


def test_what_was_shown_may_be_broken(tmp_path: Path) -> None:
    source = task(tmp_path, [user("<task>one</task>")], shown=7)
    assert said(source) == [("user", "one")]


def test_tools_written_as_xml_leave_files_and_commands_and_no_text(tmp_path: Path) -> None:
    written = "Now.\n<apply_diff>\n<path>a.py</path>\n<diff>x</diff>\n</apply_diff>"
    messages = [assistant(written), assistant("<execute_command><command>make</command>")]
    [edit, run] = turns(task(tmp_path, messages))
    assert (edit.text, edit.calls[0].writes, edit.calls[0].reads) == ("Now.", ("a.py",), ())
    assert (run.text, run.calls[0].command) == ("", "make")


def test_failures_go_to_the_calls_they_belong_to(tmp_path: Path) -> None:
    use = {"type": "tool_use", "id": "", "name": "read_file"}
    messages = [
        assistant({**use, "input": {"path": "a"}}, {**use, "input": {"path": "b"}}),
        user("[read_file for 'a'] Result:\nfine", "[read_file for 'b'] Result:\n<error>\nmissing\n</error>"),
    ]
    [turn] = turns(task(tmp_path, messages))
    assert [call.error for call in turn.calls] == ["", "missing"]


def test_unknown_roles_are_counted_and_a_document_of_another_shape_says_nothing(tmp_path: Path) -> None:
    [piece] = reader.read(task(tmp_path, [{"role": "oracle", "content": "x"}, 7, "y"]), Cursor())
    assert dict(piece.skipped) == {"unknown role": 1}
    [piece] = reader.read(task(tmp_path, {"messages": 7}), Cursor())
    assert piece.turns == ()


def test_tasks_and_sessions_are_found_in_every_host_and_named_directory(tmp_path: Path) -> None:
    hosts = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"]
    extensions = ["saoudrizwan.claude-dev", "rooveterinaryinc.roo-cline", "kilocode.kilo-code"]
    expected = {
        tmp_path
        / ".config"
        / host
        / "User/globalStorage"
        / extension
        / "tasks/1/api_conversation_history.json"
        for host in hosts
        for extension in extensions
    }
    expected |= {
        tmp_path / base / "tasks/1/api_conversation_history.json"
        for base in (".cline/data", "data", "dir/data")
    }
    expected |= {
        tmp_path / base / "s/s.messages.json" for base in ("sessions", "data/sessions", "dir/data/sessions")
    }
    expected |= {
        tmp_path
        / ".vscode-server/data/User/globalStorage"
        / extensions[0]
        / "tasks/1/api_conversation_history.json"
    }
    for path in expected:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("[]")
    variables = {
        "CLINE_SESSION_DATA_DIR": str(tmp_path / "sessions"),
        "CLINE_DATA_DIR": str(tmp_path / "data"),
        "CLINE_DIR": str(tmp_path / "dir"),
    }
    assert {source.path for source in sources(reader, tmp_path, environment=variables)} == expected


@pytest.mark.skipif(not REAL.is_dir(), reason="real histories are not here")
def test_real_conversations_have_their_prompts_and_calls() -> None:
    session = turns(Source(REAL / "cline+cline__fixture/session.messages.json", Form.DOCUMENT))
    assert sum(turn.role is Role.USER for turn in session) == 5
    path = REAL / "tomjnsn+agentlogs/crud.json"
    crud = turns(Source(path, Form.DOCUMENT))
    assert sum(turn.role is Role.USER for turn in crud) == 2
    uses = path.read_text("utf-8").count('"type": "tool_use"')
    completions = path.read_text("utf-8").count('"name": "attempt_completion"')
    assert sum(len(turn.calls) for turn in crud) == uses - completions
