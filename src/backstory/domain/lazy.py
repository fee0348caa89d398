"""Regular expressions and modules that cost nothing before they are used.

A client waits for the first call of its server, and a call needs a few of the 370 patterns and of Core's parts: compiling the
patterns that a first `recall` imports took 90 of its 450 ms, numpy and what imports it as much again."""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Any, AnyStr

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Ready:
    """A pattern after its first use. Its methods are attributes of the object, which makes them as fast as the original's."""


class _Waiting(_Ready):
    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern = text
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        # two threads may compile it at once: both get the same methods
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        self.__class__ = _Ready  # type: ignore[assignment]
        return getattr(compiled, name)


class _Module:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        value = getattr(import_module(self._name), name)
        setattr(self, name, value)  # next time it is found without asking
        return value


if TYPE_CHECKING:

    def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]: ...

else:

    def lazy_pattern(text, flags=0):
        """A regular expression for the top of a module, compiled when it is first used."""
        return _Waiting(text, int(flags))


def lazy_module(name: str) -> Any:
    """A module that is imported when one of its names is first used.

    Write the real import under `if TYPE_CHECKING`, where mypy and import-linter see it, and this in the `else`."""
    return _Module(name)


def lazy_name(module: str, name: str) -> Any:
    """A class or function whose module is imported when it is first called. Write the real import under `if TYPE_CHECKING`.

    In a package, give it no name that is also a module's there: importing that module would replace it."""

    def call(*args: Any, **named: Any) -> Any:
        # looked up at each call, as an import in the function would: a name that was replaced in its module counts
        return getattr(import_module(module), name)(*args, **named)

    return call
