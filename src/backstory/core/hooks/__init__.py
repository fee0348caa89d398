"""The server's side of hooks, which call it over a local socket or through the hidden tool `hook`.

`clients/hook.py` has already decided whether the session gets an answer at all.
"""

from __future__ import annotations

from typing import NamedTuple

from ...clients.hook import COMPACT, FAILURE, PROMPT, START, STOP
from .. import Caller, Core
from .failures import fix_for_failure
from .prompts import answer_for_prompt
from .receipts import HookAnswer


class HookRequest(NamedTuple):
    """The data that a client passes to its hooks, in a common form."""

    event: str
    """One of the occasions of `clients/hook.py`."""
    client: str = ""
    session: str = ""
    project: str = ""
    directory: str = ""
    text: str = ""
    """The prompt of the user, the output of a command that may have failed, or, as a session starts, the names of the
    readers that have something to read."""
    transcript: str = ""
    wait_s: str = ""
    """Seconds that a starting session waits."""


def answer(core: Core, request: HookRequest) -> HookAnswer | None:
    """The text for a session, or None for silence. `core` is that of the server's own client."""
    if core.engine.settings.brief == "off":
        return None
    if request.event == COMPACT:
        if request.project == core.caller.project:
            core.checkpoints.before_compaction()
        return None
    if request.event == START:  # the hook prints the brief itself, once this is done
        core.engine.read_recent(request.text.split(), request.project, float(request.wait_s))
        return HookAnswer("", "", None)
    if request.event == STOP:
        core.engine.read_turn(request.transcript)
        core.engine.sync_soon()
        return None
    caller = Caller(
        project=request.project,
        directory=request.directory,
        assistant=request.client,
        conversation=request.session,
    )
    session = core._replace(caller=caller)
    if request.event == PROMPT:
        return answer_for_prompt(session, request.text)
    if request.event == FAILURE:
        return fix_for_failure(session, request.text)
    return None
