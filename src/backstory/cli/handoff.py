"""`backstory handoff`: print a conversation for any other tool to go on with."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.handoff import document
from ..settings import Settings
from .report import Report, legible
from .resume import add_conversation, add_tokens, latest_conversation


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_conversation(parser)
    add_tokens(parser)


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        takeover = core.handoff.takeover(latest_conversation(core, options.id), options.tokens)
    text = document(takeover)
    body = {
        "id": takeover.state.conversation.id,
        "text": text,
        "messages": takeover.messages,
        "left_out": takeover.left_out,
        "tokens": takeover.tokens,
    }
    return Report(body, legible(text).rstrip("\n"))
