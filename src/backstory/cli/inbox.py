"""`backstory inbox`: rules that you repeated, proposed with their evidence; accept, edit or dismiss them."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core import Core
from ..core.inbox import MAX_RULE_CHARS, RULE_FILES, Proposal
from ..core.names import ConversationNames
from ..domain.errors import InvalidInput
from ..domain.when import iso
from ..settings import Settings
from ..tools.origin import safe_excerpt
from .report import Block, Hint, Json, Paragraph, Report, Span, Style, terminal_line
from .statements import project_of

ACTIONS = ("list", "accept", "edit", "dismiss")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action", nargs="?", choices=ACTIONS, default="list", metavar="ACTION", help=f"{', '.join(ACTIONS)}"
    )
    parser.add_argument("id", nargs="?", metavar="ID", help="id of a proposal, or the beginning of one")
    parser.add_argument("--project", metavar="NAME|DIR", help="project (default: the current one)")
    parser.add_argument("--text", metavar="TEXT", help="edit: accept the proposal with this text")
    parser.add_argument(
        "--file",
        choices=RULE_FILES,
        help="accept, edit: append the rule to this file of the project instead of saving a memory",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        project = project_of(core, options.project)
        if options.action == "list":
            return _listing(core, project)
        if not options.id:
            raise InvalidInput(
                f"Say which proposal to {options.action}.", hint="`backstory inbox` lists them."
            )
        if (options.action == "edit") != bool(options.text):
            raise InvalidInput(
                "--text requires the action `edit`, and `edit` requires --text.",
                hint='Such as: inbox edit ID --text "…"',
            )
        proposal = core.inbox.get(project, options.id)
        return _answer(core, proposal, options)


def _answer(core: Core, proposal: Proposal, options: argparse.Namespace) -> Report:
    body: Json = {"action": options.action, "proposal": _body(proposal)}
    if options.action == "dismiss":
        core.inbox.dismiss(proposal)
        return Report(body, "Dismissed; it is not proposed again.")
    text = options.text or ""
    if options.file:
        path = core.inbox.accept_into(proposal, options.file, text)
        return Report(body | {"file": str(path)}, f"Added to {path}.")
    memory = core.inbox.accept(proposal, text)
    return Report(body | {"memory": memory.id}, f"Saved as {memory.id}.")


def _listing(core: Core, project: str) -> Report:
    proposals = core.inbox.of(project)
    body = {"project": project, "proposals": [_body(each) for each in proposals]}
    if not proposals:
        return Report(body, "No proposals. A rule is proposed once you have given it in two sessions.")
    names = core.browsing.names()
    blocks: list[Block] = []
    for each in proposals:
        blocks += [*_blocks(each, names), ""]
    hint = "`backstory inbox accept ID` saves one, `edit ID --text …` in other words, `dismiss ID` does not propose it again."
    return Report(body, [*blocks, Hint(hint)])


def _blocks(proposal: Proposal, names: ConversationNames) -> list[Block]:
    def line(text: str) -> str:
        return terminal_line(safe_excerpt(text), MAX_RULE_CHARS)

    blocks: list[Block] = [Paragraph([Span(proposal.id[:8], Style.ID), " ", line(proposal.text)])]
    for each in proposal.evidence:
        about = Span(f"{each.at:%Y-%m-%d} {names.short(each.conversation)}#{each.place + 1}", Style.QUIET)
        blocks.append(Paragraph([about, " ", line(each.text)], indent=2))
    return blocks


def _body(proposal: Proposal) -> Json:
    evidence = [{**each._asdict(), "at": iso(each.at)} for each in proposal.evidence]
    return {**proposal._asdict(), "evidence": evidence}
