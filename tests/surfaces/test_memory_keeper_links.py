"""Memory Keeper's links between items."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backstory.core import Caller, Core
from backstory.store import Store

from ..conftest import Call, caller_of

requirement = pytest.mark.requirement


@pytest.fixture
def other(core: Core) -> Call:
    """Another connection to the same store."""
    return caller_of(core._replace(caller=Caller(project="/p")))


@pytest.fixture
def services(call: Call) -> Call:
    """web → api → database ← reports; the database also leads back to the web."""
    call(
        "context_batch_save",
        items=[{"key": key, "value": f"The {key}."} for key in ("web", "api", "database", "reports")],
    )
    for source, target in (("web", "api"), ("api", "database"), ("reports", "database")):
        call("context_link", sourceKey=source, targetKey=target, relationship="depends_on")
    call("context_link", sourceKey="database", targetKey="web", relationship="serves")
    return call


def reached(answer: dict[str, Any]) -> dict[str, int]:
    return {item["key"]: item["distance"] for item in answer["items"]}


def code(answer: dict[str, Any]) -> str:
    return str(answer["error"]["code"])


@requirement("keeper-more.link")
def test_linking_again_keeps_the_link_and_replaces_its_metadata_if_given(call: Call) -> None:
    call("context_batch_save", items=[{"key": key, "value": key} for key in "ab"])
    asked = {"sourceKey": "a", "targetKey": "b", "relationship": "has_task"}
    made = call("context_link", **asked, metadata={"weight": 1})
    id = made.pop("relationshipId")
    assert made.pop("timestamp").endswith("Z")
    assert made == {"operation": "context_link", **asked, "metadata": {"weight": 1}, "created": True}
    again = call("context_link", **asked)
    assert (again["relationshipId"], again["created"], again["metadata"]) == (id, False, {"weight": 1})
    call("context_link", **asked, metadata={"weight": 2})
    (related,) = call("context_get_related", key="a")["related"]["outgoing"]
    assert (related["relationshipId"], related["metadata"]) == (id, {"weight": 2})


@requirement("keeper-more.link")
def test_a_link_needs_two_items_and_a_known_relationship(call: Call) -> None:
    call("context_save", key="a", value="x")
    answer = call("context_link", sourceKey="a", targetKey="nobody", relationship="blocks")
    assert (code(answer), "nobody" in answer["error"]["message"]) == ("ITEM_NOT_FOUND", True)
    assert code(call("context_link", sourceKey="a", targetKey="a", relationship="blocks")) == "INVALID_PARAMS"
    assert code(call("context_link", sourceKey="a", targetKey="a", relationship="likes")) == "INVALID_PARAMS"


@requirement("keeper-more.link")
def test_keys_are_looked_up_in_the_own_session_first(call: Call, other: Call) -> None:
    other("context_save", key="a", value="theirs")
    other("context_save", key="b", value="theirs")
    call("context_save", key="a", value="mine")
    call("context_link", sourceKey="a", targetKey="b", relationship="blocks")
    (related,) = call("context_get_related", key="b")["related"]["incoming"]
    assert related["value"] == "mine"


@requirement("keeper-more.related")
def test_related_items_are_found_to_the_depth_with_their_paths(services: Call) -> None:
    one = services("context_get_related", key="database", direction="incoming")
    assert reached(one) == {"api": 1, "reports": 1}
    assert "visualization" not in one
    deep = services("context_get_related", key="database", direction="incoming", depth=3)
    assert reached(deep) == {"api": 1, "reports": 1, "web": 2}
    assert (deep["totalRelated"], deep["totalCount"]) == (3, 3)
    (web,) = [item for item in deep["related"]["incoming"] if item["key"] == "web"]
    assert (web["path"], web["value"]) == (["database", "api", "web"], "The web.")
    assert (web["relationshipType"], web["direction"]) == ("depends_on", "incoming")
    assert deep["related"]["outgoing"] == []
    assert {node["id"] for node in deep["graph"]["nodes"]} == {"database", "api", "reports", "web"}
    assert deep["graph"]["maxDepth"] == 3
    assert deep["visualization"]["format"] == "graph"
    assert {(edge["from"], edge["to"]) for edge in deep["visualization"]["edges"]} >= {("api", "database")}
    assert deep["summary"]["relationshipTypes"] == ["depends_on", "serves"]


@requirement("keeper-more.related")
def test_relationship_and_direction_narrow_and_cycles_end(services: Call) -> None:
    assert reached(services("context_get_related", key="web", direction="outgoing", depth=10)) == {
        "api": 1,
        "database": 2,
    }
    assert reached(services("context_get_related", key="web", depth=10)) == {
        "api": 1,
        "database": 1,
        "reports": 2,
    }
    assert reached(services("context_get_related", key="web", relationship="serves", depth=3)) == {
        "database": 1
    }
    none = services("context_get_related", key="web", relationship="blocks")
    assert (none["totalRelated"], none["message"]) == (0, "No relationships found.")


@requirement("keeper-more.related.errors")
@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        ({"key": "nobody"}, "ITEM_NOT_FOUND"),
        ({"key": "web", "relationship": "likes"}, "INVALID_PARAMS"),
        ({"key": "web", "direction": "sideways"}, "INVALID_PARAMS"),
        ({"key": "web", "depth": 0}, "INVALID_PARAMS"),
        ({"key": "web", "depth": 11}, "INVALID_PARAMS"),
    ],
)
def test_a_wrong_question_about_links_is_refused(
    services: Call, arguments: dict[str, Any], wanted: str
) -> None:
    assert code(services("context_get_related", **arguments)) == wanted


@requirement("keeper-more.link.life")
def test_links_go_with_their_items(services: Call, store: Store) -> None:
    services("context_delete", key="api")
    assert reached(services("context_get_related", key="database", depth=5)) == {"reports": 1, "web": 1}
    assert len(store.links.at([each.id for each in store.links.at([])])) == 0
    services("context_batch_delete", keys=["reports"])
    assert reached(services("context_get_related", key="database", depth=5)) == {"web": 1}


@requirement("keeper-more.link.life")
def test_links_survive_a_change_and_an_archiving_of_their_items(services: Call, core: Core) -> None:
    services("context_save", key="api", value="The new api.")
    services("context_compress", olderThan="2999-01-01")
    services("context_batch_update", updates=[{"key": key, "value": "back"} for key in ("api", "database")])
    (related,) = services("context_get_related", key="api", direction="outgoing")["related"]["outgoing"]
    assert (related["key"], related["value"]) == ("database", "back")


@requirement("keeper-more.link.life")
def test_the_graph_shows_links_as_relations(services: Call) -> None:
    found = services("context_find_related", key="reports", maxDepth=2)
    distances = {entity["name"]: entity["distance"] for entity in found["entities"]}
    assert distances == {**distances, "database": 1, "api": 2, "web": 2}
    relation = {"subject": "item:reports", "predicate": "depends_on", "object": "item:database"}
    assert any(relation.items() <= each.items() for each in found["relations"])
    only = services("context_find_related", key="web", relationTypes=["serves"])
    assert [entity["name"] for entity in only["entities"]] == ["database"]
    drawn = services("context_visualize", type="graph")
    edges = [(edge["source"], edge["label"], edge["target"]) for edge in drawn["edges"]]
    assert ("item:api", "depends_on", "item:database") in edges


@requirement("keeper-more.link.life")
@pytest.mark.parametrize("merge", [False, True])
def test_an_export_carries_the_links(services: Call, other: Call, merge: bool) -> None:
    services("context_link", sourceKey="web", targetKey="api", relationship="depends_on", metadata={"n": 1})
    file = services("context_export")["filePath"]
    exported = json.loads(Path(file).read_text("utf-8"))
    assert len(exported["sessions"][0]["links"]) == 4
    services("context_batch_delete", keyPattern="*", confirm=True)
    imported = other("context_import", filePath=file, merge=merge)
    assert imported["errors"] == []
    answer = other("context_get_related", key="database", direction="incoming", depth=3)
    assert reached(answer) == {"api": 1, "reports": 1, "web": 2}
    (related,) = other("context_get_related", key="web", direction="outgoing")["related"]["outgoing"]
    assert related["metadata"] == {"n": 1}


@requirement("keeper-more.privacy")
def test_no_link_leads_to_what_is_private_elsewhere(call: Call, other: Call) -> None:
    call("context_save", key="open", value="x")
    call("context_save", key="zebra", value="hidden", private=True)
    call("context_save", key="beyond", value="x")
    call("context_link", sourceKey="open", targetKey="zebra", relationship="blocks")
    call("context_link", sourceKey="zebra", targetKey="beyond", relationship="blocks")
    assert reached(call("context_get_related", key="open", depth=2)) == {"zebra": 1, "beyond": 2}
    for tool, arguments in (
        ("context_get_related", {"key": "open", "depth": 5}),
        ("context_find_related", {"key": "open"}),
        ("context_visualize", {"type": "graph"}),
    ):
        assert "zebra" not in str(other(tool, **arguments)), tool
    assert code(other("context_link", sourceKey="open", targetKey="zebra", relationship="serves")) == (
        "ITEM_NOT_FOUND"
    )


@requirement("keeper-more.link.life")
def test_erasing_an_item_erases_its_links(services: Call, core: Core, store: Store) -> None:
    id = services("context_get", key="database")["items"][0]["id"]
    assert len(store.links.at([id])) == 3
    core.forgetting.forget(id, for_good=True)
    assert store.links.at([id]) == []
