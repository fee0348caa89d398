"""Find the parts of Backstory that register themselves by being a module in a package: readers, surfaces, guests,
importers.

Nothing is imported here. The directories are listed directly because `pkgutil` would import `inspect`, which adds 5 ms
to each start."""

from __future__ import annotations

import os
from collections.abc import Iterable

_PACKAGE = os.path.dirname(os.path.dirname(__file__))
_GUESTS = os.path.join(_PACKAGE, "guests")


def modules_in(package: Iterable[str]) -> list[str]:
    """Return the sorted names of the modules and packages in a package, except those that begin with `_`.

    `package` is the package's `__path__`."""
    entries = [entry for directory in package for entry in os.scandir(directory)]
    names = {entry.name.removesuffix(".py") for entry in entries if entry.name.endswith(".py")}
    # git leaves a directory without `__init__.py` behind when a package is moved
    names |= {entry.name for entry in entries if os.path.exists(f"{entry.path}/__init__.py")}
    return sorted(name for name in names if not name.startswith("_"))


def guest_modules(part: str) -> dict[str, str]:
    """Map each guest that has a module `part` to that module's full name.

    The caller imports the module by name. No import statement may name a guest, because guests are not part of the
    product."""
    return {
        guest: f"backstory.guests.{guest}.{part}"
        for guest in modules_in([_GUESTS])
        if os.path.exists(os.path.join(_GUESTS, guest, f"{part}.py"))
    }
