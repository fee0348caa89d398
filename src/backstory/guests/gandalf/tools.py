"""Gandalf's five tools: conversations with any assistant, and information about the current project.

`vocabulary` declares the surface; the tools are in modules of this package, one per subject of the document."""

from __future__ import annotations

from . import conversations, export, project
from .vocabulary import surface

__all__ = ["conversations", "export", "project", "surface"]
