"""The shape of the source in figures: its size, its records, its imports and its comments.

    python bench/house.py [SOURCE ...]    a column for each folder (default: `src/backstory`)
    python bench/house.py --records       records that are built in one place or none, with that place

Records of rows are built by the store's `Columns` for many queries, so they do not count. Pass the folder of an
older version too, to compare both.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections.abc import Callable, Iterator
from functools import partial
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "backstory"
VISITORS = ("guests", "importers")
DENSE = (
    "core/statements", "core/failures", "core/devices", "core/blame", "core/sync", "domain/provenance", "search",
)  # fmt: skip
"""Packages whose rules are not evident from their code: each needs comments with reasons."""
SEARCHING = re.compile(r"engine\.search\b|\bfile_hits\b|\bMatching\(|\bread_question\b")
"""Calls of the search engine, the same as `tests/test_architecture.py` forbids outside of its door."""


class House:
    """The parsed modules of one source folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.texts = {
            path.relative_to(root).as_posix(): path.read_text("utf-8") for path in sorted(root.rglob("*.py"))
        }
        self.trees = {name: ast.parse(text) for name, text in self.texts.items()}

    def size(self, *packages: str, without: tuple[str, ...] = ()) -> str:
        """Files and lines, of some packages or of all."""
        names = [
            name
            for name in self.texts
            if (not packages or name.startswith(packages)) and not name.startswith(without or ("-",))
        ]
        lines = sum(len(self.texts[name].splitlines()) for name in names)
        return f"{len(names)} / {lines:,}"

    def layers(self) -> str:
        """The layers of the import contract."""
        contract = (self.root.parents[1] / "pyproject.toml").read_text("utf-8")
        match = re.search(r"^layers = \[\n(.*?)^\]", contract, re.MULTILINE | re.DOTALL)
        return str(len(match[1].splitlines())) if match else "?"

    def cycles(self) -> str:
        """Packages of the source and of core that import each other, directly or through others."""
        return str(len(self._cycle("")) + len(self._cycle("core/")))

    def _cycle(self, folder: str) -> set[str]:
        siblings: dict[str, set[str]] = {}
        prefix = "backstory." + folder.replace("/", ".")
        for name, tree in self.trees.items():
            if not name.startswith(folder) or name == f"{folder}__init__.py":
                continue
            own = re.split(r"[/.]", name.removeprefix(folder))[0]
            imported = {
                each.removeprefix(prefix).split(".")[0] for each in imports(tree) if each.startswith(prefix)
            }
            siblings.setdefault(own, set()).update(imported - {own})
        cyclic: set[str] = set()
        while True:
            try:
                TopologicalSorter(siblings).prepare()
            except CycleError as error:
                cyclic.update(error.args[1])
                for each in set(error.args[1]):
                    siblings[each] -= set(error.args[1])
            else:
                return cyclic

    def entries_to_search(self) -> str:
        """Modules outside the search that call it."""
        return str(
            sum(
                1
                for name, text in self.texts.items()
                if Path(name).parent.name != "search" and SEARCHING.search(text)
            )
        )

    def imports_in_functions(self) -> str:
        return str(
            len(
                {
                    (name, node.lineno)
                    for name, tree in self.trees.items()
                    for function in ast.walk(tree)
                    if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
                    for node in ast.walk(function)
                    if isinstance(node, ast.Import | ast.ImportFrom)
                }
            )
        )

    def records(self) -> dict[str, str]:
        """NamedTuples and dataclasses with the module that declares them."""
        return {
            node.name: name
            for name, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef) and is_record(node)
        }

    def constructions(self) -> dict[str, list[str]]:
        """Record → the places that build one: calls, `cls(…)` in its own methods, and functions that are handed the
        class."""
        places: dict[str, list[str]] = {record: [] for record in self.records()}
        for name, tree in self.trees.items():
            for record, line in built_records(tree, set(places)):
                places[record].append(f"{name}:{line}")
        return places

    def rows(self) -> set[str]:
        """Records that `Columns` builds from the rows of a query."""
        return {
            ast.unparse(node.args[0])
            for tree in self.trees.values()
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "Columns" and node.args
        }

    def single_records(self) -> dict[str, list[str]]:
        rows = self.rows()
        return {
            record: places
            for record, places in self.constructions().items()
            if len(places) < 2 and record not in rows
        }

    def single_use(self) -> str:
        return f"{len(self.single_records())} of {len(self.records())}"

    def single_use_in_module(self) -> str:
        """Records built in one place that no other module names."""
        modules = self.records()
        return str(
            sum(
                1
                for record in self.single_records()
                if not any(
                    re.search(rf"\b{record}\b", text)
                    for name, text in self.texts.items()
                    if name != modules[record]
                )
            )
        )

    def comments(self, package: str = "") -> str:
        """Comments for 100 lines of code; the comments that steer a tool do not count."""
        comments = code = 0
        for name, text in self.texts.items():
            if name.startswith(package):
                more_comments, more_code = counted_lines(text)
                comments, code = comments + more_comments, code + more_code
        return f"{100 * comments / max(code, 1):.1f}"


def imports(tree: ast.AST) -> Iterator[str]:
    """Imported modules, with those that `lazy_name` and `lazy_module` name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id.startswith("lazy_")
            and isinstance(node.args[0], ast.Constant)
        ):
            yield str(node.args[0].value)


def is_record(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base) == "NamedTuple" for base in node.bases) or any(
        ast.unparse(each).startswith("dataclass") for each in node.decorator_list
    )


def built_records(tree: ast.AST, records: set[str]) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name in records:
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and ast.unparse(call.func) in ("cls", "cls._make"):
                    yield node.name, call.lineno
        elif isinstance(node, ast.Call):
            callee = node.func
            if isinstance(callee, ast.Attribute) and callee.attr == "_make":
                callee = callee.value
            for each in (callee, *node.args):
                called = each.attr if isinstance(each, ast.Attribute) else getattr(each, "id", "")
                is_check = ast.unparse(node.func) in ("isinstance", "issubclass", "cast")
                if called in records and not is_check:
                    yield called, node.lineno


def counted_lines(text: str) -> tuple[int, int]:
    """The comments of a module, and its lines with code; a docstring is neither."""
    comments = 0
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += not re.match(r"# (?:noqa|type:|fmt:|pragma)", token.string)
        elif token.type not in (
            tokenize.NL,
            tokenize.NEWLINE,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        ):
            code.update(range(token.start[0], token.end[0] + 1))
    prose = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }
    return comments, len(code - prose)


FIGURES: dict[str, Callable[[House], str]] = {
    "files / lines": House.size,
    "… without guests and importers": lambda house: house.size(without=VISITORS),
    "… of core": lambda house: house.size("core/"),
    "layers of the contract": House.layers,
    "packages in a cycle": House.cycles,
    "entries to search": House.entries_to_search,
    "imports inside functions": House.imports_in_functions,
    "records built in one place or none": House.single_use,
    "… and named by one module": House.single_use_in_module,
    "comments for 100 lines": House.comments,
    **{f"… in {package}": partial(House.comments, package=f"{package}/") for package in DENSE},
}


def main(arguments: list[str]) -> None:
    if arguments == ["--records"]:
        house = House(SOURCE)
        modules = house.records()
        for record, places in sorted(house.single_records().items(), key=lambda each: modules[each[0]]):
            print(f"{modules[record]:50} {record:28} {' '.join(places)}")
        return
    houses = [House(Path(each).resolve()) for each in arguments or [str(SOURCE)]]
    for figure, measure in FIGURES.items():
        print(f"{figure:40}" + "".join(f"{measure(house):>18}" for house in houses))


if __name__ == "__main__":
    main(sys.argv[1:])
