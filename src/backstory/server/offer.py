"""What a server offers its clients, worded once for all of them: tools, capabilities, instructions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ..surfaces import all_tools, callable_tools, prefix_of
from ..tools import Surface, Tool
from . import wire
from .instructions import instructions

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
        self.instructions = instructions(surfaces, prefix_of(surfaces))

    @cached_property
    def tools(self) -> dict[str, Tool]:
        """Also those that are not listed."""
        return callable_tools(self._surfaces)

    @cached_property
    def catalogue(self) -> str:
        """The listed tools as JSON text."""
        every = all_tools(self._surfaces).values()
        listed = [tool for tool in every if not (self._is_remote and tool.of_checkout)]
        return wire.to_json([tool.describe() for tool in listed])

    def renew(self) -> None:
        """Read the tools anew."""
        for name in ("tools", "catalogue"):
            self.__dict__.pop(name, None)
