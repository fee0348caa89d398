"""Read code line by line where no parser of its language is at hand: less is seen, and with less confidence."""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from .facts import Facts, Thing, listed, thing

CONFIDENCE = 0.6

_KEYWORDS = listed(
    "if for while switch catch return function def fn func class match with elif else not and or in print super"
    " sizeof typeof await new throw assert del lambda yield len range str int"
)


class _LineScope(NamedTuple):
    owner: Thing
    class_name: str = ""
    receiver: str = ""


@cache
def _line() -> re.Pattern[str]:
    return re.compile(
        r"""
        ^\s*(?:(?:export|default|public|private|protected|static|abstract|final|sealed|data|pub(?:\([^)]*\))?)\s+)*
        (?: (?:class|interface|struct|enum|trait|type)\s+(?P<class>[A-Z]\w*)(?:<[^>{]*>)?
            (?:\s*(?:extends|:|\()\s*(?P<parent>[A-Z][\w.]*))?(?:<[^>{]*>)?
            (?:.*?\bimplements\s+(?P<traits>[A-Z][\w., <>]*))?
          | impl(?:<[^>]*>)?\s+(?:(?P<trait>[A-Z]\w*)(?:<[^>]*>)?\s+for\s+)?(?P<implementer>[A-Z]\w*)
          | (?:async\s+)?(?:function\*?|def|fn|func|fun)\s+(?:\((?P<receiver>[^)]*)\)\s*)?(?P<function>[A-Za-z_]\w*)\s*[(<\[]
          | (?:const|let|var)\s+(?P<arrow>[A-Za-z_]\w*)\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>
          | (?:async\s+)?(?P<method>(?!(?:if|for|while|switch|catch)\b)[A-Za-z_]\w*)\s*\([^;{]*\)\s*(?::[^;{]+)?\{
          | "(?P<quoted>[\w./-]+)"\s*$
          | import\s+(?:[^'"]*\sfrom\s+)?['"](?P<source>[^'"]+)['"]
          | (?:import|use|using|require|from|\#include)\s+[<"']?(?P<module>[\w.:/-]+)
        )
        """,
        re.VERBOSE,
    )


@cache
def _call() -> re.Pattern[str]:
    return re.compile(r"(?<![\w.])(new\s+)?([A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)*)\(")


def read_lines(source: str, facts: Facts) -> bool:
    """Whether anything was recognised. Calls belong to the function that began last above them."""
    scope, seen = _LineScope(facts.item), False
    for line in source.splitlines():
        bounded = line[:1_000]
        match = _line().match(bounded)
        if match is None:
            _read_calls(bounded, scope, facts)
            continue
        seen = True
        if match["function"] or match["arrow"] or match["method"]:
            scope = _read_function(match, scope, facts)
            _read_calls(bounded[match.end() :], scope, facts)
        elif match["class"] or match["implementer"]:
            scope = _LineScope(facts.item, _read_class(match, facts))
        else:
            name = match["source"] or match["quoted"] or match["module"]
            module = facts.mention(thing("module", name.rstrip(":;.")))
            facts.relate(facts.item, "imports", module, CONFIDENCE)
    return seen


def _read_function(match: re.Match[str], scope: _LineScope, facts: Facts) -> _LineScope:
    own, _, kind = (match["receiver"] or "").partition(" ")  # Go: (s *Server)
    is_inside = match.string[:1].isspace() or bool(match["method"])
    class_name = kind.strip("* ") or (scope.class_name if is_inside else "")
    name = match["function"] or match["arrow"] or match["method"]
    made = facts.mention(thing("function", f"{class_name}.{name}" if class_name else name))
    holder = facts.mention(thing("class", class_name)) if class_name else facts.item
    facts.relate(holder, "contains" if class_name else "defines", made, CONFIDENCE)
    return _LineScope(made, class_name, own)


def _read_calls(line: str, scope: _LineScope, facts: Facts) -> None:
    for is_new, name in _call().findall(line):
        head, _, rest = name.partition(".")
        if name in _KEYWORDS:
            continue
        if scope.class_name and head in ("this", "self", scope.receiver) and rest:
            name = rest if "." in rest else f"{scope.class_name}.{rest}"
        kind = "class" if is_new else "function"
        facts.relate(scope.owner, "calls", facts.mention(thing(kind, name)), CONFIDENCE)


def _read_class(match: re.Match[str], facts: Facts) -> str:
    name = match["class"] or match["implementer"]
    made = facts.mention(thing("class", name))
    if match["class"]:
        facts.relate(facts.item, "defines", made, CONFIDENCE)
    if match["parent"]:
        facts.relate(made, "extends", facts.mention(thing("class", match["parent"])), CONFIDENCE)
    for trait in (match["traits"] or match["trait"] or "").split(","):
        bare = trait.strip(" {").partition("<")[0].strip()
        if bare:
            facts.relate(made, "implements", facts.mention(thing("class", bare)), CONFIDENCE)
    return name
