"""Settings: one table, four sources, and a sentence for every mistake."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from backstory.app import open_core, read_settings, store_path, unknown_variables
from backstory.domain.errors import InvalidInput
from backstory.settings import PREFIX, TABLE, build_settings, variable, without_password

from .doubles import found_memories

DEFAULTS = {"home": Path("/home"), "project": Path("/project")}


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(PREFIX):
            monkeypatch.delenv(name)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BACKSTORY_HOME", str(tmp_path))
    return tmp_path


def test_flags_come_before_environment_before_config_file_before_defaults(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert read_settings({}).workers == 8
    (home / "config.toml").write_text('workers = 3\nlog_level = "error"\nembeddings = "off"\n')
    monkeypatch.setenv("BACKSTORY_WORKERS", "5")
    monkeypatch.setenv("BACKSTORY_LOG_LEVEL", "debug")
    settings = read_settings({"workers": "7"})
    assert (settings.workers, settings.log_level, settings.embeddings) == (7, "debug", "off")


def test_the_home_of_a_user_that_there_is_not_is_refused() -> None:
    for flags in ({"home": "~nobody-here/x"}, {"home": "/h", "conversation_exports": "~nobody-here/x"}):
        with pytest.raises(InvalidInput, match="an unknown user"):
            read_settings(flags)


def test_the_flag_for_the_data_directory_picks_the_config_file_too(home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.toml").write_text("workers = 2\n")
    settings = read_settings({"home": str(elsewhere)})
    assert (settings.home, settings.workers) == (elsewhere, 2)


def test_the_project_is_the_repository_of_the_working_directory(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "repo" / ".git").mkdir(parents=True)
    (home / "repo" / "src").mkdir()
    monkeypatch.chdir(home / "repo" / "src")
    assert read_settings({}).project == (home / "repo").resolve()
    assert read_settings({"project": "/given"}).project == Path("/given")


@pytest.mark.parametrize(
    ("name", "value", "parsed"),
    [
        ("workers", "4", 4),
        ("workers", 4, 4),
        ("max_request_mb", "0.5", 0.5),
        ("max_request_mb", 2, 2.0),
        ("max_store_mb", "250", 250.0),
        ("max_store_mb", "0", None),
        ("max_store_mb", 0, None),
        ("max_store_mb", "", None),
        ("surfaces", "projectmemory, memory-keeper ,", ("projectmemory", "memory-keeper")),
        ("surfaces", ["a", "b"], ("a", "b")),
        ("surfaces", "", ()),
        ("home", "~/x", Path("~/x").expanduser()),
        ("embeddings", "off", "off"),
        ("embeddings_key", "123", "123"),
    ],
)
def test_values_come_from_text_or_toml(name: str, value: Any, parsed: Any) -> None:
    assert getattr(build_settings({name: value}, defaults=DEFAULTS), name) == parsed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("workers", "many"),
        ("workers", "0"),
        ("workers", -1),
        ("workers", "1.5"),
        ("workers", 1.5),
        ("workers", True),
        ("workers", float("inf")),
        ("workers", []),
        ("busy_timeout_s", "nan"),
        ("busy_timeout_s", "0"),
        ("max_store_mb", "-1"),
        ("max_store_mb", False),
        ("max_store_mb", "much"),
        ("surfaces", 5),
        ("surfaces", [5]),
        ("embeddings", "cloud"),
        ("embeddings", ""),
        ("log_level", "INFO"),
        ("home", 5),
    ],
)
def test_a_wrong_value_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"^{name} must be ") as caught:
        build_settings({name: value}, defaults=DEFAULTS)
    assert caught.value.field == name


def test_an_unknown_setting_in_the_config_file_is_refused_by_name(home: Path) -> None:
    (home / "config.toml").write_text("workres = 4\n")
    with pytest.raises(InvalidInput, match=r"workres is not a setting.* It is in .*config\.toml"):
        read_settings({})


def test_a_wrong_value_says_where_it_is_unless_it_was_typed(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "config.toml").write_text('workers = "many"\n')
    with pytest.raises(InvalidInput, match=r"workers must be .* It is in .*config\.toml\.$"):
        read_settings({})
    monkeypatch.setenv("BACKSTORY_WORKERS", "some")
    with pytest.raises(InvalidInput, match=r"workers must be .*'some'\. It is in BACKSTORY_WORKERS\.$"):
        read_settings({})
    with pytest.raises(InvalidInput, match=r"workers must be .*'few'\.$"):
        read_settings({"workers": "few"})


def test_a_config_file_that_cannot_be_read_is_named(home: Path) -> None:
    (home / "config.toml").mkdir()
    with pytest.raises(InvalidInput, match=r"config\.toml cannot be read: "):
        read_settings({})


def test_an_unknown_variable_is_left_to_the_version_that_knows_it(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BACKSTORY_WORKRES", "4")
    assert read_settings({}).workers == 8
    assert unknown_variables() == ["BACKSTORY_WORKRES"]


@pytest.mark.parametrize("broken", [b"workers = \n", b"\xff\xfe"])
def test_a_broken_config_file_is_named(home: Path, broken: bytes) -> None:
    (home / "config.toml").write_bytes(broken)
    with pytest.raises(InvalidInput, match=r"config\.toml is not TOML"):
        read_settings({})


def test_a_secret_is_never_in_a_message() -> None:
    secret = [setting.name for setting in TABLE if setting.secret]
    assert secret == ["embeddings_key", "chat_key", "oauth_client_secret"]
    shown = repr(build_settings(dict.fromkeys(secret, "sesame"), defaults=DEFAULTS))
    assert "sesame" not in shown


def test_every_setting_has_a_meaning_and_a_variable() -> None:
    for setting in TABLE:
        assert setting.meaning.endswith(".")
        assert variable(setting.name) == f"BACKSTORY_{setting.name.upper()}"


def test_the_store_is_in_the_data_directory_unless_said_otherwise(home: Path) -> None:
    assert store_path(read_settings({})) == home / "store.db"
    other = read_settings({"database_url": f"sqlite:///{home}/other.db"})
    assert store_path(other) == home / "other.db"


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite:", "sqlite:///", "/plain/path"])
def test_a_store_we_cannot_open_is_refused(home: Path, url: str) -> None:
    with pytest.raises(InvalidInput, match="is not a store this version can open"):
        store_path(read_settings({"database_url": url}))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:s3c:r@t/@host:5432/db", "postgresql://me:***@host:5432/db"),
        (
            "postgresql://me@host/db?password=s3cret&sslmode=require",
            "postgresql://me@host/db?password=***&sslmode=require",
        ),
        ("postgresql://host:5432/db", "postgresql://host:5432/db"),
        ("http://localhost:11434/v1", "http://localhost:11434/v1"),
        ("sqlite:///a@b.db", "sqlite:///a@b.db"),
        ("", ""),
    ],
)
def test_a_url_is_shown_without_its_password(url: str, shown: str) -> None:
    assert without_password(url) == shown


def test_a_memory_saved_by_one_process_is_there_for_the_next(home: Path) -> None:
    settings = read_settings({"embeddings": "off"})
    first = open_core(settings)
    saved = first.memories.save("JWT expires after 24h")
    first.engine.close()
    second = open_core(settings)
    assert found_memories(second, "jwt", 5) == [saved]
    second.engine.close()
