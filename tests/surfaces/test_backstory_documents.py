"""Resources, prompts and completions, in both eras of the protocol."""

from __future__ import annotations

import json
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any
from urllib.parse import quote

import pytest

from backstory.core import Caller, Core
from backstory.core.search.running import assistant_called
from backstory.domain.filters import Filter, Page
from backstory.domain.metadata import FileMark, as_metadata
from backstory.domain.records import Trace
from backstory.server.elicitation import Questions
from backstory.server.offer import Offer
from backstory.server.rpc import RpcPeer
from backstory.server.sessionlog import SessionLog
from backstory.server.toolcall import PendingCall, Runner
from backstory.surfaces import load_surfaces

from ..doubles import make_conversation, make_memory, make_messages
from ..patience import PATIENCE_S

Json = dict[str, Any]
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    def __init__(self, core: Core, log: SessionLog, *, modern: bool) -> None:
        self.core = core
        self._log = log
        self._modern = modern

    def ask(self, method: str, **params: Any) -> Json:
        """The whole answer."""
        peer = RpcPeer(Offer(load_surfaces(["backstory"])), lambda level: None)
        if self._modern:
            params["_meta"] = MODERN
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        (outcome,) = peer.receive(json.dumps(message).encode())
        lines: list[bytes] = []
        if isinstance(outcome, PendingCall):
            Runner(self.core, self._log, lines.append, peer.finish, lambda: True).run(outcome)
        else:
            assert isinstance(outcome, bytes)
            lines.append(outcome)
        answer: Json = json.loads(lines[-1])
        if self._modern and "result" in answer:
            assert answer["result"]["resultType"] == "complete"
        return answer

    def result(self, method: str, **params: Any) -> Json:
        result: Json = self.ask(method, **params)["result"]
        return result

    def read(self, uri: str) -> str:
        (content,) = self.result("resources/read", uri=uri)["contents"]
        assert (content["uri"], content["mimeType"]) == (uri, "text/markdown")
        text: str = content["text"]
        return text


@pytest.fixture(params=["legacy", "modern"])
def client(request: pytest.FixtureRequest, core: Core, tmp_path: Path) -> Client:
    return Client(core, SessionLog(tmp_path, "error"), modern=request.param == "modern")


def fill(core: Core) -> None:
    talk = make_conversation("codex:1", surface="codex", title="Herons", project="/p")
    messages = make_messages("codex:1", "Where is the heron?", "The heron is in the pond.", surface="codex")
    core.engine.store.conversations.add(talk, messages, [])
    core.engine.store.memories.put(
        [
            make_memory("m1", "Herons nest in the willow", category="decision"),
            make_memory("m2", "Count the herons", category="task"),
            make_memory("m3", "Private herons", category="task", private=True, session="other"),
        ]
    )


@pytest.mark.requirement("backstory.resources")
def test_documents_are_listed_and_read(client: Client) -> None:
    fill(client.core)
    uris = [each["uri"] for each in client.result("resources/list")["resources"]]
    assert uris == [
        "backstory://brief",
        "backstory://project/%2Fp/decisions",
        "backstory://project/%2Fp/tasks",
    ]
    assert "Count the herons" in client.read(uris[0])
    assert client.read(uris[1]) == "# Decisions in force: p\n\n- 2026-03-01 Herons nest in the willow (m1)"
    assert client.read(uris[2]) == "# Open tasks: p\n\n- 2026-03-01 Count the herons (m2)"
    assert "Herons nest in the willow" in client.read("backstory://memory/m1")
    assert "#2 assistant: The heron is in the pond." in client.read(
        "backstory://session/codex%3A1?at=2&limit=1"
    )
    assert "conversation, codex: Herons (codex:1)" in client.read("backstory://timeline/p?since=2020-01-01")
    templates = client.result("resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == [
        "backstory://brief/{project}", "backstory://memory/{id}", "backstory://session/{id}{?at,limit}",
        "backstory://project/{name}/decisions", "backstory://project/{name}/tasks", "backstory://timeline/{name}{?since}",
        "backstory://why/{file}",
    ]  # fmt: skip


@pytest.mark.requirement("backstory.resources")
def test_a_known_project_without_any_says_none_and_an_unknown_one_is_not_found(client: Client) -> None:
    client.core.engine.store.memories.put([make_memory("m1", "A fact", project="/work/q")])
    assert client.read("backstory://project/q/decisions") == "# Decisions in force: q\n\nNone."
    assert client.read("backstory://project/q/tasks").endswith("None.")
    assert client.read("backstory://brief") == "Nothing is known yet of the project p."
    missing = -32602 if client._modern else -32002
    for uri in (
        "project/nowhere/tasks",
        "brief/nowhere",
        "memory/none",
        "session/none",
        "timeline/nowhere",
        "x",
        "",
        "project/q",
    ):
        assert client.ask("resources/read", uri=f"backstory://{uri}")["error"]["code"] == missing, uri
    assert client.ask("resources/read", uri="file:///etc/passwd")["error"]["code"] == missing
    assert client.ask("resources/read")["error"]["code"] == -32602
    assert client.ask("resources/read", uri="backstory://session/x?at=y")["error"]["code"] == -32602
    assert client.ask("resources/list", cursor="x")["error"]["code"] == -32602


@pytest.mark.requirement("backstory.resources")
def test_documents_are_as_private_as_tools_and_say_so(client: Client) -> None:
    fill(client.core)
    assert "error" in client.ask("resources/read", uri="backstory://memory/m3")
    assert "Private" not in client.read(f"backstory://project/{quote('/p', safe='')}/tasks")
    owner = Client(
        client.core._replace(caller=Caller(project="/p", session="other")), client._log, modern=client._modern
    )
    assert "Private herons" in owner.read("backstory://memory/m3")
    if client._modern:
        for method, params in (
            ("resources/list", {}),
            ("resources/read", {"uri": "backstory://brief"}),
            ("prompts/list", {}),
        ):
            result = client.result(method, **params)
            assert (result["ttlMs"], result["cacheScope"]) == (0, "private")


@pytest.mark.requirement("backstory.prompts")
def test_prompts_hold_what_is_known(client: Client) -> None:
    fill(client.core)
    listed = client.result("prompts/list")["prompts"]
    assert [each["name"] for each in listed] == ["resume", "recall", "handoff", "decide", "why"]

    def text(name: str, **arguments: str) -> str:
        (message,) = client.result("prompts/get", name=name, arguments=arguments)["messages"]
        assert message["role"] == "user"
        words: str = message["content"]["text"]
        return words

    assert "Count the herons" in text("resume")
    assert "Count the herons" in text("resume", project="p")
    assert "The heron is in the pond" in text("recall", query="where is the heron")
    assert "remember" in text("handoff", **{"for": "codex"})
    assert "Herons nest in the willow" in text("decide", topic="herons nest willow")
    assert "pond.py" in text("why", file="src/pond.py")
    assert client.ask("prompts/get", name="recall")["error"]["code"] == -32602
    assert client.ask("prompts/get", name="poem")["error"]["code"] == -32602


def prompt(name: str) -> Json:
    return {"type": "ref/prompt", "name": name}


def template(path: str) -> Json:
    return {"type": "ref/resource", "uri": f"backstory://{path}"}


def completion(client: Client, ref: Json, name: str, typed: str) -> Json:
    argument = {"name": name, "value": typed}
    body: Json = client.result("completion/complete", ref=ref, argument=argument)["completion"]
    return body


@pytest.mark.requirement("backstory.completions")
def test_what_is_typed_is_completed_for_the_argument_of_the_reference(client: Client) -> None:
    fill(client.core)
    store = client.core.engine.store
    store.memories.put([make_memory("m4", "x", project="/work/shop")])
    marks = as_metadata([FileMark("src/pond.py")])
    store.memories.put([make_memory("m5", "y", metadata=marks)])
    store.memories.put(
        [make_memory("m6", "z", metadata=as_metadata([FileMark("src/own.py")]), private=True, session="s")]
    )
    messages = make_messages("codex:2", "Mend it.", surface="codex")
    paths = ("/p/src/queue.py", "/elsewhere/src/quarry.py", "C:\\work\\src\\quiet.py")
    traces = [Trace("codex:2:0", "written", path) for path in paths]
    store.conversations.add(make_conversation("codex:2", surface="codex", project="/p"), messages, traces)

    def values(ref: Json, name: str, typed: str) -> list[str]:
        body = completion(client, ref, name, typed)
        assert (body["hasMore"], body["total"]) == (False, len(body["values"]))
        found: list[str] = body["values"]
        return found

    assert values(prompt("resume"), "project", "SH") == ["shop"]
    assert values(prompt("resume"), "project", "/work/") == ["/work/shop"]
    assert values(template("project/{name}/tasks"), "name", "sh") == ["shop"]
    assert values(template("brief/{project}"), "project", "sh") == ["shop"]
    assert set(values(template("memory/{id}"), "id", "")) == {"m1", "m2", "m4", "m5"}
    assert values(template("memory/{id}"), "id", "m4") == ["m4"]
    assert set(values(template("session/{id}{?at,limit}"), "id", "")) == {"codex:1", "codex:2"}
    assert values(template("session/{id}"), "id", "codex:1") == ["codex:1"]
    assert values(template("session/{id}"), "id", "2") == ["codex:2"]
    assert values(template("session/{id}"), "id", "m") == []
    assert values(template("session/{id}"), "at", "1") == []
    assert values(prompt("handoff"), "for", "codex") == ["codex"]
    assert values(prompt("recall"), "query", "x") == []
    assert values(prompt("why"), "file", "qu") == ["src/queue.py", *paths[1:]]
    assert values(prompt("why"), "file", "Src/") == ["src/pond.py", "src/queue.py", *paths[1:]]
    assert values(prompt("why"), "file", "/p/s") == ["src/queue.py"]
    assert values(prompt("why"), "file", "zzz") == []


@pytest.mark.requirement("backstory.completions")
def test_all_that_match_are_counted(client: Client) -> None:
    store = client.core.engine.store
    store.memories.put([make_memory(f"m{number:03}", "x") for number in range(110)])
    for typed, total in (("", 110), ("m", 110), ("m0", 100), ("m10", 10)):
        body = completion(client, template("memory/{id}"), "id", typed)
        assert (len(body["values"]), body["total"], body["hasMore"]) == (min(total, 100), total, total > 100)


@pytest.mark.requirement("backstory.completions")
@pytest.mark.parametrize(
    ("ref", "name"),
    [
        ({}, "id"),
        ({"type": "ref/tool", "name": "recall"}, "query"),
        (prompt("nothing"), "project"),
        ({"type": "ref/prompt", "name": ["why"]}, "file"),
        (prompt("why"), "project"),
        (template("nothing/{id}"), "id"),
        (template("memory/{id}"), "file"),
        (prompt("why"), None),
    ],
)
def test_completing_for_an_unknown_reference_or_argument_is_an_error(
    client: Client, ref: Json, name: str
) -> None:
    answer = client.ask("completion/complete", ref=ref, argument={"name": name, "value": ""})
    assert answer["error"]["code"] == -32602


@pytest.mark.requirement("backstory.recall.running")
def test_a_server_knows_by_the_clients_name_which_conversation_runs(core: Core, tmp_path: Path) -> None:
    talk = make_conversation("codex:1", surface="codex", title="Herons", updated_at=core.engine.now())
    core.engine.store.conversations.add(
        talk, make_messages("codex:1", "Where is the heron?", surface="codex"), []
    )
    peer = RpcPeer(Offer(load_surfaces(["backstory"])), lambda level: None)
    lines: list[bytes] = []
    runner = Runner(core, SessionLog(tmp_path, "error"), lines.append, peer.finish, lambda: True)

    def ask(method: str, params: Json) -> None:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        for outcome in peer.receive(json.dumps(message).encode()):
            if isinstance(outcome, PendingCall):
                runner.run(outcome)

    recall = {"name": "recall", "arguments": {"query": "heron"}}
    ask("tools/call", recall)
    assert b"Where is the heron" in lines[-1]
    ask(
        "initialize",
        {"protocolVersion": "2025-11-25", "clientInfo": {"name": "codex-mcp-client", "version": "1"}},
    )
    ask("tools/call", recall)
    assert b"Nothing found." in lines[-1]


@pytest.mark.requirement("backstory.recall.running")
@pytest.mark.parametrize(
    ("client", "assistant"),
    [
        ("claude-code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("Gemini CLI", "gemini-cli"),
        ("inspector", ""),
        ("", ""),
    ],
)
def test_clients_are_known_by_what_they_call_themselves(client: str, assistant: str) -> None:
    assert assistant_called(client) == assistant


@pytest.mark.requirement("backstory.resources")
def test_only_a_server_with_these_tools_has_documents() -> None:
    assert Offer(load_surfaces(["backstory"])).capabilities.keys() >= {"resources", "prompts", "completions"}
    other = Offer(load_surfaces(["projectmemory"]))
    assert "resources" not in other.capabilities
    assert other.methods == {}


@pytest.mark.requirement("backstory.forget.asks")
@pytest.mark.parametrize(("action", "is_gone"), [("accept", True), ("decline", False), ("cancel", False)])
def test_a_client_that_can_ask_is_asked_first(core: Core, tmp_path: Path, action: str, is_gone: bool) -> None:
    core.engine.store.memories.put([make_memory("m1", "The heron lives here")])
    peer = RpcPeer(Offer(load_surfaces(["backstory"])), lambda level: None)
    lines: Queue[Json] = Queue()
    log = SessionLog(tmp_path, "error")
    runner = Runner(core, log, lambda line: lines.put(json.loads(line)), peer.finish, lambda: False)

    def send(**message: Any) -> list[Any]:
        return list(peer.receive(json.dumps({"jsonrpc": "2.0", **message}).encode()))

    params = {"protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}}}
    send(id=1, method="initialize", params=params)
    (call,) = send(id=2, method="tools/call", params={"name": "forget", "arguments": {"id": "m1"}})
    thread = Thread(target=runner.run, args=(call,))
    thread.start()
    question = lines.get(timeout=PATIENCE_S)
    assert question["method"] == "elicitation/create"
    assert "The heron lives here" in question["params"]["message"]
    assert send(id="unknown", result={"action": "accept"}) == []
    assert send(id=question["id"], result={"action": action}) == []
    answer = lines.get(timeout=PATIENCE_S)
    thread.join(PATIENCE_S)
    text = answer["result"]["content"][0]["text"]
    assert text.startswith("Forgotten." if is_gone else "The user said no")
    assert (core.engine.store.memories.find(Filter(), Page()) == []) == is_gone


@pytest.mark.requirement("backstory.forget.asks")
def test_a_question_of_a_call_that_is_withdrawn_is_answered_with_no() -> None:
    asked: list[bytes] = []
    assert Questions().ask("Really?", asked.append, lambda: True) is False
    assert len(asked) == 1


@pytest.mark.requirement("backstory.resources", "backstory.prompts")
def test_the_prompt_and_the_resource_why_tell_the_story_of_a_file_of_this_project(client: Client) -> None:
    fill(client.core)
    store = client.core.engine.store
    for id, project, text in (
        ("codex:7", "/p", "Let's use a heron queue in src/pond.py, because herons wait."),
        ("codex:8", "/elsewhere", "Let's use an egret queue in src/pond.py."),
    ):
        messages = make_messages(id, text, "Done.", surface="codex", project=project)
        talk = make_conversation(id, surface="codex", project=project, directory=project)
        store.conversations.add(talk, messages, [Trace(messages[1].id, "written", "src/pond.py")])
    mine = {"session": "other", "private": True}
    store.memories.put(
        [make_memory("m8", "src/pond.py is deep", **mine), make_memory("m9", "src/pond.py freezes")]
    )
    (message,) = client.result("prompts/get", name="why", arguments={"file": "src/pond.py"})["messages"]
    for text in (message["content"]["text"], client.read("backstory://why/src%2Fpond.py")):
        lines = [line for line in text.splitlines() if line.startswith("2026-")]
        assert sorted(line.split("  ", 1)[1] for line in lines) == [
            "7#1  decided: Let's use a heron queue in src/pond.py, because herons wait.",
            "m9  saved fact: src/pond.py freezes",
        ]
    assert client.read("backstory://why/none.py") == "The story of none.py is unknown."
    assert "error" in client.ask("resources/read", uri="backstory://why/")
