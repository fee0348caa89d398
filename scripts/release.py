"""Prepare a release.

    python scripts/release.py check v0.1.0    the tag, the version and the changelog agree
    python scripts/release.py build FOLDER    wheel, source distribution, bundle, manifests, SBOM and notes, in an empty folder

Every wheel and source distribution is built twice, and both must be equal to the byte. Nothing is uploaded: the workflow
`.github/workflows/release.yml` does that, first with FOLDER/model, then with FOLDER/packages, which depends on it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
MODEL, LITE = ROOT / "packages" / "minilm", ROOT / "packages" / "lite"
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "scripts")]

import build_bundle  # noqa: E402  (the path comes first)

from backstory import __version__  # noqa: E402

MAX_WHEEL_BYTES = 2_000_000
MAX_MODEL_BYTES = 24_000_000
SOURCE_DATE = "1735689600"
"""2025-01-01: every file of a build gets this time, so that two builds are equal."""
RELEASES = "https://github.com/backstory/backstory/releases/download"
_REQUIREMENT = re.compile(r"^([\w.-]+)==([^\s;]+)")


def main(words: list[str]) -> int:
    match words:
        case ["check", tag]:
            problems = check(tag)
            print("\n".join(problems) or f"{tag} is ready.")
            return 1 if problems else 0
        case ["build", folder]:
            build(Path(folder).resolve())
            return 0
    print(__doc__, file=sys.stderr)
    return 2


def check(tag: str) -> list[str]:
    """The reasons why this tag cannot be released; empty if it can."""
    problems = []
    if tag != f"v{__version__}":
        problems.append(f"The tag is {tag}, the version is {__version__}.")
    if not notes(__version__):
        problems.append(f"CHANGELOG.md has no section for {__version__}.")
    return problems


def notes(version: str, changelog: str | None = None) -> str:
    """The section of one version in the changelog."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8") if changelog is None else changelog
    sections = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    for section in sections:
        heading, _, body = section.partition("\n")
        if version in re.findall(r"\d+\.\d+\.\d+", heading):
            return body.strip()
    return ""


def build(folder: Path) -> None:
    model, packages, extra = folder / "model", folder / "packages", folder / "extra"
    model.mkdir(parents=True)
    _build_twice(MODEL, model, MAX_MODEL_BYTES)
    packages.mkdir()
    _build_twice(ROOT, packages, MAX_WHEEL_BYTES)
    _build_twice(LITE, packages, MAX_WHEEL_BYTES, "--wheel")
    for wheel in packages.glob("*.whl"):
        _check_contents(wheel)
    (source,) = packages.glob("*.tar.gz")
    extra.mkdir()
    (extra / "sbom.cdx.json").write_text(sbom((ROOT / "constraints.txt").read_text("utf-8")), "utf-8")
    build_bundle.pack(extra / "backstory.mcpb")
    (extra / "backstory.rb").write_text(formula(source), "utf-8")
    (extra / "backstory.json").write_text(scoop_manifest(), "utf-8")
    (folder / "notes.md").write_text(notes(__version__) + "\n", "utf-8")
    for path in sorted([*model.iterdir(), *packages.iterdir(), *extra.iterdir()]):
        print(f"{digest(path)}  {path.relative_to(folder)}  {path.stat().st_size:,} bytes")


def _build_twice(project: Path, folder: Path, max_wheel_bytes: int, *options: str) -> None:
    """Wheel and source distribution of a project. Exits if a second build differs, or if the wheel is too large."""
    _build_packages(project, folder, options)
    with tempfile.TemporaryDirectory() as again:
        _build_packages(project, Path(again), options)
        for second in sorted(Path(again).iterdir()):
            first = folder / second.name
            if first.read_bytes() != second.read_bytes():
                sys.exit(f"{first.name} is not reproducible.")
            if first.suffix == ".whl" and first.stat().st_size > max_wheel_bytes:
                sys.exit(
                    f"{first.name} has {first.stat().st_size:,} bytes; the limit is {max_wheel_bytes:,}."
                )


def _build_packages(project: Path, folder: Path, options: Sequence[str]) -> None:
    """Needs the package `build`."""
    command = [sys.executable, "-m", "build", *options, "--outdir", str(folder), str(project)]
    environment = {**os.environ, "SOURCE_DATE_EPOCH": SOURCE_DATE, "BACKSTORY_RELEASE": "1"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)


def _check_contents(wheel: Path) -> None:
    """A wheel contains the package and its licences and nothing else of the checkout, and a description for a package
    index."""
    about = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    tops = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    if unexpected := tops - {"backstory", about}:
        sys.exit(f"{wheel.name} contains {', '.join(sorted(unexpected))}.")
    description = zipfile.ZipFile(wheel).read(f"{about}/METADATA").decode()
    if relative := re.findall(r"\]\((?!https?:)([^)\s]+)\)", description):
        sys.exit(
            f"The description in {wheel.name} has links that no package index can follow: {', '.join(relative)}."
        )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sbom(constraints: str) -> str:
    """A CycloneDX document of every pinned package and of the model, with licences where they are installed."""
    pins = [match for line in constraints.splitlines() if (match := _REQUIREMENT.match(line))]
    components = [_component(match[1], match[2]) for match in pins]
    components.append(_component("backstory-minilm", _model_version()))
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "backstory", "version": __version__}},
        "components": components,
    }
    return json.dumps(document, indent=2) + "\n"


def _model_version() -> str:
    """Read from the file, not imported: the folder in the checkout has no weights, and would replace the installed model."""
    version: str = tomllib.loads((MODEL / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    return version


def _component(name: str, version: str) -> dict[str, Any]:
    component: dict[str, Any] = {
        "type": "library",
        "name": name,
        "version": version,
        "purl": f"pkg:pypi/{name.lower()}@{version}",
    }
    try:
        about = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return component
    if "License-Expression" in about:
        component["licenses"] = [{"expression": about["License-Expression"]}]
    return component


def formula(source: Path) -> str:
    """A Homebrew formula. Its resources are added by `brew update-python-resources`, which asks the package index."""
    return (
        (ROOT / "packaging" / "homebrew" / "backstory.rb")
        .read_text("utf-8")
        .replace("@URL@", f"{RELEASES}/v{__version__}/{source.name}")
        .replace("@SHA256@", digest(source))
    )


def scoop_manifest() -> str:
    return (
        (ROOT / "packaging" / "scoop" / "backstory.json").read_text("utf-8").replace("@VERSION@", __version__)
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
