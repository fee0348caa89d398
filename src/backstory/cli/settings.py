"""`backstory settings`: the table of settings, with the values in force."""

from __future__ import annotations

import argparse
from typing import Any

from ..app import CONFIG
from ..settings import COMPUTED, TABLE, Setting, Settings, variable, without_password
from .flags import flag
from .report import Json, Report, wrapped

HIDDEN = "(set, not shown)"


def run(options: argparse.Namespace, settings: Settings) -> Report:
    rows = [describe(setting, settings) for setting in TABLE]
    order = f"A flag wins over the environment, which wins over {settings.home / CONFIG}, which wins over the default."
    text = "\n\n".join([wrapped(order), *map(_block, rows)])
    return Report({"config_file": str(settings.home / CONFIG), "settings": rows}, text)


def describe(setting: Setting, settings: Settings) -> Json:
    """One row of the table. The value of a secret is never shown, only whether it is set."""
    return {
        "name": setting.name,
        "flag": flag(setting.name),
        "variable": variable(setting.name),
        "default": None if setting.default is COMPUTED else plain(setting.default),
        "choices": list(setting.choices),
        "meaning": setting.meaning,
        "value": shown_value(setting, settings),
    }


def shown_value(setting: Setting, settings: Settings) -> Any:
    value = getattr(settings, setting.name)
    if setting.name.endswith("_url"):
        return without_password(value)
    return HIDDEN if setting.secret and value else plain(value)


def plain(value: Any) -> Any:
    """The value as it is written in JSON and config.toml."""
    if isinstance(value, tuple):
        return list(value)
    return value if isinstance(value, str | int | float) else str(value)


def _block(row: Json) -> str:
    now = "" if row["value"] in ("", [], None) else f" = {row['value']}"
    lines = [
        f"{row['name']}{now}",
        wrapped(row["meaning"], "    ", "    "),
        f"    {row['flag']}  {row['variable']}",
    ]
    if row["choices"]:
        lines.append(f"    one of: {', '.join(row['choices'])}")
    return "\n".join(lines)
