"""The composition root: reads the environment, picks the backend and wires the parts together."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from .core import Caller, Core, Engine
from .core.background import Background
from .core.projects import project_root, work_tree
from .core.summaries import ChatWriter
from .domain.data_home import data_home
from .domain.discovery import guest_modules
from .domain.errors import InvalidInput, Unavailable, install_hint
from .domain.lazy import lazy_module, lazy_name
from .search.embed import build_embedder
from .search.remote import Remote
from .settings import (
    PREFIX,
    TABLE,
    Settings,
    build_settings,
    expand_home,
    required,
    variable,
    without_password,
)
from .store import Store
from .store.backups import FOLDER
from .store.sqlite import SqliteStore
from .surfaces import load_surfaces
from .tools.profiles import FULL, ProfileChoice

if TYPE_CHECKING:
    import shutil

    from .clients.machine import Machine, server_command
    from .core.derived import Derivation
    from .core.summaries import Writer
    from .domain.team import TenantSettings
    from .readers import Places, reader_names
    from .search.embed import Embedder
    from .store.postgres.pool import PostgresPool
    from .store.sqlite.restore import delete_store
    from .surfaces import Surfaces
else:  # 10 ms together, which a first save does without
    shutil = lazy_module("shutil")
    delete_store = lazy_name("backstory.store.sqlite.restore", "delete_store")
    Machine = lazy_name("backstory.clients.machine", "Machine")
    server_command = lazy_name("backstory.clients.machine", "server_command")
    Places = lazy_name("backstory.readers", "Places")
    reader_names = lazy_name("backstory.readers", "reader_names")

CONFIG = "config.toml"
STORE = "store.db"
CONTROL = "team"
"""The store of tokens and of the audit log."""
PUBLIC, CONTROL_TENANT = "public", "backstory_control"
"""The tenants of a database that have the user's own store and CONTROL; other spaces are tenants of their names."""


TEAM_TOKEN = "BACKSTORY_TEAM_TOKEN"
"""The token for `backstory team join` in scripts."""
_SESSION_VARIABLES = {"claude-code": "CLAUDE_CODE_SESSION_ID", "gemini-cli": "GEMINI_SESSION_ID"}
"""Environment variables in which assistants pass the id of the conversation that started a program."""


def read_settings(flags: Mapping[str, Any]) -> Settings:
    """Flags before environment before config file before defaults."""
    variables = {setting.name: (variable(setting.name), setting.also) for setting in TABLE}
    environment = {
        name: os.environ[spelling]
        for name, spellings in variables.items()
        for spelling in reversed(spellings)
        if spelling in os.environ
    }
    home = expand_home(flags.get("home") or environment.get("home") or _usual_home())
    defaults = {"home": home, "project": work_tree(Path.cwd())}
    config = _config(home / CONFIG)
    try:
        return build_settings(flags, environment, config, defaults=defaults)
    except InvalidInput as error:
        if error.field not in flags:  # which the user has just typed
            place = variable(error.field) if error.field in environment else str(home / CONFIG)
            error.hint = f"{error.hint} It is in {place}.".lstrip()
        raise


def served_surfaces(settings: Settings) -> Surfaces:
    """The surfaces that a server offers, with the tools of the chosen profile."""
    choice = ProfileChoice(settings.profile, expand_home(settings.profile_config))
    is_usual = settings.profile in ("", FULL) and not choice.config.exists()
    return load_surfaces(settings.surfaces, settings.prefix, None if is_usual else choice)


def _usual_home() -> str:
    return data_home(sys.platform, os.environ)


def unknown_variables() -> list[str]:
    """Variables that look like settings and are none. They are no reason to refuse to start: a newer version may
    know them."""
    known = {TEAM_TOKEN, *(variable(setting.name) for setting in TABLE)}
    return sorted(name for name in os.environ if name.startswith(PREFIX) and name not in known)


def team_token() -> str:
    """The token for the team's server, where the environment has one."""
    return os.environ.get(TEAM_TOKEN, "").strip()


def editor_command() -> list[str]:
    """The user's editor, from the environment."""
    usual = "notepad" if sys.platform == "win32" else "vi"
    return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or usual)


def environment_of(home: Path, *, columns: int) -> dict[str, str]:
    """The environment for a process that must see another home: without variables that lead to this user's files and
    settings."""
    needed = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "SYSTEMROOT", "TEMP", "TMP", "TMPDIR")
    variables = {
        name: value for name, value in os.environ.items() if name in needed or name.startswith("COVERAGE")
    }
    return variables | {"HOME": str(home), "USERPROFILE": str(home), "COLUMNS": str(columns)}


def open_core(settings: Settings) -> Core:
    """The product over the configured store, for one caller."""
    sessions = [(name, os.environ[word]) for name, word in _SESSION_VARIABLES.items() if os.environ.get(word)]
    # an assistant that starts another leaves its own behind
    assistant, conversation = sessions[0] if len(sessions) == 1 else ("", "")
    caller = Caller(
        project=str(project_root(settings.project)),
        directory=str(settings.project),
        assistant=assistant,
        conversation=conversation,
    )
    return Core(open_engine(settings), caller)


def open_engine(
    settings: Settings,
    space: str = "",
    *,
    embedder: Embedder | None = None,
    pool: PostgresPool | None = None,
    limits: TenantSettings | None = None,
) -> Engine:
    """Over the user's own store, or that of a team server's space. Spaces may share an embedder and a pool, and have
    limits that differ from the server's."""
    own = _settings_of(settings, space) if space else settings
    if limits is not None:
        own = own.changed(
            max_store_mb=own.max_store_mb if limits.max_store_mb is None else limits.max_store_mb,
            retention_days=own.retention_days if limits.retention_days is None else limits.retention_days,
        )
    embedder, writer = embedder or build_embedder(settings), _writer(settings)
    store = open_store(settings, space, pool=pool)  # last: nothing that can fail would leave it open
    return Engine(own, store, embedder, writer, background=_background, derivations=guest_derivations)


def guest_derivations() -> list[Derivation]:
    """The declarations of all guests' records that may quote memories."""
    modules = map(import_module, guest_modules("derived").values())
    return [derivation for module in modules for derivation in module.derivations]


def _settings_of(settings: Settings, space: str) -> Settings:
    """The settings of a space: its own directory for files, and no histories."""
    place = settings.home / "spaces" / f"{space}.files"
    for folder in (place.parent, place):  # also if another program created it
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.chmod(0o700)
    return settings.changed(
        home=place,
        histories=("off",),
        client_memories=("none",),
        brief="off",  # hooks run where the user works
    )


def history_places(engine: Engine) -> Places:
    """The places where this user's assistants may store their files."""
    settings = engine.settings
    projects = dict.fromkeys((str(settings.project), *engine.store.conversations.projects()))
    return Places(
        home=Path.home(),
        environment=dict(os.environ),
        platform=sys.platform,
        windows_homes=tuple(_windows_homes()),
        projects=tuple(map(Path, projects)),
        roots=_history_roots(settings),
    )


def this_machine(settings: Settings, surfaces: Sequence[str] = ()) -> Machine:
    """The clients of this user, and the command they should start, with `--home` if it is not the default."""
    command = [*server_command()]
    if surfaces:
        command += ["--surfaces", ",".join(surfaces)]
    if settings.home != expand_home(_usual_home()):
        command += ["--home", str(settings.home.absolute())]
    return Machine(
        home=Path.home(),
        environment=dict(os.environ),
        platform=sys.platform,
        project=work_tree(settings.project),
        data=settings.home.absolute(),
        command=tuple(command),
        python=sys.executable,
    )


def _background(engine: Engine) -> Background:
    return Background(engine, lambda: history_places(engine))


def _history_roots(settings: Settings) -> dict[str, tuple[Path, ...]]:
    roots: dict[str, tuple[Path, ...]] = {}
    for pair in settings.history_roots:
        name, equals, path = map(str.strip, pair.partition("="))
        if not equals:
            raise InvalidInput(
                f"{pair!r} in history_roots is not name=path.",
                hint="Such as claude-code=/backup/.claude.",
                field="history_roots",
            )
        if name not in (known := reader_names()):
            raise InvalidInput(
                f"There is no reader {name!r}, which history_roots has.",
                hint=f"Known: {', '.join(known)}.",
                field="history_roots",
            )
        roots[name] = (*roots.get(name, ()), expand_home(path))
    return roots


def _windows_homes() -> Iterator[Path]:
    """On WSL, the homes of Windows' users on drive C."""
    users = Path("/mnt/c/Users")
    if sys.platform != "linux" or not users.is_dir():
        return
    for home in users.iterdir():
        if home.name not in ("Default", "Default User", "Public", "All Users") and home.is_dir():
            yield home


def open_store(settings: Settings, space: str = "", *, pool: PostgresPool | None = None) -> Store:
    if in_postgres(settings):
        store: Store = _postgres().PostgresStore(
            pool or settings.database_url,
            tenant=_tenant(space),
            busy_timeout_s=settings.busy_timeout_s,
            read_url=settings.read_url,
        )
        return store
    if settings.read_url:
        raise InvalidInput(
            "read_url is for a store in PostgreSQL.",
            hint="Set database_url too, or remove it.",
            field="read_url",
        )
    return SqliteStore(
        store_path(settings, space),
        busy_timeout_s=settings.busy_timeout_s,
        backups=backups_folder(settings, space),
    )


def backups_folder(settings: Settings, space: str = "") -> Path:
    own = _settings_of(settings, space) if space and space != CONTROL else settings
    return own.home / FOLDER


def backups_folder_exists(settings: Settings, space: str) -> bool:
    """True if a space has, or had, backups. Checking creates no folder."""
    place = settings.home if space == CONTROL else settings.home / "spaces" / f"{space}.files"
    return (place / FOLDER).is_dir()


def find_spaces(settings: Settings) -> list[str]:
    """The stores that are there: "" is the user's own, CONTROL that of tokens, the others those of a team server."""
    if in_postgres(settings):
        pool = open_pool(settings)
        assert pool is not None
        try:
            tenants = pool.tenants()
        finally:
            pool.close()
        return [{PUBLIC: "", CONTROL_TENANT: CONTROL}.get(tenant, tenant) for tenant in tenants]
    path = store_path(settings)
    named = [CONTROL] if path.with_name(f"{CONTROL}.db").exists() else []
    named += sorted(file.stem for file in (path.parent / "spaces").glob("*.db"))
    return ["", *named] if path.exists() else named


def delete_space(settings: Settings, space: str) -> None:
    """Delete the store of a team server's space for good, with its backups and other files."""
    if in_postgres(settings):
        store = _postgres().PostgresStore(
            settings.database_url, tenant=_tenant(space), busy_timeout_s=settings.busy_timeout_s
        )
        with closing(store):
            store.delete_tenant()
    else:
        delete_store(store_path(settings, space), busy_timeout_s=settings.busy_timeout_s)
    shutil.rmtree(settings.home / "spaces" / f"{space}.files", ignore_errors=True)


def open_pool(settings: Settings) -> PostgresPool | None:
    """Connections that the stores of all spaces share; None where each is a file."""
    if not in_postgres(settings):
        return None
    pool: PostgresPool = _postgres().PostgresPool(
        settings.database_url, read_url=settings.read_url, busy_timeout_s=settings.busy_timeout_s
    )
    return pool


def _postgres() -> ModuleType:
    try:
        from .store import postgres  # psycopg is an extra, for which a hint is given
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"A store in PostgreSQL needs a package that is not installed: {error.name}.",
            hint=install_hint("postgres"),
        ) from error
    return postgres


def in_postgres(settings: Settings) -> bool:
    return settings.database_url.startswith(("postgresql://", "postgres://"))


def store_place(settings: Settings, space: str = "") -> str:
    """The location of the store, without secrets."""
    if in_postgres(settings):
        place = without_password(settings.database_url)
        return f"{place}, tenant {_tenant(space)}" if space else place
    return str(store_path(settings, space))


def _tenant(space: str) -> str:
    return {"": PUBLIC, CONTROL: CONTROL_TENANT}.get(space, space)


def store_path(settings: Settings, space: str = "") -> Path:
    """The file of a store in SQLite: the user's own, or that of a team server's space."""
    if space:
        own = store_path(settings)
        return own.with_name(f"{CONTROL}.db") if space == CONTROL else own.parent / "spaces" / f"{space}.db"
    if not settings.database_url:
        return settings.home / STORE
    if in_postgres(settings):
        raise InvalidInput(
            "The store is in PostgreSQL, not in a file.",
            hint="Use the tools of the database: pg_dump, pg_restore.",
            field="database_url",
        )
    scheme, separator, path = settings.database_url.partition(":///")
    if scheme != "sqlite" or not separator or not path:
        raise InvalidInput(
            f"database_url {without_password(settings.database_url)!r} is not a store this version can open.",
            hint="Use sqlite:///path/to/file.db or postgresql://user:password@host/database.",
            field="database_url",
        )
    return expand_home(path)


def _writer(settings: Settings) -> Writer | None:
    if settings.summaries == "local":
        return None
    remote = Remote(
        name="chat",
        url=required(settings, "chat_url"),
        path="/chat/completions",
        key=settings.chat_key,
        timeout_s=settings.chat_timeout_s,
    )
    return ChatWriter(remote, required(settings, "chat_model"))


def _config(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    import tomllib  # 3 ms, where a user set something

    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        reason = f"{path} cannot be read: {error.strerror}."
        raise InvalidInput(reason, hint="Check its owner and mode, or move it away.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path} is not TOML: {error}.", hint="Correct it or move it away.") from error
