"""`backstory export ID`: write a conversation to a file, as HTML to share, Markdown, JSON or plain text."""

from __future__ import annotations

import argparse
from contextlib import closing, suppress
from pathlib import Path

from ..app import open_core
from ..core import Core
from ..core.browsing.export import file_stem
from ..domain.errors import InvalidInput, Unavailable
from ..domain.records import Conversation
from ..settings import Settings
from ..web.pages.sharing import html_to_share
from .report import Report, legible
from .resume import add_conversation, latest_conversation

FORMS = ("html", "md", "json", "txt")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_conversation(parser)
    parser.add_argument(
        "--as",
        dest="form",
        choices=FORMS,
        help="html: one file to share, without secrets, home directories and user names (default: the end of FILE, or html)",
    )
    parser.add_argument(
        "--output",
        metavar="FILE",
        help="where to write it; `-` prints it (default: a new file in this directory)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    form = options.form or _form_of(options.output)
    with closing(open_core(settings)) as core:
        conversation = latest_conversation(core, options.id)
        text = _text(core, conversation, form)
    body = {"id": conversation.id, "form": form}
    if options.output == "-":
        return Report(body | {"text": text}, legible(text).rstrip("\n"))
    file = Path(options.output) if options.output else Path(f"{file_stem(conversation)}.{form}")
    write_new(file, text)
    return Report(body | {"file": str(file.absolute())}, f"Wrote {file}.")


def _form_of(output: str | None) -> str:
    suffix = Path(output or "").suffix.lstrip(".").lower()
    return suffix if suffix in FORMS else "html"


def _text(core: Core, conversation: Conversation, form: str) -> str:
    if form == "html":
        return html_to_share(core, core.export.transcript(conversation))
    return core.export.text(conversation, form)


def write_new(file: Path, text: str) -> None:
    """All of it or nothing, and never over a file that is there."""
    try:
        with file.open("x", encoding="utf-8", errors="replace") as output:
            output.write(text)
    except FileExistsError:
        raise InvalidInput(
            f"{file} exists; nothing was written.", hint="Name another file with --output.", field="output"
        ) from None
    except OSError as error:
        with suppress(OSError):
            file.unlink()
        raise Unavailable(
            f"{file} cannot be written: {error.strerror}.", hint="Name another file with --output."
        ) from error
