"""Analyses across many memories: digests, patterns and advice, for the brief and several surfaces."""
