"""Build hook: version, dependencies and extras of Backstory, without the packages that run the embedding model.

An extra of `backstory` cannot do this, because an extra only adds dependencies. Only a wheel is built, and only in a
checkout: the code is that of `src/backstory`."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LEFT_OUT = ("onnxruntime",)
README = """\
# backstory-lite

[Backstory](https://github.com/backstory/backstory) without its embedding model, for machines where onnxruntime has no wheel, and for small ones. It is the same program with the
same command, `backstory`; it searches by words only. Install either `backstory` or `backstory-lite`, not both in one environment.
"""


def lite_metadata(product: dict[str, Any]) -> dict[str, Any]:
    """The dynamic fields, from Backstory's pyproject.toml."""
    project = product["project"]
    dependencies = product["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"]
    needed = [each for each in dependencies if re.split(r"[\s<>=;]", each)[0] not in LEFT_OUT]
    return {
        "version": project["version"],
        "readme": {"content-type": "text/markdown", "text": README},
        "dependencies": needed,
        "optional-dependencies": project["optional-dependencies"],
    }


class LiteMetadata(MetadataHookInterface):
    def update(self, metadata: dict[str, Any]) -> None:
        product = tomllib.loads(Path(self.root, "..", "..", "pyproject.toml").read_text("utf-8"))
        metadata.update(lite_metadata(product))
