"""Numbered scripts, each run once and never changed after its release."""
