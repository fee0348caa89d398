"""`scripts/release.py` refuses a release whose tag, version and changelog disagree, and lists what is in one."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from backstory import __version__

from .patience import PATIENCE_S

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    specification = importlib.util.spec_from_file_location("release", ROOT / "scripts" / "release.py")
    assert specification is not None
    assert specification.loader is not None
    path = list(sys.path)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    sys.path[:] = path
    return module


def test_a_tag_that_is_not_the_version_is_refused(release: ModuleType) -> None:
    assert release.check(f"v{__version__}") == []
    assert release.check("v9.9.9") == [f"The tag is v9.9.9, the version is {__version__}."]


def test_the_notes_are_the_section_of_their_version_alone(release: ModuleType) -> None:
    changelog = "# Changelog\n\n## 0.2.0 (2026-12-01)\n\n- New.\n\n## 0.1.0\n\n- First.\n"
    assert release.notes("0.2.0", changelog) == "- New."
    assert release.notes("0.1.0", changelog) == "- First."
    assert release.notes("0.3.0", changelog) == ""


def test_the_sbom_lists_every_pinned_package_with_its_licence(release: ModuleType) -> None:
    document = json.loads(
        release.sbom("# comment\nmsgspec==0.22.0\nabsent-package==1.2 ; python_version < '3.12'\n")
    )
    assert [(each["name"], each["version"]) for each in document["components"]] == [
        ("msgspec", "0.22.0"),
        ("absent-package", "1.2"),
        ("backstory-minilm", "1.0.0"),
    ]
    assert document["components"][1]["purl"] == "pkg:pypi/absent-package@1.2"
    assert "licenses" not in document["components"][1]


def test_the_release_script_does_not_replace_the_installed_model() -> None:
    """The package in the checkout has no weights. In a process of its own, which has not imported the model yet."""
    script = ROOT / "scripts" / "release.py"
    program = f"import runpy; runpy.run_path({str(script)!r}); import backstory_minilm; print(backstory_minilm.model_path().exists())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, encoding="utf-8", timeout=PATIENCE_S
    )
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_the_workflows_name_files_that_exist() -> None:
    text = "".join(path.read_text("utf-8") for path in sorted((ROOT / ".github" / "workflows").glob("*.yml")))
    for name in ("scripts/release.py", ".ci/run", "constraints.txt"):
        assert name in text
        assert (ROOT / name).exists()
