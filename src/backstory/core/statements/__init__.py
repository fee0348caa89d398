"""Statements: what conversations decided, dropped, left open, checked and changed. Extracted once, when a log is read."""
