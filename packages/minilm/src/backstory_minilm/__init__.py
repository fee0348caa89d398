"""all-MiniLM-L6-v2 as an ONNX file with int8 weights: a package that contains data only."""

from __future__ import annotations

from pathlib import Path

__version__ = "1.0.0"

SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
"""Checksum of `model.onnx`. The build compares it, and Backstory before every load."""


def model_path() -> Path:
    """The installed `model.onnx`."""
    return Path(__file__).with_name("model.onnx")
