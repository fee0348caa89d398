"""Inbox: rules that the user repeated, proposed with the messages they come from; in a shared space, proposals of its members."""

from __future__ import annotations

from ...core import Core
from ...core.inbox import Proposal
from ...core.proposals import SpaceProposal
from ...domain.kinds import kind_of
from ...domain.when import iso
from ...tools.origin import safe_excerpt, safe_text
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, Redirect, View

MAX_EVIDENCE = 3
"""Messages that are shown below a rule; the earlier ones are folded."""


def page(core: Core, asked: PageQuery) -> View:
    """The proposals of one project, or of all."""
    wanted = asked.text("project")
    proposals = figure(
        core, ("inbox", wanted), lambda: core.inbox.of(wanted) if wanted else core.inbox.everywhere()
    )
    waiting = [each for each in core.proposals.pending() if wanted in ("", each.memory.project)]
    body = {
        "proposals": [_card(each) for each in proposals],
        "memory_proposals": [_memory_card(each) for each in waiting],
        "shown_evidence": MAX_EVIDENCE,
        "may_review": core.proposals.may_review,
    }
    return View("inbox.html", body, "Inbox")


def accept(core: Core, asked: PageQuery) -> Redirect:
    proposal = core.inbox.get(asked.text("project"), asked.text("id"))
    memory = core.inbox.accept(proposal, asked.whole_text("text").strip())
    return Redirect(f"/memory/{memory.id}", {"memory": memory.id})


def dismiss(core: Core, asked: PageQuery) -> Redirect:
    proposal = core.inbox.get(asked.text("project"), asked.text("id"))
    core.inbox.dismiss(proposal)
    return Redirect("/inbox", {"dismissed": proposal.id})


def accept_memory(core: Core, asked: PageQuery) -> Redirect:
    memory = core.proposals.accept(asked.text("id"))
    return Redirect(f"/memory/{memory.id}", {"memory": memory.id})


def dismiss_memory(core: Core, asked: PageQuery) -> Redirect:
    memory = core.proposals.dismiss(asked.text("id"))
    return Redirect("/inbox", {"dismissed": memory.id})


def _memory_card(proposal: SpaceProposal) -> Json:
    memory, contribution, former = proposal
    return {
        "id": memory.id,
        "project": memory.project,
        "kind": str(kind_of(memory)),
        "text": safe_text(memory.text, memory.trust),
        "author": safe_excerpt(contribution.author_name),
        "at": iso(contribution.made_at),
        "replaces": None
        if former is None
        else {"id": former.id, "text": safe_text(former.text, former.trust)},
    }


def _card(proposal: Proposal) -> Json:
    return {
        "id": proposal.id,
        "project": proposal.project,
        "text": safe_excerpt(proposal.text),
        "evidence": [
            {
                "conversation": each.conversation,
                "place": each.place,
                "at": iso(each.at),
                "text": safe_excerpt(each.text),
            }
            for each in proposal.evidence
        ],
    }
