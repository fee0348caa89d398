"""`backstory admin tenants`: what each user and team of a team server takes, its limits, a copy of it, and its end."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from .. import console
from ..app import CONTROL, delete_space, find_spaces, open_store
from ..core.copying import copy_store
from ..domain.errors import InvalidInput, NotFound
from ..domain.lines import counted
from ..domain.team import TenantSettings
from ..domain.when import utc_now
from ..server.tenants import personal, shared
from ..settings import Settings
from ..store.sqlite import SqliteStore
from .report import FAILED, Json, Report, show_progress, size, table

NO_TENANTS = "There are no tenants yet: each is made when its user or team first calls."
NO_LIMIT = "none"


def list_tenants(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
    del words, options
    tenants = _tenants(settings)
    limits = _limits(settings)
    body = [_limits_body(name, limits.get(name, TenantSettings(name))) for name in tenants]
    rows = [
        (
            name,
            _quota_text(limits.get(name)),
            _retention_text(limits.get(name)),
            _review_text(limits.get(name)),
        )
        for name in tenants
    ]
    text = table([("tenant", "quota", "retention", "review"), *rows]) if rows else NO_TENANTS
    return Report({"tenants": body}, text)


def measure_tenants(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
    del options
    names = [_known(settings, words[0])] if words[0] else _tenants(settings)
    body: list[Json] = []
    for name in names:
        with closing(open_store(settings, name)) as store:
            census = store.census()
            body.append(
                {
                    "tenant": name,
                    "bytes": census.bytes,
                    "used_bytes": store.used_bytes(),
                    "memories": census.memories,
                    "conversations": census.conversations,
                    "messages": census.messages,
                }
            )
    rows = [
        (
            each["tenant"],
            size(each["bytes"]),
            size(each["used_bytes"]),
            f"{each['memories']:,}",
            f"{each['messages']:,}",
        )
        for each in body
    ]
    text = table([("tenant", "on disk", "used", "memories", "messages"), *rows]) if rows else NO_TENANTS
    return Report({"tenants": body}, text)


def export_tenant(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
    """Copy a tenant into a new file of SQLite, whichever database it is in, and compare every row."""
    del options
    name, file = _known(settings, words[0]), Path(words[1])
    if file.exists() or file.is_symlink():
        raise InvalidInput(f"{file} already exists; nothing was exported.", field="file")
    if not file.parent.is_dir():
        raise InvalidInput(f"There is no folder {file.parent}; nothing was exported.", field="file")

    def tick(message: str, current: int, total: int) -> None:
        show_progress(current, total, message)

    is_equal = False
    try:
        with closing(open_store(settings, name)) as source, closing(SqliteStore(file)) as target:
            compared = copy_store(source, target, name, tick)
        is_equal = all(each.is_equal for each in compared)
    finally:
        if not is_equal:
            file.unlink(missing_ok=True)
    rows = sum(each.source.rows for each in compared)
    body: Json = {"tenant": name, "file": str(file), "rows": rows, "ok": is_equal}
    if not is_equal:
        return Report(body, f"{name} changed while it was copied; nothing was exported. Try again.", FAILED)
    return Report(body, f"Exported {name} to {file}: {counted(rows, 'row')}, each compared.")


def delete_tenant(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
    name = _known(settings, words[0])
    with closing(open_store(settings, name)) as store:
        census = store.census()
    memories = counted(census.memories, "memory", "memories")
    question = f"Delete {name} with {memories} and {counted(census.messages, 'message')}, and its backups?"
    if not options.yes and not _is_typed(name, question):
        return Report({"tenant": name, "deleted": False}, "Nothing was deleted.")
    delete_space(settings, name)
    tokens = 0
    if CONTROL in find_spaces(settings):
        with closing(open_store(settings, CONTROL)) as control:
            control.team.delete_settings(name)
            if name.startswith(shared("")):
                control.team.remove_members(name.removeprefix(shared("")))
            now = utc_now()
            tokens = sum(
                each.is_valid(now) and personal(each.person) == name for each in control.team.tokens()
            )
    lines = [f"Deleted {name}: {memories}, its files, backups, members and limits."]
    if tokens:
        lines.append(
            f"{counted(tokens, 'token')} of this user would make a new, empty one; `backstory token revoke` ends that."
        )
    body: Json = {"tenant": name, "deleted": True, "memories": census.memories, "valid_tokens": tokens}
    return Report(body, "\n".join(lines))


def limit_tenant(field: str, unit: str) -> Callable[[list[str], argparse.Namespace, Settings], Report]:
    def set_limit(words: list[str], options: argparse.Namespace, settings: Settings) -> Report:
        del options
        name = _known(settings, words[0])
        limit = _number(words[1], unit)
        with closing(open_store(settings, CONTROL)) as control:
            change: dict[str, Any] = {field: limit}
            control.team.put_settings(control.team.settings_of(name)._replace(**change))
            limits = control.team.settings_of(name)
        value = f"{limit:g} {unit}" if limit is not None else "as the server's setting says"
        text = f"{name}: {field} {value}. A running server applies it when it opens the tenant next, at the latest after a restart."
        return Report(_limits_body(name, limits), text)

    return set_limit


def _tenants(settings: Settings) -> list[str]:
    return [space for space in find_spaces(settings) if space not in ("", CONTROL)]


def _known(settings: Settings, name: str) -> str:
    tenants = _tenants(settings)
    if name not in tenants:
        near = [each for each in tenants if name and name in each][:5]
        hint = f"Did you mean {', '.join(near)}?" if near else "`backstory admin tenants list` lists them."
        raise NotFound("tenant", name, hint=hint)
    return name


def _limits(settings: Settings) -> dict[str, TenantSettings]:
    if CONTROL not in find_spaces(settings):  # a look makes no store
        return {}
    with closing(open_store(settings, CONTROL)) as control:
        return control.team.all_settings()


def _limits_body(name: str, limits: TenantSettings) -> Json:
    return {
        "tenant": name,
        "quota_mb": limits.max_store_mb,
        "retention_days": limits.retention_days,
        "review": limits.is_reviewed,
    }


def _quota_text(limits: TenantSettings | None) -> str:
    return f"{limits.max_store_mb:g} MB" if limits and limits.max_store_mb is not None else "-"


def _retention_text(limits: TenantSettings | None) -> str:
    return f"{limits.retention_days:g} days" if limits and limits.retention_days is not None else "-"


def _review_text(limits: TenantSettings | None) -> str:
    return "on" if limits and limits.is_reviewed else "-"


def _number(word: str, unit: str) -> float | None:
    if word == NO_LIMIT:
        return None
    try:
        number = float(word)
    except ValueError:
        number = -1.0
    if not 0 < number < 1e9:
        raise InvalidInput(
            f"{word!r} is no number of {unit}; nothing was changed.",
            hint=f"Use a number above 0, or {NO_LIMIT}.",
            field=unit,
        )
    return number


def _is_typed(name: str, question: str) -> bool:
    if not sys.stdin.isatty():
        raise InvalidInput("Deleting a tenant cannot be undone.", hint=f"Add --yes to delete: {question}")
    console.notify(question)
    console.notify(f"Type {name} to delete it: ", end="")
    return sys.stdin.readline().strip() == name
