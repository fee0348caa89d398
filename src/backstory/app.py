"""The composition root: reads the environment, picks the backend and wires the parts together."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core import Caller, Core, Engine
from .core.projects import project_root
from .domain.errors import InvalidInput
from .search.embed import build_embedder
from .settings import PREFIX, TABLE, Settings, build_settings, required, variable
from .store import Store

if TYPE_CHECKING:
    from .core.summaries import Writer

CONFIG = "config.toml"
STORE = "store.db"


def read_settings(flags: Mapping[str, Any]) -> Settings:
    """Flags before environment before config file before defaults."""
    names = {variable(setting.name): setting.name for setting in TABLE}
    environment = {names[name]: value for name, value in os.environ.items() if name in names}
    home = Path(flags.get("home") or environment.get("home") or _platform_home()).expanduser()
    defaults = {"home": home, "project": project_root(Path.cwd())}
    return build_settings(flags, environment, _config(home / CONFIG), defaults=defaults)


def unknown_variables() -> list[str]:
    """Variables that look like settings and are none. They are no reason to refuse to start: a newer version may
    know them."""
    known = {variable(setting.name) for setting in TABLE}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def open_core(settings: Settings) -> Core:
    """The product over the configured store, for one caller."""
    return Core(open_engine(settings), Caller(project=str(settings.project)))


def open_engine(settings: Settings) -> Engine:
    store = open_store(settings)
    return Engine(
        store,
        build_embedder(settings),
        _writer(settings),
        max_store_mb=settings.max_store_mb,
        exports=settings.home / "exports",
    )


def open_store(settings: Settings) -> Store:
    from .store.sqlite import SqliteStore

    return SqliteStore(store_path(settings), busy_timeout_s=settings.busy_timeout_s)


def store_path(settings: Settings) -> Path:
    if not settings.database_url:
        return settings.home / STORE
    scheme, separator, path = settings.database_url.partition(":///")
    if scheme != "sqlite" or not separator or not path:
        raise InvalidInput(
            f"database_url {settings.database_url!r} is not a store this version can open.",
            hint="Use sqlite:///path/to/file.db.",
            field="database_url",
        )
    return Path(path).expanduser()


def _writer(settings: Settings) -> Writer | None:
    if settings.summaries == "local":
        return None
    from .core.chat import ChatWriter
    from .search.remote import Remote

    remote = Remote(
        name="chat",
        url=required(settings, "chat_url"),
        path="/chat/completions",
        key=settings.chat_key,
        timeout_s=settings.chat_timeout_s,
    )
    return ChatWriter(remote, required(settings, "chat_model"))


def _platform_home() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "backstory"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "backstory"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "backstory"


def _config(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    import tomllib

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}.", hint="Correct it or move it away.") from error
