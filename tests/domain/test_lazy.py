"""Patterns and modules that wait for their first use behave as the originals do."""

from __future__ import annotations

import gc
import pkgutil
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import backstory
from backstory.domain import lazy
from backstory.domain.lazy import lazy_module, lazy_name, lazy_pattern


def test_a_lazy_pattern_matches_and_replaces_as_a_compiled_one_does() -> None:
    waiting, compiled = (
        lazy_pattern(r"(\d+)([a-z])", re.IGNORECASE),
        re.compile(r"(\d+)([a-z])", re.IGNORECASE),
    )
    text = "12A and 3b"
    assert waiting.pattern == compiled.pattern
    for _ in range(2):  # the first use, and those after it
        assert waiting.findall(text) == compiled.findall(text)
        assert waiting.sub(r"\2\1", text) == compiled.sub(r"\2\1", text)
        assert [match.span() for match in waiting.finditer(text)] == [(0, 3), (8, 10)]
    assert lazy_pattern(rb"\s+").split(b"a b") == [b"a", b"b"]


def test_a_lazy_pattern_refuses_names_that_a_pattern_does_not_have() -> None:
    with pytest.raises(AttributeError):
        lazy_pattern("a").missing  # type: ignore[attr-defined]  # noqa: B018


def test_every_pattern_of_the_product_compiles() -> None:
    """A mistake in one would otherwise be seen when it is first used, at a user's."""
    for found in pkgutil.walk_packages(backstory.__path__, "backstory."):
        if found.name != "backstory.__main__":
            import_module(found.name)
    gc.unfreeze()  # a server that ran in this process has frozen them, and frozen objects are not listed
    waiting = [each for each in gc.get_objects() if isinstance(each, lazy._Ready)]
    assert len(waiting) > 300
    for each in waiting:
        re.compile(each.pattern, each.flags)  # type: ignore[attr-defined]


def test_no_lazy_name_of_a_package_is_that_of_a_module_in_it() -> None:
    """Importing the module would put it in the name's place."""
    sources = Path(backstory.__path__[0]).rglob("__init__.py")
    replaced = [
        f"{source}: {name}"
        for source in sources
        for name in re.findall(r"^    (\w+) = lazy_", source.read_text("utf-8"), re.MULTILINE)
        if source.with_name(f"{name}.py").exists() or source.with_name(name).is_dir()
    ]
    assert replaced == []


def test_a_lazy_module_is_imported_by_its_first_use() -> None:
    code = (
        "import sys; from backstory.domain.lazy import lazy_module; late = lazy_module('colorsys');"
        "before = 'colorsys' in sys.modules; late.rgb_to_hsv(0, 0, 0); print(before, 'colorsys' in sys.modules)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert output.stdout.split() == ["False", "True"]
    with pytest.raises(AttributeError):
        lazy_module("colorsys").missing  # noqa: B018


def test_a_lazy_name_calls_what_its_module_has_now(monkeypatch: pytest.MonkeyPatch) -> None:
    late = lazy_name("colorsys", "rgb_to_hsv")
    assert late(0, 0, 0) == (0.0, 0.0, 0)
    monkeypatch.setattr("colorsys.rgb_to_hsv", lambda *parts: parts)
    assert late(1, 2, 3) == (1, 2, 3)
