"""A call of every tool that succeeds, in an order in which all of them do, by one connection or by one each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

Json = dict[str, Any]


DOOMED = "doomed"


class Known(NamedTuple):
    """What must be there before: two texts of `save_context`, a session, not the caller's, with an item DOOMED,
    a directory to write to, and the key of an answer in chunks."""

    replaced: str
    deleted: str
    session: str
    directory: str
    chunked: str


def chunked_answer(call: Callable[..., Json]) -> str:
    """Ask something whose answer comes in chunks; the key to them."""
    call("save_context", context_text="albatross " * 3_000)
    key: str = call("reflect_on_past", query="albatross", min_score=0.1)["cache_key"]
    return key


def example_calls(known: Known) -> list[tuple[str, Json]]:
    return [
        *_codearchitect(known),
        *_gandalf(),
        *_session_mgmt(known),  # before something is deleted, and all cached answers with it
        *_projectmemory(known),
        *_memory_keeper(known),
    ]


def _codearchitect(known: Known) -> list[tuple[str, Json]]:
    said = [{"role": "user", "content": "Log in"}, {"role": "assistant", "content": {"code": "```\n---"}}]
    return [
        ("codearchitect_help", {"feature": "store_session"}),
        ("store_session", {"conversation": said, "format": "messages", "sessionsDir": known.directory}),
        ("get_session", {"filename": "log-in", "sessionsDir": known.directory}),
    ]


def _projectmemory(known: Known) -> list[tuple[str, Json]]:
    return [
        ("save_context", {"context_text": "Größe matters: 日本語 🦉"}),
        ("retrieve_context", {"query": "staging", "limit": 3}),
        ("replace_context", {"id": known.replaced, "context_text": "It is called egret."}),
        ("delete_context", {"id": known.deleted}),
        ("clear_all_context", {"confirmation": "confirm"}),
    ]


def _session_mgmt(known: Known) -> list[tuple[str, Json]]:
    return [
        ("init", {"working_directory": known.directory}),
        ("checkpoint", {}),
        ("status", {"working_directory": known.directory}),
        ("end", {}),
        ("store_reflection", {"content": "Renew the token on every request.", "tags": ["auth"]}),
        ("reflect_on_past", {"query": "renew the token", "limit": 3, "min_score": 0.5}),
        ("quick_search", {"query": "token"}),
        ("get_more_results", {"query": "token", "offset": 0, "limit": 2}),
        ("search_by_file", {"file_path": "src/auth.ts"}),
        ("search_by_concept", {"concept": "renewing tokens", "include_files": True}),
        ("reflection_stats", {}),
        ("get_cached_chunk", {"cache_key": known.chunked, "chunk_index": 1}),
    ]


def _gandalf() -> list[tuple[str, Json]]:
    return [
        ("recall_conversations", {"search_query": "staging server", "tools": ["cursor"], "min_score": 0.5}),
        ("get_project_info", {}),
        ("list_project_files", {"file_types": [".py"], "max_files": 5}),
        # a title that no conversation has: an example must not write into anybody's home
        ("export_individual_conversations", {"format": "md", "conversation_filter": "heron & egret"}),
        ("get_server_version", {}),
    ]


def _memory_keeper(known: Known) -> list[tuple[str, Json]]:
    item = {"key": "auth", "value": "AuthService calls TokenRepository in src/auth.ts; fixes AUTH-12."}
    return [
        ("context_session_start", {"name": "Login", "defaultChannel": "login"}),
        ("context_session_list", {"limit": 5}),
        ("context_save", {**item, "category": "decision", "priority": "high", "metadata": {"by": "team"}}),
        ("context_get", {"category": "decision", "includeMetadata": True}),
        ("context_search", {"query": "token", "includeMetadata": True}),
        ("context_semantic_search", {"query": "who looks up credentials?", "sessionId": "all"}),
        ("context_cache_file", {"filePath": "src/auth.ts", "content": "export {}"}),
        ("context_file_changed", {"filePath": "src/auth.ts", "currentContent": "export { login }"}),
        ("context_checkpoint", {"name": "before", "includeFiles": True}),
        ("context_restore_checkpoint", {"name": "before"}),
        ("context_branch_session", {"branchName": "experiment", "copyDepth": "deep"}),
        ("context_merge_sessions", {"sourceSessionId": known.session, "conflictResolution": "keep_newest"}),
        ("context_journal_entry", {"entry": "It works at last.", "tags": ["auth"], "mood": "happy"}),
        ("context_integrate_tool", {"toolName": "ci", "eventType": "failed", "data": {"job": 7}}),
        ("context_summarize", {"format": "markdown"}),
        ("context_analyze", {"maxDepth": 2}),
        ("context_find_related", {"key": "auth"}),
        ("context_visualize", {"type": "graph"}),
        ("context_timeline", {"groupBy": "day", "includeItems": True}),
        ("context_delegate", {"taskType": "analyze", "input": {"analysisType": "patterns"}}),
        ("context_export", {"sessionId": known.session, "outputPath": "example.json"}),
        ("context_import", {"filePath": "example.json"}),
        ("context_compress", {"olderThan": "30 days ago"}),
        ("context_delete", {"key": DOOMED, "sessionId": known.session}),
    ]
