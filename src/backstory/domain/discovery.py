"""Find the parts of the product that are added by putting a module into a package: readers, surfaces, guests, importers.

Nothing is imported here. The directories are read because pkgutil would import `inspect`, which costs a start 5 ms.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_GUESTS = os.path.join(_PACKAGE, "guests")


def modules_in(package: Iterable[str]) -> list[str]:
    """Sorted names of the modules and packages in a package, given its `__path__`, except those that begin with `_`."""
    entries = [entry for directory in package for entry in os.scandir(directory)]
    names = {entry.name.removesuffix(".py") for entry in entries if entry.name.endswith(".py")}
    # a directory without `__init__.py` is what git leaves of a package that was moved
    names |= {entry.name for entry in entries if os.path.exists(f"{entry.path}/__init__.py")}
    return sorted(name for name in names if not name.startswith("_"))


def guest_modules(part: str) -> dict[str, str]:
    """By guest, the full name of its module `part`, for guests that have one.

    The caller imports it by that name: no statement may import a guest, so that none becomes a part of the product."""
    return {
        guest: f"backstory.guests.{guest}.{part}"
        for guest in modules_in([_GUESTS])
        if os.path.exists(os.path.join(_GUESTS, guest, f"{part}.py"))
    }
