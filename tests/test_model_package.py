"""`packages/minilm`: the model as a package of our own, whose build accepts one file only."""

from __future__ import annotations

import hashlib
import runpy
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import backstory_minilm
import pytest

from backstory.search.minilm import SHA256

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "packages" / "minilm"


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of `hatch_build.py`, without hatchling, which only a build has."""
    interface = ModuleType("hatchling.builders.hooks.plugin.interface")
    interface.__dict__["BuildHookInterface"] = object
    monkeypatch.setitem(sys.modules, "hatchling.builders.hooks.plugin.interface", interface)
    return runpy.run_path(str(PACKAGE / "hatch_build.py"))


def test_the_installed_weights_are_the_ones_that_all_files_name() -> None:
    digest = hashlib.sha256(backstory_minilm.model_path().read_bytes()).hexdigest()
    assert digest == backstory_minilm.SHA256 == SHA256
    assert digest in (PACKAGE / "NOTICE").read_text("utf-8")
    assert "Apache License" in (PACKAGE / "LICENSE").read_text("utf-8")


def test_the_product_depends_on_exactly_this_version_of_the_model() -> None:
    product = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    model = tomllib.loads((PACKAGE / "pyproject.toml").read_text("utf-8"))["project"]
    requirement = product["tool"]["hatch"]["metadata"]["hooks"]["custom"]["model"]
    assert requirement.partition(";")[0] == f"{model['name']}=={model['version']}"
    assert model["version"] == backstory_minilm.__version__


def test_a_checkout_builds_the_model_itself_and_a_release_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.__dict__["MetadataHookInterface"] = object
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    build = runpy.run_path(str(ROOT / "hatch_build.py"))
    requirement: Callable[[Path, str], str] = build["model_requirement"]
    released = "backstory-minilm==1.0.0; python_version < '3.14'"
    monkeypatch.delenv(build["RELEASE"], raising=False)
    expected = f"backstory-minilm @ {PACKAGE.as_uri()} ; python_version < '3.14'"
    assert requirement(ROOT, released) == expected
    assert requirement(tmp_path, released) == released  # an unpacked source distribution
    monkeypatch.setenv(build["RELEASE"], "1")
    assert requirement(ROOT, released) == released


def test_a_build_refuses_other_weights(tmp_path: Path, hook: dict[str, Any]) -> None:
    check: Callable[[Path, str], None] = hook["check"]
    module = (PACKAGE / "src" / "backstory_minilm" / "__init__.py").read_text("utf-8")
    check(backstory_minilm.model_path(), module)
    other = tmp_path / "model.onnx"
    other.write_bytes(backstory_minilm.model_path().read_bytes()[:-1] + b"?")
    with pytest.raises(ValueError, match="is not the model that was tested"):
        check(other, module)


def test_a_build_asks_for_the_original_package_only_without_weights(
    tmp_path: Path, hook: dict[str, Any]
) -> None:
    builder = object.__new__(hook["Weights"])
    builder.root = str(tmp_path)
    assert builder.dependencies() == [hook["ORIGIN"]]
    (tmp_path / hook["MODULE"]).mkdir(parents=True)
    (tmp_path / hook["MODULE"] / "model.onnx").touch()
    assert builder.dependencies() == []
