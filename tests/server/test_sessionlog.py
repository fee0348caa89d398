"""The session log: the documented lines, private files, and no harm when it cannot be written."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backstory.server.sessionlog import KEPT_LOGS, LEVELS, SessionLog

from ..patience import PATIENCE_S
from ..processes import environment
from .team import PRODUCT, Web, bearer, token

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")


def lines(home: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for log in (home / "logs").glob("*.log") for line in log.read_text().splitlines()
    ]


@pytest.mark.requirement("server.logging.format", "server.logging.location")
def test_a_line_has_exactly_the_documented_keys(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "info", now=lambda: 1705314645.123456)
    log.write("info", "tool_call_echo", "Tool call completed", {"processing_time": 0.045})
    (line,) = lines(tmp_path)
    session_id = line.pop("session_id")
    assert re.fullmatch("[0-9a-f]{8}", session_id)
    assert line == {
        "timestamp": "2024-01-15T10:30:45.123456",
        "level": "info",
        "message": "Tool call completed",
        "logger": "tool_call_echo",
        "data": {"processing_time": 0.045},
    }
    assert [log.name for log in (tmp_path / "logs").iterdir()] == [
        f"backstory_session_{session_id}_20240115_103045.log"
    ]


def test_no_file_is_made_until_there_is_something_to_write(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "warning")
    log.write("info", "x", "below the level", {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.requirement("server.logging.dynamic")
@pytest.mark.parametrize("level", LEVELS)
def test_the_level_can_change_while_running(tmp_path: Path, level: str) -> None:
    log = SessionLog(tmp_path, "emergency")
    log.set_level(level)
    for each in LEVELS:
        log.write(each, "x", "", {})
    assert [line["level"] for line in lines(tmp_path)] == list(LEVELS[LEVELS.index(level) :])


@posix_only
def test_nobody_else_can_read_the_log(tmp_path: Path) -> None:
    SessionLog(tmp_path / "home", "info").write("info", "x", "", {})
    (log,) = (tmp_path / "home" / "logs").iterdir()
    assert [path.stat().st_mode & 0o777 for path in (log, log.parent, log.parent.parent)] == [
        0o600,
        0o700,
        0o700,
    ]


def test_a_log_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    log = SessionLog(tmp_path, "info")
    log.write("error", "x", "", {})
    log.write("error", "x", "", {})
    assert (tmp_path / "logs").read_text() == "in the way"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_no_error(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "info")
    log.write("info", "x", "opens the file", {})
    assert log._file is not None
    os.dup2(os.open("/dev/full", os.O_WRONLY), log._file)
    log.write("info", "x", "", {})


def test_logs_take_no_more_than_their_limit_and_the_oldest_lines_go_first(tmp_path: Path) -> None:
    limit = 20_000
    for _ in range(2):  # of two servers, one after the other
        log = SessionLog(tmp_path, "info", limit, now=lambda: 1705314645.0)
        for number in range(300):
            log.write("info", "x", "", {"number": number})
            assert sum(path.stat().st_size for path in (tmp_path / "logs").iterdir()) <= limit
    files = [path.read_text().splitlines() for path in (tmp_path / "logs").iterdir()]
    assert len(files) > 5
    numbers = {json.loads(line)["data"]["number"] for lines in files for line in lines}
    assert 299 in numbers
    assert 0 not in numbers


def test_threads_that_write_while_files_change_lose_no_line(tmp_path: Path) -> None:
    log = SessionLog(tmp_path, "info", 1_000_000)
    with ThreadPoolExecutor(8) as threads:
        for number in range(2_000):
            threads.submit(log.write, "info", "x", "y" * 100, {"number": number})
    assert len(list((tmp_path / "logs").iterdir())) > 3
    assert sorted(line["data"]["number"] for line in lines(tmp_path)) == list(range(2_000))


def test_a_new_log_removes_the_oldest_beyond_the_limit(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    logs.mkdir()
    for number in range(KEPT_LOGS + 10):
        old = logs / f"backstory_session_{number:08x}_20240101_000000.log"
        old.touch()
        os.utime(old, (number, number))
    (logs / "notes.txt").touch()
    SessionLog(tmp_path, "info").write("info", "x", "", {})
    kept = {path.name for path in logs.iterdir()}
    assert len(kept) == KEPT_LOGS + 1
    assert "notes.txt" in kept
    assert f"backstory_session_{10:08x}_20240101_000000.log" not in kept
    assert f"backstory_session_{11:08x}_20240101_000000.log" in kept


def test_a_container_reads_calls_with_request_user_and_tenant_on_stdout(tmp_path: Path) -> None:
    made = token(tmp_path, "alice", "--space", "ops")
    with subprocess.Popen(
        [*PRODUCT, "--http-auth", "token", "--http-log", "stdout"],
        env=environment(tmp_path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert process.stderr is not None
        web = Web(process, process.stderr.readline().split()[1])
        save = {"context_text": "Lunch at kelpworm."}
        web.call("save_context", save, "/mcp/ops", X_Request_Id="r-7", **bearer(made))
        web.call("save_context", save, X_Request_Id="no id\tat all", **bearer(made))
        process.terminate()
        printed, _ = process.communicate(timeout=PATIENCE_S)
    calls = [line["data"] for line in map(json.loads, printed.splitlines()) if "Tool call" in line["message"]]
    assert [(call["user"], call["tenant"]) for call in calls] == [
        ("alice", "team-ops"),
        ("alice", "user-alice"),
    ]
    assert calls[0]["request"] == "r-7"
    assert calls[1]["request"] not in ("", "r-7")
    assert "kelpworm" not in printed
    assert not (tmp_path / "logs").exists()
