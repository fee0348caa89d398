"""MCP over HTTP: both eras, sessions that any instance continues, and a way out that loses nothing."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import re
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from backstory.server.sessionlog import LEVELS

from ..example_calls import DOOMED, OFF_BY_DEFAULT, Known, example_calls
from ..patience import PATIENCE_S
from ..processes import run, serving
from ..typed import typed
from .team import LEGACY, Web, bearer, connected, fixture, listening, token

OF_A_CHECKOUT = {
    "init",
    "checkpoint",
    "status",
    "end",
    "get_project_info",
    "list_project_files",
    "context_git_commit",
}


def test_the_official_client_calls_every_tool_in_every_mode(home: Path) -> None:
    async def talk(url: str, mode: str, version: str) -> None:
        async with connected(url, mode) as client:
            assert client.protocol_version == version
            listed = {tool.name for tool in (await client.list_tools()).tools}
            other = await client.call_tool("context_session_start", {"name": "Other"})
            await client.call_tool("context_save", {"key": DOOMED, "value": "Not for long."})
            saved = [await client.call_tool("save_context", {"context_text": text}) for text in ("a", "b")]
            one, two = [(each.structured_content or {})["id"] for each in saved]
            session = (other.structured_content or {})["sessionId"]
            await client.call_tool("context_session_start", {"name": "Mine"})
            await client.call_tool("save_context", {"context_text": "albatross " * 3_000})
            large = await client.call_tool("reflect_on_past", {"query": "albatross", "min_score": 0.1})
            chunked = (large.structured_content or {})["cache_key"]
            calls = example_calls(Known(one, two, session, str(home), chunked))
            assert {name for name, _ in calls} == listed - OFF_BY_DEFAULT
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                assert not result.is_error, (name, result)

    with listening(home) as web:
        for mode, version in (("legacy", LEGACY), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")):
            asyncio.run(talk(web.url, mode, version))


def test_tools_of_a_checkout_are_listed_only_to_callers_on_this_machine(home: Path) -> None:
    with listening(home) as web:
        near = {tool["name"] for tool in web.ask("tools/list", {}).json["result"]["tools"]}
    with listening(home, "--http-hosts", "memory.example.com") as web:  # a proxy: whoever may stand behind it
        proxied = {tool["name"] for tool in web.ask("tools/list", {}).json["result"]["tools"]}
        refused = web.call("get_project_info", {})
    made = bearer(token(home, "alice"))
    with listening(home, "--http-auth", "token") as web:
        far = {tool["name"] for tool in web.ask("tools/list", {}, **made).json["result"]["tools"]}
    assert near - far == OF_A_CHECKOUT
    assert proxied == far < near
    assert refused["isError"]
    assert "own machine" in refused["content"][0]["text"]


def test_the_server_of_one_person_reads_their_histories(tmp_path: Path) -> None:
    log = tmp_path / "user" / ".claude" / "projects" / "-w-app" / "s.jsonl"
    log.parent.mkdir(parents=True)
    line = {
        "type": "user",
        "uuid": "u1",
        "sessionId": "s",
        "timestamp": "2026-01-02T03:04:05Z",
        "cwd": "/w/app",
    }
    message = {"role": "user", "content": "Why does the walrus cache miss?"}
    log.write_text(json.dumps({**line, "message": message}) + "\n")
    person = {"HOME": str(tmp_path / "user"), "BACKSTORY_HISTORIES": "claude-code", "CLAUDE_CONFIG_DIR": ""}
    asked = {"search_query": "walrus", "days_lookback": 60, "fast_mode": False}
    with listening(tmp_path / "home", **person) as web:
        found = web.call("recall_conversations", asked)
    assert "walrus" in found["content"][0]["text"]


def test_an_answer_is_what_stdio_would_answer(tmp_path: Path) -> None:
    asked = {"name": "retrieve_context", "arguments": {"query": "lunch ü"}}
    wrong = {"name": "context_get", "arguments": {"limit": "many"}}
    half = {"name": "save_context", "arguments": {"context_text": "half \ud83d"}}
    with serving(tmp_path, "serve", "--embeddings", "off") as server:
        server.greet()
        tools = server.ask("tools/list", {})
        expected = [server.ask("tools/call", params) for params in (asked, wrong, half)]
    with listening(tmp_path) as web:
        assert web.ask("tools/list", {}).json["result"] == tools
        assert [web.ask("tools/call", params).json["result"] for params in (asked, wrong, half)] == expected


def test_what_http_saves_the_local_user_finds_over_stdio(tmp_path: Path) -> None:
    with listening(tmp_path) as web:
        assert not web.call("save_context", {"context_text": "Lunch is at noon."})["isError"]
    with serving(tmp_path, "serve", "--embeddings", "off") as server:
        server.greet()
        assert server.call("retrieve_context", query="lunch")["results"] == ["Lunch is at noon."]


def test_a_session_keeps_its_place_between_requests(home: Path) -> None:
    with listening(home) as web:
        one, two = ({"Mcp_Session_Id": web.greet()} for _ in range(2))
        web.call("context_session_start", {"name": "Login", "projectDir": "/their/machine"}, **one)
        web.call("context_save", {"key": "k", "value": "Mine.", "private": True}, **one)
        mine = web.call("context_get", {"key": "k"}, **one)["structuredContent"]["items"]
        assert [item["value"] for item in mine] == ["Mine."]
        assert web.call("context_get", {"key": "k"}, **two)["structuredContent"]["items"] == []


def test_first_calls_at_once_make_one_session(home: Path) -> None:
    with listening(home) as web:
        session = {"Mcp_Session_Id": web.greet()}
        saves = [
            threading.Thread(
                target=web.call, args=("context_save", {"key": f"k{n}", "value": "v"}), kwargs=session
            )
            for n in range(6)
        ]
        for save in saves:
            save.start()
        for save in saves:
            save.join()
        listed = web.call("context_session_list", {}, **session)["structuredContent"]
        assert len(listed["sessions"]) == 1


def test_a_session_ends_when_it_is_deleted_and_unknown_ones_are_not_found(home: Path) -> None:
    with listening(home) as web:
        session = web.greet()
        assert web.ask("ping", {}, Mcp_Session_Id=session).status == 200
        assert web.send("/mcp", method="DELETE", Mcp_Session_Id=session).status == 204
        assert web.ask("ping", {}, Mcp_Session_Id=session).status == 404
        assert web.ask("ping", {}, Mcp_Session_Id="another").status == 404
        assert web.send("/mcp", method="DELETE").status == 400


def test_without_sessions_no_id_is_given_and_each_request_stands_alone(home: Path) -> None:
    params = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    with listening(home, "--http-sessions", "none") as web:
        assert "Mcp-Session-Id" not in web.ask("initialize", params).headers
        web.call("context_save", {"key": "k", "value": "v", "private": True})
        assert web.call("context_get", {"key": "k"})["structuredContent"]["items"] == []


def test_a_session_continues_on_another_instance_and_no_acknowledged_save_is_lost(home: Path) -> None:
    with listening(home) as first, listening(home) as second:
        session = {"Mcp_Session_Id": first.greet()}
        acknowledged = []
        for n in range(20):
            saved = first.call("context_save", {"key": f"k{n}", "value": str(n), "private": True}, **session)
            acknowledged.append(saved["structuredContent"]["key"])
        first.process.kill()
        assert second.keys(**session) == set(acknowledged)


def test_clients_go_on_with_the_other_instance_when_one_is_killed_under_load(home: Path) -> None:
    acknowledged: list[tuple[str, str]] = []
    under_load, killed = threading.Event(), threading.Event()

    def save_on(instances: list[Web], session: str) -> None:
        """Save on one instance after the other, and on whichever is left."""
        saved_since = 0
        for n in itertools.count():
            web, key = instances[n % len(instances)], f"{session[:8]}-{n}"
            try:
                arguments = {"key": key, "value": "v", "private": True}
                saved = web.call("context_save", arguments, Mcp_Session_Id=session)
            except (OSError, HTTPException):
                assert web is first  # the request is lost with its instance, and nobody said it was done
                assert len(instances) == 2
                instances = [second]
                continue
            acknowledged.append((session, saved["structuredContent"]["key"]))
            if len(acknowledged) > 60:
                under_load.set()
            saved_since += killed.is_set()
            if saved_since > 10:
                return

    with listening(home) as first, listening(home) as second, ThreadPoolExecutor(6) as pool:
        sessions = [web.greet() for web in (first, second) * 3]
        saving = [pool.submit(save_on, [first, second], session) for session in sessions]
        assert under_load.wait(PATIENCE_S)
        first.process.kill()
        first.process.wait()
        killed.set()
        for each in saving:
            each.result()
        for session in sessions:
            saved = {key for owner, key in acknowledged if owner == session}
            assert second.keys(Mcp_Session_Id=session) >= saved


def test_a_server_that_is_asked_to_stop_loses_no_answered_save(home: Path) -> None:
    answered: list[str] = []
    enough = threading.Event()

    def save(web: Web, worker: int) -> None:
        with suppress(OSError):  # nobody listens any more
            for n in range(1_000):
                web.call("context_save", {"key": f"k{worker}-{n}", "value": "v"}, Mcp_Session_Id=session)
                answered.append(f"k{worker}-{n}")
                if len(answered) > 20:
                    enough.set()

    with listening(home) as web:
        session = web.greet()
        threads = [threading.Thread(target=save, args=(web, worker)) for worker in range(4)]
        for thread in threads:
            thread.start()
        assert enough.wait(PATIENCE_S)
        web.process.terminate()
        assert web.process.wait(PATIENCE_S) == 0
        for thread in threads:
            thread.join()
    with listening(home) as web:
        assert web.keys() >= set(answered)


def test_10_mb_fit_into_a_request(home: Path) -> None:
    with listening(home) as web:
        saved = web.call("context_save", {"key": "large", "value": "é" * 5_000_000})
        assert saved["structuredContent"]["key"] == "large"


def test_a_body_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    with listening(tmp_path, "--max-request-mb", "0.01") as web:
        assert web.ask("ping", {}).status == 200
        assert web.ask("ping", {"padding": "x" * 20_000}).status == 413


def test_the_own_machine_may_ask_by_any_of_its_names(tmp_path: Path) -> None:
    named = [{"Origin": "http://localhost:3000"}, {"Host": "localhost:99"}, {"Host": "[::1]:1"}]
    with listening(tmp_path) as web:
        assert [web.ask("ping", {}, **headers).status for headers in named] == [200] * len(named)


def test_it_tells_how_it_is(home: Path) -> None:
    with listening(home) as web:
        assert web.send("/healthz").status == web.send("/readyz").status == 200
        web.greet()
        web.call("save_context", {"context_text": "A secret of mine."})
        web.call("context_get", {"limit": "many"})
        text = web.send("/metrics").body
        assert 'backstory_tool_calls_total{tool="save_context",outcome="completed"} 1' in text
        assert 'backstory_tool_calls_total{tool="context_get",outcome="failed"} 1' in text
        assert 'backstory_tool_seconds_bucket{tool="save_context",le="+Inf"} 1' in text
        assert "backstory_sessions 1" in text
        assert "backstory_queued_calls 0" in text
        assert "backstory_waiting_deliveries 0" in text
        idle = re.search(r"^backstory_database_connections_idle (\d+)$", text, re.MULTILINE)
        has_pool = (home / "config.toml").exists()
        assert idle is not None
        assert (int(idle[1]) > 0) == has_pool
        assert "secret" not in text


def test_paths_of_the_server_are_out_of_reach(tmp_path: Path) -> None:
    (tmp_path / "foreign.txt").write_text("Not yours.")
    alice = bearer(token(tmp_path, "alice"))
    with listening(tmp_path, "--http-auth", "token") as web:
        session = alice | {"Mcp_Session_Id": web.greet(**alice)}
        web.call("context_save", {"key": "k", "value": "v"}, **session)
        for tool, arguments in [
            ("context_export", {"outputPath": str(tmp_path / "out.json")}),
            ("context_export", {"outputPath": "~/out.json"}),
            ("context_import", {"filePath": str(tmp_path / "foreign.txt")}),
            ("context_file_changed", {"filePath": str(tmp_path / "foreign.txt")}),
        ]:
            result = web.call(tool, arguments, **session)
            assert result["isError"], tool
            assert "server's machine" in result["content"][0]["text"]
        exports = tmp_path / "spaces" / "user-alice.files" / "exports"
        exports.mkdir(exist_ok=True)
        (exports / "away.json").symlink_to(tmp_path / "foreign.txt")
        for name in ("missing.json", "away.json", ".", "../../foreign.txt"):
            result = web.call("context_import", {"filePath": name}, **session)
            assert result["isError"], name
            assert str(tmp_path) not in result["content"][0]["text"]
        exported = web.call("context_export", {}, **session)["structuredContent"]["filePath"]
        assert not Path(exported).is_absolute()
        assert not web.call("context_import", {"filePath": exported}, **session)["isError"]


def test_progress_comes_before_the_answer_to_those_who_ask_for_it(tmp_path: Path) -> None:
    call = {"name": "test_tool_with_progress", "_meta": {"progressToken": "p"}}
    with fixture(tmp_path) as web:
        *steps, last = web.ask("tools/call", call).events
        assert [step["params"]["progress"] for step in steps] == [0, 50, 100]
        assert not last["result"]["isError"]
        plain = web.ask("tools/call", call, Accept="application/json")  # it could not read a stream
        assert plain.json["result"] == last["result"]


def test_a_session_hears_of_events_at_the_level_it_set_on_every_instance(tmp_path: Path) -> None:
    call = {"name": "test_error_handling"}
    with fixture(tmp_path) as web, fixture(tmp_path) as other:
        session = {"Mcp_Session_Id": web.greet()}
        for level in LEVELS:
            assert web.ask("logging/setLevel", {"level": level}, **session).json["result"] == {}
        web.ask("logging/setLevel", {"level": "info"}, **session)
        event, answer = other.ask("tools/call", call, **session).events
        assert event["method"] == "notifications/message"
        assert event["params"]["level"] == "info"
        assert answer["result"]["isError"]
        web.ask("logging/setLevel", {"level": "error"}, **session)
        assert len(other.ask("tools/call", call, **session).events) == 1
        assert "error" not in other.ask("tools/call", call).json  # another session hears nothing


def test_an_unknown_level_is_refused(tmp_path: Path) -> None:
    with fixture(tmp_path) as web:
        session = {"Mcp_Session_Id": web.greet()}
        assert web.ask("logging/setLevel", {"level": "loud"}, **session).json["error"]["code"] == -32602


def test_any_other_address_needs_authentication_and_a_name(tmp_path: Path) -> None:
    open_door = run("serve", "--http", "0.0.0.0:0", home=tmp_path)
    assert open_door.returncode == 2
    assert "BACKSTORY_HTTP_AUTH" in open_door.stderr
    unnamed = run("serve", "--http", "0.0.0.0:0", "--http-auth", "token", home=tmp_path)
    assert "BACKSTORY_HTTP_HOSTS" in unnamed.stderr
    assert run("serve", "--http", "nonsense", home=tmp_path).returncode == 2


def test_too_many_requests_of_one_token_are_put_off(tmp_path: Path) -> None:
    eager, calm = token(tmp_path, "eager"), token(tmp_path, "calm")
    with listening(tmp_path, "--http-auth", "token", "--requests-per-minute", "2") as web:
        answers = [web.ask("ping", {}, **bearer(eager)) for _ in range(3)]
        while answers[-1].status == 200:  # a slow machine may ask once more every thirty seconds
            answers.append(web.ask("ping", {}, **bearer(eager)))
        assert answers[-1].status == 429
        assert int(answers[-1].headers["Retry-After"]) >= 1
        assert [answer.status for answer in answers[:2]] == [200, 200]
        assert web.ask("ping", {}, **bearer(calm)).status == 200


def test_writes_are_audited_without_their_contents(home: Path) -> None:
    made = token(home, "alice")
    with listening(home, "--http-auth", "token") as web:
        web.call("save_context", {"context_text": "A secret of mine."}, **bearer(made))
        web.call("delete_context", {"id": "nowhere"}, **bearer(made))
        web.call("retrieve_context", {"query": "secret"}, **bearer(made))
    printed = typed("audit", "--since", "today", "--json", home=home).stdout
    calls = json.loads(printed)["calls"]
    assert [(call["person"], call["tool"], call["outcome"]) for call in calls] == [
        ("alice", "save_context", "completed"),
        ("alice", "delete_context", "failed"),
    ]
    assert {call["credential"] for call in calls} == {made["id"]}
    assert "secret" not in printed


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_what_a_team_server_writes_is_its_own_user_s_alone(tmp_path: Path) -> None:
    made, home = token(tmp_path, "alice"), tmp_path
    open_folder = home / "spaces" / "user-alice.files"
    open_folder.mkdir(parents=True)
    open_folder.chmod(0o755)
    open_folder.parent.chmod(0o755)
    with listening(home, "--http-auth", "token") as web:
        session = {"Mcp_Session_Id": web.greet(**bearer(made)), **bearer(made)}
        web.call("context_save", {"key": "k", "value": "v"}, **session)
        web.call("context_export", {}, **session)
        said = [{"role": "user", "content": "Log in"}]
        web.call("store_session", {"conversation": said, "format": "messages"}, **session)
        written = [path for path in home.rglob("*") if "spaces" in path.parts or "logs" in path.parts]
        modes = {path.stat().st_mode & 0o777 for path in written}
    assert {"user-alice.db", "logs"} <= {path.name for path in written}
    assert modes == {0o600, 0o700}
