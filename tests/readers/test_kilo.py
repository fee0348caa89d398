"""Kilo Code since it is built on OpenCode."""

from __future__ import annotations

from pathlib import Path

import pytest

from .golden import check_golden
from .kilo.make import make_home


def test_a_home_reads_as_expected(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    make_home(tmp_path)
    check_golden("kilo", request, tmp_path)
