"""Backstory: one memory for every AI coding assistant."""

__version__ = "0.1.0"
