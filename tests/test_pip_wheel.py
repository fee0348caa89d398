"""`scripts/pip_wheel.py` downloads pip for a Python that has none."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "scripts" / "pip_wheel.py"
CONTENT = b"invented wheel"
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def index(tmp_path: Path) -> Path:
    """A package index in files; links lead out of its pages, as those of real ones do."""
    files = tmp_path / "files"
    files.mkdir()
    for name in ("pip-9.0-py3-none-any.whl", "pip-25.1.1-py3-none-any.whl"):
        (files / name).write_bytes(CONTENT)
    (tmp_path / "simple" / "pip").mkdir(parents=True)
    return tmp_path / "simple"


def write_page(index: Path, *links: str) -> None:
    (index / "pip" / "index.html").write_text(f"<html><body>{' '.join(links)}</body></html>", "utf-8")


def link(name: str, fragment: str = "", attributes: str = "") -> str:
    return f'<a href="../../files/{name}{fragment}" {attributes}>{name}</a>'


def download(index: Path, target: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    target.mkdir(exist_ok=True)
    known = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "XDG_"))}
    environment = {**known, "PIP_INDEX_URL": index.as_uri(), **variables}
    return subprocess.run(
        [sys.executable, str(SCRIPT), str(target)], capture_output=True, encoding="utf-8", env=environment
    )


def test_the_newest_release_for_this_python_is_downloaded(index: Path, tmp_path: Path) -> None:
    write_page(
        index,
        link("pip-9.0-py3-none-any.whl"),
        link("pip-25.1.1-py3-none-any.whl", f"#sha256={DIGEST}", 'data-requires-python="&gt;=3.9"'),
        link("pip-25.2b1-py3-none-any.whl"),
        link("pip-25.3-py3-none-any.whl", attributes='data-yanked="broken"'),
        link("pip-99.0-py3-none-any.whl", attributes='data-requires-python="&gt;=3.99"'),
        link("pip-26.0.tar.gz"),
    )
    process = download(index, tmp_path / "target")
    assert process.stdout == f"{tmp_path / 'target' / 'pip-25.1.1-py3-none-any.whl'}\n"
    assert Path(process.stdout.strip()).read_bytes() == CONTENT


def test_the_index_may_be_set_in_the_configuration_of_pip(index: Path, tmp_path: Path) -> None:
    write_page(index, link("pip-9.0-py3-none-any.whl"))
    config = tmp_path / "pip.conf"
    config.write_text(f"[global]\nindex-url = {index.as_uri()}\n", "utf-8")
    process = download(index, tmp_path / "target", PIP_INDEX_URL="", PIP_CONFIG_FILE=str(config))
    assert process.stdout.endswith("pip-9.0-py3-none-any.whl\n")


def test_a_file_that_is_not_the_listed_one_is_refused(index: Path, tmp_path: Path) -> None:
    write_page(index, link("pip-9.0-py3-none-any.whl", f"#sha256={DIGEST[::-1]}"))
    process = download(index, tmp_path / "target")
    assert (process.returncode, process.stdout) == (1, "")
    assert "is not the file" in process.stderr
    assert list((tmp_path / "target").iterdir()) == []


def test_an_index_that_cannot_be_read_is_named_in_one_line(tmp_path: Path) -> None:
    process = download(tmp_path / "nowhere", tmp_path / "target")
    assert (process.returncode, process.stdout) == (1, "")
    assert process.stderr.startswith("pip_wheel.py: pip could not be downloaded: ")
    assert process.stderr.count("\n") == 1
