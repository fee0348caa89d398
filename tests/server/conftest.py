"""A team server's data directory, with its stores in files or in PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from .. import postgres_server

DATABASE = "team_server"


@pytest.fixture(params=["sqlite", "postgres"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """Every process that is given it finds in its config.toml where the stores are."""
    if request.param == "sqlite":
        yield tmp_path
        return
    with postgres_server.own_database(DATABASE) as url:
        (tmp_path / "config.toml").write_text(f"database_url = {json.dumps(url)}\n", "utf-8")
        yield tmp_path
