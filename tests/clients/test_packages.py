"""Backstory as packages of other programs: what the repository holds passes the makers' own checks, and names this version."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from backstory import __version__
from backstory.clients.packages import ON_PATH

from ..missing import NPM_PACKAGES, skip_without
from ..patience import PATIENCE_S

ROOT = Path(__file__).parent.parent.parent
MCPB = Path(__file__).parent / "node_modules" / "@anthropic-ai" / "mcpb" / "dist" / "cli" / "cli.js"


@pytest.fixture
def mcpb() -> list[str]:
    node = shutil.which("node")
    if node is None or not MCPB.exists():
        skip_without("mcpb from npm", NPM_PACKAGES)
    return [node, str(MCPB)]


def run(*words: str) -> str:
    done = subprocess.run(
        words,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_bundle_passes_the_check_of_its_maker_and_packs(tmp_path: Path, mcpb: list[str]) -> None:
    folder, bundle = tmp_path / "bundle", tmp_path / "backstory.mcpb"
    run(sys.executable, str(ROOT / "scripts" / "build_bundle.py"), str(folder))
    assert "passes" in run(*mcpb, "validate", str(folder / "manifest.json"))
    run(*mcpb, "pack", str(folder), str(bundle))
    names = zipfile.ZipFile(bundle).namelist()
    assert {
        "manifest.json",
        "pyproject.toml",
        "src/backstory/__main__.py",
        "packages/minilm/pyproject.toml",
    } <= set(names)
    assert not [name for name in names if "__pycache__" in name]


def test_two_bundles_are_equal_and_have_the_files_that_their_manifest_names(tmp_path: Path) -> None:
    bundles = [tmp_path / name for name in ("first.mcpb", "second.mcpb")]
    for bundle in bundles:
        run(sys.executable, str(ROOT / "scripts" / "build_bundle.py"), str(bundle))
    first, second = (bundle.read_bytes() for bundle in bundles)
    assert first == second
    archive = zipfile.ZipFile(bundles[0])
    manifest = json.loads(archive.read("manifest.json"))
    assert manifest["server"]["entry_point"] in archive.namelist()
    project = tomllib.loads(archive.read("pyproject.toml").decode())["project"]
    assert set(project["license-files"]) <= set(archive.namelist())
    assert (manifest["version"], manifest["license"]) == (project["version"], project["license"])


def test_every_package_has_the_version_of_the_project() -> None:
    for name in (
        "marketplace/plugins/backstory/.claude-plugin/plugin.json",
        "marketplace/plugins/backstory/.codex-plugin/plugin.json",
        "gemini-extension/gemini-extension.json",
        "server.json",
    ):
        assert json.loads((ROOT / name).read_text("utf-8"))["version"] == __version__


def test_the_entry_for_the_registry_keeps_its_rules() -> None:
    """Those of its schema that can be broken by us, and the line by which the package proves whose it is."""
    entry = json.loads((ROOT / "server.json").read_text("utf-8"))
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 3 <= len(entry["name"]) <= 200
    assert 1 <= len(entry["description"]) <= 100
    (package,) = entry["packages"]
    assert package["identifier"] == "backstory"
    assert package["version"] == __version__
    assert [each["value"] for each in package["packageArguments"]] == [*ON_PATH[1:]]
    assert f"mcp-name: {entry['name']}" in (ROOT / "README.md").read_text("utf-8")
