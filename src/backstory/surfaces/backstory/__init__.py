"""Backstory's own tools: seven verbs over everything that is known, with answers in lean text.

No answer has a structure beside its text: clients that get both give the model the structure, which costs it more."""
