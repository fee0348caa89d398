"""Who gets in: the one with the link, on this machine, from the page itself; and nobody else."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path
from urllib.parse import urljoin

import pytest

from ..patience import PATIENCE_S
from ..processes import BACKSTORY, environment
from .conftest import Pages
from .sample import MAIN


def test_without_the_cookie_nothing_is_shown(pages: Pages) -> None:
    for path in ("/", "/search?q=queue", f"/conversation/{MAIN}", f"/export/{MAIN}", "/nowhere"):
        answer = pages.send(path)
        assert answer.status == 401
        assert "queue" not in answer.text
    assert pages.send("/", Cookie=f"{pages.keys.cookie}=guess").status == 401
    assert pages.send("/?t=guess").status == 401


def test_a_link_opens_one_browser(pages: Pages) -> None:
    link = pages.keys.link
    first = pages.send(f"/search?q=queue&{link}")
    assert (first.status, first.headers["Location"]) == (303, "/search?q=queue")
    given = first.headers["Set-Cookie"]
    assert given.partition(";")[0] == pages.cookie
    assert {"HttpOnly", "SameSite=strict"} <= set(given.split("; "))
    assert pages.send(f"/?{link}").status == 401
    assert pages.get(f"/?{link}").status == 303  # who is in may click it again


def test_other_names_lead_nowhere(pages: Pages) -> None:
    for name in (
        "evil.example",
        f"evil.example:{pages.port}",
        "127.0.0.1",
        "localhost:1",
        f"127.0.0.1.evil.example:{pages.port}",
    ):
        assert pages.get("/", Host=name).status == 421
    for name in ("localhost", "127.0.0.1", "[::1]"):
        assert pages.get("/", Host=f"{name}:{pages.port}").status == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", "file://"])
def test_pages_of_other_sites_may_neither_ask_nor_change(pages: Pages, origin: str) -> None:
    assert pages.get("/", Origin=origin).status == 403
    assert pages.send("/search", {}, Cookie=pages.cookie, Origin=origin).status == 403
    for site in ("cross-site", "same-site"):
        assert pages.get("/", Sec_Fetch_Site=site).status == 403


def test_a_change_says_where_it_comes_from(pages: Pages) -> None:
    assert pages.send("/search", {}, Cookie=pages.cookie).status == 403
    assert pages.post("/search").status == 405


def test_every_answer_says_what_a_browser_may_do_with_it(pages: Pages) -> None:
    for answer in (
        pages.get("/"),
        pages.send("/"),
        pages.get("/nowhere"),
        pages.get("/", Host="evil.example"),
    ):
        assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
        assert "unsafe" not in answer.headers["Content-Security-Policy"]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cache-Control"] == "no-store"
        assert "server" not in answer.headers


def test_files_outside_of_ours_are_not_served(pages: Pages) -> None:
    for path in ("/static/../access.py", "/static/..%2faccess.py", "/static/%2e%2e/%2e%2e/settings.py"):
        assert pages.get(path).status == 404


def test_the_command_prints_a_link_and_ends_with_its_terminal(tmp_path: Path) -> None:
    command = [*BACKSTORY, "web", "--no-open", "--embeddings", "off"]
    with subprocess.Popen(
        command, env=environment(tmp_path), stderr=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        assert line.startswith("Open: http://127.0.0.1:")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0


@pytest.mark.parametrize(
    "path",
    [
        "//evil.example/",
        "///evil.example/",
        "/%2Fevil.example/",
        "/%5Cevil.example/",
        "/%5C/evil.example/",
        "/%09/evil.example/",
        "//evil.example%2F%2e%2e",
        "/.//evil.example/",
        "//user@evil.example/",
        "/https://evil.example/",
    ],
)
def test_no_link_leads_to_another_site(pages: Pages, path: str) -> None:
    own = f"http://127.0.0.1:{pages.port}/"
    for answer in (pages.get(f"{path}?t=x"), pages.send(f"{path}?q=1&{pages.keys.link}")):
        assert answer.status == 303
        location = answer.headers["Location"]
        # a browser reads a backslash as a slash, and leaves out tabs and line ends
        assert urljoin(own, re.sub(r"[\t\r\n]", "", location).replace("\\", "/")).startswith(own), location
        assert not location.startswith("//")


def test_a_page_with_odd_signs_in_its_address_is_where_a_link_leads(pages: Pages) -> None:
    answer = pages.get("/conversation/a%3Fb%23c%20d%25?t=x")
    assert answer.headers["Location"] == "/conversation/a%3Fb%23c%20d%25"
