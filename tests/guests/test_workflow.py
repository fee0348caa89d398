"""Insights about the workflow from the traces of assistants."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from backstory.core.insight.findings import Sample
from backstory.core.projects.effort import Effort
from backstory.domain.records import Session, TraceHit
from backstory.guests.session_mgmt.project.health import Project, look_at
from backstory.guests.session_mgmt.work.history import History
from backstory.guests.session_mgmt.work.insights import suggestions, workflow

from ..doubles import DAWN
from ..repositories import commit, write

NOW = DAWN + timedelta(minutes=30)
NOTHING = Sample((), 0, {}, (), (), (), NOW)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    root = commit(tmp_path, {"src/api.py": "one\n", "tests/test_api.py": "one\n"})
    return look_at(write(root, {"src/api.py": "two\n"}), NOW, Effort())


def past(*traces: tuple[str, str]) -> History:
    session = Session("s", "shop", "/shop", "session-mgmt", DAWN, DAWN)
    done = tuple(
        TraceHit(kind, value, "c", DAWN + timedelta(minutes=n), n) for n, (kind, value) in enumerate(traces)
    )
    return History(session, NOW, NOTHING, (), (), done)


def test_files_that_an_assistant_wrote_again_and_again_are_counted(project: Project) -> None:
    file = f"{project.root}/src/api.py"
    seen = workflow(
        past(("written", file), ("written", file), ("read", "/shop/README.md"), ("written", file)), project
    )
    assert seen.files == (("src/api.py", 3),)
    assert any(
        each.startswith("src/api.py was changed 3 times") for each in suggestions(past(), project, seen)
    )


def test_errors_that_an_assistant_met_again_are_counted(project: Project) -> None:
    seen = workflow(
        past(("error", "KeyError: 'a'"), ("error", "KeyError: 'a'"), ("error", "ValueError")), project
    )
    assert seen.errors == (("KeyError: 'a'", 2),)


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "python -m unittest",
        "npm test",
        "npm run test",
        "cargo test --all",
        "go test ./...",
        "./gradlew check",
        "mvn -q verify",
        "make check",
    ],
)
def test_a_test_run_is_known_by_its_command(project: Project, command: str) -> None:
    assert workflow(past(("command", command)), project).test_runs == 1


@pytest.mark.parametrize("command", ["ls", "git commit -m contest", "cat latest.log", "npm install"])
def test_other_commands_are_no_test_runs(project: Project, command: str) -> None:
    done = past(("command", command))
    seen = workflow(done, project)
    assert seen.test_runs == 0
    assert any(each.startswith("No test run was seen") for each in suggestions(done, project, seen))


def test_nobody_is_told_to_test_whose_commands_are_unknown(project: Project) -> None:
    assert suggestions(past(), project, workflow(past(), project)) == []
