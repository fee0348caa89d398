"""What a server offers its clients, worded once for all of them: tools, capabilities, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..surfaces import all_tools, callable_tools, prefix_of
from ..tools import Surface, Tool
from . import wire
from .instructions import OWN, instructions

Json = dict[str, Any]


class Offer:
    def __init__(
        self, surfaces: Mapping[str, Surface], *, is_remote: bool = False, can_announce: bool = True
    ) -> None:
        """`is_remote`: callers may be on other machines, so tools of a checkout are not listed. `can_announce`:
        whether a client can be told of a change when it did not ask."""
        self._surfaces = surfaces
        self._is_remote = is_remote
        self.can_announce = can_announce
        self.capabilities: Json = {"tools": {"listChanged": True} if can_announce else {}, "logging": {}}
        if OWN in surfaces:  # it has documents and prompts, which is known without loading it
            self.capabilities |= {"resources": {}, "prompts": {}, "completions": {}}
        self.instructions = instructions(surfaces, prefix_of(surfaces))

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """Also those that are not listed."""
        return callable_tools(self._surfaces)

    @cached_property
    def methods(self) -> dict[str, Tool]:
        """What is asked for otherwise than by a tool: resources, prompts, completions."""
        return {name: each for surface in self._surfaces.values() for name, each in surface.methods.items()}

    @cached_property
    def catalogue(self) -> str:
        """The listed tools as JSON text."""
        every = all_tools(self._surfaces).values()
        listed = [tool for tool in every if not (self._is_remote and tool.of_checkout)]
        return wire.to_json([tool.describe() for tool in listed])

    def renew(self) -> None:
        """Read the tools anew."""
        for name in ("tools", "methods", "catalogue"):
            self.__dict__.pop(name, None)
