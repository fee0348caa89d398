"""Inputs of a search besides the query: the running conversation, and superseded decisions."""
