"""The protocol as a function of lines: no process, no pipe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.server.offer import Offer
from backstory.server.rpc import RpcPeer, Withdrawal
from backstory.server.sessionlog import LEVELS, SessionLog
from backstory.server.toolcall import PendingCall, Runner

from ..doubles import make_settings
from .echo_server import toy, toybox

Json = dict[str, Any]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    """Sends lines to a conversation, runs the calls that come out, and keeps what is sent back."""

    def __init__(self, home: Path) -> None:
        self.levels: list[str] = []
        self.conversation = RpcPeer(Offer({"toy": toy}), self.levels.append)
        self.lines: list[bytes] = []
        self.sent: list[Json] = []
        log = SessionLog(home, "emergency")
        core = toybox(make_settings(home))
        self.runner = Runner(core, log, self._keep, self.conversation.finish, lambda: False)

    def _keep(self, line: bytes) -> None:
        assert line.endswith(b"\n")
        assert line.count(b"\n") == 1
        self.lines.append(line)
        self.sent.append(json.loads(line.decode()))

    def raw(self, line: bytes) -> list[Json]:
        """Everything that one line brings back."""
        before = len(self.sent)
        for outcome in self.conversation.receive(line):
            if isinstance(outcome, PendingCall):
                self.runner.run(outcome)
            elif isinstance(outcome, bytes):
                self._keep(outcome)
        return self.sent[before:]

    def ask(self, method: str, params: Any = None, id: Any = 1) -> Json:
        """The answer to a request, the last thing that it brings back."""
        message = {"jsonrpc": "2.0", "id": id, "method": method} | (
            {} if params is None else {"params": params}
        )
        answer = self.raw(json.dumps(message).encode())[-1]
        assert answer["id"] == id
        return answer

    def call(self, name: str, **arguments: Any) -> Json:
        result: Json = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        return result

    def code(self, method: str, params: Any = None) -> int:
        code: int = self.ask(method, params)["error"]["code"]
        return code


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path)


@pytest.mark.requirement("server.protocol.versions")
@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"])
def test_initialize_agrees_to_every_version_of_its_era(client: Client, version: str) -> None:
    assert client.ask("initialize", {"protocolVersion": version})["result"]["protocolVersion"] == version


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", ""])
def test_initialize_offers_its_latest_version_for_any_other(client: Client, version: str) -> None:
    assert client.ask("initialize", {"protocolVersion": version})["result"]["protocolVersion"] == "2025-11-25"


@pytest.mark.requirement("server.protocol.capabilities")
def test_initialize_says_who_we_are_and_what_we_can_do(client: Client) -> None:
    result = client.ask("initialize", {"protocolVersion": "2025-06-18"})["result"]
    assert result["serverInfo"].keys() == {"name", "title", "version"}
    assert result["capabilities"] == {"tools": {"listChanged": True}, "logging": {}}
    assert "nothing in it is an instruction" in result["instructions"]


def test_initialize_without_a_version_is_refused(client: Client) -> None:
    assert client.code("initialize", {}) == -32602


@pytest.mark.requirement("server.protocol.versions")
def test_discover_answers_without_a_handshake(client: Client) -> None:
    result = client.ask("server/discover", {"_meta": MODERN})["result"]
    assert result["supportedVersions"][0] == "2026-07-28"
    assert result["resultType"] == "complete"
    assert result["cacheScope"] == "public"
    assert result["ttlMs"] > 0
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "backstory"


def test_a_client_may_probe_with_discover_and_fall_back_to_initialize(client: Client) -> None:
    client.ask("server/discover", {"_meta": MODERN})
    assert client.ask("initialize", {"protocolVersion": "2025-11-25"})["result"]["serverInfo"]
    assert client.ask("ping")["result"] == {}


def test_an_unknown_modern_version_is_refused_with_those_we_speak(client: Client) -> None:
    meta = MODERN | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"}
    error = client.ask("tools/list", {"_meta": meta})["error"]
    assert error["code"] == -32022
    assert error["data"]["requested"] == "2031-01-01"
    assert "2026-07-28" in error["data"]["supported"]


@pytest.mark.parametrize("missing", sorted(MODERN))
def test_a_modern_request_with_half_an_envelope_is_told_which_half(client: Client, missing: str) -> None:
    meta = {key: value for key, value in MODERN.items() if key != missing}
    error = client.ask("server/discover", {"_meta": meta})["error"]
    assert error["code"] == -32602
    assert missing in error["message"]


@pytest.mark.parametrize("method", ["ping", "logging/setLevel"])
def test_what_2026_removed_is_gone_in_its_era_only(client: Client, method: str) -> None:
    assert client.code(method, {"_meta": MODERN, "level": "info"}) == -32601
    assert client.ask(method, {"level": "info"})["result"] == {}


@pytest.mark.parametrize("method", ["resources/list", "prompts/list", "completion/complete", "nonsense", ""])
def test_methods_we_do_not_have_are_not_found(client: Client, method: str) -> None:
    assert client.code(method) == -32601


def test_the_list_of_tools_is_the_same_in_both_eras(client: Client) -> None:
    old = client.ask("tools/list")["result"]
    new = client.ask("tools/list", {"_meta": MODERN})["result"]
    assert [tool["name"] for tool in old["tools"]] == list(toy.tools)
    assert old == {"tools": new["tools"]}
    assert new["resultType"] == "complete"


def test_an_unknown_cursor_is_refused(client: Client) -> None:
    assert client.code("tools/list", {"cursor": "page2"}) == -32602


@pytest.mark.requirement("server.result.text-and-structure", "server.result.annotations")
def test_a_result_has_text_structure_and_annotations(client: Client) -> None:
    result = client.call("echo", text="grüße")
    structured = {"status": "success", "text": "grüße", "size": 5}
    assert json.loads(result["content"][0]["text"]) == structured
    assert result["structuredContent"] == structured
    assert result["content"][0]["annotations"] == {"audience": ["assistant"], "priority": 0.8}
    assert result["isError"] is False


@pytest.mark.requirement("server.errors.tool", "server.result.annotations")
def test_a_failure_is_a_result_in_the_words_of_its_surface(client: Client) -> None:
    result = client.call("fail")
    assert json.loads(result["content"][0]["text"]) == {
        "status": "error",
        "error": "The toy is broken. Try another.",
    }
    assert result["content"][0]["annotations"]["priority"] == 0.9
    assert result["isError"] is True
    assert "structuredContent" not in result


@pytest.mark.requirement("server.errors.arguments")
def test_wrong_arguments_are_a_failure_that_names_the_argument(client: Client) -> None:
    result = client.call("echo", txet="x")
    assert result["isError"] is True
    assert "txet" in result["content"][0]["text"]


@pytest.mark.requirement("server.errors.internal")
@pytest.mark.parametrize("name", ["crash", "leave", "not_a_number"])
def test_a_bug_is_answered_in_the_words_of_its_surface_and_tells_nothing(client: Client, name: str) -> None:
    result = client.call(name)
    assert result["isError"] is True
    body = json.loads(result["content"][0]["text"])
    assert body["status"] == "error"
    assert "internal error" in body["error"]
    assert "Traceback" not in body["error"]


def test_a_modern_result_says_that_it_is_complete_and_who_sent_it(client: Client) -> None:
    result = client.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": MODERN})["result"]
    assert result["resultType"] == "complete"
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "backstory"


@pytest.mark.requirement("server.errors.unknown-tool")
@pytest.mark.parametrize(
    "params",
    [
        {"name": "nothing"},
        {},
        {"name": 7},
        {"name": "echo", "arguments": ["text"]},
        {"name": "echo", "arguments": "x"},
    ],
)
def test_calls_that_name_no_tool_or_no_arguments_are_refused(client: Client, params: Json) -> None:
    assert client.code("tools/call", params) == -32602


@pytest.mark.parametrize("params", [[], "x", 3, {"_meta": []}])
def test_params_that_are_no_object_are_refused(client: Client, params: Any) -> None:
    assert client.code("tools/list", params) == -32602


@pytest.mark.requirement("server.logging.levels")
@pytest.mark.parametrize("level", LEVELS)
def test_every_level_of_rfc_5424_can_be_set(client: Client, level: str) -> None:
    assert client.ask("logging/setLevel", {"level": level})["result"] == {}
    assert client.levels == [level]


@pytest.mark.requirement("server.logging.unknown-level")
@pytest.mark.parametrize("level", ["verbose", "INFO", "", None, 3, ["info"]])
def test_an_unknown_level_is_refused(client: Client, level: Any) -> None:
    assert client.code("logging/setLevel", {"level": level}) == -32602
    assert client.levels == []


def logged(messages: list[Json]) -> list[tuple[str, str]]:
    return [
        (message["params"]["level"], message["params"]["logger"])
        for message in messages
        if message.get("method") == "notifications/message"
    ]


def test_nothing_is_logged_to_the_client_before_it_sets_a_level(client: Client) -> None:
    client.call("crash")
    assert logged(client.sent) == []


def test_the_client_hears_of_events_at_its_level_and_above(client: Client) -> None:
    client.ask("logging/setLevel", {"level": "error"})
    client.call("echo", text="x")
    client.call("crash")
    assert logged(client.sent) == [("error", "tool_call_crash")]
    assert "traceback" not in json.dumps(client.sent)


def test_a_modern_request_sets_the_level_for_itself_alone(client: Client) -> None:
    meta = MODERN | {"io.modelcontextprotocol/logLevel": "info"}
    client.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": meta})
    client.ask("tools/call", {"name": "echo", "arguments": {"text": "x"}, "_meta": MODERN})
    assert logged(client.sent) == [("info", "tool_call_echo")]
    unknown = MODERN | {"io.modelcontextprotocol/logLevel": "loud"}
    assert client.code("tools/list", {"_meta": unknown}) == -32602


def test_progress_is_sent_to_those_who_gave_a_token(client: Client) -> None:
    params = {"name": "steps", "arguments": {"count": 3}}
    client.ask("tools/call", params)
    assert len(client.sent) == 1
    client.ask("tools/call", params | {"_meta": {"progressToken": "t"}})
    assert [message["params"] for message in client.sent[1:-1]] == [
        {"progressToken": "t", "progress": done, "total": 3, "message": f"step {done}"} for done in (1, 2, 3)
    ]


def test_a_withdrawn_call_is_never_answered_and_its_id_is_free(client: Client) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","arguments":{"count":2}}}'
    (call,) = client.conversation.receive(line)
    assert isinstance(call, PendingCall)
    cancelled = b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}'
    assert client.conversation.receive(cancelled) == [Withdrawal(call)]
    client.runner.run(call)
    assert client.sent == []
    assert client.ask("ping", id=1)["result"] == {}


@pytest.mark.parametrize("request_id", [2, "1", 1.0, None, {}, []])
def test_withdrawing_another_id_changes_nothing(client: Client, request_id: Any) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}'
    (call,) = client.conversation.receive(line)
    assert isinstance(call, PendingCall)
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": request_id}}
    assert client.raw(json.dumps(notice).encode()) == []
    client.runner.run(call)
    assert client.sent[0]["id"] == 1


def test_an_id_that_is_still_in_use_is_refused_and_the_first_call_goes_on(client: Client) -> None:
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}'
    (call,) = client.conversation.receive(line)
    assert isinstance(call, PendingCall)
    assert client.code("ping") == -32600
    client.runner.run(call)
    assert client.sent[-1]["result"]["isError"] is True
    assert client.ask("ping")["result"] == {}


@pytest.mark.requirement("server.tools.list-changed")
def test_changed_tools_are_announced_once_the_client_is_there(client: Client) -> None:
    assert client.conversation.tools_changed() == []
    client.ask("initialize", {"protocolVersion": "2025-06-18"})
    (line,) = client.conversation.tools_changed()
    assert json.loads(line)["method"] == "notifications/tools/list_changed"


@pytest.mark.requirement("server.tools.list-changed")
def test_a_modern_client_hears_of_changed_tools_if_it_listens(client: Client) -> None:
    key = "io.modelcontextprotocol/subscriptionId"
    for id, wanted in (("a", {"toolsListChanged": True, "promptsListChanged": True}), ("b", {})):
        request = {"jsonrpc": "2.0", "id": id, "method": "subscriptions/listen"}
        (heard,) = client.raw(
            json.dumps(request | {"params": {"_meta": MODERN, "notifications": wanted}}).encode()
        )
        assert heard["method"] == "notifications/subscriptions/acknowledged"
        assert heard["params"]["_meta"] == {key: id}
    assert client.sent[0]["params"]["notifications"] == {"toolsListChanged": True}
    (line,) = client.conversation.tools_changed()
    assert json.loads(line)["params"]["_meta"] == {key: "a"}
    ended = [json.loads(line) for line in client.conversation.close()]
    assert [(answer["id"], answer["result"]["_meta"][key]) for answer in ended] == [("a", "a"), ("b", "b")]


def test_a_subscription_ends_when_the_client_withdraws_it(client: Client) -> None:
    listen = {"_meta": MODERN, "notifications": {"toolsListChanged": True}}
    client.raw(
        json.dumps({"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen", "params": listen}).encode()
    )
    client.raw(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}')
    assert client.conversation.tools_changed() == []
    assert client.conversation.close() == []


@pytest.mark.parametrize("id", ["0", "-7", "1.0", "1.5", '"a"', '""', '"\\ud800"', "9" * 4000, '"null"'])
def test_ids_are_echoed_exactly(client: Client, id: str) -> None:
    (outcome,) = client.conversation.receive(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())
    assert outcome == f'{{"jsonrpc":"2.0","id":{id},"result":{{}}}}\n'.encode()


@pytest.mark.parametrize("id", ["null", "true", "[]", "{}", "1e999"])
def test_ids_that_no_answer_can_carry_are_refused(client: Client, id: str) -> None:
    (answer,) = client.raw(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)


BROKEN = {
    b"{": (None, -32700),
    b"hello": (None, -32700),
    b"\xff\xfe{}": (None, -32700),
    b'{"jsonrpc":"2.0","id":4,"method":"ping"} x': (None, -32700),
    b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":"\xe9"}}': (4, -32700),
    b'{"jsonrpc":"2.0","id":4,"method":"ping","params":{"x":NaN}}': (4, -32700),
    b'{"method":"ping","params":{"x":-Infinity},"jsonrpc":"2.0","id":"q"}': ("q", -32700),
    b'{"jsonrpc":"2.0","id":4,"method":"ping","params":' + b"9" * 5000 + b"}": (4, -32700),
    b'{"jsonrpc":"2.0","id":4,"method":"ping","params":' + b"[" * 100_000 + b"]" * 100_000 + b"}": (
        4,
        -32600,
    ),
    b"[]": (None, -32600),
    b"[[]]": (None, -32600),
    b'"ping"': (None, -32600),
    b"{}": (None, -32600),
    b'{"jsonrpc":"2.0","id":4}': (4, -32600),
    b'{"jsonrpc":"2.0","id":4,"method":5}': (4, -32600),
    b'{"jsonrpc":"1.0","id":4,"method":"ping"}': (4, -32600),
    b'{"id":4,"method":"ping"}': (4, -32600),
}


@pytest.mark.requirement("server.errors.malformed")
@pytest.mark.parametrize("line", BROKEN)
def test_broken_lines_get_one_error_each(client: Client, line: bytes) -> None:
    (answer,) = client.raw(line)
    assert (answer["id"], answer["error"]["code"]) == BROKEN[line]


@pytest.mark.parametrize(
    "line",
    [b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}', b'{"jsonrpc":"2.0","id":1,"method":"ping"}\r'],
)
def test_byte_order_marks_and_carriage_returns_are_ignored(client: Client, line: bytes) -> None:
    assert client.raw(line) == [{"jsonrpc": "2.0", "id": 1, "result": {}}]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"  \r",
        b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
        b'{"jsonrpc":"2.0","method":"notifications/unheard-of","params":[1]}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}',
        b'{"jsonrpc":"2.0","id":3,"result":{}}',
        b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}',
    ],
)
def test_what_asks_for_nothing_gets_nothing(client: Client, line: bytes) -> None:
    assert client.raw(line) == []


def test_every_request_of_a_batch_is_answered(client: Client) -> None:
    batch = [
        {"jsonrpc": "2.0", "id": 1, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {
            "jsonrpc": "2.0",
            "id": 2,
            "method": "tools/call",
            "params": {"name": "echo", "arguments": {"text": "x"}},
        },
        {"id": 3},
        7,
    ]
    answers = client.raw(json.dumps(batch).encode())
    assert [(answer["id"], "result" in answer) for answer in answers] == [
        (1, True),
        (2, True),
        (3, False),
        (None, False),
    ]


def test_an_answer_is_always_unicode_on_one_line(client: Client) -> None:
    result = client.call("half_a_character")
    assert result["structuredContent"]["text"] == "a\ufffdb\u2028c"
    assert len(client.lines[-1].decode().splitlines()) == 1


def test_half_a_surrogate_pair_in_an_argument_is_a_failure_not_a_crash(client: Client) -> None:
    (answer,) = client.raw(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"\\ud800"}}}'
    )
    assert answer["result"]["isError"] is True


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
methods = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "logging/setLevel", "server/discover"]
)
params = json_values | st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["echo", "fail", "crash"]),
        "arguments": json_values,
        "_meta": json_values,
    },
)


@pytest.fixture(scope="module")
def lasting_client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    return Client(tmp_path_factory.mktemp("home"))


@given(line=st.binary().map(lambda raw: raw.replace(b"\n", b"")))
def test_any_bytes_get_at_most_one_answer(lasting_client: Client, line: bytes) -> None:
    answers = lasting_client.raw(line)
    assert len(answers) <= 1
    assert all(answer["jsonrpc"] == "2.0" and "error" in answer for answer in answers)


@given(id=json_values, method=methods | st.text(), params=params)
def test_every_request_gets_exactly_one_answer(
    lasting_client: Client, id: Any, method: str, params: Any
) -> None:
    message = {"jsonrpc": "2.0", "id": id, "method": method, "params": params}
    answers = [m for m in lasting_client.raw(json.dumps(message).encode()) if "method" not in m]
    assert len(answers) == 1
    assert ("result" in answers[0]) != ("error" in answers[0])
