"""Where a setting's value comes from, and where it must not show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from backstory.settings import TABLE

from ..processes import run


def value(home: Path, name: str, *flags: str, **variables: str) -> Any:
    done = run("settings", "--json", *flags, home=home, **variables)
    assert done.returncode == 0, done.stderr
    return next(row["value"] for row in json.loads(done.stdout)["settings"] if row["name"] == name)


def test_flag_before_environment_before_config_before_default(tmp_path: Path) -> None:
    assert value(tmp_path, "workers") == 8
    (tmp_path / "config.toml").write_text("workers = 3\n")
    assert value(tmp_path, "workers") == 3
    assert value(tmp_path, "workers", BACKSTORY_WORKERS="4") == 4
    assert value(tmp_path, "workers", "--workers", "5", BACKSTORY_WORKERS="4") == 5
    assert value(tmp_path, "workers", "--workers=6", BACKSTORY_WORKERS="4") == 6


def test_every_setting_is_in_the_table_with_its_flag_and_variable(tmp_path: Path) -> None:
    rows = json.loads(run("settings", "--json", home=tmp_path).stdout)["settings"]
    assert [row["name"] for row in rows] == [setting.name for setting in TABLE]
    busy = next(row for row in rows if row["name"] == "busy_timeout_s")
    assert (busy["flag"], busy["variable"]) == ("--busy-timeout-s", "BACKSTORY_BUSY_TIMEOUT_S")
    assert all(row["meaning"] for row in rows)


def test_a_secret_is_shown_nowhere(tmp_path: Path) -> None:
    secret = "sk-do-not-show"
    for command in ("settings", "status", "doctor"):
        for form in ([], ["--json"]):
            done = run(command, *form, home=tmp_path, BACKSTORY_EMBEDDINGS_KEY=secret)
            assert secret not in done.stdout + done.stderr
    assert value(tmp_path, "embeddings_key", BACKSTORY_EMBEDDINGS_KEY=secret) == "(set, not shown)"
    assert value(tmp_path, "embeddings_key") == ""


def test_status_names_what_was_changed(tmp_path: Path) -> None:
    done = run("status", "--json", "--workers", "2", home=tmp_path, BACKSTORY_CHAT_KEY="secret")
    assert json.loads(done.stdout)["changed_settings"] == {"workers": 2, "chat_key": "(set, not shown)"}


def test_a_broken_config_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("workers =")
    done = run("status", home=tmp_path)
    assert done.returncode == 2
    assert str(tmp_path / "config.toml") in done.stderr


def test_another_database_file_can_be_named(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere" / "team.db"
    done = run("status", "--json", home=tmp_path / "home", BACKSTORY_DATABASE_URL=f"sqlite:///{elsewhere}")
    assert json.loads(done.stdout)["store"] == str(elsewhere)
    assert elsewhere.exists()
