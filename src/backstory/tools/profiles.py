"""Profiles: a part of a surface's tools, built in or from the user's own file, which is only read."""

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
    """Why it is not what the user asked for."""


def choose(choice: ProfileChoice, builtin: Mapping[str, Iterable[str]], known: Iterable[str]) -> Profile:
    """The tools of a profile. One of the file wins over a built-in one of the same name; where the file or the name is no use, the
    warnings say so and every tool is served."""
    every = frozenset(known)
    own, warnings = _read(choice.config)
    profiles = {name: frozenset(tools) for name, tools in builtin.items()} | {FULL: every} | own
    wanted = choice.name or FULL
    if wanted in profiles:
        if unknown := sorted(profiles[wanted] - every):
            warnings.append(f"Profile {wanted!r} names tools that there are not: {', '.join(unknown)}.")
        if tools := profiles[wanted] & every:
            return Profile(wanted, tools, tuple(warnings))
        reason = f"Profile {wanted!r} has no tools."
    else:
        reason = f"There is no profile {wanted!r}."
    counts = ", ".join(f"{name} ({len(tools & every)})" for name, tools in profiles.items())
    warnings.append(f"{reason} All tools are served. Profiles: {counts}.")
    return Profile(FULL, every, tuple(warnings))


def _read(config: Path) -> tuple[dict[str, frozenset[str]], list[str]]:
    """The profiles of the file, and what is wrong with it."""
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
