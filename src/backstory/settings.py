"""Every setting once: name, type, default and description. Environment, flags, config file and docs are derived from
it.

`Settings` is the table; a setting's name determines its flag (`--max-request-mb`), its variable
(`BACKSTORY_MAX_REQUEST_MB`) and its key in the config file (`max_request_mb`). Settings for which another server
documents a variable accept that one too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from .domain.errors import InvalidInput

PREFIX = "BACKSTORY_"

Number = TypeVar("Number", int, float)


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


_setting: Any = Setting  # a field is declared as what an instance holds, not as its row


class Settings:
    """The table as a class with one setting per line; an instance has the current values and is immutable."""

    home: Path = _setting(
        COMPUTED,
        "Data directory: the store, its backups, the logs and config.toml. Default: the platform's data directory.",
    )
    database_url: str = _setting(
        "",
        "Where the store is: `sqlite:///path/to/file.db` or `postgresql://user:password@host/database`. Default: `store.db` in the data directory.",
    )
    surfaces: tuple[str, ...] = _setting(
        (), "Which tool surfaces to serve, by name, separated by commas. Default: all."
    )
    prefix: str = _setting(
        "",
        "What the names of the `backstory` surface's tools begin with, such as `backstory_`, for clients that show the tools of all servers in one list.",
    )
    profile: str = _setting(
        "full",
        "Which tools the `memory-keeper` surface has: `minimal` (8), `standard` (22), `full` (all), or a profile of `profile_config`; also read from `TOOL_PROFILE`.",
        also="TOOL_PROFILE",
    )
    profile_config: Path = _setting(
        Path("~/.mcp-memory-keeper/config.json"),
        'JSON file with profiles of your own: `{"profiles": {"name": ["context_save"]}}`; also read from `TOOL_PROFILE_CONFIG`. It is only read.',
        also="TOOL_PROFILE_CONFIG",
    )
    project: Path = _setting(
        COMPUTED,
        "The project that memories belong to. Default: the git root of the working directory, else the directory.",
    )
    sessions_dir: str = _setting(
        "",
        "Where `store_session` writes, when a call does not say; also read from `CODEARCHITECT_SESSIONS_DIR`. Default: `.codearchitect/sessions` in the project.",
        also="CODEARCHITECT_SESSIONS_DIR",
    )
    embeddings: str = _setting(
        "local",
        "What turns text into vectors: the model on this machine, an OpenAI-compatible endpoint, or nothing (text search only).",
        choices=("local", "endpoint", "off"),
    )
    embeddings_url: str = _setting(
        "", "Base URL of the embeddings endpoint, such as `http://localhost:11434/v1`."
    )
    embeddings_model: str = _setting("", "Model name to ask the embeddings endpoint for.")
    embeddings_key: str = _setting("", "API key for the embeddings endpoint.", secret=True)
    embeddings_timeout_s: float = _setting(
        10.0, "Seconds to wait for the embeddings endpoint before search falls back to text."
    )
    summaries: str = _setting(
        "local",
        "What writes summaries: sentences picked on this machine, or an OpenAI-compatible chat endpoint.",
        choices=("local", "endpoint"),
    )
    chat_url: str = _setting("", "Base URL of the chat endpoint, such as `http://localhost:11434/v1`.")
    chat_model: str = _setting("", "Model name to ask the chat endpoint for.")
    chat_key: str = _setting("", "API key for the chat endpoint.", secret=True)
    chat_timeout_s: float = _setting(
        30.0, "Seconds to wait for the chat endpoint before the local summary stays."
    )
    histories: tuple[str, ...] = _setting(
        (), "Which assistants' histories to read, by name, separated by commas; `off` for none. Default: all."
    )
    history_roots: tuple[str, ...] = _setting(
        (), "Further directories with histories, as `name=path`, separated by commas."
    )
    client_memories: tuple[str, ...] = _setting(
        (),
        "Which programs' own memories to read: `claude-code`, `codex`, `gemini-cli`, `qwen-code`, `serena`, `memory-bank`, `kiro`, `beads`, separated by commas; `none` for none. Default: all.",
    )
    exclude: tuple[str, ...] = _setting(
        (),
        "Projects and paths to keep out, as paths or globs such as `~/work/secret` or `*/clients/acme`, separated by commas: nothing of them is read or saved.",
    )
    redaction: str = _setting(
        "standard",
        "Which secrets are redacted in histories: keys, tokens and passwords; also e-mail addresses and whatever looks random; or none.",
        choices=("standard", "wide", "off"),
    )
    sync_interval_s: float = _setting(
        30.0, "Seconds after which a running server looks for news in the histories, if no call made it look."
    )
    max_request_mb: float = _setting(
        16.0, "Largest request the server reads; a larger one is refused with an error."
    )
    max_store_mb: float | None = _setting(
        None, "Size from which the store takes no more memories. Default: no limit, which 0 means too."
    )
    retention_days: float | None = _setting(
        None,
        "Age in days from which conversations and reflections go to the archive, which `backstory unarchive` reads. Default: they stay, which 0 means too.",
    )
    backups: str = _setting(
        "on",
        "Whether a store that is a file is copied to `backups` in the data directory: each day, and before old things go to the archive.",
        choices=("on", "off"),
    )
    backups_kept: int = _setting(7, "How many daily backups are kept.")
    backups_max_mb: float | None = _setting(
        2000.0,
        "Size that automatic backups may have together: the oldest go first, and a store that is larger has none. 0 means no limit.",
    )
    git_checkpoints: str = _setting(
        "off",
        "Whether `checkpoint` also keeps the tracked changes as a commit under `refs/backstory/checkpoints`.",
        choices=("off", "on"),
    )
    git_commit: str = _setting(
        "off",
        "Whether `context_git_commit` may commit what is staged in the project. Untracked files are never committed.",
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
        "Where `export_individual_conversations` writes when it is not told where; made when something is written.",
    )
    brief: str = _setting(
        "auto",
        "Whether hooks say anything to a session: `auto` leaves out runs that nobody attends, `on` includes them, `off` silences every hook.",
        choices=("auto", "on", "off"),
    )
    brief_off: tuple[str, ...] = _setting(
        (), "Directories of projects whose sessions are told nothing by hooks, separated by commas."
    )
    prompt_recall: str = _setting(
        "auto",
        "Whether a prompt is answered with what was said before: `auto` only where it is nearly certain to help, `on` also where it is more likely than not, `off` never.",
        choices=("auto", "on", "off"),
    )
    brief_timeout_s: float = _setting(
        0.9,
        "Seconds after which a hook gives up, so that no session waits for it; only as a variable.",
    )
    workers: int = _setting(
        8, "How many requests run at once in one server; on SQLite, more than two only where some are slow."
    )
    busy_timeout_s: float = _setting(60.0, "Seconds a write waits for other servers that use the same store.")
    http: str = _setting(
        "", "Address to serve MCP on over HTTP, such as `127.0.0.1:8765`. Default: standard input and output."
    )
    http_auth: str = _setting(
        "none",
        "Who may connect over HTTP: anybody on this machine, holders of a token, or also users of an identity provider.",
        choices=("none", "token", "oauth"),
    )
    http_sessions: str = _setting(
        "kept",
        "Whether an MCP session over HTTP is remembered between requests, or each request stands alone.",
        choices=("kept", "none"),
    )
    http_log: str = _setting(
        "files",
        "Where the HTTP server writes its log: files in the data directory, or standard output, for containers and systemd.",
        choices=("files", "stdout"),
    )
    http_hosts: tuple[str, ...] = _setting(
        (), "Names that clients reach the HTTP server by, such as `memory.example.com`, separated by commas."
    )
    http_proxies: tuple[str, ...] = _setting(
        (),
        "Addresses or networks of reverse proxies whose `X-Forwarded-For` is trusted, such as `10.0.0.0/24`, separated by commas.",
    )
    requests_per_minute: float | None = _setting(
        6000.0, "HTTP requests that one token may make in a minute, in each server; 0 means no limit."
    )
    http_arrival_s: float = _setting(
        15.0,
        "Seconds that the headers of an HTTP request, and each further 16 KiB of it, may take to arrive; then the"
        " connection is dropped.",
    )
    grace_s: float = _setting(
        30.0, "Seconds that requests over HTTP get to finish when the server is asked to stop."
    )
    oauth_issuer: str = _setting("", "The identity provider whose tokens are accepted, as in their `iss`.")
    oauth_audience: tuple[str, ...] = _setting(
        (),
        "What accepted tokens name in `aud`, such as the URL of `/mcp`, a client id or `api://backstory`, separated by commas; one of them is enough.",
    )
    oauth_resource: str = _setting(
        "",
        "The URL that clients reach this server's `/mcp` by. Default: the first URL in `oauth_audience`.",
    )
    oauth_leeway_s: float = _setting(
        30.0, "Seconds by which the identity provider's clock may differ from this machine's."
    )
    oauth_groups_claim: str = _setting(
        "groups", "The claim of a token that lists the user's groups; `realm_access.roles` is one in another."
    )
    oauth_groups: tuple[str, ...] = _setting(
        (),
        "What members of a group may do, as `group=read`, `group=write`, `group=admin`, `group=space:NAME` or `group=space:NAME:ROLE`, separated by commas.",
    )
    oauth_jwks_url: str = _setting("", "Where the identity provider publishes its keys.")
    prices_file: str = _setting(
        "",
        "JSON file with prices of models, in the place of those that are part of this program; `docs/usage.md` describes it.",
    )
    log_level: str = _setting(
        "info",
        "Least severe level that is written to the session log.",
        choices=("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"),
    )

    logs_max_mb: float | None = _setting(
        100.0,
        "Size that the session logs may have together: a file has a tenth of it, then the next begins and the oldest go. 0 means no limit.",
    )
    audit_days: float | None = _setting(
        None, "Days that a team server keeps its audit log; without it, records are never deleted."
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


def expand_home(path: str | Path) -> Path:
    """`~` is the user's home and `~ann` that of ann."""
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise InvalidInput(f"{path} begins with the home of a user that there is not.") from None


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
}
_KINDS = {
    "str": "text",
    "Path": "a path",
    "int": "a whole number above 0",
    "float": "a number above 0",
    "float | None": "a number above 0, or 0 for no limit",
    "tuple[str, ...]": "names separated by commas",
}
