"""Saves a memory and closes the engine at once, while its vectors are still being made; many times over."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from backstory.core import Caller, Core, Engine
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore


class Constant:
    model, at_once, dimensions, is_loaded = "constant", 4, 64, True

    def load(self) -> None:
        """There is nothing to load."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 64), 0.125, np.float32)


def main(path: str, times: str) -> None:
    settings = Settings(home=Path(path).parent, project=Path("/p"))
    for number in range(int(times)):
        core = Core(Engine(settings, SqliteStore(Path(path)), Constant()), Caller(project="/p"))
        core.memories.save(f"text {number}")
        core.engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
