"""`backstory edit ID`: correct a memory, in an editor or with --text. Its former text goes to its history."""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from ..app import editor_command, open_core
from ..domain.errors import InvalidInput, NotAllowed, Unavailable
from ..domain.records import Memory
from ..domain.shared_notes import source_of
from ..settings import Settings
from .list import memory_body
from .report import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("id", metavar="ID", help="id of a memory, or the beginning of one")
    parser.add_argument("--text", metavar="TEXT", help="new text; `-` reads it from standard input")


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        memory = core.browsing.memory(options.id)
        if source := source_of(memory):
            raise NotAllowed(f"{memory.id} is the team's: edit {source.path} in the repository.")
        text = _text(options.text, memory)
        if text == memory.text:
            return Report(memory_body(memory) | {"changed": False}, "Nothing was changed.")
        memory = core.memories.revise(memory.id, text)
    return Report(
        memory_body(memory) | {"changed": True},
        f"Changed {memory.id}; `backstory show {memory.id}` shows the earlier text.",
    )


def _text(argument: str | None, memory: Memory) -> str:
    if argument == "-":
        return sys.stdin.read().strip()
    if argument is not None:
        return argument.strip()
    if not sys.stdin.isatty():
        raise InvalidInput(
            "An editor needs a terminal; nothing was changed.",
            hint="Give the new text with --text, or --text=-.",
        )
    return _edited(memory.text)


def _edited(text: str) -> str:
    with TemporaryDirectory(prefix="backstory-edit-") as folder:
        file = Path(folder, "memory.md")
        file.write_text(text, "utf-8")
        command = [*editor_command(), str(file)]
        try:
            status = subprocess.call(command)
        except OSError as error:
            raise Unavailable(
                f"The editor {command[0]!r} could not be started: {error.strerror}.",
                hint="Set EDITOR, or give the new text with --text.",
            ) from error
        if status:
            raise Unavailable(f"The editor ended with {status}; nothing was changed.")
        return file.read_text("utf-8").strip()
