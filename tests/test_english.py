"""Names say what they hold: a participle tells what happened to a value, and a bare adjective limits nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import backstory

SOURCE = Path(backstory.__file__).parent
ROOT = Path(__file__).parent.parent
PARTICIPLES = {
    "told",
    "said",
    "kept",
    "shown",
    "found",
    "meant",
    "got",
    "given",
    "made",
    "put",
    "done",
    "held",
    "brought",
}
BARE_CONSTANTS = {
    "MOST",
    "SIZE",
    "SHOWN",
    "LONGEST",
    "LARGEST",
    "FEWEST",
    "LEAST",
    "SHORTEST",
    "SMALLEST",
    "ENOUGH",
    "SAID",
}
CLAUSES = re.compile(
    r"(?:What|The same|Of|As above|Who|Whose|Whether|How|Why|Where|When|Those|That|Given|Made|Asked|Told|So|Such)\b"
)
FORMER_CLAUSES = re.compile(r"(?:What|The same|Of|As above|Who|Whose|Whether)\b")
OUT_OF_PLACE = re.compile(
    r"\b(?:whoever|so many|had to do with|have to do with|is apt|beside the|beside it|who asks|stood in|told apart"
    r"|(?:were|was|is|are) told|speaks? for the|gives? back|by now can)\b",
    re.IGNORECASE,
)
"""Turns of phrase that English has ordinary words for: users, this number, related to, next to, the caller."""
WIRE = SOURCE / "guests", SOURCE / "surfaces"
"""Docstrings of tools are their descriptions there, which clients of these programs know word for word."""


def assigned_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Variables and arguments, with their lines; not the fields of records, which may be words of a wire format."""
    fields = {
        statement.target
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in fields:
            yield node.id, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno


def test_no_variable_is_a_participle_and_no_constant_a_bare_measure() -> None:
    riddles = [
        f"{path.relative_to(SOURCE)}:{line} {name}"
        for path in sorted(SOURCE.rglob("*.py"))
        for name, line in assigned_names(ast.parse(path.read_text("utf-8")))
        if name.strip("_") in PARTICIPLES | BARE_CONSTANTS
    ]
    assert riddles == []


def docstrings(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Docstrings and the texts below fields and constants, with their lines."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            yield node.value.value, node.lineno


def own_sources() -> list[Path]:
    return [
        path
        for folder in (SOURCE, ROOT / "bench", ROOT / "scripts")
        for path in sorted(folder.rglob("*.py"))
        if not any(path.is_relative_to(wire) for wire in WIRE)
    ]


@pytest.mark.parametrize("pattern", [CLAUSES, OUT_OF_PLACE], ids=["clause", "phrase"])
def test_no_docstring_opens_with_a_clause_or_uses_a_phrase_that_has_a_plain_word(
    pattern: re.Pattern[str],
) -> None:
    search = pattern.match if pattern is CLAUSES else pattern.search
    found_in = [
        f"{path}:{line} {text[:60]}"
        for path in own_sources()
        for text, line in docstrings(ast.parse(path.read_text("utf-8")))
        if search(" ".join(text.split()))
    ]
    assert found_in == []


def test_no_docstring_of_a_guest_opens_with_a_clause() -> None:
    clauses = [
        f"{path.relative_to(SOURCE)}:{line} {text[:60]}"
        for folder in WIRE
        for path in sorted(folder.rglob("*.py"))
        for text, line in docstrings(ast.parse(path.read_text("utf-8")))
        if FORMER_CLAUSES.match(text)
    ]
    assert clauses == []


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "README.md",
        ROOT / "SECURITY.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs").glob("*.md")),
    ],
    ids=lambda page: page.name,
)
def test_no_page_uses_a_phrase_that_has_a_plain_word(page: Path) -> None:
    if page.name == "tools.md":  # the descriptions of tools, which clients know word for word
        return
    text = " ".join(page.read_text("utf-8").split())
    assert [
        text[max(match.start() - 40, 0) : match.end() + 20] for match in OUT_OF_PLACE.finditer(text)
    ] == []
