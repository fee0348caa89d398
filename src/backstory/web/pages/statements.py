"""The statements in force in a project, by kind; each can be dismissed or saved as a memory."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote

from ...core import Core
from ...core.browsing import HEADS
from ...core.state import ProjectState
from ...core.uncommitted import uncommitted
from ...domain.errors import NotFound
from ...domain.filters import ConversationFilter
from ...domain.kinds import MemoryKind
from ...domain.statements import Statement, StatementKind
from ...domain.when import iso
from ..figures import figure
from ..page_query import PageQuery
from ..view import Json, Redirect, View

_SAVED_AS = {
    StatementKind.DECISION: MemoryKind.DECISION,
    StatementKind.PREFERENCE: MemoryKind.PREFERENCE,
    StatementKind.QUESTION: MemoryKind.TASK,
    StatementKind.NEXT_STEP: MemoryKind.TASK,
    StatementKind.TODO: MemoryKind.TASK,
}
"""Any other kind is saved as a fact."""
MAX_PROJECTS_TRIED = 12
_COMPUTED = (StatementKind.UNCOMMITTED,)
"""Kinds that no message states: they end by themselves."""


def page(core: Core, asked: PageQuery) -> View:
    tallies = core.replay.tally(ConversationFilter(kinds=HEADS))
    known_projects = list(dict.fromkeys(each.project for each in tallies if each.project))
    project = asked.text("project") or _default_project(core, known_projects)
    is_every = bool(asked.text("all"))
    state = _state(core, project)
    left = uncommitted(core, project, state)
    statements = [*([left[0]] if left else []), *reversed(state.statements)]
    body = {
        "project": project,
        "is_every": is_every,
        "kinds": [
            {"kind": kind.value, "statements": of_kind}
            for kind in StatementKind
            if (
                of_kind := [
                    _card(each) for each in statements if each.kind is kind and (is_every or each.holds)
                ]
            )
        ],
        "known_projects": sorted(known_projects),
    }
    return View("statements.html", body, "Statements")


def _default_project(core: Core, projects: Sequence[str]) -> str:
    """The project that the page was started in, or where nothing is known of it, the latest one with statements."""
    if core.caller.project in projects:
        return core.caller.project
    stating = (each for each in projects[:MAX_PROJECTS_TRIED] if _state(core, each).statements)
    return next(stating, core.caller.project)


def _state(core: Core, project: str) -> ProjectState:
    state: ProjectState = figure(core, ("state", project), lambda: core.state.of(project))
    return state


def _card(each: Statement) -> Json:
    return {
        "id": each.id,
        "kind": each.kind.value,
        "text": each.text,
        "state": each.state.value,
        "holds": each.holds,
        "at": iso(each.at),
        "conversation": each.conversation,
        "number": each.place + 1,
        "times": each.confirmations + 1,
        "trust": each.trust.value,
        "can_change": each.holds and each.kind not in _COMPUTED,
    }


def dismiss(core: Core, asked: PageQuery) -> Redirect:
    """A person says that it is no statement; reading its conversation again does not bring it back."""
    statement = _statement(core, asked)
    core.state.dismiss(statement.id)
    return Redirect(f"/statements?project={quote(statement.project)}", {"dismissed": statement.id})


def save(core: Core, asked: PageQuery) -> Redirect:
    statement = _statement(core, asked)
    kind = _SAVED_AS.get(statement.kind, MemoryKind.FACT)
    memory = core.remembering.remember(statement.text, kind, project=statement.project).memory
    return Redirect(f"/memory/{quote(memory.id, safe='')}", {"id": memory.id})


def _statement(core: Core, asked: PageQuery) -> Statement:
    id = asked.text("id")
    every = core.state.of(asked.text("project") or core.caller.project).statements
    statement = next((each for each in every if each.id == id), None)
    if statement is None:
        raise NotFound("statement", id)
    return statement
