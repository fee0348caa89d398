"""`backstory completion bash|zsh|fish`: completion of commands and flags, generated from the commands themselves."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from ..clients.catalogue import CLIENTS
from ..readers import reader_names
from ..settings import Settings
from .commands import COMMANDS, parser_of
from .report import Report

SHELLS = ("bash", "zsh", "fish")
NAMED = ("--assistant", "--reader", "--in")
"""Flags whose values are names of assistants."""
INSTALLING = ("install", "uninstall")
"""Commands that take names of clients."""
_FIRST_COLUMN = "2>/dev/null | sed -n 's/  .*//p'"
_CONVERSATION_IDS = f"backstory sessions --limit 40 {_FIRST_COLUMN}"
_MEMORY_IDS = f"backstory list --limit 40 {_FIRST_COLUMN}"
_BOTH = f"{_CONVERSATION_IDS}; {_MEMORY_IDS}"
ID_SOURCES = {
    "show": _BOTH,
    "delete": _BOTH,
    "forget": _BOTH,
    "edit": _MEMORY_IDS,
    "share": _MEMORY_IDS,
    "resume": _CONVERSATION_IDS,
    "handoff": _CONVERSATION_IDS,
    "export": _CONVERSATION_IDS,
}
"""Commands that print the ids another command takes, one per line, latest first."""
_HARMLESS = "grep -xE '[[:alnum:]_.:/-]+'"
"""Ids without shell syntax: bash expands the words of `compgen -W`, and an id comes from the file of an assistant."""


class Flag(NamedTuple):
    name: str
    meaning: str
    takes_value: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=" or ".join(SHELLS))


def run(options: argparse.Namespace, settings: Settings) -> Report:
    flags = {name: list(_flags(name)) for name in COMMANDS}
    write = {"bash": _bash, "zsh": _zsh, "fish": _fish}[options.shell]
    script = "\n".join(write(flags))
    return Report({"shell": options.shell, "script": script}, script)


def _flags(command: str) -> Iterator[Flag]:
    for action in parser_of(command)._actions:
        for name in action.option_strings:
            if name.startswith("--"):
                meaning = (action.help or "").replace("%%", "%").replace("%s", "")
                yield Flag(name, meaning, takes_value=action.nargs != 0)


def _bash(flags: Mapping[str, Sequence[Flag]]) -> Iterator[str]:
    yield "# source <(backstory completion bash)"
    yield "_backstory() {"
    yield '    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command="" flags="" word'
    yield '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do'
    yield f'        case "$word" in {"|".join(flags)}) command="$word"; break ;; esac'
    yield "    done"
    yield f'    case "$previous" in {"|".join(NAMED)})'
    yield f'        COMPREPLY=($(compgen -W "{" ".join(reader_names())}" -- "$current")); return ;;'
    yield "    esac"
    yield '    if [[ -z "$command" ]]; then'
    yield f'        COMPREPLY=($(compgen -W "{" ".join(flags)}" -- "$current")); return'
    yield "    fi"
    yield '    case "$command" in'
    for command, own in flags.items():
        yield f'        {command}) flags="{" ".join(flag.name for flag in own)}" ;;'
    yield "    esac"
    yield '    if [[ "$current" == -* ]]; then'
    yield '        COMPREPLY=($(compgen -W "$flags" -- "$current"))'
    yield "        return"
    yield "    fi"
    yield '    case "$command" in'
    yield f'        {"|".join(INSTALLING)}) COMPREPLY=($(compgen -W "{" ".join(CLIENTS)}" -- "$current")) ;;'
    for command, ids in ID_SOURCES.items():
        words = f"{{ {ids}; }} | {_HARMLESS}"
        yield f'        {command}) COMPREPLY=($(compgen -W "$({words})" -- "$current")) ;;'
    yield '        *) COMPREPLY=($(compgen -f -- "$current")) ;;'
    yield "    esac"
    yield "}"
    yield "complete -o filenames -F _backstory backstory"


def _zsh(flags: Mapping[str, Sequence[Flag]]) -> Iterator[str]:
    yield "#compdef backstory"
    yield "# source <(backstory completion zsh)"
    yield "_backstory() {"
    yield "    local -a commands; commands=("
    yield from (f"        {shlex.quote(f'{name}:{meaning}')}" for name, meaning in COMMANDS.items())
    yield "    )"
    yield "    if (( CURRENT == 2 )); then _describe command commands; return; fi"
    yield '    case "$words[2]" in'
    for command, own in flags.items():
        yield f"        {command}) _arguments {' '.join(map(_zsh_flag, own))} {_zsh_words(command)} ;;"
    yield "    esac"
    yield "}"
    yield "compdef _backstory backstory"


def _zsh_words(command: str) -> str:
    """The completions of a command's words."""
    if command in INSTALLING:
        return shlex.quote(f"*:client:({' '.join(CLIENTS)})")
    if ids := ID_SOURCES.get(command):
        return shlex.quote(f'*:id:{{compadd -- ${{(f)"$({ids})"}}}}')
    return "'*:file:_files'"


def _zsh_flag(flag: Flag) -> str:
    meaning = flag.meaning.translate(str.maketrans("[]:", "(),"))
    value = ""
    if flag.takes_value:
        value = f":name:({' '.join(reader_names())})" if flag.name in NAMED else ":value:_files"
    return shlex.quote(f"{flag.name}[{meaning}]{value}")


def _fish(flags: Mapping[str, Sequence[Flag]]) -> Iterator[str]:
    yield "# backstory completion fish | source"
    for command, meaning in COMMANDS.items():
        yield f"complete -c backstory -n __fish_use_subcommand -f -a {command} -d {_fish_quoted(meaning)}"
    for command, own in flags.items():
        for flag in own:
            words = [
                f"complete -c backstory -n '__fish_seen_subcommand_from {command}'",
                f"-l {flag.name[2:]}",
            ]
            words += ["-r"] if flag.takes_value else []
            words += [f"-f -a {_fish_quoted(' '.join(reader_names()))}"] if flag.name in NAMED else []
            yield " ".join([*words, f"-d {_fish_quoted(flag.meaning)}"])
    for command in INSTALLING:
        yield f"complete -c backstory -n '__fish_seen_subcommand_from {command}' -f -a {_fish_quoted(' '.join(CLIENTS))}"
    for command, ids in ID_SOURCES.items():
        yield f"complete -c backstory -n '__fish_seen_subcommand_from {command}' -f -a {_fish_quoted(f'({ids})')}"


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
