"""Configuration files as people write them: any layout, comments, line ends and BOM."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

KEYS = st.sampled_from(["mcpServers", "servers", "theme", "a b", "hooks", "é", "backstory", 'q"t', "other"])
SCALARS = (
    st.none() | st.booleans() | st.integers(-9, 10**12) | st.sampled_from(["", "x", "//", "/* */", "},", "é"])
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
SPACES = st.text(" \t\n", max_size=4)
COMMENTS = st.sampled_from(["// note\n", "/* note */", "/* two\n lines, } */", "//\n"])


@st.composite
def json_texts(draw: st.DrawFn, *, root: st.SearchStrategy[Any], comments: bool, trailing: bool) -> str:
    def gap() -> str:
        text = draw(SPACES)
        if comments and draw(st.integers(0, 3)) == 0:
            text += draw(COMMENTS) + draw(SPACES)
        return text

    def items(opening: str, written: list[str], closing: str) -> str:
        end = "," + gap() if trailing and written and draw(st.booleans()) else ""
        return opening + ",".join(written) + end + closing

    def write(value: Any) -> str:
        if isinstance(value, dict):
            members = [
                gap() + json.dumps(k) + gap() + ":" + gap() + write(v) + gap() for k, v in value.items()
            ]
            return items("{", members, "}") if members else "{" + gap() + "}"
        if isinstance(value, list):
            elements = [gap() + write(each) + gap() for each in value]
            return items("[", elements, "]") if elements else "[" + gap() + "]"
        return json.dumps(value, ensure_ascii=draw(st.booleans()))

    layout = draw(st.sampled_from(["free", "indented", "tabs", "compact"]))
    value = draw(root)
    if layout == "free":
        text = gap() + write(value) + gap()
    else:
        unit: Any = {"indented": draw(st.sampled_from([2, 4])), "tabs": "\t", "compact": None}[layout]
        text = json.dumps(value, indent=unit) + draw(st.sampled_from(["", "\n"]))
    text = draw(st.sampled_from(["", "\ufeff"])) + text
    return text.replace("\n", "\r\n") if draw(st.booleans()) else text
