"""The seven tools, and the one that only hooks call."""

from __future__ import annotations

from typing import Annotated

from ...core import Core
from ...core.ask import Inquiry
from ...core.proposals import listed
from ...domain.kinds import MemoryKind
from ...domain.when import parse_bounds
from ...tools import READS, Effect, dump
from ...tools.params import Range
from .texts import forgotten, list_text, open_text, proposals_text, question, recall_text, remember_text
from .vocabulary import KindName, RecallKind, surface

SAVES = Effect(idempotent=True)
PROPOSES = Effect(idempotent=True, proposes=True)
WITHDRAWS = Effect(destructive=True, idempotent=True, proposes=True)


@surface.tool("Recall", READS, always_loaded=True)
def recall(
    core: Core,
    query: Annotated[str, "What to find, in any words, or an error as printed"],
    project: Annotated[str | None, 'Name or path; "*" = all alike. Default: all, this one first'] = None,
    kind: Annotated[RecallKind | None, "Only this kind"] = None,
    file: Annotated[str | None, "Only what touched or names this file"] = None,
    since: Annotated[str | None, "2026-11-01, 7d, 3mo, last tuesday"] = None,
    until: Annotated[str | None, "As since"] = None,
    assistant: Annotated[str | None, "Such as claude-code, codex"] = None,
    limit: Annotated[int, "Most hits", Range(1, 20)] = 5,
) -> str:
    """Search memory: what was decided, learned, tried or said before, in earlier sessions with any assistant. Use it before
    asking the user again, and before changing what you did not write."""
    if kind == "proposal":
        return proposals_text(listed(core.proposals.pending(), query.split()), limit)
    start, end = parse_bounds(since, until, core.engine.now())
    inquiry = Inquiry(query, project, kind=kind, file=file, since=start, until=end, assistant=assistant)
    fixes = core.failures.fixes_for_query(query, core.ask.projects(project))
    return recall_text(core.lookup.find(inquiry, limit), limit, fixes)


@surface.tool("Remember", PROPOSES, always_loaded=True)
def remember(
    core: Core,
    text: Annotated[str, "Makes sense on its own, with the reason"],
    kind: Annotated[KindName | None, "Default fact"] = None,
    replaces: Annotated[str | None, "Id of the memory that this corrects"] = None,
    files: Annotated[list[str] | None, "Files it is about; later answers say if they changed"] = None,
    project: Annotated[str | None, "Name or path. Default: this one"] = None,
    space: Annotated[str | None, "Team space to share it in, if the user asks. Default: private"] = None,
) -> str:
    """Save one lasting thing for later sessions: a decision with its reason, a preference, a dead end or error, an
    open task. Not what the code or git already says; never secrets."""
    chosen = None if kind is None else MemoryKind(kind)
    result = core.remembering.remember(
        text, chosen, replaces=replaces, files=files or (), project=project, space=space
    )
    return remember_text(result, is_replacement=replaces is not None)


@surface.tool("Open", READS)
def open(
    core: Core,
    id: Annotated[str, "As shown by recall, sessions or brief"],
    at: Annotated[int | None, "First message or piece to show; -1 = the end"] = None,
    limit: Annotated[int, "Most messages", Range(1, 50)] = 10,
) -> str:
    """Show a memory with its history, or a page of a past conversation, by id."""
    page = core.pages.open(id, at, limit)
    core.pages.mark_opened(id)
    return open_text(page)


@surface.tool("Brief", READS, always_loaded=True)
def brief(
    core: Core,
    project: Annotated[str | None, "Name or path. Default: this one"] = None,
    max_tokens: Annotated[int, "Size", Range(100, 600)] = 400,
) -> str:
    """Where work on this project stands: last sessions, open tasks, next step, decisions in force. Call once at the start if
    you were not given it."""
    return core.briefing.brief_for_session(project, max_tokens).text


@surface.tool("Sessions", READS)
def sessions(
    core: Core,
    project: Annotated[str | None, 'Name or path; "*" = all. Default: this one'] = None,
    assistant: Annotated[str | None, "Such as claude-code, codex"] = None,
    since: Annotated[str | None, "2026-11-01, 7d, last week"] = None,
    until: Annotated[str | None, "As since"] = None,
    limit: Annotated[int, "Most sessions", Range(1, 50)] = 10,
) -> str:
    """List past conversations with any assistant, newest first."""
    listing = core.browsing.recent(project, assistant, *parse_bounds(since, until, core.engine.now()), limit)
    return list_text(listing, core.caller.project if project is None else project)


@surface.tool("Done", SAVES)
def done(
    core: Core,
    id: Annotated[str, "Id of the task"],
    note: Annotated[str, "How, or with what result"] = "",
) -> str:
    """Mark a remembered task as done, or accept a proposal."""
    if core.proposals.find(id) is not None:
        return f"Accepted {core.proposals.accept(id).id}."
    task = core.remembering.done(id, note)
    return f"{task.id} is done."


@surface.tool("Forget", WITHDRAWS)
def forget(
    core: Core,
    id: Annotated[str, "Id of the memory"],
    for_good: Annotated[bool, "Erase now; cannot be undone"] = False,
) -> str:
    """Delete one memory, only when the user asks; to correct one, use remember with replaces. It can be
    restored for 30 days."""
    if core.proposals.find(id) is not None:
        return f"Dismissed {core.proposals.dismiss(id).id}."
    core.caller.check_review()
    memory = core.forgetting.memory(id)
    if core.call.confirm(question(memory, for_good)) is False:
        return "The user said no; nothing was forgotten."
    return forgotten(core.forgetting.forget(memory.id, for_good=for_good))


@surface.tool("Hook", Effect(), is_listed=False)
def hook(
    core: Core,
    event: Annotated[str, "The event's name: SessionStart, PreCompact, Stop"],
    session_id: Annotated[str, "What the assistant calls the conversation"] = "",
    source: Annotated[str, "How the session began: startup, clear, compact, resume"] = "startup",
    transcript: Annotated[str, "Where the assistant keeps its log of the session"] = "",
) -> str:
    """For hooks that call this tool, as earlier versions installed them.

    SessionStart returns the brief, if there is news for this session; before a compaction a checkpoint is taken;
    after every event the histories are read."""
    if session_id:
        core.caller.conversation = session_id
    if event == "PreCompact":
        core.checkpoints.before_compaction()
    text = core.briefing.opening(session_id, source, transcript) if event == "SessionStart" else ""
    if not text:
        return ""  # after PreCompact, Claude Code passes any output on to the summarizing model
    return dump({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}})
