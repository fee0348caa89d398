"""Gandalf's five tools: what was said to any assistant, and what the project at hand is made of.

`vocabulary` declares the surface; the tools are in the modules below it, one for each subject of the document.
"""

from __future__ import annotations

from . import conversations, export, project
from .vocabulary import surface

__all__ = ["conversations", "export", "project", "surface"]
