"""Memory Keeper's knowledge graph: every promise of its chapter, through the tools."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.core import Caller, Core, graph
from backstory.core.graph import COLORS
from backstory.domain.filters import Filter
from backstory.guests.memory_keeper.graph import LIST_BYTES
from backstory.guests.memory_keeper.tools import surface

from ..conftest import Call, caller_of
from ..doubles import SteppedClock

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


def save(call: Call, key: str, value: str, **more: Any) -> str:
    session: str = call("context_save", key=key, value=value, **more)["sessionId"]
    return session


def ids(answer: dict[str, Any]) -> set[str]:
    return {entity["id"] for entity in answer["entities"]}


def relations(answer: dict[str, Any]) -> set[str]:
    return {f"{each['subject']} {each['predicate']} {each['object']}" for each in answer["relations"]}


def chain(call: Call) -> None:
    save(call, "first", "AlphaView calls BetaService", category="task")
    save(call, "second", "BetaService depends on GammaStore", category="note")
    save(call, "third", "GammaStore uses DeltaDisk", category="note")


def schema(tool: str) -> tuple[dict[str, Any], list[str]]:
    described = surface.tools[tool].describe()["inputSchema"]
    return described["properties"], described.get("required", [])


@requirement("keeper-graph.analyze.parameters")
def test_parameters_of_analyze_are_the_documented_ones() -> None:
    properties, required = schema("context_analyze")
    assert {name: each["type"] for name, each in properties.items()} == {
        "categories": "array",
        "sessionId": "string",
        "maxDepth": "integer",
    }
    assert properties["maxDepth"]["default"] == 2
    assert required == []


@requirement("keeper-graph.related.parameters")
def test_parameters_of_find_related_are_the_documented_ones() -> None:
    properties, required = schema("context_find_related")
    assert {name: each["type"] for name, each in properties.items()} == {
        "key": "string",
        "maxDepth": "integer",
        "relationTypes": "array",
        "limit": "integer",
    }
    assert properties["maxDepth"]["default"] == 2
    assert required == ["key"]


@requirement("keeper-graph.analyze.reply")
def test_analyzing_answers_entities_relations_and_stats(call: Call, clock: SteppedClock) -> None:
    save(call, "task_login", "AuthService calls TokenRepository. AuthService is slow")
    clock.step(60)
    save(call, "later", "AuthService was fixed")
    answer = call("context_analyze")
    entity = next(each for each in answer["entities"] if each["name"] == "AuthService")
    assert entity == {
        "id": "class:AuthService",
        "type": "class",
        "name": "AuthService",
        "count": 3,
        "attributes": {
            "firstSeen": "2026-03-01T09:30:00.000Z",
            "lastSeen": "2026-03-01T09:31:00.000Z",
            "sources": ["later", "task_login"],
            "sourceCount": 2,
        },
    }
    called = next(each for each in answer["relations"] if each["predicate"] == "calls")
    assert called == {
        "subject": "class:AuthService",
        "predicate": "calls",
        "object": "class:TokenRepository",
        "confidence": 0.85,
    }
    assert answer["stats"] == {
        "totalEntities": 4,
        "totalRelations": 4,
        "types": {"class": 2, "item": 2},
    }
    assert "notices" not in answer


@requirement("keeper-graph.analyze.reply")
def test_an_empty_store_has_an_empty_graph(call: Call) -> None:
    assert call("context_analyze") == {
        "entities": [],
        "relations": [],
        "stats": {"totalEntities": 0, "totalRelations": 0, "types": {}},
    }


@requirement("keeper-graph.analyze.confidence")
def test_what_several_items_say_is_surer(call: Call) -> None:
    save(call, "a", "AuthService calls TokenRepository")
    before = call("context_analyze")["relations"]
    save(call, "b", "AuthService calls TokenRepository")
    after = call("context_analyze")["relations"]
    sure = [
        next(each["confidence"] for each in answer if each["predicate"] == "calls")
        for answer in (before, after)
    ]
    assert sure[0] < sure[1] < 1


@requirement("keeper-graph.analyze.categories")
def test_categories_narrow_the_items_analyzed(call: Call) -> None:
    chain(call)
    answer = call("context_analyze", categories=["task"], maxDepth=1)
    assert ids(answer) == {"item:first", "class:AlphaView", "class:BetaService"}
    assert "class:DeltaDisk" in ids(call("context_analyze", categories=["task", "note"], maxDepth=1))


@requirement("keeper-graph.analyze.session")
def test_a_session_narrows_the_items_analyzed(call: Call, other: Call) -> None:
    mine, theirs = save(call, "mine", "AUTH-1 is open"), save(other, "theirs", "AUTH-2 is open")
    assert ids(call("context_analyze", sessionId=mine)) == {"item:mine", "issue:AUTH-1"}
    assert ids(call("context_analyze", sessionId=theirs)) == {"item:theirs", "issue:AUTH-2"}
    assert call("context_analyze", sessionId="no such")["error"]["code"] == "SESSION_NOT_FOUND"


@requirement("keeper-graph.analyze.depth")
def test_depth_reaches_further_from_the_items(call: Call) -> None:
    chain(call)
    reached = [relations(call("context_analyze", categories=["task"], maxDepth=depth)) for depth in (1, 2, 3)]
    assert "class:AlphaView calls class:BetaService" not in reached[0]
    assert "class:AlphaView calls class:BetaService" in reached[1]
    assert "class:BetaService depends_on class:GammaStore" in reached[1]
    assert "class:GammaStore uses class:DeltaDisk" not in reached[1]
    assert "class:GammaStore uses class:DeltaDisk" in reached[2]
    assert call("context_analyze", categories=["task"]) == call(
        "context_analyze", categories=["task"], maxDepth=2
    )


@requirement("keeper-graph.depth-range")
@pytest.mark.parametrize("depth", [0, -1])
def test_a_depth_out_of_range_is_refused(call: Call, depth: int) -> None:
    save(call, "a", "AUTH-1")
    for tool, more in (("context_analyze", {}), ("context_find_related", {"key": "a"})):
        error = call(tool, maxDepth=depth, **more)["error"]
        assert error["code"] == "INVALID_PARAMS"
        assert error["details"]["field"] == "maxDepth"


@requirement("keeper-graph.analyze.budget")
def test_a_large_answer_is_cut_to_the_most_mentioned_and_says_so(call: Call) -> None:
    save(call, "many", " ".join(f"handle_{n}()" for n in range(900)) + " main_loop() main_loop()")
    answer = call("context_analyze")
    assert answer["entities"][0]["name"] == "main_loop"
    assert answer["stats"]["totalEntities"] == 902
    assert len(answer["entities"]) < 902
    assert len(str(answer)) < 3 * LIST_BYTES
    assert "left out" in answer["notices"][0]


@requirement("keeper-graph.related.reply")
def test_related_entities_have_distance_and_path(call: Call) -> None:
    chain(call)
    answer = call("context_find_related", key="AlphaView", maxDepth=3)
    gamma = next(each for each in answer["entities"] if each["name"] == "GammaStore")
    assert gamma == {
        "id": "class:GammaStore",
        "name": "GammaStore",
        "type": "class",
        "distance": 2,
        "path": ["AlphaView", "BetaService", "GammaStore"],
    }
    distances = [each["distance"] for each in answer["entities"]]
    assert distances == sorted(distances)
    assert "class:BetaService depends_on class:GammaStore" in relations(answer)
    assert "class:AlphaView" not in ids(answer)


@requirement("keeper-graph.related.start")
@pytest.mark.parametrize(
    "key",
    [
        "fix",
        "src/auth/login.ts",
        "AUTH-12",
        "auth-12",
        "checkToken",
        "checkToken()",
        "file:src/auth/login.ts",
    ],
)
def test_the_start_is_an_item_or_any_entity(call: Call, key: str) -> None:
    save(call, "fix", "Fixed AUTH-12 in src/auth/login.ts, see checkToken()")
    names = {each["name"] for each in call("context_find_related", key=key)["entities"]}
    assert names | {key} >= {"AUTH-12", "src/auth/login.ts"} - {key.upper(), key.removeprefix("file:")}


@requirement("keeper-graph.related.unknown")
def test_an_unknown_start_is_not_found(call: Call) -> None:
    save(call, "a", "AUTH-1")
    assert call("context_find_related", key="nowhere")["error"]["code"] == "ITEM_NOT_FOUND"
    assert call("context_find_related")["error"]["code"] == "INVALID_PARAMS"


@requirement("keeper-graph.related.unknown")
@pytest.mark.parametrize("key", ["", "  "])
def test_a_start_without_a_name_is_refused(call: Call, key: str) -> None:
    error = call("context_find_related", key=key)["error"]
    assert (error["code"], error["details"]["field"]) == ("INVALID_PARAMS", "key")


@requirement("keeper-graph.related.depth")
def test_depth_bounds_the_walk(call: Call) -> None:
    chain(call)
    one = ids(call("context_find_related", key="AlphaView", maxDepth=1))
    assert one == {"item:first", "class:BetaService"}
    assert ids(call("context_find_related", key="AlphaView")) > one
    assert "class:DeltaDisk" not in ids(call("context_find_related", key="AlphaView"))
    assert "class:DeltaDisk" in ids(call("context_find_related", key="AlphaView", maxDepth=3))


@requirement("keeper-graph.related.types")
def test_only_the_wanted_relations_are_followed(call: Call) -> None:
    chain(call)
    answer = call("context_find_related", key="BetaService", relationTypes=["depends_on", "uses"])
    assert ids(answer) == {"class:GammaStore", "class:DeltaDisk"}
    assert {each["predicate"] for each in answer["relations"]} == {"depends_on", "uses"}
    assert ids(call("context_find_related", key="BetaService", relationTypes=["fixes"])) == set()


@requirement("keeper-graph.related.limit")
def test_a_limit_keeps_the_nearest_and_says_how_many_there_are(call: Call) -> None:
    chain(call)
    whole = call("context_find_related", key="AlphaView", maxDepth=5)
    answer = call("context_find_related", key="AlphaView", maxDepth=5, limit=2)
    assert answer["entities"] == whole["entities"][:2]
    assert answer["totalEntities"] == len(whole["entities"])
    assert "larger limit" in answer["notices"][0]
    assert call("context_find_related", key="AlphaView", limit=0)["error"]["code"] == "INVALID_PARAMS"


@requirement("keeper-graph.related.limit")
def test_a_walk_that_left_something_out_says_so(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(8):
        save(call, f"item_{n}", f"AUTH-1 blocks AUTH-{n + 2}")
    assert "notices" not in call("context_find_related", key="AUTH-1")
    monkeypatch.setattr(graph, "MOST_STATEMENTS", 4)
    answer = call("context_find_related", key="AUTH-1", maxDepth=1)
    assert "AUTH-9" in str(answer["entities"])
    assert "AUTH-2" not in str(answer["entities"])
    assert "said last" in answer["notices"][0]


@requirement("keeper-graph.items")
def test_an_item_is_an_entity_that_other_items_mention_by_key(call: Call) -> None:
    save(call, "auth_decision", "Use Redis", category="decision")
    save(call, "plan", "Follows auth_decision")
    answer = call("context_find_related", key="plan", maxDepth=2)
    assert {"item:auth_decision", "service:redis"} <= ids(answer)


@requirement("keeper-graph.items")
def test_items_with_plain_keys_are_related_by_what_they_say_of_each_other(call: Call) -> None:
    save(call, "frontend", "frontend depends on backend")
    save(call, "backend", "Backend calls service-b.")
    save(call, "service-b", "Not written yet")
    assert ids(call("context_find_related", key="frontend", maxDepth=1)) == {"item:backend"}
    further = call("context_find_related", key="frontend", relationTypes=["depends_on", "calls"])
    assert [(each["id"], each["distance"]) for each in further["entities"]] == [
        ("item:backend", 1),
        ("item:service-b", 2),
    ]


@requirement("keeper-graph.private")
def test_private_items_of_other_sessions_leave_no_trace(call: Call, other: Call) -> None:
    save(call, "public", "AuthService is slow")
    save(other, "hidden", "AuthService calls SecretVault, AUTH-99", private=True)
    theirs = save(other, "open", "nothing to see")
    assert "class:SecretVault" in ids(other("context_analyze"))
    for answer in (
        call("context_analyze"),
        call("context_analyze", sessionId=theirs, maxDepth=5),
        call("context_find_related", key="AuthService", maxDepth=5),
    ):
        assert "SecretVault" not in str(answer)
        assert "hidden" not in str(answer)
    service = next(each for each in call("context_analyze")["entities"] if each["type"] == "class")
    assert (service["count"], service["attributes"]["sourceCount"]) == (1, 1)
    for key in ("hidden", "SecretVault", "AUTH-99", "issue:AUTH-99"):
        assert call("context_find_related", key=key)["error"]["code"] == "ITEM_NOT_FOUND"
        assert "error" not in other("context_find_related", key=key)


@requirement("keeper-graph.incremental")
def test_the_graph_follows_the_items(call: Call) -> None:
    save(call, "a", "AUTH-1 is open")
    assert "issue:AUTH-1" in ids(call("context_analyze"))
    save(call, "a", "AUTH-2 is open")
    assert ids(call("context_analyze")) == {"item:a", "issue:AUTH-2"}
    call("context_delete", key="a")
    assert call("context_analyze")["stats"]["totalEntities"] == 0


@requirement("keeper-graph.view")
def test_the_graph_can_be_drawn(call: Call, core: Core) -> None:
    chain(call)
    view = core.through("memory-keeper").graph.view(Filter(categories=("task",)))
    nodes = {node.id: node for node in view.nodes}
    assert nodes["class:BetaService"].color == COLORS["class"]
    assert nodes["class:BetaService"].label == "BetaService"
    assert nodes["class:BetaService"].size >= 1
    assert ("class:AlphaView", "class:BetaService", "calls") in {edge[:3] for edge in view.edges}
    assert all(edge.source in nodes and edge.target in nodes and 0 < edge.weight <= 1 for edge in view.edges)
    assert view.total_nodes == len(view.nodes)
