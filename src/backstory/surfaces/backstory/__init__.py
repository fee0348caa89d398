"""Backstory's own tools: seven verbs over everything that is known, with compact text answers.

Answers have no structure in addition to their text: clients that receive both give the model the structure, which costs
more tokens."""
