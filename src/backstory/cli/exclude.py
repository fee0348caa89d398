"""`backstory exclude`: exclude a project or a path, and forget its records."""

from __future__ import annotations

import argparse
import os
import re
import tomllib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from ..app import CONFIG, open_core
from ..core.forgetting.erasure import Erasure
from ..core.forgetting.selection import select_excluded
from ..domain.erasure import Receipt
from ..domain.errors import InvalidInput, Unreadable
from ..domain.lazy import lazy_pattern
from ..settings import PREFIX, Settings
from ..store.whole_files import write_whole
from .forget import add_reach, announcement, is_confirmed, selection_body, shown_receipt
from .report import Report

KEY = "exclude"
_KEY = lazy_pattern(rf"(?m)^[ \t]*{KEY}[ \t]*=[ \t]*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "paths", metavar="PATH", nargs="*", help="a directory, or a glob in quotes such as '*/clients/acme'"
    )
    parser.add_argument(
        "--remove", action="store_true", help="stop excluding these paths; forgotten records stay forgotten"
    )
    add_reach(parser)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    if not options.paths:
        return _listing(settings.exclude)
    rules = tuple(map(_rule, options.paths))
    config = settings.home / CONFIG
    present = _configured(config)
    if set(settings.exclude) != set(present):
        raise InvalidInput(
            f"{PREFIX}{KEY.upper()} or --{KEY} is set, and {config} does not count.", hint="Change it there."
        )
    if options.remove:
        if missing := next((rule for rule in rules if rule not in present), ""):
            raise InvalidInput(f"There is no rule {missing}.", hint="`backstory exclude` lists them.")
        _configure(config, [rule for rule in present if rule not in rules])
        return Report({KEY: _configured(config)}, "The next sync reads them again.")
    with closing(open_core(settings)) as core:
        chosen = select_excluded(core.engine, rules)
        is_agreed = bool(chosen) and (options.yes or is_confirmed(announcement(chosen)))
        _configure(config, [*dict.fromkeys((*present, *rules))])
        receipt = Receipt({})
        if is_agreed:
            request = chosen.request(with_checkpoints=options.checkpoints)
            receipt = Erasure(core.engine).forget(request, with_backups=options.backups)
    body = {KEY: _configured(config), **selection_body(chosen, receipt)}
    text = f"Nothing is read or saved of {', '.join(rules)} from now on."
    if is_agreed:
        text += f"\n\n{announcement(chosen)}\n\n{shown_receipt(receipt)}"
    elif chosen:
        text += " What was read before stays."
    return Report(body, text)


def _listing(rules: Sequence[str]) -> Report:
    return Report({KEY: list(rules)}, "\n".join(rules) or "Nothing is excluded.")


def _rule(path: str) -> str:
    """The rule for a path: a directory as an absolute path; globs and paths that begin with `~` unchanged."""
    if path.startswith("~") or any(letter in path for letter in "*?["):
        return path
    return os.path.abspath(path)


def _configured(config: Path) -> list[str]:
    return list(_parsed(_read(config)).get(KEY, []))


def _read(config: Path) -> str:
    return config.read_text("utf-8") if config.exists() else ""


def _parsed(text: str) -> dict[str, list[str]]:
    return tomllib.loads(text)


def _configure(config: Path, rules: Sequence[str]) -> None:
    """Set the key in the user's file, and leave every other byte as it is."""
    text = _read(config)
    line = f"{KEY} = [{', '.join(map(_quoted, rules))}]"
    if (match := _KEY.search(text)) is None:
        changed = f"{line}\n{text}"  # before the first table
    else:
        changed = text[: match.start()] + line + text[_value_end(text, match) :]
    if _parsed(changed) != {**_parsed(text), KEY: list(rules)}:
        raise Unreadable(f"{config} has {KEY} where it cannot be changed.", hint=f"Add it by hand: {line}")
    config.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_whole(config, [changed])


def _value_end(text: str, key: re.Match[str]) -> int:
    """The end of a key's value: the first bracket or quote after which the assignment is complete."""
    for end in (match.end() for match in re.finditer(r"\]|\"|'", text[key.end() :])):
        try:
            tomllib.loads(text[key.start() : key.end() + end])
        except tomllib.TOMLDecodeError:
            continue
        return key.end() + end
    return key.end()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
