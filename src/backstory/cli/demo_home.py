"""The home of an invented user: a small shop, and three assistants' histories of the work on it, in their own formats."""

from __future__ import annotations

import json
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from .report import Json

BILLING = '''\
"""Invoices, and the reports about them."""


def monthly_totals(connection):
    """Running totals, the oldest month first."""
    return connection.execute(
        "SELECT month, sum(amount) OVER (ORDER BY month) FROM invoice ORDER BY month"
    ).fetchall()
'''
LOGIN = '''\
LIFETIME_H = 24


def renew(cookie, now):
    """On every request, so that nobody who works is sent to the login page."""
    return cookie.replace(expires=now + LIFETIME_H)
'''
LINE = 7
"""The line of billing.py that `blame` demonstrates."""

DATABASE = "We decided on PostgreSQL for the billing service, because its reports need window functions."
COOKIE = (
    "The login page timed out because the session cookie was older than 24 hours and nothing renewed it."
    " I tried a longer lifetime but that failed the security review, so it is renewed on every request."
    "\n\nNext step: do the same in the mobile app."
)
DEPLOY = "From now on we deploy on Tuesdays only: the on-call rota is empty at weekends."
PATCH = "*** Begin Patch\n*** Add File: src/login.py\n{}\n*** End Patch"


class Shop(NamedTuple):
    user: Path
    """The user's home."""
    project: Path


def make_shop(folder: Path, now: datetime) -> Shop:
    shop = Shop(folder / "user", folder / "shop")
    (shop.project / "src").mkdir(parents=True)
    shop.user.mkdir()
    _claude_code(shop, now - timedelta(days=2))
    _codex(shop, now - timedelta(days=1))
    _gemini(shop, now - timedelta(hours=3))
    (shop.project / "src" / "billing.py").write_text(BILLING, "utf-8")
    (shop.project / "src" / "login.py").write_text(LOGIN, "utf-8")
    commit_all(shop.project, "Billing and login", now - timedelta(hours=2))
    return shop


def _claude_code(shop: Shop, at: datetime) -> None:
    session = "5f2c7a10-3b1d-4c8e-9a55-0c2f6e7d8b91"
    written = {"file_path": str(shop.project / "src" / "billing.py"), "content": BILLING}
    messages: list[tuple[str, Any]] = [
        ("user", "Reports for accounting need running totals by month. What do we store invoices in?"),
        ("assistant", [{"type": "text", "text": "I will write monthly_totals() for that."}]),
        ("assistant", [{"type": "tool_use", "id": "t1", "name": "Write", "input": written}]),
        ("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "ok"}]),
        ("assistant", [{"type": "text", "text": DATABASE}]),
    ]
    lines = [
        {
            "type": role,
            "uuid": f"c{number}",
            "sessionId": session,
            "timestamp": _time(at + timedelta(minutes=number)),
            "cwd": str(shop.project),
            "gitBranch": "main",
            "message": {"id": f"m{number}", "role": role, "model": "claude-sonnet", "content": content},
        }
        for number, (role, content) in enumerate(messages)
    ]
    _write_lines(shop.user / ".claude" / "projects" / "shop" / f"{session}.jsonl", lines)


def _codex(shop: Shop, at: datetime) -> None:
    session = "019a2b3c-4d5e-7f60-8a9b-0c1d2e3f4a5b"
    patch = PATCH.format("\n".join(f"+{line}" for line in LOGIN.splitlines()))
    payloads: list[Json] = [
        _message("user", "The login page times out for people who work all day. Why?"),
        {"type": "custom_tool_call", "name": "apply_patch", "call_id": "t1", "input": patch},
        {"type": "custom_tool_call_output", "call_id": "t1", "output": "Success."},
        _message("assistant", COOKIE),
    ]
    head = {"id": session, "cwd": str(shop.project), "timestamp": _time(at), "git": {"branch": "main"}}
    lines = [{"timestamp": _time(at), "type": "session_meta", "payload": head}]
    lines += [
        {"timestamp": _time(at + timedelta(minutes=number)), "type": "response_item", "payload": payload}
        for number, payload in enumerate(payloads)
    ]
    folder = shop.user / ".codex" / "sessions" / f"{at:%Y/%m/%d}"
    _write_lines(folder / f"rollout-{at:%Y-%m-%dT%H-%M-%S}-{session}.jsonl", lines)


def _message(role: str, text: str) -> Json:
    kind = "input_text" if role == "user" else "output_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _gemini(shop: Shop, at: datetime) -> None:
    folder = shop.user / ".gemini" / "tmp" / "shop"
    messages = [
        {
            "id": "g1",
            "timestamp": _time(at),
            "type": "user",
            "content": f"The Saturday release broke, and nobody was on call. {DEPLOY}",
        },
        {
            "id": "g2",
            "timestamp": _time(at + timedelta(minutes=1)),
            "type": "gemini",
            "content": "The calendar of releases has Tuesdays only now.",
            "model": "gemini-pro",
        },
    ]
    document = {
        "sessionId": "8d7c6b5a-4f3e-4d2c-9b1a-0f9e8d7c6b5a",
        "startTime": _time(at),
        "lastUpdated": _time(at + timedelta(minutes=1)),
        "messages": messages,
    }
    (folder / "chats").mkdir(parents=True)
    (folder / ".project_root").write_text(str(shop.project), "utf-8")
    (folder / "chats" / f"session-{at:%Y-%m-%dT%H-%M}.json").write_text(json.dumps(document), "utf-8")


def _write_lines(path: Path, lines: list[Json]) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%S}.000Z"


def commit_all(project: Path, subject: str, at: datetime) -> None:
    """Commit everything. Without git the project is simply not a repository."""
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.org", "-c", "commit.gpgsign=false"]
    dates = ["-c", "core.hooksPath=/dev/null", "-c", "init.defaultBranch=main"]
    base = ["git", *who, *dates, "-C", str(project)]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", subject, f"--date={_time(at)}"]):
        try:
            subprocess.run([*base, *words], check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError):
            return
