"""What a tool is: a named function with typed parameters, on a surface that words its replies.

A surface declares four things once: its name, the fields every success carries, how a failure is worded,
and how it spells parameter names. A tool is then its arguments, its description and the translation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

from ..core import Core
from ..domain.errors import BackstoryError, Disabled, NotFound
from ..domain.scopes import Scope
from .params import (
    Json,
    Param,
    Shaped,
    answers_in_text,
    decode,
    input_schema,
    output_schema,
    read_params,
    spellings,
)

ToolFn = Callable[..., Any]

ALWAYS_LOAD = "anthropic/alwaysLoad"
"""How Claude Code is told."""


class ErrorTable(NamedTuple):
    """How a surface words failures: its codes and its advice, as data."""

    codes: Mapping[type[BackstoryError], str]
    """A kind of error that is not here has the code of its parent; BackstoryError is."""
    not_found: Mapping[str, str] = {}
    """Codes of their own, by the kind of record that is not there."""
    hints: Mapping[str, str] = {}
    """What to do where the error does not say it: by the kind of record that is not there, else by code."""

    def code(self, error: BackstoryError) -> str:
        named = self.not_found.get(error.kind) if isinstance(error, NotFound) else None
        return named or next(self.codes[kind] for kind in type(error).__mro__ if kind in self.codes)

    def hint(self, error: BackstoryError) -> str:
        kind = error.kind if isinstance(error, NotFound) else ""
        return error.hint or self.hints.get(kind) or self.hints.get(self.code(error), "")


class Reply(NamedTuple):
    """What goes back over the wire, before any protocol wraps it."""

    text: str
    structured: Json | None = None
    is_error: bool = False
    error: BackstoryError | None = None
    """What went wrong, for who words it otherwise."""


class Effect(NamedTuple):
    """What a call may do to the store; clients show it, and the team server checks it."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    sweeping: bool = False
    """Takes away everything at once; on a team server that is for admins."""
    proposes: bool = False
    """Where changes to a shared space are reviewed, the call of a writer makes or withdraws a proposal."""

    @property
    def scope(self) -> Scope:
        """What a caller needs for it."""
        if self.sweeping:
            return Scope.ADMIN
        return Scope.READ if self.read_only else Scope.WRITE


READS = Effect(read_only=True, idempotent=True)
ADDS = Effect()
REPLACES = Effect(destructive=True, idempotent=True)
REMOVES = Effect(destructive=True, idempotent=True)
CLEARS = Effect(destructive=True, idempotent=True, sweeping=True)


class Tool:
    def __init__(
        self,
        fn: ToolFn,
        title: str,
        effect: Effect,
        surface: Surface,
        *,
        of_checkout: bool = False,
        always_loaded: bool = False,
    ) -> None:
        self.fn = fn
        self.name = fn.__name__
        self.title = title
        self.description = " ".join((fn.__doc__ or "").split())
        self.effect = effect
        self.surface = surface
        self.of_checkout = of_checkout
        """Looks into the caller's working directory, so it is nothing for a caller on another machine."""
        self.always_loaded = always_loaded
        """Clients that show a model only the names of tools until it looks for one shall show this one at once."""
        self.left_out_by = ""
        """The profile that this tool is not in; empty when it can be called."""

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return read_params(self.fn, self.surface.wire)

    def renamed(self, name: str) -> Tool:
        """The same tool under another name."""
        other = copy(self)
        other.name = name
        return other

    def left_out(self, profile: str) -> Tool:
        """The same tool, which says that a profile leaves it out."""
        other = copy(self)
        other.left_out_by = profile
        return other

    def call(self, core: Core, arguments: Mapping[str, Any]) -> Reply:
        """Answer one call. The surface words the errors a caller can understand; any other error is a bug
        and passes through to the edge, which logs it and asks `Surface.fail` for the wording."""
        try:
            if self.left_out_by:
                raise Disabled(
                    f"{self.name} is not in the profile {self.left_out_by!r} that this server was started with.",
                    hint="The user can start it with --profile full, or TOOL_PROFILE=full.",
                )
            core.caller.check_scope(self.effect.scope)
            if not (self.effect.read_only or self.effect.proposes):
                core.caller.check_review()
            keywords = decode(self.params, arguments)
            core = core.through(self.surface.name)
            return self.surface.succeed(self.surface.fit(core, self._run(core, keywords)))
        except BackstoryError as error:
            return self.surface.fail(error)

    def _run(self, core: Core, keywords: Mapping[str, Any]) -> Json | str:
        """What the function gives; what core refuses is called as the caller calls it."""
        try:
            answer: Json | str = self.fn(core, **keywords)
        except BackstoryError as error:
            error.spell(spellings(self.params))
            raise
        return answer

    def describe(self) -> Json:
        """The tool as `tools/list` shows it."""
        schema = {}
        if not answers_in_text(self.fn):
            success = output_schema(self.fn, self.surface.success)
            schema = {"outputSchema": self.surface.fitted_schema(success)}
        meta = {"_meta": {ALWAYS_LOAD: True}} if self.always_loaded else {}
        return {
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": input_schema(self.params),
            **schema,
            "annotations": {
                "title": self.title,
                "readOnlyHint": self.effect.read_only,
                "destructiveHint": self.effect.destructive,
                "idempotentHint": self.effect.idempotent,
                "openWorldHint": False,
            },
            **meta,
        }


def dump(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


class Surface:
    def __init__(
        self,
        name: str,
        *,
        about: str,
        word_error: Callable[[BackstoryError], str],
        success: Json | None = None,
        wire: Callable[[str], str] = str,
        fit: Callable[[Core, Any], Any] = lambda core, body: body,
        fitted_schema: Callable[[Json], Json] = lambda schema: schema,
        takes_prefix: bool = False,
        profiles: Mapping[str, Collection[str]] | None = None,
    ) -> None:
        """`word_error` gives the text of a failure. `success` are fields that every success carries, such as
        `{"status": "success"}`. `wire` spells parameter names: `str` keeps snake_case, `camel` gives camelCase.
        `fit` makes an answer fit into a message, and `fitted_schema` says what it looks like then. `profiles` are parts of its
        tools that a user can choose; None where there is nothing to choose."""
        self.name = name
        self.about = about
        self.word_error = word_error
        self.success = success or {}
        self.wire = wire
        self.fit = fit
        self.fitted_schema = fitted_schema
        self.takes_prefix = takes_prefix
        self.profiles = profiles
        self.tools: dict[str, Tool] = {}
        self.unlisted: dict[str, Tool] = {}
        """Tools that programs call who know of them; no model sees them."""
        self.methods: dict[str, Tool] = {}

    def tool(
        self,
        title: str,
        effect: Effect,
        *,
        of_checkout: bool = False,
        always_loaded: bool = False,
        is_listed: bool = True,
    ) -> Callable[[ToolFn], ToolFn]:
        def register(fn: ToolFn) -> ToolFn:
            if fn.__name__ in self.tools | self.unlisted:
                raise ValueError(f"{self.name} already has a tool {fn.__name__}")
            tools = self.tools if is_listed else self.unlisted
            tools[fn.__name__] = Tool(
                fn, title, effect, self, of_checkout=of_checkout, always_loaded=always_loaded
            )
            return fn

        return register

    def method(self, name: str, effect: Effect) -> Callable[[ToolFn], ToolFn]:
        """Answers a method of the protocol that is no call of a tool, such as `resources/read`."""

        def register(fn: ToolFn) -> ToolFn:
            self.methods[name] = Tool(fn, name, effect, self).renamed(name)
            return fn

        return register

    def prefixed(self, prefix: str) -> Surface:
        """The same with a prefix before the names of its tools, for clients that show the tools of all servers in one list."""
        if not self.takes_prefix or not prefix:
            return self
        other = copy(self)
        other.tools = {
            f"{prefix}{name}": tool.renamed(f"{prefix}{name}") for name, tool in self.tools.items()
        }
        return other

    def narrowed(self, profile: str, tools: Collection[str]) -> Surface:
        """The same with these tools alone. A call of another says that the profile leaves it out."""
        if self.tools.keys() <= set(tools):
            return self
        other = copy(self)
        other.tools = {name: tool for name, tool in self.tools.items() if name in tools}
        others = {name: tool.left_out(profile) for name, tool in self.tools.items() if name not in tools}
        other.unlisted = self.unlisted | others
        return other

    def succeed(self, body: Json | Shaped[Any] | str) -> Reply:
        if isinstance(body, str):
            return Reply(body)
        if isinstance(body, Shaped):
            return Reply(dump({**self.success, **body.text}), structured={**self.success, **body.structured})
        whole = {**self.success, **body}
        return Reply(dump(whole), structured=whole)

    def fail(self, error: BackstoryError) -> Reply:
        return Reply(self.word_error(error), is_error=True, error=error)


def camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.title() for word in tail)
