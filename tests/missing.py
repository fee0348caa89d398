"""Parts of the machine that some tests need: required in CI, optional elsewhere."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

NPM_PACKAGES = "`python3 run.py test` installs it where npm is"


def skip_without(part: str, remedy: str) -> NoReturn:
    """Skip the test, or fail it in CI. `tests/conftest.py` lists all reasons at the end of the run."""
    reason = f"no {part}; {remedy}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)
