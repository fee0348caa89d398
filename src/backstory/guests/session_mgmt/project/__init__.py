"""A look at a project: what it is built with, what changed in it, and how healthy it is."""
