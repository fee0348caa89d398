"""Gandalf: conversations with every assistant on this machine, and what the project at hand is made of."""
