"""Names say what they hold: a participle tells what happened to a value, and a bare adjective limits nothing."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import backstory

SOURCE = Path(backstory.__file__).parent
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
CLAUSES = re.compile(r"(?:What|The same|Of|As above|Who|Whose|Whether)\b")


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


def test_no_docstring_opens_with_a_clause() -> None:
    clauses = [
        f"{path.relative_to(SOURCE)}:{line} {text[:60]}"
        for path in sorted(SOURCE.rglob("*.py"))
        for text, line in docstrings(ast.parse(path.read_text("utf-8")))
        if CLAUSES.match(text)
    ]
    assert clauses == []
