"""Whatever an answer looks like, its parts are small, have its shape, and joined are the whole."""

from __future__ import annotations

from typing import Any

from backstory.tools.budget import size
from backstory.tools.parts import PART_BYTES, REPEATED_BYTES, split

Json = dict[str, Any]


def put_together(parts: list[Json]) -> Json:
    whole, *others = parts
    for other in others:
        for name in ("results", "names"):
            whole[name] = whole[name] + other[name]
        whole["inner"]["places"].update(other["inner"]["places"])
        whole.setdefault("rest", []).extend(other.get("rest", []))
    for rest in whole.pop("rest", []):
        *path, last = [name.replace("~1", "/").replace("~0", "~") for name in rest["at"].split("/")[1:]]
        holder: Any = whole
        for name in path:
            holder = holder[int(name)] if isinstance(holder, list) else holder[name]
        holder[last] = holder[last][: rest["begin"]] + rest["value"]
    return whole


def test_lists_maps_and_long_texts_at_any_depth_are_whole_when_the_parts_are_joined() -> None:
    results = [(10, 2), (30_000, 1), (5, 4_000), (7_000, 1), (400, 2)]
    body: Json = {
        "results": [
            {"content": "ü" * length, "files": [f"/a/b/{n}.py" for n in range(count)]}
            for length, count in results
        ],
        "total_found": len(results),
        "names": [f"name {n}" for n in range(REPEATED_BYTES)],
        "notices": ["Be careful."],
        "inner": {
            "places": {f"a/~{n}": {"ok": True, "why": "w" * 50 * n} for n in range(300)},
            "text": "z" * 9_000,
        },
    }
    parts = split(body)
    for part in parts:
        assert size(part) <= PART_BYTES + 500
        assert part["total_found"] == len(results)
        assert part["notices"] == ["Be careful."]
        assert part["inner"]["text"].startswith("zzz")
    assert put_together(parts) == body


def test_a_part_is_as_full_as_its_members_allow() -> None:
    parts = split({"results": [{"content": "x" * 1_000}] * 100})
    assert {len(part["results"]) for part in parts[:-1]} == {14}
