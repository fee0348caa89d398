"""Build hook: the README of the package for a package index, and its dependencies.

In the repository the README links to files beside it, so that links work in every clone and fork. A package index shows
it without these files; there the same links lead to the repository.

In a checkout the embedding model is the package in `packages/minilm`, so that `pip install .` needs no index that has it. A
release names it by its version."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = "https://github.com/backstory/backstory"
PICTURES = "https://raw.githubusercontent.com/backstory/backstory/main"
RELEASE = "BACKSTORY_RELEASE"
"""The variable that `scripts/release.py` sets."""
_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#|mailto:)([^)\s]+)\)")


def with_absolute_links(text: str) -> str:
    """Replace every relative link and picture by its address in the repository."""
    return _LINK.sub(
        lambda found: (
            f"{found[1]}{found[2]}({PICTURES if found[1] else f'{REPOSITORY}/blob/main'}/{found[3]})"
        ),
        text,
    )


def model_requirement(root: Path, released: str) -> str:
    """The requirement of the model: `released`, or the folder of a checkout."""
    folder = root / "packages" / "minilm"
    if os.environ.get(RELEASE) or not folder.is_dir():
        return released
    requirement, _, marker = released.partition(";")
    return f"{requirement.partition('==')[0]} @ {folder.as_uri()} ;{marker}"


class IndexMetadata(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_absolute_links(text)}
        model = model_requirement(Path(self.root).resolve(), self.config["model"])
        metadata["dependencies"] = [model, *self.config["dependencies"]]
