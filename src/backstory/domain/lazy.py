"""Regular expressions and modules that cost nothing until they are used.

A client waits for the first call of its server, and one call needs only a few of the 370 patterns and of Core's parts.
Compiling the patterns that the first `recall` imports took 90 of its 450 ms; numpy and the modules that import it took
as long again."""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any, AnyStr

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split")


class _Ready:
    """A pattern after its first use.

    Its methods are instance attributes, which makes them as fast as those of the original."""


class _Waiting(_Ready):
    def __init__(self, text: str | bytes, flags: int) -> None:
        self.pattern = text
        self.flags = flags

    def __getattr__(self, name: str) -> Any:
        if name not in _METHODS:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags)
        # two threads may compile the pattern at the same time: both set the same methods
        self.__dict__.update((method, getattr(compiled, method)) for method in _METHODS)
        self.__class__ = _Ready  # type: ignore[assignment]
        return getattr(compiled, name)


class _Module:
    def __init__(self, name: str, load: Callable[[str], ModuleType]) -> None:
        self._name = name
        self._load = load

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._load(self._name), name)
        setattr(self, name, value)  # later accesses do not call __getattr__
        return value


if TYPE_CHECKING:

    def lazy_pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]: ...

else:

    def lazy_pattern(text, flags=0):
        """Return a regular expression for module level that is compiled on first use."""
        return _Waiting(text, int(flags))


def lazy_module(name: str, load: Callable[[str], ModuleType] = import_module) -> Any:
    """Return a module that is imported, by `load`, when one of its names is first used.

    Write the real import under `if TYPE_CHECKING`, where mypy and import-linter see it, and this call in the `else`."""
    return _Module(name, load)


def lazy_name(module: str, name: str) -> Any:
    """Return a class or function whose module is imported on its first call. Write the real import under `if
    TYPE_CHECKING`.

    In a package, do not use a name that is also a submodule: importing the submodule would replace it."""

    def call(*args: Any, **named: Any) -> Any:
        # looked up on every call, like an import in the function, to respect a name that was replaced in its module
        return getattr(import_module(module), name)(*args, **named)

    return call
