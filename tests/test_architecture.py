"""The shape of the project: requirements and tests name each other, every error is worded, nothing grows too large."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import backstory
from backstory.domain.errors import BackstoryError, NotFound
from backstory.surfaces import load_surfaces
from backstory.tools import Surface

TESTS = Path(__file__).parent
SOURCE = Path(backstory.__file__).parent

LONGEST_MODULE = 450
LONGEST_FUNCTION = 60


@cache
def requirements() -> list[dict[str, Any]]:
    return [
        requirement
        for path in sorted((TESTS / "requirements").glob("*.toml"))
        for requirement in tomllib.loads(path.read_text("utf-8"))["requirement"]
    ]


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def named_requirements(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    """The ids in `@pytest.mark.requirement(...)`, or `@requirement(...)` for short."""
    marks = [
        decorator
        for decorator in function.decorator_list
        if isinstance(decorator, ast.Call)
        and (getattr(decorator.func, "attr", None) or getattr(decorator.func, "id", None)) == "requirement"
    ]
    return [ast.literal_eval(argument) for mark in marks for argument in mark.args]


@cache
def proven() -> dict[str, list[str]]:
    """Requirement → the tests that name it."""
    found: dict[str, list[str]] = {}
    for path in sorted(TESTS.rglob("test_*.py")):
        for function in functions(path):
            for id in named_requirements(function):
                found.setdefault(id, []).append(f"{path.relative_to(TESTS)}::{function.name}")
    return found


def test_every_requirement_has_a_test() -> None:
    tests = proven()
    assert [each["id"] for each in requirements() if each["id"] not in tests] == []


def test_every_requirement_that_a_test_names_exists() -> None:
    known = {each["id"] for each in requirements()}
    assert {id: tests for id, tests in proven().items() if id not in known} == {}


def test_every_test_of_a_surface_names_what_it_proves() -> None:
    unnamed = [
        f"{path.name}::{function.name}"
        for surface in load_surfaces()
        for path in (TESTS / "surfaces").glob(f"test_{surface.replace('-', '_')}*.py")
        for function in functions(path)
        if function.name.startswith("test_") and not named_requirements(function)
    ]
    assert unnamed == []


@pytest.mark.parametrize("requirement", requirements(), ids=lambda requirement: requirement["id"])
def test_a_requirement_says_where_and_what_and_why_we_differ(requirement: dict[str, str]) -> None:
    assert set(requirement) - {"divergence", "reason"} == {"id", "where", "what"}
    assert ("divergence" in requirement) == ("reason" in requirement)
    assert all(value.strip() for value in requirement.values())


def test_requirement_ids_are_unique_and_begin_with_the_name_of_their_file() -> None:
    ids = [each["id"] for each in requirements()]
    assert len(set(ids)) == len(ids)
    for path in (TESTS / "requirements").glob("*.toml"):
        named = [each["id"] for each in tomllib.loads(path.read_text("utf-8"))["requirement"]]
        assert all(id.startswith(f"{path.stem}.") for id in named)


def errors(root: type[BackstoryError] = BackstoryError) -> Iterator[type[BackstoryError]]:
    yield root
    for child in root.__subclasses__():
        yield from errors(child)


@pytest.mark.parametrize("surface", load_surfaces().values(), ids=lambda surface: surface.name)
@pytest.mark.parametrize("kind", list(errors()), ids=lambda kind: kind.__name__)
def test_every_surface_words_every_error(surface: Surface, kind: type[BackstoryError]) -> None:
    error = kind("record", "some id") if issubclass(kind, NotFound) else kind('It failed: "ü".', hint="Try.")
    reply = surface.fail(error)
    assert reply.is_error
    assert reply.structured is None
    assert "some id" in reply.text or "It failed" in reply.text


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_no_module_is_too_long() -> None:
    lengths = {path.name: len(path.read_text("utf-8").splitlines()) for path in modules()}
    assert {name: length for name, length in lengths.items() if length > LONGEST_MODULE} == {}


def test_no_function_is_too_long() -> None:
    long = [
        f"{path.name}::{function.name}"
        for path in modules()
        for function in functions(path)
        if (function.end_lineno or 0) - function.lineno >= LONGEST_FUNCTION
    ]
    assert long == []


def test_every_module_opens_with_what_it_is_for() -> None:
    silent = [path.name for path in modules() if not ast.get_docstring(parsed(path))]
    assert silent == []


def test_the_name_of_a_class_occurs_once() -> None:
    places: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(SOURCE)))
    assert {name: paths for name, paths in places.items() if len(paths) > 1} == {}


FOREIGN = (
    "readers/",  # files of other programs have names of their own,
    "importers/programs/",  # and so have the programs and their tables
    "core/events.py",  # the metadata of memories that are kept already
)
"""Where wire names stand for something else than a parameter, a tool or a surface of ours."""


def texts(path: Path) -> list[str]:
    """All that a module says and is no docstring of it."""
    tree = parsed(path)
    prose = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose
    ]


def wire_words() -> set[str]:
    """Names of surfaces, of tools, and of parameters as surfaces spell them; plain words are everybody's, and so is our own
    name."""
    surfaces = load_surfaces()
    tools = [tool for surface in surfaces.values() for tool in surface.tools.values()]
    spelled = {param.wire for tool in tools for param in tool.params if param.wire != param.name}
    return {*surfaces, *spelled, *(tool.name for tool in tools if "_" in tool.name)} - {"backstory"}


def test_core_and_what_is_below_it_speak_no_wire_words() -> None:
    pattern = re.compile(rf"(?<![\w/])(?:{'|'.join(map(re.escape, sorted(wire_words())))})(?!\w)")
    spoken = [
        f"{path.relative_to(SOURCE)}: {found[0]}"
        for package in ("core", "search", "store", "readers", "domain")
        for path in sorted((SOURCE / package).rglob("*.py"))
        if not str(path.relative_to(SOURCE)).startswith(FOREIGN)
        for text in texts(path)
        if (found := pattern.search(text))
    ]
    assert spoken == []


def test_core_names_the_wrong_parameter_in_its_own_words() -> None:
    fields = {
        f"{path.relative_to(SOURCE)}: {keyword.value.value!r}"
        for path in sorted((SOURCE / "core").rglob("*.py"))
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "field"
        and isinstance(keyword.value, ast.Constant)
        and keyword.value.value != str(keyword.value.value).lower()
    }
    assert fields == set()


PRINTING = {
    "console.py": "the one way to a terminal",
    "cli/terminal.py": "colours what the console made harmless",
    "clients/hook.py": "runs alone, and answers an assistant",
    "core/sync/decoder_process.py": "hands bytes to its own process",
    "front.py": "answers a client before anything is imported",
    "server/stdio.py": "answers a client",
}
"""Modules that may write to standard output or standard error, and why."""


def test_nothing_prints_but_the_console() -> None:
    """A name or a text of somebody else that is printed elsewhere could steer the user's terminal."""
    printing = [
        f"{path.relative_to(SOURCE)}: {ast.unparse(node)}"
        for path in sorted(SOURCE.rglob("*.py"))
        if path.relative_to(SOURCE).as_posix() not in PRINTING
        for node in ast.walk(parsed(path))
        if _prints(node)
    ]
    assert printing == []


def _prints(node: ast.AST) -> bool:
    """Whether it is a call of `print` or `input`, a use of a standard stream but to ask about it, or rich."""
    if isinstance(node, ast.Call):
        name = ast.unparse(node.func)
        return name in ("print", "input") or bool(
            re.fullmatch(r"sys\.std(?:out|err)(?:\.buffer)?\.write.*", name)
        )
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] == "rich"
    return False


def test_nothing_searches_but_ask() -> None:
    door = SOURCE / "core" / "ask.py"
    benchmarks = (TESTS.parent / "bench").glob("*.py")
    others = [
        each for each in (*SOURCE.rglob("*.py"), *benchmarks) if each != door and each.parent.name != "search"
    ]
    searching = re.compile(r"engine\.search\b|\bfile_hits\b|\bMatching\(|\bread_question\b")
    assert searching.search(door.read_text("utf-8"))
    assert [each.name for each in others if searching.search(each.read_text("utf-8"))] == []


REACHING_THE_STORE = {
    "app.py": "composes the product, and opens the stores for it",
    "cli/doctor.py": "checks a store as such: its pages and indexes, and its standby",
    "cli/restore.py": "replaces a store as such, and removes words from a copy of it",
}
"""Edges that may use the store of an engine, and why."""


def test_the_edges_ask_core_and_not_the_store() -> None:
    """A read of an edge's own could show what is private. The tokens and members of a team server are in a store that
    belongs to the server itself and has no engine."""
    edges = {"app.py", "library.py", "cli", "server", "surfaces", "tools", "web"}
    reaching = {
        str(path.relative_to(SOURCE))
        for path in modules()
        if path.relative_to(SOURCE).parts[0] in edges
        and re.search(r"engine\.store\b", path.read_text("utf-8"))
    }
    assert reaching == REACHING_THE_STORE.keys()
