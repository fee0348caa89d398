"""CodeArchitect: every promise of its document about storing and fetching sessions, through its tools."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from toon_format import decode

from backstory.core import Caller, Core
from backstory.guests.codearchitect.stored_sessions import IN_FILES, MAX_SESSION_BYTES
from backstory.guests.codearchitect.tools import surface

from ..conftest import Call, OpenCore, caller_of, open_sqlite
from ..doubles import SteppedClock
from ..repositories import git

requirement = pytest.mark.requirement

Json = dict[str, Any]
DAY = "2026-03-01"
PLAIN = "User: Implement authentication\nAI: Let's use JWT tokens..."
SAID = [
    {"role": "user", "content": "Add database connection"},
    {"role": "assistant", "content": "I'll help you set up a database connection..."},
]
TRAPS = [
    *(
        "```",
        "````",
        "~~~",
        "```json\n[]\n```",
        "---",
        "\n",
        "\r\n",
        "\r",
        "\t",
        " ",
        "\0",
        "\x1b",
        "🦉",
        "ü",
        "日本",
    ),
    *(
        "# Title",
        "## 1. user",
        "## Full Conversation (JSON)",
        "<!-- ",
        "-->",
        "<!-- 00000000 {}",
        "User: ",
        "**USER:**",
    ),
    *(
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        '"',
        "\\",
        "</details>",
        "*Stored by Backstory*",
        "null",
        "true",
        "0",
        "-1",
    ),
]
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.lists(
    st.sampled_from(TRAPS), max_size=8
).map("".join)
VALUES = st.recursive(
    TEXTS | st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda values: st.lists(values, max_size=3) | st.dictionaries(TEXTS, values, max_size=3),
    max_leaves=6,
)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": TEXTS}, optional={"content": TEXTS | VALUES, "name": VALUES}), max_size=5
)
HARD = [
    {"role": "user", "content": "```\nnever closed\n---\n## 2. assistant\n"},
    {"role": "assistant", "content": {"tool": ["```json", {"a": None}]}},
    {"role": "--> x", "content": "\r\n\r\n\0"},
    {"role": "user"},
]


@pytest.fixture
def project(core: Core, tmp_path: Path) -> Path:
    """The caller's project: a checkout."""
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "-q")
    core.caller.project = core.caller.directory = str(project)
    return project


@pytest.fixture
def sessions(project: Path) -> Path:
    return project / ".codearchitect" / "sessions"


@pytest.fixture
def elsewhere(open_core: OpenCore, tmp_path: Path) -> Call:
    """Calls of a machine that has the files, and not the store."""
    return caller_of(open_core(open_sqlite(tmp_path / "other.db"), None))


@pytest.fixture(scope="module")
def numbers() -> Iterator[int]:
    return count()


def put(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


def messages(call: Call, name: str, **arguments: Any) -> list[Json]:
    found: list[Json] = call("get_session", filename=name, **arguments)["session"]["messages"]
    return found


def canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def names(call: Call, **arguments: Any) -> list[str]:
    return [row["filename"] for row in call("get_session", **arguments)["sessions"]]


def found(core: Core, words: str) -> list[str]:
    """Texts with these very words that a search for them brings up."""
    messages = core.ask.messages(words, limit=20)
    return sorted(message.text for message in messages if words in message.text)


@requirement("codearchitect.tools", "codearchitect.parameters")
def test_the_three_tools_have_the_documented_parameters() -> None:
    described = {name: tool.describe()["inputSchema"] for name, tool in surface.tools.items()}
    assert {name: list(schema["properties"]) for name, schema in described.items()} == {
        "codearchitect_help": ["feature"],
        "store_session": ["conversation", "topic", "format", "sessionsDir"],
        "get_session": ["filename", "date", "format", "limit", "sessionsDir", "offset"],
    }
    assert described["store_session"]["required"] == ["conversation"]
    assert described["store_session"]["properties"]["format"]["default"] == "plain"
    assert described["get_session"]["properties"]["format"]["default"] == "auto"


@requirement(
    "codearchitect.store.example-plain", "codearchitect.store.reply", "codearchitect.store.structure"
)
def test_storing_plain_text_answers_as_in_the_document(call: Call, sessions: Path) -> None:
    reply = call("store_session", conversation=PLAIN, topic="Authentication Implementation", format="plain")
    folder = sessions / DAY / "authentication-implementation"
    assert reply == {
        "success": True,
        "file": str(folder / "summary.md"),
        "summaryFile": str(folder / "summary.md"),
        "fullFile": str(folder / "full.md"),
        "filename": "authentication-implementation",
        "topic": "authentication-implementation",
        "date": "2026-03-01T09:30:00.000Z",
        "message": "Session saved in folder authentication-implementation: summary.md and full.md",
    }
    assert sorted(path.name for path in folder.iterdir()) == ["full.md", "summary.md"]
    assert messages(call, "authentication-implementation") == [
        {"role": "user", "content": "Implement authentication"},
        {"role": "assistant", "content": "Let's use JWT tokens..."},
    ]


@requirement("codearchitect.store.example-messages", "codearchitect.topic.extracted")
def test_the_topic_is_the_first_request(call: Call, sessions: Path) -> None:
    reply = call("store_session", conversation=SAID, format="messages")
    assert reply["topic"] == reply["filename"] == "add-database-connection"
    assert messages(call, "add-database-connection") == SAID


@requirement("codearchitect.store.example-directory")
def test_sessions_dir_may_lie_anywhere(call: Call, project: Path, tmp_path: Path) -> None:
    place = tmp_path / "custom" / "path"
    said = "User: Review code\nAI: I'll review your code..."
    reply = call("store_session", conversation=said, topic="Code Review", sessionsDir=str(place))
    assert reply["fullFile"] == str(place / DAY / "code-review" / "full.md")
    assert "warning" not in reply
    assert not (project / ".codearchitect").exists()
    assert names(call, sessionsDir=str(place)) == ["code-review"]


@requirement("codearchitect.store.format")
def test_format_says_whether_text_or_messages_are_given(call: Call, sessions: Path) -> None:
    refused = call("store_session", conversation='[{"role": "user"}]', format="messages")
    assert refused["error"] == "INVALID_INPUT"
    call("store_session", conversation='[{"role": "user"}]', topic="text")
    assert messages(call, "text") == [{"role": "user", "content": '[{"role": "user"}]'}]


@requirement("codearchitect.store.round-trip", "codearchitect.get.formats", "codearchitect.files.exact")
@example(HARD)
@example([])
@given(MESSAGES)
def test_any_messages_come_back_as_they_were_in_every_format(
    call: Call, elsewhere: Call, project: Path, numbers: Iterator[int], said: list[Json]
) -> None:
    place = project / f"sessions {next(numbers)}"
    stored = call("store_session", conversation=said, topic="t", format="messages", sessionsDir=str(place))
    assert stored["success"], stored
    moved = place.rename(project / f"sessions {next(numbers)}")
    for each in (call, elsewhere):
        for format in ("json", "toon", "auto"):
            got = each("get_session", filename="t", format=format, sessionsDir=str(moved))["session"]
            assert canonical(got["messages"]) == canonical(said)
            content = json.loads(got["content"]) if got["format"] == "json" else decode(got["content"])
            assert canonical(content) == canonical({"messages": said})


@requirement("codearchitect.store.round-trip")
def test_half_of_a_surrogate_pair_is_refused(call: Call, sessions: Path) -> None:
    reply = call("store_session", conversation=[{"role": "user", "content": "\ud800"}])
    assert (reply["success"], reply["error"]) == (False, "INVALID_INPUT")
    assert not sessions.exists()


@requirement("codearchitect.files.edited")
@example(HARD)
@given(MESSAGES.filter(bool))
def test_an_edit_of_the_readable_part_is_what_is_read_and_leaves_the_other_messages_alone(
    call: Call, project: Path, numbers: Iterator[int], said: list[Json]
) -> None:
    place = project / f"sessions {next(numbers)}"
    said = [*said, {"role": "user", "content": "The words teh typo is in."}]
    stored = call("store_session", conversation=said, topic="t", sessionsDir=str(place))
    full = Path(stored["fullFile"])
    full.write_bytes(full.read_bytes().replace(b"teh typo is in", b"the correction is in", 1))
    said[-1]["content"] = "The words the correction is in."
    assert canonical(messages(call, "t", sessionsDir=str(place))) == canonical(said)


@requirement("codearchitect.files.edited")
@pytest.mark.parametrize(
    ("added", "read"),
    [
        ("Ask Ana about it.", [{"role": "user", "content": "Ask Ana about it."}]),
        (
            "User: And then?\nAI: Nothing.",
            [{"role": "user", "content": "And then?"}, {"role": "assistant", "content": "Nothing."}],
        ),
        ("## 3. user\n\nAnd then?", [{"role": "user", "content": "And then?"}]),
    ],
)
def test_what_is_written_below_a_file_is_read_with_it(
    call: Call, core: Core, sessions: Path, added: str, read: list[Json]
) -> None:
    full = Path(call("store_session", conversation=SAID, topic="t")["fullFile"])
    full.write_text(f"{full.read_text('utf-8')}\n{added}\n", "utf-8")
    assert messages(call, "t") == [*SAID, *read]
    assert found(core, read[0]["content"]) == [read[0]["content"]]


@requirement("codearchitect.files.edited")
def test_what_is_written_above_the_messages_is_read_with_them(call: Call, sessions: Path) -> None:
    full = Path(call("store_session", conversation=SAID, topic="t")["fullFile"])
    text = full.read_text("utf-8").replace("# t\n", "# Another title\n\nAna knows more.\n", 1)
    full.write_text(f"Seen on Monday.\n{text}", "utf-8")
    assert messages(call, "t") == [{"role": "system", "content": "Seen on Monday.\nAna knows more."}, *SAID]


@requirement("codearchitect.files.edited")
def test_windows_line_ends_are_no_edit(call: Call, sessions: Path) -> None:
    full = Path(call("store_session", conversation=HARD, topic="t")["fullFile"])
    full.write_bytes(full.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    assert messages(call, "t") == HARD


@requirement("codearchitect.plain.speakers")
def test_plain_text_is_split_at_speakers_outside_code_and_loses_nothing(call: Call, sessions: Path) -> None:
    text = (
        "Notes of a call\n\nUser: one\n---\ntwo\n```yaml\nuser: postgres\nAI: no\n```\n\n**Assistant:** three\n"
        "Human:\n\nfour\nSystem: five\nthe user: said"
    )
    call("store_session", conversation=text, topic="t")
    assert [(each["role"], each["content"]) for each in messages(call, "t")] == [
        ("system", "Notes of a call"),
        ("user", "one\n---\ntwo\n```yaml\nuser: postgres\nAI: no\n```"),
        ("assistant", "three"),
        ("user", "four"),
        ("system", "five\nthe user: said"),
    ]


@requirement("codearchitect.plain.speakers")
def test_text_without_speakers_is_one_message(call: Call, sessions: Path) -> None:
    call("store_session", conversation="```\nnever closed\nnobody: speaks", topic="t")
    assert messages(call, "t") == [{"role": "user", "content": "```\nnever closed\nnobody: speaks"}]


@requirement("codearchitect.empty.refused")
@pytest.mark.parametrize("arguments", [{}, {"conversation": ""}, {"conversation": None}])
def test_no_conversation_is_an_error(call: Call, sessions: Path, arguments: Json) -> None:
    assert call("store_session", **arguments) == {
        "success": False,
        "error": "INVALID_INPUT",
        "message": "Conversation cannot be empty",
        "details": None,
    }
    assert not sessions.exists()


@requirement("codearchitect.empty.saved")
@pytest.mark.parametrize("conversation", [" \n", [], [{"role": "user"}, {"role": "ai", "content": ""}]])
def test_an_empty_conversation_is_saved_with_a_warning(call: Call, sessions: Path, conversation: Any) -> None:
    reply = call("store_session", conversation=conversation)
    assert reply["warning"] == "Conversation is empty"
    assert reply["filename"] == "session-20260301-093000"
    expected = [{"role": "user", "content": " \n"}] if isinstance(conversation, str) else conversation
    assert messages(call, reply["filename"]) == expected


@requirement("codearchitect.size.largest", "codearchitect.error.invalid-input")
def test_more_than_ten_megabytes_are_refused(call: Call, sessions: Path) -> None:
    for conversation in (
        "é" * (MAX_SESSION_BYTES // 2 + 1),
        [{"role": "user", "content": "x" * MAX_SESSION_BYTES}],
    ):
        reply = call("store_session", conversation=conversation)
        assert (reply["error"], reply["message"]) == ("INVALID_INPUT", "Conversation is larger than 10 MB")
    assert not sessions.exists()


@requirement("codearchitect.size.cut")
def test_a_text_is_as_large_as_it_was_given(call: Call, sessions: Path) -> None:
    fits = call("store_session", conversation="User: " + "a" * (IN_FILES - 6), topic="fits")
    assert "warning" not in fits
    over = call("store_session", conversation="User: " + "a" * (IN_FILES - 5), topic="over")
    assert over["warning"] == "Conversation truncated to 1MB"
    assert messages(call, "over") == [{"role": "user", "content": "a" * (IN_FILES - 5)}]


@requirement("codearchitect.error.invalid-input")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_session", {"filename": ""}),
        ("get_session", {"sessionsDir": " "}),
        ("store_session", {"conversation": "User: a", "sessionsDir": "\0"}),
    ],
)
def test_a_refused_argument_is_named(call: Call, sessions: Path, tool: str, arguments: Json) -> None:
    reply = call(tool, **arguments)
    assert reply["error"] == "INVALID_INPUT"
    assert list(arguments)[-1] in reply["message"]


LONG: list[Json] = [
    {"role": "user", "content": "Where is the wombat?"},
    {"role": "Reviewer", "content": "ü€" * (IN_FILES // 5)},
    {"role": "assistant", "content": {"answer": ["beyond the file", None]}},
    {"role": "assistant", "content": " "},
]


@requirement("codearchitect.size.cut")
def test_files_hold_the_first_megabyte_and_the_store_the_whole(
    call: Call, core: Core, elsewhere: Call, project: Path, sessions: Path
) -> None:
    reply = call("store_session", conversation=LONG, topic="long")
    assert reply["warning"] == "Conversation truncated to 1MB"
    assert messages(call, "long") == LONG
    sessions.rename(project / "moved")
    assert messages(call, "long", sessionsDir="moved") == LONG
    assert len(found(core, "beyond the file")) == 1
    first, second = messages(elsewhere, "long", sessionsDir=str(project / "moved"))
    assert first == LONG[0]
    assert LONG[1]["content"].startswith(second["content"])
    assert IN_FILES - 3 <= sum(len(each["content"].encode()) for each in (first, second)) <= IN_FILES


@requirement("codearchitect.size.cut", "codearchitect.files.edited")
def test_an_edited_beginning_is_read_as_it_is_and_the_whole_stays_in_the_store(
    call: Call, core: Core, sessions: Path
) -> None:
    full = Path(call("store_session", conversation=LONG, topic="long")["fullFile"])
    full.write_text(full.read_text("utf-8").replace("the wombat", "the numbat", 1), "utf-8")
    assert messages(call, "long")[0]["content"] == "Where is the numbat?"
    assert names(call) == ["long"]
    assert found(core, "numbat") == ["Where is the numbat?"]
    assert found(core, "wombat") == ["Where is the wombat?"]
    assert len(found(core, "beyond the file")) == 1


@requirement("codearchitect.topic.given")
def test_a_topic_is_cut_to_100_characters_and_the_folder_to_50(call: Call, sessions: Path) -> None:
    reply = call("store_session", conversation=PLAIN, topic="word " * 60)
    assert reply["topic"] == "-".join(["word"] * 20)
    assert reply["filename"] == "-".join(["word"] * 10)


@requirement("codearchitect.topic.slug", "codearchitect.topic.suffix")
@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("Größe & Länge: 日本語/हिन्दी!", "größe-länge-日本語-हिन्दी"),
        ("../../etc/passwd", "etc-passwd"),
        ("Login flow summary", "login-flow"),
        ("Chat conversation session", "chat"),
        ("!!!", "session-20260301-093000"),
    ],
)
def test_folder_names_are_safe_words(call: Call, sessions: Path, topic: str, name: str) -> None:
    reply = call("store_session", conversation=PLAIN, topic=topic)
    assert reply["filename"] == name
    assert Path(reply["fullFile"]) == sessions / DAY / name / "full.md"


@requirement("codearchitect.topic.collision")
def test_a_taken_name_gets_a_number(call: Call, sessions: Path) -> None:
    (sessions / DAY / "topic-2").mkdir(parents=True)
    stored = [call("store_session", conversation=f"User: {n}", topic="Topic") for n in range(3)]
    assert [each["filename"] for each in stored] == ["topic", "topic-1", "topic-3"]
    assert {each["topic"] for each in stored} == {"topic"}


@requirement("codearchitect.summary")
def test_the_summary_has_pairs_with_points_from_the_text(call: Call, sessions: Path) -> None:
    said = (
        "User: Why does src/auth/login.ts fail?\nAI: TypeError: token is undefined. We decided to rotate keys.\n"
        "```ts\nconst a = 1\n```\nRun it:\n```bash\nnpm test\n```\n- check the clock\nUser: Thanks!\nAI: Sure."
    )
    text = Path(call("store_session", conversation=said)["summaryFile"]).read_text("utf-8")
    first, second = text.partition("### Request 1: ")[2].split("### Request 2: ")
    assert first.startswith("Why does src/auth/login.ts fail?\n")
    points = [line for line in first.splitlines() if line.startswith("- ")]
    assert points == [
        "- Decided: We decided to rotate keys.",
        "- Files: `src/auth/login.ts`",
        "- Commands: `npm test`",
        "- Errors: TypeError: token is undefined. We decided to rotate keys.",
        "- Code: ts (1 line)",
        "- check the clock",
    ]
    assert "**Key Points:**" not in second
    assert "## Short Summary\n\nWhy does src/auth/login.ts fail?" in text


@requirement("codearchitect.summary")
def test_an_answer_in_which_nothing_stands_out_has_its_first_sentence_as_key_point(
    call: Call, sessions: Path
) -> None:
    said = "User: How long do we cache?\nAI: Redis keeps it for five minutes. Then it is asked for again."
    text = Path(call("store_session", conversation=said)["summaryFile"]).read_text("utf-8")
    assert "**Key Points:**\n- Redis keeps it for five minutes.\n" in text


@requirement("codearchitect.files.readable")
def test_the_full_file_is_markdown_that_people_can_read(call: Call, sessions: Path) -> None:
    text = Path(call("store_session", conversation=PLAIN, topic="Log in")["fullFile"]).read_text("utf-8")
    assert text.startswith("# Log in\n\n**Date:** 2026-03-01T09:30:00.000Z")
    assert "\n## 1. user\n\nImplement authentication\n" in text
    assert json.loads(text.partition("```json\n")[2].partition("\n```")[0]) == [
        {"role": "user", "content": "Implement authentication"},
        {"role": "assistant", "content": "Let's use JWT tokens..."},
    ]


@requirement("codearchitect.index.stored")
def test_what_is_stored_is_found_by_search(call: Call, core: Core, sessions: Path, project: Path) -> None:
    reply = call("store_session", conversation=SAID)
    (message, *_) = core.ask.messages("database connection", limit=5)
    (known,) = core.engine.store.conversations.get([message.conversation])
    assert (known.surface, known.kind, known.title) == ("codearchitect", "main", "Add database connection")
    assert (known.source, known.directory, known.project) == (reply["fullFile"], str(project), str(project))


@requirement("codearchitect.index.seen")
def test_sessions_put_there_by_hand_are_indexed_once_when_seen(
    call: Call, core: Core, sessions: Path, project: Path
) -> None:
    put(sessions / "2025-01-15" / "by-hand", full="# By hand\n\nUser: Feed the axolotl\nAI: It is fed.")
    put(sessions, notes="The axolotl sleeps.")
    for _ in range(2):
        call("get_session")
        assert found(core, "axolotl") == ["Feed the axolotl", "The axolotl sleeps."]
    sessions.rename(project / "moved")
    call("get_session", sessionsDir="moved")
    call("get_session", filename="by-hand", sessionsDir="moved")
    assert found(core, "axolotl") == ["Feed the axolotl", "The axolotl sleeps."]


@requirement("codearchitect.index.seen")
def test_what_did_not_change_is_not_indexed_again(
    call: Call, core: Core, sessions: Path, clock: SteppedClock
) -> None:
    clock.step(0.123)
    call("store_session", conversation=SAID, topic="t")
    put(sessions, notes="The axolotl sleeps.")
    call("get_session")
    entries = core.engine.store.entries.size_hint()
    call("get_session")
    call("get_session", filename="t")
    shutil.copytree(sessions / DAY / "t", sessions / DAY / "copy")
    call("get_session")
    assert core.engine.store.entries.size_hint() == entries


@requirement("codearchitect.index.seen")
def test_a_changed_file_is_indexed_anew_and_a_deleted_one_stays_in_the_store(
    call: Call, core: Core, sessions: Path
) -> None:
    full = Path(call("store_session", conversation=SAID)["fullFile"])
    full.write_text(full.read_text("utf-8").replace("\n\nAdd database", "\n\nAdd okapi", 1), "utf-8")
    call("get_session")
    assert found(core, "okapi") == ["Add okapi connection"]
    shutil.rmtree(sessions)
    assert call("get_session")["sessions"] == []
    assert found(core, "okapi")
    assert call("get_session", filename="add-database-connection")["success"] is False


@requirement("codearchitect.get.reply", "codearchitect.get.example")
def test_getting_a_session_answers_as_in_the_document(call: Call, sessions: Path) -> None:
    stored = call("store_session", conversation=PLAIN, topic="Authentication Implementation")
    assert call("get_session", filename="authentication-implementation") == {
        "success": True,
        "session": {
            "filename": "authentication-implementation",
            "topic": "authentication-implementation",
            "date": stored["date"],
            "file": stored["fullFile"],
            "content": "messages[2\t]{role\tcontent}:\n  user\tImplement authentication\n"
            "  assistant\tLet's use JWT tokens...",
            "messages": [
                {"role": "user", "content": "Implement authentication"},
                {"role": "assistant", "content": "Let's use JWT tokens..."},
            ],
            "format": "toon",
            "source": "codearchitect",
            "trust": "own",
        },
        "message": "Session retrieved: authentication-implementation",
    }


@requirement("codearchitect.get.toon", "codearchitect.get.formats")
@pytest.mark.parametrize(
    ("said", "wanted", "used"),
    [
        (SAID, "auto", "toon"),
        (SAID, "json", "json"),
        (SAID, "toon", "toon"),
        ([*SAID, {"role": "user"}], "toon", "json"),
        ([{"role": "user", "content": {"a": 1}}], "toon", "json"),
        ([{"role": "user", "content": 1.5}], "auto", "json"),
        ([], "toon", "json"),
    ],
)
def test_format_says_which_notation_was_used(
    call: Call, sessions: Path, said: list[Json], wanted: str, used: str
) -> None:
    call("store_session", conversation=said, topic="t")
    got = call("get_session", filename="t", format=wanted)["session"]
    assert got["format"] == used
    assert got["content"].startswith("messages[" if used == "toon" else '{"messages":[')


@requirement("codearchitect.get.toon")
def test_auto_takes_the_smaller_notation(call: Call, sessions: Path) -> None:
    for number, said in enumerate(([{"role": "u", "content": ""}], SAID, SAID * 9)):
        call("store_session", conversation=said, topic=f"t{number}")
        sizes = {
            format: len(call("get_session", filename=f"t{number}", format=format)["session"]["content"])
            for format in ("json", "toon", "auto")
        }
        assert sizes["auto"] == min(sizes.values())


@requirement("codearchitect.get.names")
def test_a_session_is_fetched_by_every_form_of_its_name(call: Call, sessions: Path) -> None:
    put(sessions / "2025-01-15" / "topic", full="User: older")
    put(sessions / "2025-01-16" / "topic", full="User: newer", summary="# topic")
    put(sessions / "2025-01-16" / "other-summary", full="User: another")
    for form in ("topic", "topic.md", "topic-full", "topic-full.md", "topic-summary", "topic/full.md"):
        assert messages(call, form) == [{"role": "user", "content": "newer"}], form
    for form in ("2025-01-15/topic", "2025-01-15/topic-full.md", "2025-01-15/topic/summary.md"):
        assert messages(call, form) == [{"role": "user", "content": "older"}], form
    assert messages(call, "topic", date="2025-01-15") == [{"role": "user", "content": "older"}]
    assert messages(call, "other-summary") == [{"role": "user", "content": "another"}]


@requirement("codearchitect.get.names")
@pytest.mark.parametrize("topic", ["Login flow session", "Über die Anmeldung", "word " * 60, "LOGIN"])
def test_a_session_is_fetched_by_its_topic(call: Call, sessions: Path, topic: str) -> None:
    stored = call("store_session", conversation=SAID, topic=topic)
    for form in (stored["filename"], stored["topic"], topic):
        assert messages(call, form) == SAID


@requirement("codearchitect.get.unknown")
@pytest.mark.parametrize("name", ["nonsense", "2025-01-15/topic"])
def test_an_unknown_name_is_an_error_with_a_code(call: Call, sessions: Path, name: str) -> None:
    call("store_session", conversation=SAID, topic="topic")
    reply = call("get_session", filename=name)
    assert (reply["success"], reply["error"]) == (False, "SESSION_NOT_FOUND")
    assert name in reply["message"]


@requirement("codearchitect.inside", "codearchitect.get.date")
@pytest.mark.parametrize(
    "arguments",
    [
        {"filename": "../outside"},
        {"filename": "/etc/passwd"},
        {"filename": "..\\outside"},
        {"filename": "a/b/c"},
        {"filename": ""},
        {"filename": "\0"},
        {"date": "../.."},
        {"date": "2025-02-30"},
        {"date": "yesterday"},
        {"limit": 0},
        {"format": "xml"},
        {"sessionsDir": "\0"},
        {"sessionsDir": " "},
        {"sessionsdir": "x"},
    ],
    ids=str,
)
def test_wrong_arguments_are_errors_that_name_the_argument(
    call: Call, sessions: Path, arguments: Json
) -> None:
    reply = call("get_session", **arguments)
    assert reply["success"] is False
    assert reply["error"] == "INVALID_INPUT"
    assert set(reply) == {"success", "error", "message", "details"}


@requirement("codearchitect.inside")
def test_links_out_of_the_sessions_are_neither_read_nor_written(
    call: Call, sessions: Path, tmp_path: Path
) -> None:
    put(tmp_path / "outside" / "secret", full="User: secret")
    sessions.mkdir(parents=True)
    (sessions / "2025-01-15").symlink_to(tmp_path / "outside")
    (sessions / "secret").symlink_to(tmp_path / "outside" / "secret")
    put(sessions / "2025-01-16" / "inner")
    (sessions / "2025-01-16" / "inner" / "full.md").symlink_to(tmp_path / "outside" / "secret" / "full.md")
    (sessions / DAY).symlink_to(tmp_path / "outside")
    assert names(call) == []
    assert call("get_session", filename="secret")["error"] == "SESSION_NOT_FOUND"
    assert call("store_session", conversation=SAID)["error"] == "DIRECTORY_CREATION_ERROR"
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["secret"]


@requirement("codearchitect.inside")
def test_the_projects_own_directory_must_not_be_a_link_out_of_it(
    call: Call, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    (project / ".codearchitect").symlink_to(tmp_path / "outside")
    assert call("store_session", conversation=SAID)["error"] == "DIRECTORY_CREATION_ERROR"
    assert list((tmp_path / "outside").iterdir()) == []


@requirement("codearchitect.list.reply", "codearchitect.list.newest-first")
def test_a_listing_is_newest_first(call: Call, sessions: Path, clock: SteppedClock) -> None:
    for topic, later in (("first", 60), ("second", 86_400), ("third", 60)):
        call("store_session", conversation=SAID, topic=topic)
        clock.step(later)
    listing = call("get_session")
    assert [(row["date"], row["filename"]) for row in listing["sessions"]] == [
        ("2026-03-02", "third"),
        (DAY, "second"),
        (DAY, "first"),
    ]
    full = sessions / DAY / "first" / "full.md"
    assert listing["sessions"][2] == {
        "filename": "first",
        "topic": "first",
        "date": DAY,
        "file": str(full),
        "size": full.stat().st_size,
        "source": "codearchitect",
        "trust": "own",
    }
    assert (listing["success"], listing["count"], listing["message"]) == (True, 3, "Found 3 session(s)")


@requirement("codearchitect.list.date", "codearchitect.list.limit")
def test_date_and_limit_narrow_a_listing(call: Call, sessions: Path, clock: SteppedClock) -> None:
    for topic in ("a", "b", "c"):
        call("store_session", conversation=SAID, topic=topic)
        clock.step(43_200)
    assert names(call, date=DAY) == ["b", "a"]
    assert names(call, date=DAY, limit=1) == ["b"]
    assert call("get_session", limit=2)["total"] == 3
    assert names(call, date="2020-01-01") == []


@requirement("codearchitect.list.missing")
def test_a_missing_directory_is_an_empty_list(call: Call, sessions: Path) -> None:
    assert call("get_session") == {
        "success": True,
        "sessions": [],
        "count": 0,
        "total": 0,
        "message": "Found 0 session(s)",
    }
    assert not sessions.exists()


@requirement("codearchitect.list.budget")
def test_a_listing_that_is_too_large_says_how_to_get_the_rest(call: Call, sessions: Path) -> None:
    for number in range(450):
        put(sessions / "2025-01-15" / f"{number:04}-{'x' * 60}", full="User: x")
    put(sessions / "2025-01-14" / "elder", full="User: x")
    listing = call("get_session")
    assert 100 < listing["count"] < listing["total"] == 451
    assert f"offset {listing['count']} goes on" in listing["message"]


@requirement("codearchitect.list.budget")
@pytest.mark.parametrize("date", [None, "2025-01-15"])
def test_a_day_with_hundreds_of_sessions_is_listed_to_the_end(
    call: Call, sessions: Path, date: str | None
) -> None:
    for number in range(600):
        put(sessions / "2025-01-15" / f"{number:04}-{'x' * 60}", full="User: x")
    put(sessions / "2025-01-14" / "elder", full="User: x")
    put(sessions / "2025-01-16" / "younger", full="User: x")
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        listing = call("get_session", date=date, offset=offset)
        seen += [session["filename"] for session in listing["sessions"]]
        offset = listing.get("nextOffset")
    assert len(seen) == len(set(seen)) == listing["total"] == (600 if date else 602)
    assert "goes on" not in listing["message"]
    assert call("get_session", date=date, limit=2, offset=len(seen) - 1)["count"] == 1
    assert call("get_session", date=date, offset=len(seen))["sessions"] == []
    assert len(json.dumps(listing)) < 100_000
    assert names(call, date="2025-01-14") == ["elder"]


@requirement("codearchitect.help.all")
def test_help_lists_the_features_of_the_registry(call: Call) -> None:
    reply = call("codearchitect_help")
    assert reply["message"] == "CodeArchitect MCP - Available Features"
    assert reply["usage_pattern"].startswith('Say "use codearchitect [feature_name]"')
    assert [each["name"] for each in reply["features"]] == ["store_session", "get_session"]
    for each in reply["features"]:
        assert surface.tools[each["name"]].description.startswith(each["description"])
        assert f"use codearchitect {each['name']}" in each["examples"]
        assert each["next_step"]
    usages = [each["usage"] for each in reply["features"]]
    assert usages == ["use codearchitect store_session [topic]", "use codearchitect get_session [filename]"]
    example = 'use codearchitect store_session "authentication implementation"'
    assert reply["features"][0]["examples"][1] == example


@requirement("codearchitect.help.one")
def test_help_explains_one_feature_with_every_parameter(call: Call) -> None:
    for name in ("store_session", "get_session"):
        feature = call("codearchitect_help", feature=name)["feature"]
        assert set(feature) == {"name", "description", "usage", "examples", "when_to_use", "details"}
        assert len(feature["when_to_use"]) == 2
        for param in surface.tools[name].params:
            assert f"\n{param.wire} (" in feature["details"]


@requirement("codearchitect.help.unknown")
def test_help_for_an_unknown_feature_names_the_known(call: Call) -> None:
    reply = call("codearchitect_help", feature="nonsense")
    assert reply["error"] == "INVALID_INPUT"
    assert reply["details"] == "Known: store_session, get_session."


@requirement("codearchitect.directory.default", "codearchitect.error.project-root")
def test_a_directory_that_is_no_project_is_used_with_a_warning(
    call: Call, core: Core, tmp_path: Path
) -> None:
    core.caller.directory = str(tmp_path)
    reply = call("store_session", conversation=SAID)
    assert reply["success"] is True
    assert reply["warning"] == "Using current directory as project root"
    assert reply["warningCodes"] == ["PROJECT_ROOT_NOT_FOUND"]
    assert Path(reply["fullFile"]).is_relative_to(tmp_path / ".codearchitect" / "sessions")


@requirement("codearchitect.directory.default", "codearchitect.empty.saved", "codearchitect.size.cut")
@pytest.mark.parametrize(
    ("conversation", "warning"),
    [
        (" ", "Conversation is empty"),
        ([], "Conversation is empty"),
        ("User: " + "a" * IN_FILES, "Conversation truncated to 1MB"),
    ],
    ids=["blank", "none", "long"],
)
def test_the_warning_is_the_documented_one_where_there_are_several(
    call: Call, core: Core, tmp_path: Path, conversation: Any, warning: str
) -> None:
    core.caller.directory = str(tmp_path)
    reply = call("store_session", conversation=conversation)
    assert reply["warning"] == warning
    assert reply["warnings"] == [warning, "Using current directory as project root"]
    assert reply["warningCodes"] == ["PROJECT_ROOT_NOT_FOUND"]


@requirement("codearchitect.topic.extracted")
def test_a_conversation_of_a_greeting_is_called_by_it(call: Call, sessions: Path) -> None:
    reply = call("store_session", conversation="User: Hi\nAI: Hello!")
    assert (reply["filename"], reply["topic"]) == ("hi", "hi")
    assert "warning" not in reply


@requirement("codearchitect.directory.priority")
def test_the_call_decides_before_the_setting(call: Call, core: Core, project: Path, tmp_path: Path) -> None:
    core.engine.settings = core.engine.settings.changed(sessions_dir=str(tmp_path / "configured"))
    assert str(tmp_path / "configured") in call("store_session", conversation=SAID)["file"]
    assert str(project / "given") in call("store_session", conversation=SAID, sessionsDir="given")["file"]
    assert names(call) == ["add-database-connection"]


@requirement("codearchitect.error.topic")
def test_a_conversation_without_a_topic_falls_back_to_the_time(call: Call, sessions: Path) -> None:
    reply = call("store_session", conversation="User: ```\nx = 1\n```\nAI: ---")
    assert reply["success"] is True
    assert reply["filename"] == reply["topic"] == "session-20260301-093000"
    assert reply["warningCodes"] == ["TOPIC_EXTRACTION_ERROR"]


@requirement("codearchitect.error.directory")
def test_a_file_where_a_folder_should_be_is_a_directory_error(call: Call, sessions: Path) -> None:
    sessions.parent.mkdir()
    sessions.write_text("in the way")
    reply = call("store_session", conversation=SAID)
    assert (reply["success"], reply["error"]) == (False, "DIRECTORY_CREATION_ERROR")
    assert str(sessions) in reply["message"]
    assert call("get_session")["sessions"] == []


@requirement("codearchitect.error.filename")
def test_a_thousand_taken_names_are_a_filename_error(call: Call, core: Core, sessions: Path) -> None:
    for number in range(1, 1_001):
        (sessions / DAY / f"topic-{number}").mkdir(parents=True)
    assert call("store_session", conversation=SAID, topic="topic")["filename"] == "topic"
    reply = call("store_session", conversation="User: quokka", topic="topic")
    assert (reply["success"], reply["error"]) == (False, "FILENAME_GENERATION_ERROR")
    assert found(core, "quokka") == []
    assert not [path for path in (sessions / DAY).iterdir() if path.name.startswith(".")]


@requirement("codearchitect.error.file-write")
@pytest.mark.skipif(not Path("/sys/kernel").exists(), reason="needs a directory that nobody may write to")
def test_a_read_only_directory_is_a_write_error(call: Call, project: Path) -> None:
    reply = call("store_session", conversation=SAID, sessionsDir="/sys/kernel/sessions")
    assert (reply["success"], reply["error"]) == (False, "FILE_WRITE_ERROR")


@requirement("codearchitect.error.file-write")
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="modes mean nothing to root")
def test_a_directory_without_permission_is_a_write_error(call: Call, sessions: Path) -> None:
    sessions.mkdir(parents=True, mode=0o500)
    assert call("store_session", conversation=SAID)["error"] == "FILE_WRITE_ERROR"


@requirement("codearchitect.error.unknown")
@pytest.mark.parametrize("open_store", ["sqlite"], indirect=True)
def test_a_store_that_fails_is_an_unknown_error_and_leaves_no_files(
    call: Call, core: Core, sessions: Path, tmp_path: Path
) -> None:
    import sqlite3

    with sqlite3.connect(tmp_path / "store.db") as other:
        other.execute("ALTER TABLE conversation RENAME TO elsewhere")
    other.close()
    reply = call("store_session", conversation=SAID)
    assert (reply["success"], reply["error"]) == (False, "UNKNOWN_ERROR")
    assert list((sessions / DAY).iterdir()) == []
    assert set(reply) == {"success", "error", "message", "details"}


@requirement("codearchitect.index.seen")
def test_another_project_does_not_take_over_what_it_sees(
    call: Call, core: Core, sessions: Path, project: Path
) -> None:
    call("store_session", conversation=SAID)
    stranger = caller_of(core._replace(caller=Caller(project="/elsewhere")))
    stranger("get_session", sessionsDir=str(sessions))
    messages = core.ask.messages("database", limit=9)
    assert {message.project for message in messages} == {str(project)}
