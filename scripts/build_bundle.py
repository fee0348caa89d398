"""Build the `.mcpb` bundle: `python scripts/build_bundle.py FOLDER` lays its files out in a folder that is not there yet.

`mcpb pack FOLDER backstory.mcpb` makes one file of it.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from other_packages import bundle_manifest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src", "packages/minilm")


def build(folder: Path) -> None:
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    (folder / "manifest.json").write_text(bundle_manifest(), "utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python scripts/build_bundle.py FOLDER")
    build(Path(sys.argv[1]))
