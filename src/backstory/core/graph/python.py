"""Read Python by its own syntax tree."""

from __future__ import annotations

import ast
import builtins
import textwrap
import warnings
from functools import cache
from typing import NamedTuple

from .facts import Facts, Thing, thing

CONFIDENCE = 0.95


class _Seen(NamedTuple):
    """Definitions collected from the code so far."""

    facts: Facts
    imported: dict[str, str]
    raised: set[ast.AST]
    """Calls that make an exception to raise it."""


class _PythonScope(NamedTuple):
    """The scope of a statement."""

    owner: Thing
    class_name: str = ""


def read_python(source: str, facts: Facts) -> bool:
    tree = _parse(source)
    if tree is None:
        return False
    seen = _Seen(facts, {}, set())
    stack: list[tuple[ast.AST, _PythonScope]] = [(tree, _PythonScope(facts.item))]
    while stack:  # not recursive: generated code nests deeper than Python's own limit
        node, scope = stack.pop()
        inner = _read(node, scope, seen)
        stack.extend((child, inner) for child in reversed(list(ast.iter_child_nodes(node))))
    return True


def _parse(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a note's bad escapes are not ours to warn about
        try:
            return ast.parse(textwrap.dedent(_without_prompts(source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # all four are how it refuses bad code
            return None


def _without_prompts(source: str) -> str:
    if ">>> " not in source:
        return source
    lines = source.split("\n")
    return "\n".join(line[4:] for line in lines if line.startswith((">>> ", "... ")))


def _read(node: ast.AST, scope: _PythonScope, seen: _Seen) -> _PythonScope:
    facts = seen.facts
    if isinstance(node, ast.ClassDef):
        return _read_class(node, scope, facts)
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        name = f"{scope.class_name}.{node.name}" if scope.class_name else node.name
        function = facts.mention(thing("function", name))
        facts.relate(scope.owner, "contains" if scope.class_name else "defines", function, CONFIDENCE)
        return _PythonScope(function, scope.class_name)
    if isinstance(node, ast.Import | ast.ImportFrom):
        _read_import(node, scope, seen)
    elif isinstance(node, ast.Call):
        _read_call(node, scope, seen)
    elif isinstance(node, ast.Raise):
        _read_raise(node, scope, seen)
    return scope


def _read_class(node: ast.ClassDef, scope: _PythonScope, facts: Facts) -> _PythonScope:
    entity = facts.mention(thing("class", node.name))
    facts.relate(scope.owner, "defines", entity, CONFIDENCE)
    for base in node.bases:
        name = _dotted(base.value if isinstance(base, ast.Subscript) else base)
        if name and name not in ("object", "Generic"):
            facts.relate(
                entity, "extends", facts.mention(thing("class", name.rpartition(".")[2])), CONFIDENCE
            )
    return _PythonScope(entity, node.name)


def _read_import(node: ast.Import | ast.ImportFrom, scope: _PythonScope, seen: _Seen) -> None:
    facts, imported = seen.facts, seen.imported
    origin = f"{'.' * node.level}{node.module or ''}" if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        imported[alias.asname or alias.name] = f"{origin}.{alias.name}" if origin else alias.name
    for name in [origin] if origin else [alias.name for alias in node.names]:
        facts.relate(facts.item, "imports", facts.mention(thing("module", name)), CONFIDENCE)
        if scope.owner != facts.item:
            facts.relate(scope.owner, "imports", thing("module", name), CONFIDENCE)


def _read_call(node: ast.Call, scope: _PythonScope, seen: _Seen) -> None:
    facts, imported = seen.facts, seen.imported
    name = _dotted(node.func)
    if not name or node in seen.raised or name in _builtin_names():
        return
    head, _, rest = name.partition(".")
    if head in ("self", "cls") and scope.class_name:
        if not rest:
            return
        name = f"{scope.class_name}.{rest}" if "." not in rest else rest
    elif head in imported and rest:
        name = f"{imported[head]}.{rest}".lstrip(".")
    kind = "class" if "." not in name and name[:1].isupper() else "function"
    facts.relate(scope.owner, "calls", facts.mention(thing(kind, name)), CONFIDENCE)


def _read_raise(node: ast.Raise, scope: _PythonScope, seen: _Seen) -> None:
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if node.exc is not None:
        seen.raised.add(node.exc)
    name = _dotted(raised) if raised is not None else ""
    if name[:1].isupper():
        error = seen.facts.mention(thing("error", name.rpartition(".")[2]))
        seen.facts.relate(scope.owner, "causes", error, CONFIDENCE)


def _dotted(node: ast.AST) -> str:
    """`a.b.c` as text; "" for expressions without a name, for example the result of a call."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


@cache
def _builtin_names() -> frozenset[str]:
    return frozenset(dir(builtins))
