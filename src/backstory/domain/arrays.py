"""numpy, imported on first use: the import takes 60 to 100 ms of CPU, and saving, listing and hooks do not need it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lazy import lazy_module

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

__all__ = ["np"]
