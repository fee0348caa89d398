"""Read TypeScript, JavaScript, Go and Rust by their syntax trees, where the extra `backstory[code]` is installed."""

from __future__ import annotations

import importlib
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple

from .facts import Facts, Thing, listed, thing

CONFIDENCE = 0.95

_GRAMMARS = {
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "javascript": ("tree_sitter_javascript", "language"),
    "go": ("tree_sitter_go", "language"),
    "rust": ("tree_sitter_rust", "language"),
}
_CLASSES = listed(
    "class_declaration abstract_class_declaration interface_declaration enum_declaration type_spec struct_item trait_item"
    " enum_item"
)
_FUNCTIONS = listed(
    "function_declaration generator_function_declaration method_definition function_item function_signature_item"
    " method_declaration method_elem"
)
_VARIABLES = frozenset(["variable_declarator", "public_field_definition", "field_definition"])
_FUNCTION_VALUES = frozenset(["arrow_function", "function_expression", "function"])
_ANCESTORS = {
    "extends_clause": "extends", "class_heritage": "extends", "extends_type_clause": "extends",
    "implements_clause": "implements",
}  # fmt: skip
_NAMES = frozenset(
    ["identifier", "type_identifier", "member_expression", "generic_type", "scoped_type_identifier"]
)
_SELVES = ("this.", "self.", "Self::", "self::", "crate::")
_LONGEST_CALLEE = 80
LONGEST_SOURCE = 40_000
LONGEST_LINE = 1_000
"""Beyond these it is no code that a person wrote, and a parser may try to mend it for minutes."""


class _TreeScope(NamedTuple):
    owner: Thing
    class_name: str = ""
    receiver: str = ""
    """The name of a Go method's receiver."""


def is_installed() -> bool:
    return find_spec("tree_sitter") is not None


@cache
def can_read(language: str) -> bool:
    return language in _GRAMMARS and is_installed() and find_spec(_GRAMMARS[language][0]) is not None


@cache
def _parser(language: str) -> Any:
    tree_sitter = importlib.import_module("tree_sitter")
    module, function = _GRAMMARS[language]
    grammar = getattr(importlib.import_module(module), function)()
    return tree_sitter.Parser(tree_sitter.Language(grammar))


def read_tree(source: str, language: str, facts: Facts) -> bool:
    """False where hardly anything of the text is in the language. A snippet with an error is read around it."""
    if len(source) > LONGEST_SOURCE or max(map(len, source.splitlines()), default=0) > LONGEST_LINE:
        return False
    root = _parser(language).parse(source.encode()).root_node
    if root.child_count and all(child.type == "ERROR" for child in root.children):
        return False
    stack: list[tuple[Any, _TreeScope]] = [(root, _TreeScope(facts.item))]
    while stack:
        node, scope = stack.pop()
        inner = _read(node, scope, facts)
        stack.extend((child, inner) for child in reversed(node.named_children))
    return True


def _read(node: Any, scope: _TreeScope, facts: Facts) -> _TreeScope:
    kind = node.type
    if kind in _CLASSES:
        return _read_class(node, scope, facts)
    if kind in _FUNCTIONS or (kind in _VARIABLES and _type(_field(node, "value")) in _FUNCTION_VALUES):
        return _read_function(node, scope, facts)
    if kind == "impl_item":
        return _read_impl(node, facts)
    if kind in ("call_expression", "new_expression"):
        _read_call(node, scope, facts)
    elif kind in ("import_statement", "import_spec", "use_declaration", "export_statement"):
        _read_import(node, facts)
    elif kind == "throw_statement":
        _read_throw(node, scope, facts)
    return scope


def _read_class(node: Any, scope: _TreeScope, facts: Facts) -> _TreeScope:
    entity = facts.mention(thing("class", _text(_field(node, "name"))))
    facts.relate(scope.owner, "defines", entity, CONFIDENCE)
    for child in node.named_children:
        clauses = [child, *child.named_children] if child.type == "class_heritage" else [child]
        for clause in clauses:
            for name in clause.named_children if clause.type in _ANCESTORS else ():
                if name.type in _NAMES:
                    parent = facts.mention(thing("class", _bare(_text(name))))
                    facts.relate(entity, _ANCESTORS[clause.type], parent, CONFIDENCE)
    return _TreeScope(entity, entity.name)


def _read_function(node: Any, scope: _TreeScope, facts: Facts) -> _TreeScope:
    name, class_name, receiver = _text(_field(node, "name")), scope.class_name, ""
    if (receiver_node := _field(node, "receiver")) is not None:  # Go: (s *Server)
        receiver, _, kind = _text(receiver_node).strip("()").partition(" ")
        class_name = _bare(kind.strip(" *"))
    owner = scope.owner
    if class_name and receiver:
        owner = facts.mention(thing("class", class_name))
    function = facts.mention(thing("function", f"{class_name}.{name}" if class_name else name))
    facts.relate(owner, "contains" if class_name else "defines", function, CONFIDENCE)
    return _TreeScope(function, class_name, receiver)


def _read_impl(node: Any, facts: Facts) -> _TreeScope:
    entity = facts.mention(thing("class", _bare(_text(_field(node, "type")))))
    if (trait := _field(node, "trait")) is not None:
        facts.relate(entity, "implements", facts.mention(thing("class", _bare(_text(trait)))), CONFIDENCE)
    return _TreeScope(entity, entity.name)


def _read_call(node: Any, scope: _TreeScope, facts: Facts) -> None:
    is_new = node.type == "new_expression"
    if is_new and _type(node.parent) == "throw_statement":
        return
    name = _text(_field(node, "constructor" if is_new else "function")).replace("?.", ".")
    if name == "require":
        module = _text(_field(node, "arguments")).strip("()'\"` ")
        facts.relate(facts.item, "imports", facts.mention(thing("module", module)), CONFIDENCE)
        return
    for own in (*_SELVES, f"{scope.receiver}." if scope.receiver else "this."):
        if name.startswith(own) and scope.class_name:
            rest = name.removeprefix(own)
            name = f"{scope.class_name}.{rest}" if "." not in rest else rest
            break
    # the callee of a chain is itself a call, which is met on its own
    if (
        not name
        or len(name) > _LONGEST_CALLEE
        or not name.replace(".", "").replace("::", "").replace("_", "").isalnum()
    ):
        return
    kind = "class" if is_new else "function"
    facts.relate(scope.owner, "calls", facts.mention(thing(kind, name)), CONFIDENCE)


def _read_import(node: Any, facts: Facts) -> None:
    source = _field(node, "source") or _field(node, "path")
    if source is not None:
        names = [_text(source).strip("'\"`")]
    elif node.type == "use_declaration":
        names = [_text(_field(node, "argument")).partition("::{")[0].partition(" as ")[0]]
    else:
        return
    for name in names:
        facts.relate(facts.item, "imports", facts.mention(thing("module", name)), CONFIDENCE)


def _read_throw(node: Any, scope: _TreeScope, facts: Facts) -> None:
    for child in node.named_children:
        if child.type == "new_expression":
            error = facts.mention(thing("error", _text(_field(child, "constructor"))))
            facts.relate(scope.owner, "causes", error, CONFIDENCE)


def _field(node: Any, name: str) -> Any:
    return node.child_by_field_name(name)


def _type(node: Any) -> str:
    return "" if node is None else str(node.type)


def _text(node: Any) -> str:
    return "" if node is None else bytes(node.text).decode("utf-8", "replace")


def _bare(name: str) -> str:
    """The name without type arguments and path."""
    return name.partition("<")[0].rpartition("::")[2].rpartition(".")[2].partition("[")[0]
