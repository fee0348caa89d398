"""The commands, and how each is parsed, run and printed."""

from __future__ import annotations

import argparse
import difflib
import importlib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from keyword import iskeyword
from types import ModuleType
from typing import NoReturn

from .. import __version__, console
from ..app import read_settings
from ..domain.errors import InvalidInput
from ..front import Heard
from ..settings import TABLE
from .examples import EXAMPLES, EXIT_STATUS
from .flags import flag, setting_flags
from .report import Report, clear_progress, hints, plain, table
from .serve import serve

COMMANDS = {
    "serve": "Start the MCP server: on standard input and output for one assistant, or with --http for many users.",
    "demo": "Show Backstory at work on three invented conversations; your own data is not used.",
    "install": "Add Backstory to the assistants on this machine.",
    "uninstall": "Remove Backstory from the files of the assistants.",
    "search": "Search memories and conversations.",
    "sessions": "List conversations of all assistants, newest first.",
    "show": "Show a memory with its history, or a conversation page by page.",
    "brief": "Print the brief that a new session in a project receives.",
    "injected": "List every text that hooks added to a session, and whether the assistant used it.",
    "statements": "List decisions, dropped attempts, open work, checks and commits of a project.",
    "stats": "Show tokens and costs by day, project, assistant and model, and how often tools failed.",
    "inbox": "List rules that you repeated, with their evidence; accept, edit or dismiss them.",
    "timeline": "Show conversations, memories and commits by day.",
    "resume": "Continue a conversation in its own assistant or in another one.",
    "handoff": "Print a conversation so that any other tool can continue it.",
    "export": "Write a conversation to a file: HTML to share, Markdown, JSON or plain text.",
    "blame": "Show the commit, the session and the message that wrote a line of a file.",
    "why": "Tell the story of a file: requests, decisions, reversals, errors, dropped attempts and commits.",
    "fix": "Look up an error: whether it occurred before, and what fixed it.",
    "how": "Find a command that worked before, such as the one that runs the tests.",
    "pr": "Explain a branch or commits as Markdown: the sessions, prompts and decisions behind each change.",
    "share": "Write memories as files in the repository, for the team to review.",
    "unshare": "Remove the file of a shared memory; your own memory stays.",
    "team": "List what the team shares, in this repository and in joined spaces of its server.",
    "list": "List memories, last changed first.",
    "remember": "Save a memory, as an assistant would.",
    "edit": "Correct a memory; the earlier text stays in its history.",
    "delete": "Delete memories or conversations for good, by id.",
    "web": "Open Backstory in a browser: search, conversations, memories and usage.",
    "status": "Show where the store is, what it contains and which settings were changed.",
    "doctor": "Check the installation, and suggest what to do about problems.",
    "tools": "List the tools that assistants can call.",
    "settings": "List every setting with its flag, variable, meaning and current value.",
    "sync": "Read new conversations of your assistants.",
    "import": "Import the memories of another program, or an archive of ChatGPT or Claude.ai; without a name, list what was found.",
    "forget": "Remove memories and conversations for good; a sync does not bring them back.",
    "exclude": "Keep a project or a path out, and forget what was read from it; without a path, list the rules.",
    "embed": "Compute missing vectors now instead of in the background.",
    "devices": "Synchronise your machines through a shared folder.",
    "backup": "Write checked copies of the stores while they are in use.",
    "restore": "Replace a store with a backup; the current store is saved as a backup first.",
    "migrate": "Move a store between SQLite and PostgreSQL; an interrupted move can be continued.",
    "archive": "Archive old conversations and reflections; searches no longer find them.",
    "unarchive": "Restore a memory or a conversation from the archive.",
    "token": "Create, list and revoke the tokens of a team server.",
    "admin": "Manage a team server: members, roles, review and tenants.",
    "audit": "List who changed what over HTTP: tools, times and outcomes, never contents.",
    "integrity": "Check every page and index of the stores.",
    "completion": "Print the completion script for a shell.",
}
"""Help texts by command. Each command is a module of this package; a name that Python reserves ends with `_`."""

ALIASES = {"ui": "web"}

GROUPS = {
    "Getting started": ("install", "uninstall", "demo", "serve"),
    "Searching and reading": (
        "search", "brief", "injected", "statements", "sessions", "show", "stats", "timeline", "resume", "handoff",
        "export", "blame", "why", "fix", "how", "pr", "list", "web",
    ),
    "Correcting and forgetting": (
        "remember", "inbox", "edit", "delete", "forget", "exclude", "archive", "unarchive",
    ),
    "Bringing data in": ("sync", "import", "embed"),
    "Several machines": ("devices",),
    "Teams": ("share", "unshare", "team", "token", "admin", "audit"),
}  # fmt: skip
"""Headings of the overview. The other commands are under MAINTENANCE."""
MAINTENANCE = "Maintenance"

BEGINNING = (
    "demo", "install", "remember", "sync", "import", "devices", "restore", "migrate", "token", "team", "admin",
    "settings", "tools", "completion",
)  # fmt: skip
"""Commands that may create a new home, or need none. For all others a missing home is an error, and none is created."""

SERVING = ("surfaces", "profile", "http", "http_auth", "http_hosts", "project", "home")
MEANINGS = {setting.name: setting.meaning.replace("%", "%%") for setting in TABLE}

OVERVIEW = f"""\
Backstory {__version__}: one memory for every AI coding assistant, on this machine.

Usage: backstory COMMAND [--json] [--SETTING VALUE ...]

{{commands}}

`backstory demo` shows an example, and `backstory install` adds Backstory to your assistants.
`backstory COMMAND --help` describes a command. Without a command, and if its input is not a
terminal, `backstory` starts the MCP server."""


def run(words: Sequence[str], flags: Mapping[str, str]) -> int:
    if words[:1] == ["help"] and len(words) > 1:
        words = [*words[1:2], "--help"]
    if not words or words[0] in ("-h", "--help", "help"):
        console.write(OVERVIEW.format(commands=_overview()))
        return 0
    if words[0] in ("-V", "--version"):
        console.write(f"backstory {__version__}")
        return 0
    name, *rest = words
    name = ALIASES.get(name, name)
    if name not in COMMANDS:
        kind = "flag" if name.startswith("-") else "command"
        raise InvalidInput(
            f"There is no {kind} {name!r}.",
            hint=_nearest(name, [*COMMANDS, *setting_flags(), "--version"])
            or "`backstory --help` lists the commands.",
        )
    parser = parser_of(name)
    if name == "serve":
        parser.read(rest)
        return serve(flags, Heard())
    # a setting's flag was taken before the command was known; where both have it, the command gets it too
    for spelled, setting in setting_flags().items():
        if setting in flags and spelled in parser:
            rest += [spelled, flags[setting]]
    options = parser.read(rest)
    settings = read_settings(flags)
    if name not in BEGINNING and "home" in flags and not settings.home.is_dir():
        raise InvalidInput(
            f"There is no directory {settings.home}.", hint="Check --home; nothing was written.", field="home"
        )
    report: Report = _module(name).run(options, settings)
    clear_progress()
    _show(report, as_json=options.json)
    return report.exit_code


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        console.write_json(report.body)
    elif isinstance(report.text, str) or not sys.stdout.isatty():
        console.write(plain(report.text))
        for hint in hints(report.text):
            console.notify(hint)
    else:
        terminal = importlib.import_module(".terminal", __package__)
        terminal.show(report.text)


def _overview() -> str:
    grouped = {name for names in GROUPS.values() for name in names}
    others = tuple(name for name in COMMANDS if name not in grouped)
    widest = max(map(len, COMMANDS))
    return "\n\n".join(
        f"{title}:\n{table([(f'{name:<{widest}}', COMMANDS[name]) for name in names], indent='  ')}"
        for title, names in {**GROUPS, MAINTENANCE: others}.items()
    )


def parser_of(name: str) -> _Parser:
    """The parser of a command's arguments, which also writes its help."""
    parser = _Parser(
        prog=f"backstory {name}",
        description=COMMANDS[name],
        epilog=_epilog(name),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    if name == "serve":
        for setting in SERVING:  # parsed earlier; declared here for `--help`
            parser.add_argument(flag(setting), metavar="VALUE", help=MEANINGS[setting])
        return parser
    if add_arguments := getattr(_module(name), "add_arguments", None):
        add_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser


def _module(name: str) -> ModuleType:
    return importlib.import_module(f".{name}_" if iskeyword(name) else f".{name}", __package__)


def _epilog(name: str) -> str:
    lines = [f"  {line}\n      {meaning}" for line, meaning in EXAMPLES.get(name, ())]
    closing = "Every setting can be given as a flag too, such as --home; `backstory settings` lists them."
    return "\n".join(["examples:", *lines, "", EXIT_STATUS, "", closing]).replace("%", "%%")


class _Parser(argparse.ArgumentParser):
    """A parser that raises our own errors, with suggestions for misspelled flags."""

    def read(self, words: Sequence[str]) -> argparse.Namespace:
        parse = self.parse_known_args if "--" in words else self.parse_known_intermixed_args
        options, unknown = parse(words)  # words and flags in any order
        for word in unknown:
            if word.startswith("-"):
                name = word.partition("=")[0]
                known = [*self._option_string_actions, *setting_flags()]
                hint = _nearest(name, known) or f"`{self.prog} --help` lists its flags."
                raise InvalidInput(f"{self.prog} has no flag {name}.", hint=hint)
        if unknown:
            raise InvalidInput(f"{self.prog} does not take {unknown[0]!r}.", hint=self._more)
        return options

    def __contains__(self, flag: str) -> bool:
        return flag in self._option_string_actions

    @property
    def _more(self) -> str:
        return f"`{self.prog} --help` describes it."

    def _check_value(self, action: argparse.Action, value: object) -> None:
        if action.choices is not None and value not in action.choices:
            *others, last = map(str, action.choices)
            raise argparse.ArgumentError(action, f"must be {', '.join(others)} or {last}, not {value!r}")

    def error(self, message: str) -> NoReturn:
        """argparse's own sentences, worded as ours are."""
        if missing := re.fullmatch(r"the following arguments are required: (.+)", message):
            message = f"{self.prog} needs {missing[1].replace(', ', ' and ')}"
        elif wrong := re.fullmatch(r"argument ([^:]+(?:\[:[^ ]+)?): (.+)", message, re.DOTALL):
            message = f"{wrong[1]} {wrong[2].replace('expected one argument', 'needs a value')}"
        raise InvalidInput(f"{message}.", hint=self._more)


NEAR_ENOUGH = 0.75
"""Minimum difflib ratio for a suggestion: below it another flag only shares a word, as --audit-days does with --days."""


def _nearest(word: str, known: Iterable[str]) -> str:
    # never suggest `--yes`: a typo must not lead to a confirmation
    near = difflib.get_close_matches(
        word, [name for name in known if name != "--yes"], n=1, cutoff=NEAR_ENOUGH
    )
    return f"Did you mean {near[0]}?" if near else ""
