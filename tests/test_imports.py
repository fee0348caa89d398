"""Imports are at the top of a module; the few that are not give their reason."""

from __future__ import annotations

import ast
from pathlib import Path

import backstory

SOURCE = Path(backstory.__file__).parent
MAX_IMPORTS_IN_FUNCTIONS = 30


def imports_in_functions() -> list[tuple[str, bool]]:
    """Where they are, and whether a comment stands in the line or above it."""
    places = []
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text("utf-8")
        lines = text.splitlines()
        numbers = {
            node.lineno
            for function in ast.walk(ast.parse(text))
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        for number in sorted(numbers):
            is_explained = "#" in lines[number - 1] or lines[number - 2].strip().startswith("#")
            places.append((f"{path.relative_to(SOURCE)}:{number}", is_explained))
    return places


def test_the_few_imports_inside_functions_give_their_reason() -> None:
    places = imports_in_functions()
    assert [place for place, is_explained in places if not is_explained] == []
    assert len(places) <= MAX_IMPORTS_IN_FUNCTIONS
