"""session-mgmt: init, checkpoint, end and status, as its document and RULINGS promise."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core, Engine
from backstory.domain.errors import (
    BackstoryError,
    Incompatible,
    InvalidInput,
    NotAllowed,
    NotFound,
    StorageFull,
    Unavailable,
    Unreadable,
)
from backstory.domain.filters import Filter
from backstory.store import Store
from backstory.surfaces import all_tools, load_surfaces

from ..conftest import Call, OpenCore, OpenStore, caller_of
from ..doubles import DAWN, HashedWords, SteppedClock, make_settings
from ..patience import until
from ..processes import serving
from ..repositories import commit, git, write

requirement = pytest.mark.requirement
Json = dict[str, Any]

FILES = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["fastapi"]\n',
    "README.md": "# Shop\n",
    "src/api.py": "def pay() -> None: ...\n",
    "tests/test_api.py": "def test_pay() -> None: ...\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return commit(tmp_path / "shop", FILES)


@pytest.fixture
def at_work(call: Call, shop: Path) -> Call:
    """In a session that init began in the shop."""
    call("init", working_directory=str(shop))
    return call


posix_only = pytest.mark.skipif(os.name != "posix", reason="needs users and modes of files")


@contextmanager
def as_nobody(home: Path) -> Iterator[None]:
    """Root may read everything, so it gives that up for a while. The store is nobody's own meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    for folder in (home, *home.parents):
        if folder.stat().st_uid == 0 and folder.is_relative_to(tempfile.gettempdir()):
            folder.chmod(0o755)
    for path in (home, *home.glob("store.db*")):
        os.chown(path, 65534, -1)
    os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        os.setresuid(0, 0, 0)


def task(call: Call, key: str, text: str, **more: Any) -> Json:
    return call("context_save", key=key, value=text, category="task", **more)


# init


@requirement("session-mgmt.parameters")
def test_parameters_are_as_documented() -> None:
    tools = load_surfaces()["session-mgmt"].tools
    named = {name: [p.wire for p in tools[name].params] for name in ("init", "checkpoint", "end", "status")}
    assert named == {
        "init": ["working_directory"],
        "checkpoint": [],
        "end": [],
        "status": ["working_directory"],
    }
    assert not any(p.required for name in named for p in tools[name].params)


@requirement("session-mgmt.init.response", "session-mgmt.success")
def test_init_answers_with_the_documented_object(call: Call, shop: Path) -> None:
    reply = call("init", working_directory=str(shop))
    assert reply["success"] is True
    assert set(reply) >= {
        "project_context", "dependencies_synced", "memory_initialized", "permissions_setup", "recommendations",
    }  # fmt: skip
    context = reply["project_context"]
    assert (context["name"], context["type"]) == ("shop", "python")
    assert 0 < context["health_score"] < 100
    assert context["structure_analysis"]["languages"] == {"Python": 2}
    assert context["structure_analysis"]["frameworks"] == ["FastAPI"]
    assert context["structure_analysis"]["files"] == {"total": 4, "source": 2, "tests": 1, "complete": True}


@requirement("session-mgmt.init.directory")
def test_init_looks_at_the_directory_given_which_becomes_the_callers(
    call: Call, core: Core, shop: Path
) -> None:
    reply = call("init", working_directory=str(shop / "src"))
    assert reply["project_context"]["structure_analysis"]["directory"] == str(shop)
    assert (core.caller.project, core.caller.directory) == (str(shop), str(shop))


@requirement("session-mgmt.init.directory")
def test_without_a_directory_init_looks_at_the_callers(open_core: OpenCore, store: Store, shop: Path) -> None:
    core = open_core(store, None)
    core = core._replace(caller=Caller(project=str(shop)))
    assert caller_of(core)("init")["project_context"]["name"] == "shop"


@requirement("session-mgmt.init.session")
def test_init_begins_a_session_that_what_is_saved_belongs_to(at_work: Call, core: Core, shop: Path) -> None:
    saved = task(at_work, "one", "Pay by card")
    assert saved["sessionId"] == core.caller.session
    session = core.sessions.current()
    assert (session.surface, session.project, session.name) == ("session-mgmt", str(shop), "shop")


@requirement("session-mgmt.init.session")
def test_init_again_continues_the_open_session_of_the_project(at_work: Call, core: Core, shop: Path) -> None:
    first = core.sessions.current()
    at_work("init", working_directory=str(shop))
    assert core.sessions.current().parent == first.id


@requirement("session-mgmt.health.explained")
def test_the_score_is_explained_by_its_signals(call: Call, shop: Path) -> None:
    context = call("init", working_directory=str(shop))["project_context"]
    signals = context["structure_analysis"]["health"]
    points, of = (sum(signal[name] for signal in signals) for name in ("points", "of"))
    assert context["health_score"] == round(100 * points / of)
    assert all(signal["why"] for signal in signals)


@requirement("session-mgmt.init.dependencies")
def test_dependencies_are_compared_and_never_installed(call: Call, shop: Path) -> None:
    before = sorted(shop.rglob("*"))
    reply = call("init", working_directory=str(shop))
    assert reply["dependencies_synced"] is False
    assert "virtual environment" in reply["dependencies"][0]["how"]
    assert sorted(shop.rglob("*")) == before
    write(
        shop,
        {".venv/pyvenv.cfg": "", ".venv/lib/python3.12/site-packages/fastapi-1.0.dist-info/METADATA": ""},
    )
    assert call("init", working_directory=str(shop))["dependencies_synced"] is True


@requirement("session-mgmt.init.dependencies")
def test_what_is_synced_by_default_is_compared_too(call: Call, tmp_path: Path) -> None:
    groups = '[dependency-groups]\ndev = ["pytest", {include-group = "lint"}]\nlint = ["ruff"]\ndocs = ["mkdocs"]\n'
    installed = {".venv/lib/python3.12/site-packages/pytest-9.0.dist-info/METADATA": ""}
    write(tmp_path, {"pyproject.toml": groups, ".venv/pyvenv.cfg": "", **installed})
    reply = call("init", working_directory=str(tmp_path))
    assert reply["dependencies_synced"] is False
    assert "ruff" in reply["dependencies"][0]["how"]
    write(tmp_path, {".venv/lib/python3.12/site-packages/ruff-1.0.dist-info/METADATA": ""})
    assert call("init", working_directory=str(tmp_path))["dependencies_synced"] is True


@requirement("session-mgmt.init.memory", "session-mgmt.init.permissions")
def test_memory_and_permissions_are_checked(call: Call, core: Core, shop: Path) -> None:
    reply = call("init", working_directory=str(shop))
    assert core.engine.store.sessions.get(reply["session_id"]) is not None
    assert reply["memory_initialized"] is True
    assert reply["permissions_setup"] is True


@posix_only
@requirement("session-mgmt.init.permissions")
def test_a_project_that_may_not_be_written_is_said_so(call: Call, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as place:  # pytest's own directories are closed to others
        root = write(Path(place), FILES)
        call("status", working_directory=place)  # imports all it needs while that may be read
        root.chmod(0o555)
        with as_nobody(tmp_path):
            permissions = call("status", working_directory=place)["permissions_status"]
        root.chmod(0o700)
    assert permissions["project_readable"]["ok"] is True
    assert permissions["project_writable"] == {"ok": False, "detail": f"{root} may not be written."}


@requirement("session-mgmt.errors.project-not-found", "session-mgmt.errors.object")
@pytest.mark.parametrize("tool", ["init", "status"])
@pytest.mark.parametrize("missing", ["nowhere", "README.md", "a\0b"])
def test_a_directory_that_is_not_there_is_an_error_that_changes_nothing(
    call: Call, core: Core, shop: Path, tool: str, missing: str
) -> None:
    reply = call(tool, working_directory=str(shop / missing))
    assert (reply["success"], reply["error_code"]) == (False, "PROJECT_NOT_FOUND")
    assert "working_directory" in reply["suggestions"][0]
    assert (core.caller.session, core.caller.project) == (None, "/p")
    assert core.engine.store.sessions.find("session-mgmt", after=None, before=None) == []


@posix_only
@requirement("session-mgmt.errors.permission-denied")
def test_a_directory_that_may_not_be_read_is_an_error_that_changes_nothing(
    call: Call, core: Core, tmp_path: Path
) -> None:
    shop = write(tmp_path / "projects" / "shop", FILES)
    call("status", working_directory=str(shop))
    for closed in (shop, shop.parent):
        closed.chmod(0)
        with as_nobody(tmp_path):
            reply = call("init", working_directory=str(shop))
        closed.chmod(0o700)
        assert (reply["success"], reply["error_code"]) == (False, "PERMISSION_DENIED")
    assert core.caller.session is None


@requirement("session-mgmt.errors.codes", "session-mgmt.errors.object")
@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Incompatible("x"), "MEMORY_UNAVAILABLE"),
        (Unavailable("x"), "SEARCH_FAILED"),
        (NotFound("project", "x"), "PROJECT_NOT_FOUND"),
        (NotFound("session", "x"), "NOT_FOUND"),
        (NotAllowed("x"), "PERMISSION_DENIED"),
        (InvalidInput("x"), "INVALID_INPUT"),
        (Unreadable("x"), "UNREADABLE"),
        (StorageFull("x"), "STORAGE_FULL"),
        (BackstoryError("x"), "INTERNAL_ERROR"),
    ],
)
def test_every_error_has_its_code(error: BackstoryError, code: str) -> None:
    reply = load_surfaces()["session-mgmt"].fail(error)
    body = json.loads(reply.text)
    assert reply.is_error
    assert (body["success"], body["error_code"], "x" in body["error"]) == (False, code, True)


@requirement("session-mgmt.errors.object")
def test_an_unknown_argument_is_named(call: Call) -> None:
    reply = call("checkpoint", force=True)
    assert (reply["error_code"], reply["error"]) == ("INVALID_INPUT", "force is not a known argument.")


@requirement("session-mgmt.init.recommendations")
def test_recommendations_come_from_what_was_found(call: Call, shop: Path) -> None:
    advice = call("init", working_directory=str(shop))["recommendations"]
    assert any("CI service" in each for each in advice)
    commit(shop, {".github/workflows/ci.yml": "on: push\n"})
    advice = call("init", working_directory=str(shop))["recommendations"]
    assert not any("CI service" in each for each in advice)


@requirement("session-mgmt.init.handoff", "session-mgmt.end.handoff")
def test_yesterdays_open_tasks_are_found_by_a_new_process(tmp_path: Path, shop: Path) -> None:
    home = tmp_path / "home"
    with serving(home, "serve", "--embeddings", "off") as server:
        server.greet()
        server.call("init", working_directory=str(shop))
        server.call("context_save", key="card", value="Let customers pay by card", category="task")
        server.call("context_save", key="docs", value="Describe the API", category="task")
        server.call("context_save", key="docs", value="Done: described the API", category="task")
        server.call("context_save", key="db", value="We use PostgreSQL", category="decision")
        assert server.call("end")["handoff_file_created"] is True
    with serving(home, "serve", "--embeddings", "off") as server:
        server.greet()
        reply = server.call("init", working_directory=str(shop / "src"))
    left = [each for each in reply["recommendations"] if each.startswith("Left open on ")]
    assert [each.partition(": ")[2] for each in left] == ["Let customers pay by card"]
    assert reply["last_handoff"]["open_tasks"] == ["Let customers pay by card"]


@requirement("session-mgmt.init.handoff")
def test_a_task_that_was_finished_or_deleted_since_is_no_longer_recommended(
    at_work: Call, shop: Path
) -> None:
    task(at_work, "card", "Pay by card")
    task(at_work, "bill", "Pay by bill", priority="low")
    cash = task(at_work, "cash", "Pay in cash", priority="high")
    at_work("end")

    def left_open() -> list[str]:
        advice = at_work("init", working_directory=str(shop))["recommendations"]
        return [each.partition(": ")[2] for each in advice if each.startswith("Left open on ")]

    assert left_open() == ["Pay in cash", "Pay by card", "Pay by bill"]
    at_work("context_delete", key="cash", sessionId=cash["sessionId"])
    assert left_open() == ["Pay by card", "Pay by bill"]
    task(at_work, "card", "Done: pay by card")
    assert left_open() == ["Pay by bill"]


@requirement("session-mgmt.init.handoff")
def test_handoffs_of_other_projects_stay_there(at_work: Call, tmp_path: Path) -> None:
    task(at_work, "card", "Pay by card")
    at_work("end")
    other = commit(tmp_path / "other", {"a.py": ""})
    reply = at_work("init", working_directory=str(other))
    assert "last_handoff" not in reply
    assert not any("card" in each for each in reply["recommendations"])


@requirement("session-mgmt.init.handoff")
def test_tasks_of_a_session_that_was_never_ended_are_found_too(at_work: Call, core: Core, shop: Path) -> None:
    task(at_work, "card", "Pay by card")
    core.caller.session = None
    advice = at_work("init", working_directory=str(shop))["recommendations"]
    assert f"Open since {DAWN:%Y-%m-%d}: Pay by card" in advice


# checkpoint


@requirement("session-mgmt.checkpoint.response", "session-mgmt.checkpoint.weights")
def test_checkpoint_answers_with_the_documented_object(at_work: Call) -> None:
    reply = at_work("checkpoint")
    assert set(reply) >= {
        "success", "quality_score", "recommendations", "git_checkpoint_created", "optimization_suggestions",
        "workflow_insights",
    }  # fmt: skip
    score = reply["quality_score"]
    assert all(0 <= value <= 100 for value in score.values())
    parts = 0.6 * score["project_health"] + 0.2 * score["permissions"] + 0.2 * score["tools_available"]
    assert score["overall"] == round(parts)


@requirement("session-mgmt.checkpoint.tools")
def test_programs_that_the_project_asks_for_are_looked_for(call: Call, shop: Path) -> None:
    commit(shop, {"poetry.lock": ""})
    call("init", working_directory=str(shop))
    assert call("checkpoint")["quality_score"]["tools_available"] < 100
    programs = call("status")["health_checks"]["programs"]
    assert programs["git"]["ok"] is True
    assert programs["poetry"] == {"ok": False, "detail": "poetry is not on the path."}
    write(shop, {".venv/bin/poetry": "#!/bin/sh\n"})
    (shop / ".venv/bin/poetry").chmod(0o755)
    assert call("status")["health_checks"]["programs"]["poetry"]["ok"] is True
    assert call("checkpoint")["quality_score"]["tools_available"] == 100


@requirement("session-mgmt.checkpoint.session")
def test_checkpoint_without_a_session_begins_one(open_core: OpenCore, store: Store, shop: Path) -> None:
    core = open_core(store, None)._replace(caller=Caller(project=str(shop)))
    reply = caller_of(core)("checkpoint")
    assert reply["session_id"] == core.caller.session


@requirement("session-mgmt.errors.project-not-found")
@pytest.mark.parametrize("tool", ["checkpoint", "end"])
def test_a_project_that_vanished_is_an_error(call: Call, core: Core, tool: str) -> None:
    assert call(tool)["error_code"] == "PROJECT_NOT_FOUND"
    assert core.caller.session is None


@requirement("session-mgmt.checkpoint.compares")
def test_checkpoints_are_kept_and_compared(at_work: Call, clock: SteppedClock, shop: Path) -> None:
    assert "since_last_checkpoint" not in at_work("checkpoint")["workflow_insights"]
    clock.step(40 * 60)
    write(shop, {"src/api.py": "def pay() -> None:\n    raise NotImplementedError\n"})
    task(at_work, "card", "Pay by card")
    insights = at_work("checkpoint")["workflow_insights"]
    assert (insights["checkpoints"], insights["minutes_since_checkpoint"], insights["session_minutes"]) == (
        1,
        40,
        40,
    )
    since = insights["since_last_checkpoint"]
    assert (since["changed_files"], since["changed_lines"], since["items_saved"]) == (1, 3, 1)


@requirement("session-mgmt.checkpoint.insights", "session-mgmt.checkpoint.suggestions")
def test_files_that_change_again_and_again_are_named(at_work: Call, shop: Path) -> None:
    for number in range(3):
        write(shop, {"src/api.py": "def pay() -> None: ...\n" + "x = 1\n" * number, "README.md": "# New\n"})
        reply = at_work("checkpoint")
    assert reply["workflow_insights"]["files_touched_again"] == [{"what": "src/api.py", "times": 2}]
    write(shop, {"src/api.py": "\n"})
    reply = at_work("checkpoint")
    assert [
        each
        for each in reply["optimization_suggestions"]
        if each.startswith("src/api.py was changed 3 times")
    ]
    assert not [each for each in reply["optimization_suggestions"] if "README.md" in each]


@requirement("session-mgmt.checkpoint.insights", "session-mgmt.checkpoint.suggestions")
def test_repeated_errors_are_counted_and_quoted(at_work: Call) -> None:
    for key in ("first", "second"):
        at_work("context_save", key=key, value="TimeoutError: the gateway does not answer", category="error")
    reply = at_work("checkpoint")
    text = "TimeoutError: the gateway does not answer"
    assert reply["workflow_insights"]["errors_repeated"] == [{"what": text, "times": 2}]
    assert [
        each
        for each in reply["optimization_suggestions"]
        if each.startswith(f"{text}: this error came up 2 times")
    ]


@requirement("session-mgmt.checkpoint.insights", "session-mgmt.checkpoint.suggestions")
def test_test_runs_are_counted_and_missed(at_work: Call, shop: Path) -> None:
    write(shop, {"src/api.py": "def pay() -> int: ...\n"})
    at_work("context_integrate_tool", toolName="editor", eventType="saved", data={})
    reply = at_work("checkpoint")
    assert reply["workflow_insights"]["test_runs"] == 0
    assert [each for each in reply["optimization_suggestions"] if each.startswith("No test run was seen")]
    at_work("context_integrate_tool", toolName="pytest", eventType="passed", data={"passed": 12})
    reply = at_work("checkpoint")
    assert reply["workflow_insights"]["test_runs"] == 1
    assert not [each for each in reply["optimization_suggestions"] if each.startswith("No test run was seen")]


@requirement("session-mgmt.checkpoint.compares")
def test_events_of_other_tools_are_not_taken_for_checkpoints(at_work: Call) -> None:
    at_work("context_integrate_tool", toolName="session", eventType="checkpoint", data=["not ours"])
    at_work("context_integrate_tool", toolName="session", eventType="handoff", data="not ours")
    assert at_work("checkpoint")["workflow_insights"]["checkpoints"] == 0
    assert at_work("end")["success"] is True


@requirement("session-mgmt.checkpoint.suggestions")
def test_long_stretches_and_large_changes_are_pointed_out(
    at_work: Call, clock: SteppedClock, shop: Path
) -> None:
    assert at_work("checkpoint")["optimization_suggestions"] == []
    clock.step(90 * 60)
    write(shop, {"src/api.py": "x = 1\n" * 500})
    advice = at_work("checkpoint")["optimization_suggestions"]
    assert [each for each in advice if each.startswith("90 minutes have passed since the last checkpoint")]
    assert [each for each in advice if each.startswith("501 lines in 1 files are not committed")]


@requirement("session-mgmt.checkpoint.recommendations")
def test_recommendations_come_from_the_session(at_work: Call, shop: Path) -> None:
    task(at_work, "leak", "Close the leak", priority="critical")
    write(shop, {"src/api.py": "def pay() -> int: ...\n"})
    advice = at_work("checkpoint")["recommendations"]
    assert "Finish the critical task: Close the leak" in advice
    assert any("no test file was" in each for each in advice)
    write(shop, {"tests/test_api.py": "def test_pay() -> int: ...\n"})
    assert not any("no test file was" in each for each in at_work("checkpoint")["recommendations"])


@requirement("session-mgmt.checkpoint.git-off")
def test_git_checkpoints_are_off_by_default(at_work: Call, shop: Path) -> None:
    write(shop, {"src/api.py": "changed\n"})
    reply = at_work("checkpoint")
    assert reply["git_checkpoint_created"] is False
    assert "BACKSTORY_GIT_CHECKPOINTS=on" in reply["git_checkpoint"]["why"]
    assert git(shop, "for-each-ref", "refs/backstory") == ""


@requirement("session-mgmt.checkpoint.git")
def test_git_checkpoints_are_made_when_switched_on(tmp_path: Path, shop: Path) -> None:
    write(shop, {"src/api.py": "changed\n", ".env": "SECRET=1\n"})
    index, said = (shop / ".git" / "index").read_bytes(), git(shop, "status", "--porcelain=v2", "--branch")
    index = (shop / ".git" / "index").read_bytes()
    with serving(tmp_path / "home", variables={"BACKSTORY_GIT_CHECKPOINTS": "on"}) as server:
        server.greet()
        server.call("init", working_directory=str(shop))
        first, second = server.call("checkpoint"), server.call("checkpoint")
    assert (first["git_checkpoint_created"], second["git_checkpoint_created"]) == (True, False)
    assert (shop / ".git" / "index").read_bytes() == index
    assert git(shop, "status", "--porcelain=v2", "--branch") == said
    ref = first["git_checkpoint"]["ref"]
    assert git(shop, "cat-file", "-p", f"{ref}:src/api.py") == "changed\n"
    assert ".env" not in git(shop, "ls-tree", "-r", "--name-only", ref)


# end


@requirement("session-mgmt.end.response", "session-mgmt.end.persisted", "session-mgmt.end.cleanup")
def test_end_answers_with_the_documented_object(at_work: Call, core: Core, shop: Path) -> None:
    session = core.caller.session
    reply = at_work("end")
    assert set(reply) >= {
        "success", "final_quality_score", "learning_captured", "handoff_file_created", "handoff_file_path",
        "memory_persisted", "cleanup_performed",
    }  # fmt: skip
    assert 0 < reply["final_quality_score"] <= 100
    assert set(reply["learning_captured"]) == {"insights", "solutions", "patterns"}
    assert (reply["memory_persisted"], reply["cleanup_performed"], core.caller.session) == (True, True, None)
    (event,) = core.engine.store.sessions.events(Filter(threads=(str(session),)))
    assert (event.type, event.data["path"]) == ("handoff", reply["handoff_file_path"])


@requirement("session-mgmt.end.learning")
def test_what_was_learned_is_what_happened(at_work: Call, clock: SteppedClock) -> None:
    assert at_work("end")["learning_captured"] == {"insights": [], "solutions": [], "patterns": []}
    at_work("checkpoint")
    at_work("context_save", key="db", value="We use PostgreSQL for orders", category="decision")
    at_work("context_save", key="gate", value="TimeoutError: payment gateway timeout", category="error")
    at_work("context_save", key="gate2", value="TimeoutError: payment gateway timeout", category="error")
    clock.step(60)
    at_work(
        "context_save", key="fix", value="Fixed the payment gateway timeout with retries", category="progress"
    )
    learned = at_work("end")["learning_captured"]
    assert learned["insights"] == ["We use PostgreSQL for orders"]
    assert learned["solutions"] == [
        "TimeoutError: payment gateway timeout → Fixed the payment gateway timeout with retries"
    ]
    assert "This error came up 2 times: TimeoutError: payment gateway timeout" in learned["patterns"]


@requirement("session-mgmt.end.handoff")
def test_the_handoff_file_says_what_happened(at_work: Call, shop: Path) -> None:
    at_work("context_save", key="db", value="We use PostgreSQL", category="decision", priority="high")
    at_work("context_save", key="gate", value="The gateway does not answer", category="error")
    task(at_work, "card", "Pay by card")
    learned = "Rotate refresh tokens with a sliding window. " * 4
    at_work("store_reflection", content=learned, tags=["jwt"])
    write(shop, {"src/api.py": "changed\n"})
    text = Path(at_work("end")["handoff_file_path"]).read_text("utf-8")
    sections = {part.split("\n")[0]: part.split("\n")[2:] for part in text.split("\n## ")[1:]}
    assert sections["Decisions"][0] == "- (high) We use PostgreSQL"
    assert sections["Learned"][0] == f"- {learned.strip()}"
    assert sections["Open tasks"][0] == "- [ ] Pay by card"
    assert sections["Errors that nothing settled"][0] == "- The gateway does not answer"
    assert sections["Files"][0] == "- `src/api.py`"
    assert sections["Next steps"][0] == "- Go on with: Pay by card"


@requirement("session-mgmt.end.handoff")
@pytest.mark.parametrize("has_git", [True, False])
def test_the_handoff_names_files_that_are_new(call: Call, tmp_path: Path, has_git: bool) -> None:
    place = tmp_path / "place"
    write(place, {".gitignore": "*.log\n", "known.py": "1\n", "left.py": "1\n"})
    if has_git:
        git(place, "init", "-q")
        git(place, "add", "known.py", ".gitignore")
    for known in place.glob("*.py"):
        os.utime(known, (0, 0))  # long before the session
    call("init", working_directory=str(place))
    write(place, {"src/new.py": "1\n", "noise.log": "1\n"})
    text = Path(call("end")["handoff_file_path"]).read_text("utf-8")
    assert "- `src/new.py`" in text
    assert "left.py" not in text
    assert ("noise.log" in text) is not has_git  # nobody says that it is to be ignored


@requirement("session-mgmt.end.reflections", "session-mgmt.end.learning")
def test_a_reflection_is_handed_over_as_what_it_calls_itself(at_work: Call, shop: Path) -> None:
    for content, tags in (
        ("TODO: migrate the users table", []),
        ("Write the release notes", ["Next step"]),
        ("We use PostgreSQL for orders", ["decision"]),
        ("Error: connection refused on port 5432", []),
        ("Retries hide the gateway's outages", ["pattern"]),
        ("Fixed the flaky test by freezing the clock", ["fix", "bug"]),
    ):
        at_work("store_reflection", content=content, tags=tags)
    ended = at_work("end")
    text = Path(ended["handoff_file_path"]).read_text("utf-8")
    sections = {part.split("\n")[0]: part.split("\n")[2:] for part in text.split("\n## ")[1:]}
    assert {*sections["Open tasks"][:2]} == {
        "- [ ] TODO: migrate the users table", "- [ ] Write the release notes"
    }  # fmt: skip
    assert sections["Decisions"][0] == "- We use PostgreSQL for orders"
    assert sections["Errors that nothing settled"][0] == "- Error: connection refused on port 5432"
    learned = ended["learning_captured"]
    assert learned["solutions"] == ["Fixed the flaky test by freezing the clock"]
    assert learned["patterns"][0] == "Retries hide the gateway's outages"
    assert len(learned["insights"]) == 4
    begun = at_work("init", working_directory=str(shop))
    advice = "\n".join(begun["recommendations"])
    assert "TODO: migrate the users table" in advice
    assert "Write the release notes" in advice
    assert "connection refused on port 5432" in advice
    assert at_work("reflection_stats")["total_reflections"] == 6


@requirement("session-mgmt.end.reflections")
def test_a_reflection_that_says_a_task_is_done_ends_it(
    at_work: Call, shop: Path, clock: SteppedClock
) -> None:
    at_work("store_reflection", content="TODO: migrate the users table")
    at_work("store_reflection", content="TODO: migrate the orders table to the new cluster")
    at_work("end")
    at_work("init", working_directory=str(shop))
    clock.step(60)
    at_work("store_reflection", content="Done: migrate the users table")
    at_work("end")
    begun = at_work("init", working_directory=str(shop))
    assert begun["last_handoff"]["open_tasks"] == ["TODO: migrate the orders table to the new cluster"]
    assert "users table" not in "\n".join(begun["recommendations"])


@requirement("session-mgmt.end.handoff")
def test_the_handoff_lies_in_the_projects_hidden_folder_which_git_does_not_see(
    at_work: Call, shop: Path
) -> None:
    path = Path(at_work("end")["handoff_file_path"])
    assert path.parent == shop / ".backstory" / "handoff"
    assert git(shop, "status", "--porcelain") == ""
    assert [each.name for each in path.parent.iterdir()] == [path.name]


@requirement("session-mgmt.end.handoff")
def test_a_deleted_handoff_file_loses_nothing(at_work: Call, shop: Path) -> None:
    task(at_work, "card", "Pay by card")
    Path(at_work("end")["handoff_file_path"]).unlink()
    reply = at_work("init", working_directory=str(shop))
    assert reply["last_handoff"]["open_tasks"] == ["Pay by card"]


@requirement("session-mgmt.end.read-only")
@pytest.mark.parametrize("hindrance", ["file", "link"])
def test_a_handoff_that_cannot_lie_in_the_project_lies_in_our_directory(
    open_store: OpenStore, clock: SteppedClock, tmp_path: Path, shop: Path, hindrance: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if hindrance == "file":
        (shop / ".backstory").write_text("not a folder")
    else:
        (shop / ".backstory").symlink_to(elsewhere)
    engine = Engine(make_settings(tmp_path / "home"), open_store(), None, now=clock)
    call = caller_of(Core(engine, Caller(project=str(shop))))
    call("init")
    path = Path(call("end")["handoff_file_path"])
    assert path.parent == tmp_path / "home" / "handoffs"
    assert path.read_text("utf-8").startswith("# Handoff of shop")
    assert list(elsewhere.iterdir()) == []


@requirement("session-mgmt.end.read-only")
def test_where_no_file_can_be_written_end_says_so_and_keeps_the_handoff(
    at_work: Call, shop: Path, tmp_path: Path
) -> None:
    for folder in (shop / ".backstory", tmp_path / "handoffs"):
        folder.write_text("not a folder")
    task(at_work, "card", "Pay by card")
    reply = at_work("end")
    assert (reply["handoff_file_created"], reply["memory_persisted"]) == (False, True)
    assert "handoff_file_path" not in reply
    assert at_work("init", working_directory=str(shop))["last_handoff"]["open_tasks"] == ["Pay by card"]


@requirement("session-mgmt.end.vanished")
def test_a_session_ends_though_its_project_vanished(at_work: Call, shop: Path, tmp_path: Path) -> None:
    task(at_work, "card", "Pay by card")
    shutil.rmtree(shop)
    reply = at_work("end")
    assert (reply["cleanup_performed"], reply["memory_persisted"]) == (True, True)
    handoff = Path(reply["handoff_file_path"])
    assert handoff.parent == tmp_path / "handoffs"
    assert "Pay by card" in handoff.read_text("utf-8")
    assert "README" not in handoff.read_text("utf-8"), "there is nothing left to advise on"
    assert not shop.exists()
    again = at_work("end")
    assert (again["success"], again["error_code"]) == (False, "PROJECT_NOT_FOUND")


@requirement("session-mgmt.end.once")
def test_of_two_ends_at_once_one_hands_over(at_work: Call, core: Core, shop: Path) -> None:
    with ThreadPoolExecutor(4) as threads:
        replies = list(threads.map(lambda _: at_work("end"), range(4)))
    assert [reply["cleanup_performed"] for reply in replies].count(True) == 1
    assert len(list((shop / ".backstory" / "handoff").iterdir())) == 1
    assert len(core.engine.store.sessions.events(Filter())) == 1


@requirement("session-mgmt.end.no-session")
def test_end_without_a_session_hands_nothing_over_and_says_so(call: Call, core: Core, shop: Path) -> None:
    core.caller.directory = str(shop)
    reply = call("end")
    assert (reply["handoff_file_created"], reply["cleanup_performed"], reply["memory_persisted"]) == (
        False,
    ) * 3
    assert "init begins one" in reply["notices"][0]
    assert not (shop / ".backstory").exists()
    assert core.engine.store.sessions.events(Filter()) == []


@requirement("session-mgmt.end.private")
def test_what_is_private_to_a_session_is_not_handed_over(at_work: Call, shop: Path) -> None:
    task(at_work, "secret", "Rotate the heron key", private=True)
    at_work("context_save", key="why", value="The heron key leaked", category="decision", private=True)
    path = at_work("end")["handoff_file_path"]
    assert "heron" not in Path(path).read_text("utf-8")
    assert "heron" not in json.dumps(at_work("init", working_directory=str(shop)))


# status


@requirement("session-mgmt.status.response", "session-mgmt.status.tools", "session-mgmt.status.memory")
def test_status_answers_with_the_documented_object(at_work: Call, core: Core) -> None:
    task(at_work, "card", "Pay by card")
    reply = at_work("status")
    assert (reply["success"], reply["session_active"]) == (True, True)
    assert reply["project_context"]["name"] == "shop"
    assert set(reply["available_tools"]) == set(all_tools(load_surfaces()))
    memory = reply["memory_system_status"]
    assert (memory["enabled"], memory["conversations_stored"], memory["memories_stored"]) == (True, 0, 1)
    assert memory["embeddings_available"] is True
    assert all(check["ok"] for check in reply["permissions_status"].values())
    assert set(reply["health_checks"]) == {"dependencies", "programs", "store"}


@requirement("session-mgmt.status.tools")
def test_status_names_only_tools_that_are_served(tmp_path: Path, shop: Path) -> None:
    with serving(tmp_path / "home", "serve", "--surfaces", "session-mgmt,projectmemory") as server:
        server.greet()
        listed = {tool["name"] for tool in server.ask("tools/list", {})["tools"]}
        assert set(server.call("status", working_directory=str(shop))["available_tools"]) == listed
    assert "save_context" in listed
    assert "context_save" not in listed


@requirement("session-mgmt.status.memory")
def test_embeddings_that_are_off_are_not_available(open_core: OpenCore, store: Store, shop: Path) -> None:
    call = caller_of(open_core(store, None))
    assert (
        call("status", working_directory=str(shop))["memory_system_status"]["embeddings_available"] is False
    )


@requirement("session-mgmt.status.memory")
def test_embeddings_that_fail_are_not_available_and_the_reason_is_said(
    at_work: Call, core: Core, embedder: HashedWords
) -> None:
    embedder.failure = Unavailable("The model is gone.")
    task(at_work, "card", "Pay by card")
    until(lambda: core.engine.problems.message("embedding") is not None)
    status = at_work("status")
    memory = status["memory_system_status"]
    assert (memory["embeddings_available"], memory["embeddings_problem"]) == (False, "The model is gone.")
    assert status["notices"] == ["New texts are found by their words alone at the moment: The model is gone."]


@requirement("session-mgmt.status.memory")
def test_private_memories_of_other_sessions_are_not_counted(at_work: Call, shop: Path) -> None:
    task(at_work, "secret", "Rotate the key", private=True)
    assert at_work("status")["memory_system_status"]["memories_stored"] == 1
    at_work("end")
    assert at_work("status")["memory_system_status"]["memories_stored"] == 0


@requirement("session-mgmt.status.reads")
def test_status_changes_nothing(call: Call, core: Core, shop: Path) -> None:
    before = sorted(shop.rglob("*"))
    assert call("status", working_directory=str(shop))["session_active"] is False
    assert (core.caller.session, core.caller.project, core.caller.directory) == (None, "/p", "/p")
    assert core.engine.store.sessions.find("session-mgmt", after=None, before=None) == []
    assert core.engine.store.sessions.events(Filter()) == []
    assert sorted(shop.rglob("*")) == before
