"""`packages/lite`: Backstory on a machine without onnxruntime. Search is by words, and every command says so."""

from __future__ import annotations

import json
import os
import re
import runpy
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from .processes import environment, run, serving

ROOT = Path(__file__).parents[1]
LITE = ROOT / "packages" / "lite"
MEMORY = "We chose PostgreSQL for the billing service."
REASON = "onnxruntime is not installed"


@pytest.fixture
def lite(tmp_path: Path) -> dict[str, str]:
    """Variables of a process to which the packages of the model do not exist."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nsys.modules['onnxruntime'] = sys.modules['backstory_minilm'] = None\n"
    )
    python_path = environment(tmp_path)["PYTHONPATH"]
    return {"PYTHONPATH": os.pathsep.join([str(tmp_path), python_path])}


def test_without_onnxruntime_a_server_saves_and_finds_by_words(tmp_path: Path, lite: dict[str, str]) -> None:
    home = tmp_path / "home"
    with serving(home, "serve", "--surfaces", "projectmemory", variables=lite) as server:
        server.greet()
        server.call("save_context", context_text=MEMORY)
        server.call("save_context", context_text="The staging host is heron.")
        hits = server.call("retrieve_context", query="postgresql billing")
    assert MEMORY in json.dumps(hits)
    assert f"Searched by words alone: {REASON}." in json.dumps(hits)


def test_without_onnxruntime_status_and_doctor_say_so_and_nothing_fails(
    tmp_path: Path, lite: dict[str, str]
) -> None:
    home = tmp_path / "home"
    status = run("status", home=home, **lite)
    assert f"by words alone: {REASON}" in status.stdout
    assert "waiting" not in status.stdout
    doctor = run("doctor", "--json", home=home, **lite)
    (check,) = [each for each in json.loads(doctor.stdout)["checks"] if each["name"] == "embeddings"]
    assert check["state"] == "info"
    assert check["message"] == "Search is by words alone: onnxruntime and backstory-minilm not installed."
    assert doctor.returncode == 0, doctor.stdout


def test_lite_has_the_dependencies_of_backstory_but_for_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.__dict__["MetadataHookInterface"] = object
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    product = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    project = product["project"]
    metadata = runpy.run_path(str(LITE / "hatch_build.py"))["lite_metadata"](product)
    dependencies = product["tool"]["hatch"]["metadata"]["hooks"]["custom"]["dependencies"]
    left_out = {re.split("[<>=;]", each)[0] for each in set(dependencies) - set(metadata["dependencies"])}
    assert left_out == {"onnxruntime"}
    assert metadata["version"] == project["version"]
    assert metadata["optional-dependencies"] == project["optional-dependencies"]
    assert (LITE / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    own = tomllib.loads((LITE / "pyproject.toml").read_text("utf-8"))["project"]
    for field in ("requires-python", "license", "scripts"):
        assert own[field] == project[field]
