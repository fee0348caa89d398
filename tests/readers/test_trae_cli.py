"""TRAE CLI, which keeps rollouts as Codex does."""

from __future__ import annotations

import pytest

from .golden import check_golden


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("trae-cli", request)
