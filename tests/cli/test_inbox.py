"""`backstory inbox`: rules that a user repeated, with their evidence."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..typed import typed
from .test_exclude import User

RULE = "Never use sleeps in the browser tests."
AGAIN = "never use sleeps in the browser tests, please"


@pytest.fixture
def user(tmp_path: Path) -> User:
    return User(tmp_path)


def inbox(user: User, project: Path) -> list[dict[str, object]]:
    user.run("sync")
    listed: list[dict[str, object]] = user.run("inbox", "--project", str(project))["proposals"]
    return listed


def test_a_rule_of_two_sessions_is_proposed_with_both_messages_and_one_of_one_is_not(user: User) -> None:
    project = user.project("shop")
    user.log(project, RULE, "Understood.")
    user.log(project, "Always run the linter before commits.", "Understood.")
    assert inbox(user, project) == []
    user.log(project, AGAIN, "Sorry.")
    (proposal,) = inbox(user, project)
    assert proposal["text"] == RULE
    evidence = proposal["evidence"]
    assert isinstance(evidence, list)
    assert len({each["conversation"] for each in evidence}) == 2
    assert RULE in typed("inbox", "--project", str(project), home=user.store, **user.environment()).stdout


def test_words_that_are_not_the_users_own_are_never_proposed(user: User) -> None:
    project = user.project("shop")
    for _ in range(3):
        user.log(
            project, f"The review says:\n> {RULE}\n\nWhat do you think?", f"{RULE} I will remember that."
        )
        user.log(project, f"```\n{RULE}\n```\nplease explain", "It is about waiting.")
    assert inbox(user, project) == []


def test_an_accepted_proposal_is_a_memory_and_is_not_proposed_again(user: User) -> None:
    project = user.project("shop")
    user.log(project, RULE, "Understood.")
    user.log(project, AGAIN, "Sorry.")
    (proposal,) = inbox(user, project)
    done = user.run("inbox", "accept", str(proposal["id"])[:8], "--project", str(project))
    shown = user.run("show", done["memory"])
    assert (shown["text"], shown["kind"], shown["project"]) == (RULE, "preference", str(project))
    user.log(project, RULE, "Again.")
    assert inbox(user, project) == []


def test_a_proposal_can_be_edited_and_written_into_a_rules_file_on_that_command_alone(user: User) -> None:
    project = user.project("shop")
    rules = project / "AGENTS.md"
    rules.write_text("# Rules\n- Be brief")
    user.log(project, RULE, "Understood.")
    user.log(project, AGAIN, "Sorry.")
    (proposal,) = inbox(user, project)
    assert rules.read_text() == "# Rules\n- Be brief"
    words = ("inbox", "edit", str(proposal["id"]), "--text", "No sleeps in tests.", "--file", "AGENTS.md")
    user.run(*words, "--project", str(project))
    assert rules.read_text() == "# Rules\n- Be brief\n- No sleeps in tests.\n"
    assert inbox(user, project) == []
    assert user.run("list")["memories"] == []


def test_a_dismissed_proposal_does_not_come_back_however_often_it_is_said(user: User) -> None:
    project = user.project("shop")
    first = user.log(project, RULE, "Understood.")
    user.log(project, AGAIN, "Sorry.")
    (proposal,) = inbox(user, project)
    user.run("inbox", "dismiss", str(proposal["id"]), "--project", str(project))
    user.log(project, RULE, "Again.")
    user.run("sync")
    user.run("forget", f"claude-code:{first.stem}", "--yes")
    assert inbox(user, project) == []
    missing = typed(
        "inbox", "accept", "0000", "--project", str(project), home=user.store, **user.environment()
    )
    assert missing.returncode == 1
