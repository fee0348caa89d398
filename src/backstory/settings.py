"""Every setting once: name, type, default and description. Environment, flags, config file and docs are derived from it.

`Settings` is the table; a setting's name determines its flag (`--max-request-mb`), its variable
(`BACKSTORY_MAX_REQUEST_MB`) and its key in the config file (`max_request_mb`). Settings for which another server
documents a variable accept that one too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from .domain.errors import InvalidInput

PREFIX = "BACKSTORY_"

Number = TypeVar("Number", int, float)
Hours: TypeAlias = str
"""Text that `DailyHours.parse` reads."""


COMPUTED: Any = object()
"""The default of a setting that depends on the machine; app.py finds it."""


class Setting:
    """One row of the table. A class of our own: `dataclasses` takes 8 ms to import, at every start of a server."""

    name: str
    kind: str
    """The annotation, as text."""

    def __init__(
        self,
        default: Any,
        meaning: str,
        *,
        choices: tuple[str, ...] = (),
        secret: bool = False,
        also: str = "",
    ) -> None:
        self.default = default
        self.meaning = meaning
        self.choices = choices
        self.secret = secret
        self.also = also
        """A second variable; the first one takes precedence."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.kind = owner.__annotations__[name]


_setting: Any = Setting  # the declared type is that of the value in an instance, not that of the table row


class Settings:
    """The table as a class with one setting per line; an instance has the current values and is immutable."""

    home: Path = _setting(
        COMPUTED,
        "Data directory: the store, its backups, the logs and config.toml. Default: the platform's data directory.",
    )
    database_url: str = _setting(
        "",
        "Location of the store: `sqlite:///path/to/file.db` or `postgresql://user:password@host/database`. Default: `store.db` in the data directory.",
    )
    read_url: str = _setting(
        "",
        "A standby of the PostgreSQL in `database_url`, or an address of several, for searches: `postgresql://user:password@host/database`. While it is behind a caller's own writes, or away, `database_url` answers.",
    )
    surfaces: tuple[str, ...] = _setting(
        (), "Tool surfaces to serve, by name, separated by commas. Default: all."
    )
    prefix: str = _setting(
        "",
        "Prefix for the names of the `backstory` surface's tools, for example `backstory_`, for clients that list the tools of all servers together.",
    )
    profile: str = _setting(
        "full",
        "Tools of the `memory-keeper` surface: `minimal` (8), `standard` (22), `full` (all), or a profile of `profile_config`; also read from `TOOL_PROFILE`.",
        also="TOOL_PROFILE",
    )
    profile_config: Path = _setting(
        Path("~/.mcp-memory-keeper/config.json"),
        'JSON file with your own profiles: `{"profiles": {"name": ["context_save"]}}`; also read from `TOOL_PROFILE_CONFIG`. It is only read.',
        also="TOOL_PROFILE_CONFIG",
    )
    project: Path = _setting(
        COMPUTED,
        "The project that memories belong to. Default: the git root of the working directory, else the directory.",
    )
    sessions_dir: str = _setting(
        "",
        "Folder for `store_session` if a call names none; also read from `CODEARCHITECT_SESSIONS_DIR`. Default: `.codearchitect/sessions` in the project.",
        also="CODEARCHITECT_SESSIONS_DIR",
    )
    embeddings: str = _setting(
        "local",
        "Source of embeddings: the model on this machine, an OpenAI-compatible endpoint, or none (text search only).",
        choices=("local", "endpoint", "off"),
    )
    embeddings_url: str = _setting(
        "", "Base URL of the embeddings endpoint, for example `http://localhost:11434/v1`."
    )
    embeddings_model: str = _setting("", "Model to request from the embeddings endpoint.")
    embeddings_key: str = _setting("", "API key for the embeddings endpoint.", secret=True)
    embeddings_timeout_s: float = _setting(
        10.0, "Seconds to wait for the embeddings endpoint before search falls back to text."
    )
    summaries: str = _setting(
        "local",
        "Source of summaries: sentences selected on this machine, or an OpenAI-compatible chat endpoint.",
        choices=("local", "endpoint"),
    )
    chat_url: str = _setting("", "Base URL of the chat endpoint, for example `http://localhost:11434/v1`.")
    chat_model: str = _setting("", "Model to request from the chat endpoint.")
    chat_key: str = _setting("", "API key for the chat endpoint.", secret=True)
    chat_timeout_s: float = _setting(
        30.0, "Seconds to wait for the chat endpoint before the local summary is used."
    )
    histories: tuple[str, ...] = _setting(
        (), "Assistants whose histories to read, by name, separated by commas; `off` for none. Default: all."
    )
    history_roots: tuple[str, ...] = _setting(
        (), "Additional directories with histories, as `name=path`, separated by commas."
    )
    client_memories: tuple[str, ...] = _setting(
        (),
        "Programs whose own memories to read: `claude-code`, `codex`, `gemini-cli`, `qwen-code`, `serena`, `memory-bank`, `kiro`, `beads`, separated by commas; `none` for none. Default: all.",
    )
    exclude: tuple[str, ...] = _setting(
        (),
        "Projects and paths to exclude, as paths or globs such as `~/work/secret` or `*/clients/acme`, separated by commas: nothing in them is read or saved.",
    )
    redaction: str = _setting(
        "standard",
        "Secrets to redact in histories: keys, tokens and passwords; also e-mail addresses and random-looking strings; or none.",
        choices=("standard", "wide", "off"),
    )
    sync_interval_s: float = _setting(
        30.0, "Seconds between checks for new histories in a running server without calls."
    )
    max_request_mb: float = _setting(
        16.0, "Maximum size of a request; a larger one is refused with an error."
    )
    max_store_mb: float | None = _setting(
        None, "Maximum size of the store; beyond it no more memories are saved. Default, and 0: no limit."
    )
    retention_days: float | None = _setting(
        None,
        "Age in days after which conversations and reflections are archived; `backstory unarchive` restores them. Default, and 0: never.",
    )
    erasure_window: Hours = _setting(
        "02:00-04:00",
        "Hours of the day, in UTC, in which a server rewrites large tables of PostgreSQL to overwrite the bytes of deleted texts: other calls wait for it then. `always` rewrites them at once. A store in SQLite needs no such hours.",
    )
    backups: str = _setting(
        "on",
        "Whether to back up a store that is a file to `backups` in the data directory: each day, and before old records are archived.",
        choices=("on", "off"),
    )
    backups_kept: int = _setting(7, "Number of daily backups to retain.")
    backups_max_mb: float | None = _setting(
        2000.0,
        "Maximum total size of automatic backups: the oldest are deleted first, and a larger store has none. 0 means no limit.",
    )
    git_checkpoints: str = _setting(
        "off",
        "Whether `checkpoint` also saves tracked changes as a commit under `refs/backstory/checkpoints`.",
        choices=("off", "on"),
    )
    git_commit: str = _setting(
        "off",
        "Whether `context_git_commit` may commit staged changes in the project. Untracked files are never committed.",
        choices=("off", "on"),
    )
    related_projects: tuple[str, ...] = _setting(
        (), "Directories of projects whose memories belong together, separated by commas."
    )
    import_dirs: tuple[str, ...] = _setting(
        (),
        "Directories or files that `context_import` may read besides the export directory and the project, separated by commas.",
    )
    conversation_exports: Path = _setting(
        Path("~/.gandalf/exports"),
        "Default folder of `export_individual_conversations`; created when something is written.",
    )
    brief: str = _setting(
        "auto",
        "Whether hooks add text to sessions: `auto` skips unattended runs, `on` includes them, `off` disables every hook.",
        choices=("auto", "on", "off"),
    )
    brief_off: tuple[str, ...] = _setting(
        (), "Directories of projects in which hooks add nothing to sessions, separated by commas."
    )
    prompt_recall: str = _setting(
        "auto",
        "Whether hooks add earlier statements to a prompt: `auto` only if they are nearly certain to help, `on` also if they are more likely than not to help, `off` never.",
        choices=("auto", "on", "off"),
    )
    brief_timeout_s: float = _setting(
        0.9,
        "Seconds after which a hook gives up, so that no session waits for it; can only be set as a variable.",
    )
    workers: int = _setting(
        8, "Number of concurrent requests in one server; on SQLite, more than two run only if some are slow."
    )
    busy_timeout_s: float = _setting(60.0, "Seconds a write waits for other servers on the same store.")
    http: str = _setting(
        "", "Address to serve MCP on over HTTP, such as `127.0.0.1:8765`. Default: standard input and output."
    )
    http_auth: str = _setting(
        "none",
        "Who may connect over HTTP: any program on this machine, holders of a token, or also users of an identity provider.",
        choices=("none", "token", "oauth"),
    )
    http_sessions: str = _setting(
        "kept",
        "Whether MCP sessions over HTTP are remembered between requests, or each request is independent.",
        choices=("kept", "none"),
    )
    http_log: str = _setting(
        "files",
        "Where the HTTP server writes its log: files in the data directory, or standard output, for containers and systemd.",
        choices=("files", "stdout"),
    )
    otel_endpoint: str = _setting(
        "",
        "Address of an OpenTelemetry collector for traces and metrics of the HTTP server by OTLP, for example `http://127.0.0.1:4318`. Needs the extra `otel`. Default: none.",
    )
    http_hosts: tuple[str, ...] = _setting(
        (),
        "Host names of the HTTP server for clients, for example `memory.example.com`, separated by commas.",
    )
    http_proxies: tuple[str, ...] = _setting(
        (),
        "Addresses or networks of reverse proxies whose `X-Forwarded-For` is trusted, such as `10.0.0.0/24`, separated by commas.",
    )
    requests_per_minute: float | None = _setting(
        6000.0, "Maximum HTTP requests per minute for one token, in each server; 0 means no limit."
    )
    http_arrival_s: float = _setting(
        15.0,
        "Seconds for the headers of an HTTP request, and for each further 16 KiB of it, to arrive before the"
        " connection is dropped.",
    )
    grace_s: float = _setting(30.0, "Seconds that HTTP requests get to finish when the server is stopped.")
    oauth_issuer: str = _setting("", "The identity provider whose tokens are accepted, as in their `iss`.")
    oauth_audience: tuple[str, ...] = _setting(
        (),
        "Accepted values of `aud` in tokens, for example the URL of `/mcp`, a client id or `api://backstory`, separated by commas; a token needs one of them.",
    )
    oauth_resource: str = _setting(
        "",
        "URL of this server's `/mcp` for clients. Default: the first URL in `oauth_audience`.",
    )
    oauth_leeway_s: float = _setting(
        30.0, "Allowed difference in seconds between the clocks of the identity provider and this machine."
    )
    oauth_groups_claim: str = _setting(
        "groups", "The claim of a token that lists the user's groups; `realm_access.roles` is one in another."
    )
    oauth_groups: tuple[str, ...] = _setting(
        (),
        "Permissions of groups, as `group=read`, `group=write`, `group=admin`, `group=space:NAME` or `group=space:NAME:ROLE`, separated by commas.",
    )
    oauth_jwks_url: str = _setting("", "URL of the identity provider's public keys.")
    oauth_client_id: str = _setting(
        "", "The web page's client id at the identity provider. If it is set, people can sign in there."
    )
    oauth_client_secret: str = _setting(
        "", "Secret of `oauth_client_id`, if the identity provider gave it one.", secret=True
    )
    oauth_client_scopes: tuple[str, ...] = _setting(
        ("openid", "profile", "backstory:read", "backstory:write"),
        "Scopes that the web page requests from the identity provider, separated by commas.",
    )
    oauth_session_hours: float = _setting(
        1.0,
        "Hours after which the web page asks the identity provider about a person again, and within which a change of their groups counts there.",
    )
    prices_file: str = _setting(
        "",
        "JSON file with model prices that replace the built-in ones; `docs/usage.md` describes it.",
    )
    log_level: str = _setting(
        "info",
        "Minimum level of events in the session log.",
        choices=("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
    )

    logs_max_mb: float | None = _setting(
        100.0,
        "Maximum total size of the session logs: a file has a tenth of it, and the oldest are deleted. 0 means no limit.",
    )
    audit_days: float | None = _setting(
        None, "Days after which a team server deletes audit records. Default: never."
    )
    audit_reads: str = _setting(
        "off",
        "Whether the audit log of a team server has calls that only read, too, with the ids of the memories they read.",
        choices=("off", "on"),
    )

    def __init__(self, **values: Any) -> None:
        for setting in TABLE:
            vars(self)[setting.name] = values.pop(setting.name, setting.default)
            if vars(self)[setting.name] is COMPUTED:
                raise TypeError(f"{setting.name} is needed")
        if values:
            raise TypeError(f"{', '.join(values)} is no setting")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("settings do not change; use changed()")

    @property
    def logs_max_bytes(self) -> float:
        return float("inf") if self.logs_max_mb is None else self.logs_max_mb * 1_000_000

    @property
    def reads_histories(self) -> bool:
        return self.histories != ("off",)

    def changed(self, **values: Any) -> Settings:
        return Settings(**{**vars(self), **values})


TABLE: tuple[Setting, ...] = tuple(row for row in vars(Settings).values() if isinstance(row, Setting))


def without_password(url: str) -> str:
    """A URL without its password: the text between the first colon of the user and the last @."""
    masked = re.sub(r"(?<=://)([^:/@?]*):.*@", r"\1:***@", url)
    return re.sub(r"(?i)(password=)[^&]*", r"\1***", masked)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def required(settings: Settings, name: str) -> str:
    """A setting that another one makes necessary."""
    value = getattr(settings, name)
    if not value:
        raise InvalidInput(f"{name} is not set.", hint=f"Set {variable(name)}.", field=name)
    return str(value)


def build_settings(*sources: Mapping[str, Any], defaults: Mapping[str, Any]) -> Settings:
    """Settings from sources of field name → value, the first that names a field wins."""
    merged = {**defaults}
    for source in reversed(sources):
        merged |= source
    known = {setting.name: setting for setting in TABLE}
    for name in merged:
        if name not in known:
            raise InvalidInput(
                f"{name} is not a setting.", hint="`backstory settings` lists them.", field=name
            )
    return Settings(**{name: _parse(known[name], value) for name, value in merged.items()})


def _parse(setting: Setting, value: Any) -> Any:
    """A value of the setting's type, from text or from TOML."""
    try:
        parsed = _PARSERS[setting.kind](value)
    except (TypeError, ValueError, OverflowError, AttributeError):
        raise InvalidInput(
            f"{setting.name} must be {_KINDS[setting.kind]}, not {value!r}.", field=setting.name
        ) from None
    if setting.choices and parsed not in setting.choices:
        raise InvalidInput(
            f"{setting.name} must be one of {', '.join(setting.choices)}, not {value!r}.", field=setting.name
        )
    return parsed


def _names(value: Any) -> tuple[str, ...]:
    items = value.split(",") if isinstance(value, str) else value
    return tuple(item.strip() for item in items if item.strip())


def _count(value: Any) -> int:
    if isinstance(value, bool | float):  # TOML has both; int() would take them
        raise TypeError(value)
    return _above_zero(int(value))


def _amount(value: Any) -> float:
    if isinstance(value, bool):
        raise TypeError(value)
    return _above_zero(float(value))


def _limit(value: Any) -> float | None:
    return None if value in (None, "", "0", 0) and value is not False else _amount(value)


def _hours(value: Any) -> str:
    from .domain.hours import DailyHours  # 1 to 3 ms for `datetime`, which no other code needs at a start

    DailyHours.parse(value)
    return str(value)


def expand_home(path: str | Path) -> Path:
    """`~` is the user's home and `~ann` that of ann."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidInput(f"{path} begins with the home of an unknown user.") from None


def _above_zero(number: Number) -> Number:
    if not 0 < number < float("inf"):
        raise ValueError(number)
    return number


# keyed by annotation text: `from __future__ import annotations` keeps annotations as strings
_PARSERS: dict[str, Any] = {
    "str": str,
    "Path": expand_home,
    "int": _count,
    "float": _amount,
    "float | None": _limit,
    "tuple[str, ...]": _names,
    "Hours": _hours,
}
_KINDS = {
    "str": "text",
    "Path": "a path",
    "int": "a whole number above 0",
    "float": "a number above 0",
    "float | None": "a number above 0, or 0 for no limit",
    "tuple[str, ...]": "names separated by commas",
    "Hours": "hours of the day such as 02:00-04:00, or `always`",
}
