"""Imports every module that declares tools, resources, prompts or completions of Backstory's own surface."""

from __future__ import annotations

from . import completions, documents, prompts, tools
from .vocabulary import surface

__all__ = ["completions", "documents", "prompts", "surface", "tools"]
