"""Profiles: subsets of a surface's tools, built in or from the user's own file, which is only read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

FULL = "full"
"""Every tool."""


class ProfileChoice(NamedTuple):
    name: str
    config: Path
    """A JSON file `{"profiles": {"name": ["tool"]}}`; it need not exist."""


class Profile(NamedTuple):
    name: str
    tools: frozenset[str]
    warnings: tuple[str, ...] = ()
    """Reasons why the profile differs from the requested one."""


def choose(choice: ProfileChoice, builtin: Mapping[str, Iterable[str]], known: Iterable[str]) -> Profile:
    """Return the tools of a profile. A profile in the file overrides a built-in one of the same name.

    If the file or the name cannot be used, a warning explains it and every tool is served."""
    every = frozenset(known)
    own, warnings = _read(choice.config)
    profiles = {name: frozenset(tools) for name, tools in builtin.items()} | {FULL: every} | own
    wanted = choice.name or FULL
    if wanted in profiles:
        if unknown := sorted(profiles[wanted] - every):
            warnings.append(f"Profile {wanted!r} names unknown tools: {', '.join(unknown)}.")
        if tools := profiles[wanted] & every:
            return Profile(wanted, tools, tuple(warnings))
        reason = f"Profile {wanted!r} has no tools."
    else:
        reason = f"There is no profile {wanted!r}."
    counts = ", ".join(f"{name} ({len(tools & every)})" for name, tools in profiles.items())
    warnings.append(f"{reason} All tools are served. Profiles: {counts}.")
    return Profile(FULL, every, tuple(warnings))


def _read(config: Path) -> tuple[dict[str, frozenset[str]], list[str]]:
    """Read the profiles of the file. Also return warnings about its contents."""
    try:
        document = json.loads(config.read_text("utf-8"))
    except FileNotFoundError:
        return {}, []
    except (OSError, ValueError, RecursionError) as error:
        return {}, [f"{config} cannot be read as JSON ({error}); built-in profiles are used."]
    profiles = document.get("profiles") if isinstance(document, dict) else None
    if not isinstance(profiles, dict):
        return {}, [f"{config} has no object `profiles`; built-in profiles are used."]
    usable: dict[str, frozenset[str]] = {}
    warnings = []
    for name, tools in profiles.items():
        if isinstance(tools, list) and all(isinstance(tool, str) for tool in tools):
            usable[name] = frozenset(tools)
        else:
            warnings.append(f"Profile {name!r} in {config} is not a list of names; it is ignored.")
    return usable, warnings
