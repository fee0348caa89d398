"""What hooks say: the right sentence about a file or a prompt, its receipt, and silence otherwise."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from backstory.core import Caller, Core
from backstory.core.brief.files import BriefFiles, Briefs
from backstory.core.forgetting.erasure import Erasure
from backstory.core.forgetting.removal import ForgetRequest
from backstory.core.hooks import HookRequest, answer
from backstory.core.hooks.receipts import HookAnswer, injected, injection_precision
from backstory.core.hooks.usage import is_used, judge_receipts
from backstory.core.memories import MemoryDraft
from backstory.core.statements.deriving import derive_next
from backstory.domain.metadata import FileMark, as_metadata
from backstory.domain.records import Injection, Trace
from backstory.domain.statements import MessageSaying, Saying, Speaker, StatementKind
from backstory.domain.tokens import count_tokens

from ..doubles import DAWN, make_conversation, make_memory, make_messages
from ..repositories import git

PORT = "Let's go with port 9090 in src/server.py because 8080 was taken."


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = (tmp_path / "shop").resolve()
    for name in ("src/server.py", "src/client.py", "tests/server/conftest.py", "tests/web/conftest.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("pass\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    return folder


def talk(
    core: Core, project: Path, *texts: str, id: str = "claude-code:1", days_ago: float = 1, written: str = ""
) -> None:
    """A conversation, the user's words first; `written` is a file that the first answer changed."""
    at = DAWN - timedelta(days=days_ago)
    native = id.partition(":")[2]
    about = make_conversation(
        id, created_at=at, updated_at=at, project=str(project), surface="claude-code", native_id=native
    )
    where = {"project": str(project), "surface": "claude-code", "created_at": at}
    messages = make_messages(id, *texts, **where)
    traces = [Trace(messages[1].id, "written", written)] if written else []
    core.engine.store.conversations.add(about, messages, traces)
    while derive_next(core.engine.store):
        pass


def notes(core: Core, project: Path) -> dict[str, dict[str, object]]:
    Briefs(core.engine).refresh()
    files = BriefFiles(core.engine.settings.home)
    body = files.read(files.path(str(project)))
    found: dict[str, dict[str, object]] = body.get("files", {})
    return found


def prompt(core: Core, project: Path, text: str, session: str = "now") -> HookAnswer | None:
    request = HookRequest("UserPromptSubmit", "claude-code", session, str(project), str(project), text)
    return answer(core, request)


def test_a_decision_that_names_a_file_is_its_note(core: Core, project: Path) -> None:
    talk(core, project, PORT, "Done.")
    found = notes(core, project)
    assert list(found) == ["src/server.py"]
    text = str(found["src/server.py"]["text"])
    assert "port 9090" in text
    assert text.startswith('<backstory file="server.py">')
    assert text.endswith("</backstory>")
    assert count_tokens(text) <= 60


def test_a_memory_that_was_saved_about_a_file_is_its_note(core: Core, project: Path) -> None:
    about = as_metadata([FileMark("src/client.py")])
    memory = make_memory(
        "m", "Retry three times.", category="preference", project=str(project), metadata=about
    )
    core.engine.store.memories.put([memory._replace(updated_at=DAWN)])
    found = notes(core, project)
    assert list(found) == ["src/client.py"]
    assert found["src/client.py"]["certainty"] == 1.0


def test_a_decision_in_an_exchange_that_changed_one_file_is_its_note(core: Core, project: Path) -> None:
    text = "Let's go with exponential backoff for the retries."
    talk(core, project, text, "Done.", written=str(project / "src" / "client.py"))
    assert list(notes(core, project)) == ["src/client.py"]


def test_a_name_that_two_files_have_is_the_name_of_neither(core: Core, project: Path) -> None:
    talk(core, project, "Let's go with fixtures in conftest.py instead of classes.", "Done.")
    assert notes(core, project) == {}


def test_what_was_superseded_is_in_no_note(core: Core, project: Path) -> None:
    talk(core, project, PORT, "Done.", days_ago=2)
    talk(
        core,
        project,
        "Actually, let's switch to port 7070 in src/server.py instead of 9090.",
        "Done.",
        id="claude-code:2",
    )
    (note,) = notes(core, project).values()
    assert "7070" in str(note["text"])
    assert "8080 was taken" not in str(note["text"])


def test_a_decision_of_another_project_is_in_no_note(core: Core, project: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    talk(core, other, PORT, "Done.")
    talk(core, project, "Hello there.", "Hello.", id="claude-code:2")
    assert notes(core, project) == {}


def test_a_check_that_fails_since_the_last_change_of_a_file_is_in_its_note(core: Core, project: Path) -> None:
    talk(core, project, "Please speed it up.", "Done.", written=str(project / "src" / "client.py"))
    store = core.engine.store
    (conversation,) = store.conversations.get(["claude-code:1"])
    last = store.messages.of(conversation.id)[-1]
    saying = Saying(StatementKind.CHECK, "pytest: 2 failed", Speaker.LOG, "pytest", "fail")
    store.conversations.restate(conversation.id, [MessageSaying(last.id, saying)], conversation.rules)
    (note,) = notes(core, project).values()
    assert "failed after its last change: pytest: 2 failed" in str(note["text"])


def test_forgetting_takes_notes_and_receipts_along(core: Core, project: Path) -> None:
    talk(core, project, PORT, "Done.")
    assert notes(core, project)
    core.engine.store.injections.put(
        Injection("s", DAWN, str(project), PORT, "PreToolUse", "src/server.py", 0.9)
    )
    Erasure(core.engine).forget(ForgetRequest(conversations=("claude-code:1",)))
    assert injected(core, 10) == []
    assert BriefFiles(core.engine.settings.home).all() == []


def saved(core: Core, project: Path, text: str) -> None:
    own = core._replace(caller=Caller(project=str(project), directory=str(project)))
    own.memories.save_item(MemoryDraft(text, category="decision"))
    if core.engine.backlog is not None:
        core.engine.backlog.drain()


WALRUS = (
    "The walrus importer reads parquet files in batches of 500 rows, because larger batches exhaust memory."
)
ASKED = "How many rows does the walrus importer read from parquet files?"


def test_a_prompt_gets_what_was_decided_about_its_very_subject(core: Core, project: Path) -> None:
    saved(core, project, WALRUS)
    said = prompt(core, project, ASKED)
    assert said is not None
    assert "batches of 500 rows" in said.text
    assert said.certainty is not None
    assert said.certainty >= 0.9
    assert count_tokens(said.text) <= 200


@pytest.mark.parametrize(
    "text",
    [
        "Please rename the login button to sign in.",
        "What is the weather like in Lisbon today, do you think?",
        "Read the files and tell me how many there are.",
        WALRUS,  # says it itself
    ],
)
def test_a_prompt_about_something_else_gets_nothing(core: Core, project: Path, text: str) -> None:
    saved(core, project, WALRUS)
    assert prompt(core, project, text) is None


def test_a_prompt_gets_nothing_of_another_project(core: Core, project: Path, tmp_path: Path) -> None:
    saved(core, tmp_path / "other", WALRUS)
    assert prompt(core, project, ASKED) is None


def test_what_a_session_was_told_before_is_not_told_at_a_prompt(core: Core, project: Path) -> None:
    saved(core, project, WALRUS)
    core.engine.store.injections.put(Injection("now", DAWN, str(project), f"Decisions in force:\n- {WALRUS}"))
    assert prompt(core, project, ASKED) is None
    assert prompt(core, project, ASKED, session="another") is not None


@pytest.mark.parametrize("setting", [{"prompt_recall": "off"}, {"brief": "off"}])
def test_prompts_can_be_left_alone(core: Core, project: Path, setting: dict[str, str]) -> None:
    saved(core, project, WALRUS)
    core.engine.settings = core.engine.settings.changed(**setting)
    assert prompt(core, project, ASKED) is None


TOLD = "<backstory>Recorded memory. 2026-01-02 fixed: run `uv sync --all-extras` before the tests start here, as conf/uv.toml says (0123456789ab)</backstory>"


@pytest.mark.parametrize(
    ("texts", "actions", "used"),
    [
        (["As noted, I run the tests now."], [], False),
        (["Memory 0123456789ab says how."], [], True),
        (["We should run uv sync all extras before the tests start here."], [], True),
        (["Trying it."], [Trace("m", "command", "cd x && uv sync --all-extras")], True),
        (["Trying it."], [Trace("m", "command", "uv sync")], False),
        (["Trying it."], [Trace("m", "written", "/p/conf/uv.toml")], True),
        (["Trying it."], [Trace("m", "written", "/p/conf/other.toml")], False),
    ],
)
def test_a_text_counts_as_used_when_the_assistant_acted_on_it(
    texts: list[str], actions: list[Trace], used: bool
) -> None:
    assert is_used(Injection("s", DAWN, "/p", TOLD, "PostToolUse"), texts, actions) is used


def test_receipts_are_judged_by_what_came_after_them(core: Core, project: Path) -> None:
    quoting = "Since 8080 was taken we go with port 9090 in the server."
    talk(core, project, "Change the port.", f"{quoting} Done.", id="claude-code:a", days_ago=0.1)
    talk(core, project, "Change the port.", "Done.", id="claude-code:b", days_ago=0.1)
    talk(core, project, "Change the port.", "Done.", id="claude-code:c", days_ago=0.1)
    before = DAWN - timedelta(hours=3)
    for session in ("a", "b", "unknown"):
        receipt = Injection(
            session, before, str(project), f"<backstory>{quoting}</backstory>", "PreToolUse", "x", 0.9
        )
        core.engine.store.injections.put(receipt)
    core.engine.store.injections.put(Injection("c", DAWN, str(project), quoting, "PreToolUse", "x", 0.9))
    judge_receipts(core.engine)
    judged = {each.session: each.used for each in injected(core, 10)}
    assert judged == {"a": True, "b": False, "c": None, "unknown": None}
    measured = injection_precision(core)
    assert (measured.given, measured.judged, measured.used, measured.precision) == (4, 2, 1, 0.5)


def test_opening_the_source_of_a_text_marks_it_as_used(core: Core) -> None:
    core.engine.store.injections.put(Injection("s", DAWN, "/p", TOLD))
    core.engine.store.injections.put(Injection("t", DAWN, "/p", TOLD))
    core._replace(caller=Caller(project="/p", conversation="s")).pages.mark_opened("0123456789")
    assert {each.session: each.used for each in injected(core, 10)} == {"s": True, "t": None}


def test_a_month_later_a_receipt_does_not_count(core: Core) -> None:
    core.engine.store.injections.put(Injection("s", DAWN - timedelta(days=31), "/p", TOLD, used=True))
    assert injection_precision(core).precision is None
