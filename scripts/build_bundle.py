"""Build the `.mcpb` bundle: `python scripts/build_bundle.py backstory.mcpb`, or a FOLDER that does not exist yet, for
its files. A bundle is a zip file with a manifest. Two builds of the same source are equal, byte for byte."""

from __future__ import annotations

import shutil
import sys
import tempfile
import zipfile
from pathlib import Path

from other_packages import bundle_manifest

ROOT = Path(__file__).resolve().parent.parent
PARTS = ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "src", "packages/minilm")
SUFFIX = ".mcpb"
FILE_TIME = (2025, 1, 1, 0, 0, 0)
"""The time of every file in a bundle, so that two builds are equal."""
FILE_MODE = 0o644


def build(folder: Path) -> None:
    """Lay out the files of the bundle in a new folder."""
    folder.mkdir(parents=True)
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / part)
    (folder / "manifest.json").write_text(bundle_manifest(), "utf-8")


def pack(bundle: Path) -> None:
    """Write the bundle as one file."""
    with tempfile.TemporaryDirectory() as parent, zipfile.ZipFile(bundle, "w") as archive:
        folder = Path(parent, "bundle")
        build(folder)
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), FILE_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = FILE_MODE << 16
            archive.writestr(entry, path.read_bytes())


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: python scripts/build_bundle.py FILE{SUFFIX} or FOLDER")
    target = Path(sys.argv[1])
    (pack if target.suffix == SUFFIX else build)(target)
