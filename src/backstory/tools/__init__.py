"""Tools and surfaces: a tool is a named function with typed parameters, on a surface that words its replies.

A surface declares four things once: its name, the fields of every success, the wording of failures, and the spelling of
parameter names. A tool then consists of its arguments, its description and the translation."""

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
"""The key by which Claude Code learns that a tool must always be loaded."""


class ErrorTable(NamedTuple):
    """The codes and hints with which a surface words failures."""

    codes: Mapping[type[BackstoryError], str]
    """By error class. A class that is missing here has the code of its parent; BackstoryError is always present."""
    not_found: Mapping[str, str] = {}
    """Special codes for missing records, by kind of record."""
    hints: Mapping[str, str] = {}
    """Hints for errors that carry none: by kind of missing record, otherwise by code."""

    def code(self, error: BackstoryError) -> str:
        named = self.not_found.get(error.kind) if isinstance(error, NotFound) else None
        return named or next(self.codes[kind] for kind in type(error).__mro__ if kind in self.codes)

    def hint(self, error: BackstoryError) -> str:
        kind = error.kind if isinstance(error, NotFound) else ""
        return error.hint or self.hints.get(kind) or self.hints.get(self.code(error), "")


class Reply(NamedTuple):
    """The content of an answer, before a protocol wraps it."""

    text: str
    structured: Json | None = None
    is_error: bool = False
    error: BackstoryError | None = None
    """The original error, for callers that word it differently."""


class Effect(NamedTuple):
    """The possible effects of a call on the store. Clients show them, and the team server checks them."""

    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    sweeping: bool = False
    """Deletes everything at once. On a team server, only admins may do this."""
    proposes: bool = False
    """If changes to a shared space are reviewed, a writer's call creates or withdraws a proposal."""

    @property
    def scope(self) -> Scope:
        """The scope that a caller needs."""
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
        """True if the tool reads the caller's working directory and is not useful to a caller on another machine."""
        self.always_loaded = always_loaded
        """True if clients should show this tool immediately, even if they show only tool names until the model searches
        for one."""
        self.left_out_by = ""
        """The profile that excludes this tool; "" if it can be called."""

    @cached_property
    def params(self) -> tuple[Param, ...]:
        return read_params(self.fn, self.surface.wire)

    def renamed(self, name: str) -> Tool:
        """Return a copy of the tool with another name."""
        other = copy(self)
        other.name = name
        return other

    def left_out(self, profile: str) -> Tool:
        """Return a copy of the tool that reports on each call that the profile excludes it."""
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
        """Call the function. Errors from core are reworded with the caller's parameter names."""
        try:
            answer: Json | str = self.fn(core, **keywords)
        except BackstoryError as error:
            error.spell(spellings(self.params))
            raise
        return answer

    def describe(self) -> Json:
        """Return the tool's entry in `tools/list`."""
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
        """Declare a surface.

        `word_error` returns the text of a failure. `success` contains fields of every success, such as `{"status":
        "success"}`. `wire` spells parameter names: `str` leaves snake_case, `camel` returns camelCase. `fit` makes an
        answer fit into a message, and `fitted_schema` describes the result. `profiles` are subsets of the tools that a
        user can choose; None if there is no choice."""
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
        """Tools for programs that know their names. They are not listed, and models do not see them."""
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
        """Register a handler for a protocol method other than `tools/call`, such as `resources/read`."""

        def register(fn: ToolFn) -> ToolFn:
            self.methods[name] = Tool(fn, name, effect, self).renamed(name)
            return fn

        return register

    def prefixed(self, prefix: str) -> Surface:
        """Return a copy with a prefix before the tool names, for clients that list the tools of all servers
        together."""
        if not self.takes_prefix or not prefix:
            return self
        other = copy(self)
        other.tools = {
            f"{prefix}{name}": tool.renamed(f"{prefix}{name}") for name, tool in self.tools.items()
        }
        return other

    def narrowed(self, profile: str, tools: Collection[str]) -> Surface:
        """Return a copy with only these tools. Calling another one reports that the profile excludes it."""
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
