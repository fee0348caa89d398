"""Titles of conversations that their assistant did not name."""

from __future__ import annotations

from pathlib import Path

import pytest

from backstory.readers import Cursor, Form, Role, Source, Turn
from backstory.readers.claude_code import reader
from backstory.readers.formats.titles import headline, retitled, title_of

from .golden import merged
from .test_claude_code import assistant, text, user, write


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Fix the parser\nIt drops a comma.", "Fix the parser"),
        ("\n  # Add a cache\n\nBecause it is slow.", "Add a cache"),
        ("Implement the following plan:\n\n# Retry uploads\n\n## Context\n…", "Retry uploads"),
        ("Implement the following plan:\n\nRetry uploads in the worker.", "Retry uploads in the worker."),
        ("Please execute this approved plan:\n## Move the cache\n", "Move the cache"),
        ("Implement the following plan:\n\n# Plan\n\n## Context\n\nLogins are slow.", "Logins are slow."),
        ("Implement the following plan:\n\n# Plan: Retry uploads", "Retry uploads"),
        ("Implement the following plan:\n\n# Implementation Plan — Retry uploads", "Retry uploads"),
        ("PLEASE IMPLEMENT THIS PLAN:\n**Retry uploads**\n\nSteps", "Retry uploads"),
        ("# Plan\n\nRetry uploads", "Plan"),
        ("[Image #1] [Image #2] Why is it red?", "Why is it red?"),
        ("[Pasted text #1 +20 lines] Fix this", "Fix this"),
        ("[Image #1]\nWhy is it red?", "Why is it red?"),
        ("<task>\nPort the tests\n</task>", "Port the tests"),
        ("hi\nWhy does the cache miss?", "Why does the cache miss?"),
        ("/review the last commit", "/review the last commit"),
        ("修复解析器", "修复解析器"),
        ("x" * 200, "x" * 99 + "…"),
        ("words " * 30, "words " * 15 + "words…"),
    ],
)
def test_it_is_called_by_the_first_line_that_says_something(said: str, title: str) -> None:
    assert headline(said) == title


@pytest.mark.parametrize(
    "said", ["", "  \n", "/clear", "/model\n", "1", "2.", "hi", "Hello there!", "ok, go on", "y", "?"]
)
def test_greetings_numbers_and_bare_commands_name_nothing(said: str) -> None:
    assert headline(said) == ""


def test_a_prompt_names_it_before_a_command_and_a_command_before_an_answer() -> None:
    command = Turn("1", Role.USER, "/add parser.py")
    answer = Turn("2", Role.ASSISTANT, "Hello! I can help with the parser.")
    assert title_of([command, answer, Turn("3", Role.USER, "Why does it fail?")]) == "Why does it fail?"
    assert title_of([command, answer]) == "/add parser.py"
    assert title_of([Turn("1", Role.USER, "hi"), answer]) == "Hello! I can help with the parser."
    assert title_of([Turn("1", Role.USER, "1")]) == ""


def test_a_command_with_a_sentence_names_it_before_a_later_prompt() -> None:
    later = Turn("2", Role.USER, "Thanks! Please update the changelog.")
    for command in (
        "/orchestrator create a shop with carts",
        "/explain \u8bf7\u5206\u6790\u8fd9\u4e2a\u6a21\u5757",
    ):
        assert title_of([Turn("1", Role.USER, command), later]) == command
    for command in ("/add a.py src/b.py tests/c.py", "!uv run pytest these tests now", "/model large"):
        assert title_of([Turn("1", Role.USER, command), later]) == later.text


def test_the_name_of_a_speaker_is_no_title() -> None:
    asked = "[[ ## user_query ## ]]\n\n@[System]:\nName the planets."
    assert title_of([Turn("1", Role.USER, asked)]) == "Name the planets."


def test_a_stored_title_gives_way_only_if_it_says_nothing_or_was_taken_from_a_prompt() -> None:
    turns = [
        Turn("1", Role.USER, "/plan build the shop first"),
        Turn("2", Role.USER, "Thanks! Please update the changelog."),
    ]
    for former in ("", "@[System]:", "Thanks! Please update the changelog."):
        assert retitled(former, turns) == "/plan build the shop first"
    assert retitled("Shop", turns) == "Shop"


def test_a_log_is_called_by_what_is_said_later_if_its_beginning_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s1.jsonl"
    greeting = [user("u1", "hi"), assistant("u2", "m1", text("Hello! What shall we build?"))]
    source = write(path, *greeting)
    assert merged(reader.read(source, Cursor()))["s1"].header.title == "Hello! What shall we build?"
    source = write(path, *greeting, user("u3", "Implement the following plan:\n\n# Retry uploads\n\nSteps"))
    assert merged(reader.read(Source(path, Form.LOG), Cursor()))["s1"].header.title == "Retry uploads"
    assert source.path == path
