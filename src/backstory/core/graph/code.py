"""Find the code in a text and read it with a parser for its language, or line by line if there is none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .facts import Facts, Thing, listed, thing
from .python import read_python
from .trees import can_read, read_tree

LANGUAGES = {
    "py": "python", "python": "python", "python3": "python", "pycon": "python",
    "ts": "typescript", "typescript": "typescript", "tsx": "tsx", "mts": "typescript",
    "js": "javascript", "javascript": "javascript", "jsx": "javascript", "mjs": "javascript", "node": "javascript",
    "go": "go", "golang": "go", "rs": "rust", "rust": "rust",
    "java": "other", "kotlin": "other", "kt": "other", "c": "other", "cpp": "other", "c++": "other", "cs": "other",
    "csharp": "other", "php": "other", "ruby": "other", "rb": "other", "swift": "other", "scala": "other",
}  # fmt: skip
"""The languages that read a fenced text, by the word behind the fence. Any other fenced text is read as prose."""
CONFIDENCE = 0.6
_KEYWORDS = listed(
    "if for while switch catch return function def fn func class match with elif else not and or in print super"
    " sizeof typeof await new throw assert del lambda yield len range str int"
)


class CodePiece(NamedTuple):
    text: str
    language: str | None
    """The language; None for prose."""


def pieces(text: str) -> list[CodePiece]:
    """The parts of a text, alternately prose and code. A text without a fence is one part."""
    if "```" not in text and "~~~" not in text:
        return [CodePiece(text, guess_language(text))]
    return list(_fenced(text))


def _fenced(text: str) -> Iterator[CodePiece]:
    lines: list[str] = []
    fence, language = "", None
    for line in text.splitlines(keepends=True):
        mark = line.lstrip()
        if fence and mark.startswith(fence) and not mark.strip(f"{fence[0]} \n\r"):
            yield CodePiece("".join(lines), language)
            lines, fence, language = [], "", None
        elif not fence and mark.startswith(("```", "~~~")):
            yield CodePiece("".join(lines), None)
            lines, fence = [], mark[:3]
            name = mark.strip("`~ \n\r").split(maxsplit=1)
            language = LANGUAGES.get(name[0].lower()) if name else None
        else:
            lines.append(line)
    if fence and language is None:
        language = guess_language("".join(lines))
    yield CodePiece("".join(lines), language)


@cache
def _signs() -> dict[str, re.Pattern[str]]:
    signs = {
        "python": r"^\s*(?:(?:async\s+)?def\s+\w+\s*\(|class\s+\w+[^{\n]*:\s*$|from\s+[\w.]+\s+import\s|import\s+[\w.]+\s*$|@\w+)",
        "go": r"^(?:package\s+\w+\s*$|func\s+(?:\([^)\n]*\)\s*)?\w+\s*\(|type\s+\w+\s+(?:struct|interface)\b)",
        "rust": r"^\s*(?:pub(?:\([^)\n]*\))?\s+)?(?:fn\s+\w+|impl\b|struct\s+\w+|enum\s+\w+|trait\s+\w+|use\s+[\w:]+)[^\n]*[{;]\s*$",
        "typescript": r"^\s*(?:export\s+)?(?:default\s+)?(?:import\s.*from\s*['\"]|(?:async\s+)?function\s+\w+\s*[(<]|(?:abstract\s+)?class\s+\w+[^\n]*\{|interface\s+\w+[^\n]*\{|const\s+\w+\s*[:=])",
    }
    return {language: re.compile(sign, re.MULTILINE) for language, sign in signs.items()}


def guess_language(text: str) -> str | None:
    """The language of a text that is code from end to end, else None: a sentence about code is no code."""
    lines = [line for line in text[:4_000].splitlines() if line.strip()]
    if len(lines) < 2:
        return None
    coded = sum(
        line.rstrip().endswith(("{", "}", ";", ":", "(", ")", ",")) or line[0] in " \t" for line in lines
    )
    matches = {language: len(sign.findall(text[:4_000])) for language, sign in _signs().items()}
    language = max(matches, key=lambda each: matches[each])
    is_code = matches[language] > 0 and coded + matches[language] >= 0.6 * len(lines)
    return language if is_code else None


def read_code(piece: CodePiece, facts: Facts) -> bool:
    """Read a piece of code. Returns False if it could not be read."""
    language = piece.language or ""
    if language == "python":
        is_read = read_python(piece.text, facts)
    else:
        is_read = can_read(language) and read_tree(piece.text, language, facts)
    return is_read or read_lines(piece.text, facts)


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
    """Read code line by line. Returns whether anything was recognised. Calls belong to the last function above them."""
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
    function = facts.mention(thing("function", f"{class_name}.{name}" if class_name else name))
    holder = facts.mention(thing("class", class_name)) if class_name else facts.item
    facts.relate(holder, "contains" if class_name else "defines", function, CONFIDENCE)
    return _LineScope(function, class_name, own)


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
    entity = facts.mention(thing("class", name))
    if match["class"]:
        facts.relate(facts.item, "defines", entity, CONFIDENCE)
    if match["parent"]:
        facts.relate(entity, "extends", facts.mention(thing("class", match["parent"])), CONFIDENCE)
    for trait in (match["traits"] or match["trait"] or "").split(","):
        bare = trait.strip(" {").partition("<")[0].strip()
        if bare:
            facts.relate(entity, "implements", facts.mention(thing("class", bare)), CONFIDENCE)
    return name
