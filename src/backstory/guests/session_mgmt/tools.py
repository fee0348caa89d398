"""session-mgmt's tools: the lifecycle of a session, and reflection on past ones; `{"success": ...}` replies.

`vocabulary` declares the surface; the tools are in modules of this package, one per chapter of the document."""

from __future__ import annotations

from . import lifecycle, reflections, searching
from .vocabulary import surface

__all__ = ["lifecycle", "reflections", "searching", "surface"]
