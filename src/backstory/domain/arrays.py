"""numpy, which the first use of it imports: 60 to 100 ms of CPU that saves, lists and hooks do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

__all__ = ["np"]
