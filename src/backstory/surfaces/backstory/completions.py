"""Completions for arguments of prompts and resource templates, by prefix and without a search.

Only values that the caller may see are offered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core import Core, completing
from ...core.completing import MAX_VALUES, CompletedValues
from ...domain.errors import InvalidInput
from ...domain.lazy import lazy_pattern
from ...tools import READS
from .documents import SCHEME, TEMPLATES
from .prompts import PROMPTS
from .vocabulary import surface

Json = dict[str, Any]


_VARIABLE = lazy_pattern(r"\{\??([\w,]+)\}")


@surface.method("completion/complete", READS)
def complete(core: Core, ref: Json, argument: Json, context: Json | None = None) -> Json:
    """Return values that complete the typed text."""
    name, typed = argument.get("name"), argument.get("value", "")
    if not isinstance(name, str) or not isinstance(typed, str):
        raise InvalidInput("argument must have a name and a value, both texts.", field="argument")
    known = _arguments(ref)
    if name not in known:
        raise InvalidInput(
            f"There is no argument {name!r} to complete.",
            hint=f"Known: {', '.join(known)}.",
            field="argument",
        )
    matches = _COMPLETED[known[name]](core, typed) if known[name] in _COMPLETED else CompletedValues([], 0)
    values = matches.values[:MAX_VALUES]
    body: Json = {"values": values, "hasMore": matches.total is None or matches.total > len(values)}
    return {"completion": body if matches.total is None else {**body, "total": matches.total}}


def _arguments(ref: Json) -> dict[str, str]:
    """Return the arguments of the referenced prompt or template, each with its kind: a file, project, memory or
    session."""
    if ref.get("type") == "ref/prompt":
        prompt = PROMPTS.get(ref["name"]) if isinstance(ref.get("name"), str) else None
        if prompt is not None:
            return {prompt.argument.name: prompt.argument.name}
        raise InvalidInput(
            f"There is no prompt {ref.get('name')!r}.", hint=f"Known: {', '.join(PROMPTS)}.", field="ref"
        )
    if ref.get("type") == "ref/resource":
        for template, kind, _ in TEMPLATES:
            if ref.get("uri") in (f"{SCHEME}{template}", f"{SCHEME}{template.partition('{?')[0]}"):
                names = [name for some in _VARIABLE.findall(template) for name in some.split(",")]
                return {name: kind if name == "id" else name for name in names}
        raise InvalidInput(f"There is no resource template {ref.get('uri')!r}.", field="ref")
    raise InvalidInput("ref must have the type ref/prompt or ref/resource.", field="ref")


_COMPLETED: dict[str, Callable[[Core, str], CompletedValues]] = {
    "project": completing.projects,
    "name": completing.projects,
    "file": completing.files,
    "memory": completing.memory_ids,
    "session": completing.conversation_ids,
    "for": completing.assistants,
}
