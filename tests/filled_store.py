"""A store that has rows in every table that a copy takes along."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from backstory.core import Core
from backstory.domain.exports import StoredExport
from backstory.domain.filters import Filter, Page
from backstory.domain.handoffs import SessionHandoff
from backstory.domain.origins import MemoryFileState, MemoryOrigin
from backstory.domain.records import CachedAnswer, Injection, Trace
from backstory.domain.runs import CommandRun, MessageRun, RunLine, RunOutcome
from backstory.domain.sources import ImportedRecord, SourceState
from backstory.domain.statements import MessageSaying, Saying, Speaker, StatementKind
from backstory.domain.team import (
    AuditRecord,
    Connection,
    Contribution,
    ContributionState,
    Delivery,
    SpaceCopy,
    SpaceMember,
    StoredKeySet,
    TenantSettings,
    Token,
    WebSession,
)
from backstory.domain.tool_results import StoredCall, StoredResult, TextRange
from backstory.domain.usage import ModelCall
from backstory.store import Store
from backstory.surfaces import all_tools, load_surfaces

from .conftest import caller_of
from .doubles import DAWN, make_conversation, make_messages
from .example_calls import DOOMED, Known, chunked_answer, example_calls

TOOLS = all_tools(load_surfaces())


def fill(core: Core, directory: Path) -> None:
    """Every tool's example, and what no tool of a local server writes."""
    core.caller.directory = str(directory)
    call = caller_of(core)
    session = call("context_save", key=DOOMED, value="Not for long.")["sessionId"]
    call("context_save", key="packed", value="A NUL \0, a \ufdd0 and an owl 🦉.", metadata={"a": 1})
    call("context_save", key="packed", value="Another value.", private=True)
    call("context_compress", olderThan="2999-01-01")
    one, two = (core.through("projectmemory").memories.save(text).id for text in ("One.", "Two."))
    known = Known(one, two, session, str(directory), chunked_answer(call))
    core.caller.session = None
    for tool, arguments in example_calls(known):
        assert not TOOLS[tool].call(core, arguments).is_error, tool
    call("context_save", key="again", value="First.")
    call("context_save", key="again", value="Second.")
    call("context_integrate_tool", toolName="ci", eventType="failed", data={"why": "Owls."}, important=True)
    fill_store(core.engine.store)
    memory = core.engine.store.memories.find(Filter(), Page(limit=1))[0]
    imported = ImportedRecord(memory.id, "mem0", "/history.db", "history/8", "part", "digest of one", DAWN)
    core.engine.store.imports.put([imported])
    assert core.engine.backlog is not None
    core.engine.backlog.drain()
    core.engine.backlog.close()  # the background may be about to put the same vectors once more
    core.engine.store.vectors.open_space("a model that embeds nothing")


def fill_store(store: Store) -> None:
    said = make_messages("talk", "Fix login.", "Done.")
    done = make_messages("talk", "", "", "", "src/login.ts")[-1]._replace(role="tool")
    store.conversations.add(
        make_conversation("talk"),
        [*said, done],
        [Trace(done.id, "read", "src/login.ts"), Trace(done.id, "command", "make")],
        [MessageSaying(done.id, Saying(StatementKind.COMMIT, "[main 0a1b2c3] Log in", Speaker.LOG))],
        [
            StoredCall(
                done.id, "call", "Read", TextRange(0, 12), result=StoredResult("a NUL \0", 7, False, False)
            )
        ],
        [MessageRun(done.id, CommandRun(1, ("make",), RunOutcome.FAILED, 2, (RunLine("error: 7", -5, 0),)))],
    )
    store.usage.put("talk", "claude-code", [ModelCall("call", "a model", None, 1, cost_usd=0.1)], {})
    store.sayings.dismiss("0a1b2c3d4e5f6071", DAWN)
    store.witnesses.change("talk", [(done.id, 7)], [])
    store.conversations.add(make_conversation("gone"), make_messages("gone", "Secret."), [])
    store.sync.forget(["gone"], DAWN)
    for old in ("old", "brought back"):
        store.conversations.add(make_conversation(old), make_messages(old, "Long ago."), [])
        store.archive.put_conversation(old)
    store.archive.restore_conversations(["brought back"])
    store.archive.exempt(["brought back"], DAWN)
    store.sync.put(SourceState("/talks.jsonl", "claude-code", 10, 7, state={"a": 1}, read_at=DAWN))
    store.origins.put_file(MemoryFileState("/h/MEMORY.md", "codex-memory", "/h", "/w", 3, 4))
    store.origins.put([MemoryOrigin("/h/MEMORY.md", "anchor", "codex-memory", "m", "/w", "digest")])
    store.imports.put([ImportedRecord("m", "mem0", "/history.db", "history/7", "part", "digest", DAWN)])
    store.handoffs.put(SessionHandoff("codex:new", "old", DAWN, ("/h/new.jsonl",)))
    store.injections.put(Injection("talk", DAWN, "/p", "Fix login."))
    store.answers.put(CachedAnswer("key", "chunks", "", {"a": [1]}, DAWN + timedelta(hours=1)), DAWN)
    store.exports.put(StoredExport("talk.md", "Said.", 5, ("talk",), DAWN))
    store.team.put_key_set(StoredKeySet("https://id.example/keys", "{}", DAWN))
    store.team.put_member(SpaceMember("ops", "alice", "maintainer", DAWN))
    store.team.put_settings(TenantSettings("team-ops", True, 100.0, 30.0))
    store.contributions.put(Contribution("m", "alice", "Alice", ContributionState.PROPOSED, DAWN))
    store.outgoing.add(Delivery("k", "m", "", DAWN))
    store.space_copies.put([SpaceCopy("m", "ops", "1", "Alice")])
    store.team.put_connection(Connection("c", "owner", "p", "d", None, "info", DAWN))
    store.team.add_web_session(WebSession("h", "w", "ann", "Ann", "read", ("ops",), (), DAWN, DAWN))
    store.team.add_token(Token("t", "hash", "alice", "read", ("ops",), DAWN))
    store.team.audit([AuditRecord("1", DAWN, "alice", "t", "user-alice", "save_context", "completed")])
