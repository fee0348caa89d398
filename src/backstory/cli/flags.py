"""Settings as flags: `--busy-timeout-s 5` or `--busy-timeout-s=5`, before or after any command.

They are parsed first, without argparse, which costs 8 ms; a server has no other flags.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..domain.errors import InvalidInput
from ..settings import TABLE

COMMAND_FLAGS = {
    "forget": ("--backups", "--project"),
    **dict.fromkeys(("delete", "exclude"), ("--backups",)),
    **dict.fromkeys(("search", "sessions", "list", "timeline", "why", "inbox"), ("--project",)),
}
"""Flags of a command that are spelled like a setting, and mean something else there."""


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def setting_flags() -> dict[str, str]:
    """Flag → name of the setting."""
    return {flag(setting.name): setting.name for setting in TABLE}


def take_settings(words: Sequence[str]) -> tuple[dict[str, str], list[str]]:
    """The settings among the words of a command line, and the other words. `--` ends the settings."""
    own = {spelled for command, flags in COMMAND_FLAGS.items() if command in words for spelled in flags}
    known = {spelled: name for spelled, name in setting_flags().items() if spelled not in own}
    settings: dict[str, str] = {}
    rest: list[str] = []
    remaining = iter(words)
    for word in remaining:
        if word == "--":
            return settings, [*rest, word, *remaining]
        name, is_joined, value = word.partition("=")
        if name not in known:
            rest.append(word)
        elif is_joined:
            settings[known[name]] = value
        else:
            try:
                settings[known[name]] = next(remaining)
            except StopIteration:
                raise InvalidInput(f"{name} needs a value.", hint=f"Such as {name}=VALUE.") from None
    return settings, rest
