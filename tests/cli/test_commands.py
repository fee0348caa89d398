"""What people type; in real processes where the process makes a difference."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from errno import EADDRINUSE
from pathlib import Path

import pytest

from backstory import __version__
from backstory.cli.commands import COMMANDS
from backstory.surfaces import all_tools, load_surfaces

from ..conftest import caller_of
from ..patience import PATIENCE_S
from ..processes import BACKSTORY, Json, core_over, environment, run, save, serving
from ..typed import typed

MEMORY = "We chose PostgreSQL because the reports need window functions."
PEOPLES = [
    name
    for name in COMMANDS
    if name
    not in (
        "serve",
        "web",
        "demo",
        "web",
        "search",
        "show",
        "blame",
        "why",
        "completion",
        "resume",
        "pr",
        "share",
        "unshare",
        "team",
        "handoff",
        "export",
        "remember",
        "edit",
        "delete",
        "backup",
        "restore",
        "archive",
        "unarchive",
        "forget",
        "import",
        "migrate",
        "devices",
        "fix",
        "how",
        "admin",
    )
]
"""Commands that need neither a word of their own nor a store; `demo`, the slow one, has its own test."""


def told(home: Path, *words: str, **variables: str) -> Json:
    """The one JSON document that a command prints."""
    done = typed(*words, "--json", home=home, **variables)
    assert done.returncode == 0, done.stderr
    document: Json = json.loads(done.stdout)
    return document


def refusal(home: Path, *words: str, **variables: str) -> str:
    """What a command says when it is used wrongly; nothing else is printed."""
    done = typed(*words, home=home, **variables)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("backstory: ")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("command", PEOPLES)
def test_every_command_speaks_to_people_and_to_programs(tmp_path: Path, command: str) -> None:
    done = typed(command, home=tmp_path / "people")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert done.stderr == ""
    assert isinstance(told(tmp_path / "programs", command), dict)


def test_help_is_shown_before_anything_is_made(tmp_path: Path) -> None:
    done = typed("sync", "--help", home=tmp_path)
    assert done.returncode == 0
    assert "usage: backstory sync" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_search_finds_by_words_and_by_meaning(tmp_path: Path) -> None:
    save(tmp_path, MEMORY, "Lunch is at noon.")
    by_words = told(tmp_path, "search", "window", "functions", "--limit", "1")
    assert by_words["query"] == "window functions"
    assert by_words["search_strategy"] == "hybrid"
    assert [result["text"] for result in by_words["results"]] == [MEMORY]
    by_meaning = told(tmp_path, "search", "which database did they pick?")
    assert by_meaning["results"][0]["text"] == MEMORY
    assert by_meaning["results"][0]["kind"] == "memory"
    assert MEMORY in typed("search", "postgresql", home=tmp_path).stdout


def test_search_explains_itself(tmp_path: Path) -> None:
    save(tmp_path, MEMORY)
    result = told(tmp_path, "search", "postgresql", "--explain")["results"][0]
    assert {"words", "meaning", "coverage", "cosine"} <= result["parts"].keys()
    text = typed("search", "postgresql", "--explain", home=tmp_path).stdout
    assert "cosine 0." in text
    assert "Searched by words and by meaning." in text


def test_search_without_embeddings_says_so(tmp_path: Path) -> None:
    save(tmp_path, MEMORY)
    found = told(tmp_path, "search", "postgresql", "--embeddings", "off")
    assert found["search_strategy"] == "text"
    assert "switched off" in found["notices"][0]


def test_a_saved_escape_sequence_does_not_reach_the_terminal(tmp_path: Path) -> None:
    save(tmp_path, "heron \x1b[2J\x1b]0;owned\x07 tail")
    assert "\x1b" not in typed("search", "heron", home=tmp_path).stdout


def test_output_is_utf8_whatever_the_locale(tmp_path: Path) -> None:
    save(tmp_path, "Größe 日本語")
    done = run("search", "größe", "--json", home=tmp_path, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert json.loads(done.stdout)["results"][0]["text"] == "Größe 日本語"


def test_status_counts_what_is_there(tmp_path: Path) -> None:
    save(tmp_path, MEMORY, "Lunch is at noon.")
    status = told(tmp_path, "status")
    assert status["version"] == __version__
    assert status["store"] == str(tmp_path / "store.db")
    assert (status["holds"]["memories"], status["holds"]["projects"]) == (2, 1)
    assert status["embeddings"] == {"source": "local", "model": "all-MiniLM-L6-v2"}
    assert status["changed_settings"] == {}


def test_embed_gives_waiting_texts_their_vectors(tmp_path: Path) -> None:
    with serving(tmp_path, "serve", "--embeddings", "off") as server:
        server.greet()
        server.call("save_context", context_text=MEMORY)
    assert told(tmp_path, "status")["holds"]["waiting"] == 1
    assert told(tmp_path, "embed") == {"embedded": 1}
    assert told(tmp_path, "embed") == {"embedded": 0}
    assert told(tmp_path, "status")["holds"]["waiting"] == 0


def test_tools_come_from_the_registry(tmp_path: Path) -> None:
    listed = told(tmp_path, "tools")["surfaces"]
    names = [tool["name"] for surface in listed for tool in surface["tools"]]
    assert names == list(all_tools(load_surfaces()))


def test_version(tmp_path: Path) -> None:
    assert run("--version", home=tmp_path).stdout == f"backstory {__version__}\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["serach"], "Did you mean search?"),
        (["--hom", "x"], "Did you mean --home?"),
        (["search", "x", "--limt", "3"], "Did you mean --limit?"),
        (["serve", "--surface", "x"], "Did you mean --surfaces?"),
        (["status", "--busy-timeout", "3"], "Did you mean --busy-timeout-s?"),
        (["status", "--workers"], "--workers needs a value."),
        (["status", "extra"], "does not take 'extra'"),
        (["search"], "The query is empty"),
        (["search", " "], "The query is empty"),
        (["search", "x", "--limit", "0"], "--limit must be at least 1."),
        (["status", "--workers", "none"], "workers must be a whole number above 0"),
        (["serve", "--surfaces", "nothing"], "There is no surface 'nothing'."),
        (["status", "--database-url", "mysql://x"], "database_url"),
    ],
)
def test_misuse_is_refused_with_a_hint(tmp_path: Path, words: list[str], said: str) -> None:
    assert said in refusal(tmp_path, *words)


@pytest.mark.parametrize("command", ["archive", "forget"])
def test_nobody_is_talked_into_agreeing(tmp_path: Path, command: str) -> None:
    assert "--yes" not in refusal(tmp_path, command, "--days", "1")


def test_a_failure_is_told_apart_from_misuse(tmp_path: Path) -> None:
    (tmp_path / "store.db").write_text("not a database, though long enough to be asked about it" * 20)
    done = run("status", home=tmp_path)
    assert done.returncode == 1
    assert "is damaged" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_has_seen_enough_is_no_error_to_report(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*BACKSTORY, "settings"],
        env=environment(tmp_path),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=PATIENCE_S,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_long_work_shows_its_progress_to_a_person_only(tmp_path: Path) -> None:
    controller, terminal = os.openpty()
    done = subprocess.run(
        [*BACKSTORY, "doctor", "--json"],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=terminal,
        timeout=PATIENCE_S,
    )
    os.close(terminal)
    shown = os.read(controller, 4096).decode()
    os.close(controller)
    assert "Checked integrity" in shown
    assert isinstance(json.loads(done.stdout), dict)


@pytest.mark.skipif(os.name != "posix", reason="needs signals")
def test_an_interrupted_command_is_quiet(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (
        subprocess.Popen(
            [*BACKSTORY, "restore", str(pipe)],
            env=environment(tmp_path),
            stderr=subprocess.PIPE,
            # started in the background, the tests themselves may ignore the signal, and children inherit that
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        ) as process,
        pipe.open(
            "wb"
        ),  # waits until the command has opened the other end; then it waits for bytes that never come
    ):
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        assert process.stderr.read() == b""
    assert process.returncode == 130


def test_after_two_dashes_everything_is_a_word(tmp_path: Path) -> None:
    save(tmp_path, "The flag --home moves the data directory.")
    done = typed("search", "--json", "--", "--home", home=tmp_path)
    assert len(json.loads(done.stdout)["results"]) == 1


@pytest.mark.parametrize("words", [("search", "x"), ("status",), ("doctor",), ("integrity",), ("audit",)])
def test_a_mistyped_home_is_named_and_not_made(tmp_path: Path, words: tuple[str, ...]) -> None:
    typo = tmp_path / "typo"
    assert f"There is no directory {typo}." in refusal(tmp_path / "home", *words, "--home", str(typo))
    assert not typo.exists()


def test_what_was_compressed_comes_back_by_its_key(tmp_path: Path) -> None:
    with core_over(tmp_path) as core:
        call = caller_of(core)
        call("context_save", key="old_plan", value="Use a queue.")
        assert call("context_compress", olderThan="2999-01-01")["compressed"]["items"] == 1
    done = typed("unarchive", "old_plan", "--json", home=tmp_path)
    assert len(json.loads(done.stdout)["restored"]) == 1
    with core_over(tmp_path) as core:
        (item,) = caller_of(core)("context_get", key="old_plan")["items"]
    assert item["value"] == "Use a queue."
    again = typed("unarchive", "old_plan", home=tmp_path)
    assert again.returncode == 1
    assert "no archived memory or conversation 'old_plan'" in again.stderr


@pytest.mark.parametrize(
    ("words", "subject"), [(("web", "--no-open", "--port"), "Port "), (("serve", "--http"), "127.0.0.1:")]
)
def test_a_port_that_is_taken_is_named(tmp_path: Path, words: tuple[str, ...], subject: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        value = f"127.0.0.1:{port}" if "serve" in words else str(port)
        done = typed(*words, value, home=tmp_path)
    assert done.returncode == 1
    assert (
        done.stderr.splitlines()[0]
        == f"backstory: {subject}{port} cannot be used: {os.strerror(EADDRINUSE)}."
    )


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["token"], 0),
        (["token", "list"], 0),
        (["token", "revoke", "x"], 1),
        (["token", "revoke"], 2),
        (["token", "create"], 2),
        (["token", "create", "--user", "not a name"], 2),
        (["audit"], 0),
        (["serve", "--surfaces", "nothing"], 2),
        (["serve", "--summaries", "openai", "--chat-url", ""], 2),
    ],
)
def test_a_look_at_tokens_and_a_slip_make_no_store(tmp_path: Path, words: list[str], status: int) -> None:
    (tmp_path / "ours").mkdir()
    assert typed(*words, home=tmp_path / "ours").returncode == status
    assert list((tmp_path / "ours").iterdir()) == []
