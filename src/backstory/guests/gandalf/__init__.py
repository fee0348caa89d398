"""Gandalf: conversations with every assistant on this machine, and information about the current project."""
