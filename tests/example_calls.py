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
        *_backstory(known),  # before its text is deleted: what is forgotten can be deleted still
        *_projectmemory(known),
        *_memory_keeper(known),
    ]


def _backstory(known: Known) -> list[tuple[str, Json]]:
    return [
        ("remember", {"text": "Rotate the signing key", "kind": "task"}),
        ("recall", {"query": "signing key", "kind": "task", "since": "7d", "until": "today", "limit": 3}),
        ("brief", {"max_tokens": 200}),
        ("sessions", {"project": "*", "since": "last week"}),
        ("open", {"id": known.replaced}),
        ("done", {"id": known.replaced, "note": "Rotated"}),
        ("forget", {"id": known.deleted}),
    ]


def extreme_calls(directory: str) -> list[tuple[str, Json]]:
    """Calls whose answers are as empty or as large as they get; none depends on what is in the store."""
    nothing, large = "qqzzxx", "walrus " * 20_000
    said = [{"role": "user", "content": large}, {"role": "assistant", "content": large}]
    return [
        ("retrieve_context", {"query": nothing}),
        ("reflect_on_past", {"query": nothing, "min_score": 1}),
        ("quick_search", {"query": nothing, "min_score": 1}),
        ("get_more_results", {"query": nothing, "offset": 1_000}),
        ("search_by_file", {"file_path": f"{nothing}.py"}),
        ("search_by_concept", {"concept": nothing}),
        ("recall_conversations", {"search_query": nothing}),
        ("list_project_files", {"file_types": [nothing]}),
        ("get_project_info", {"include_stats": False}),
        ("get_session", {"sessionsDir": directory, "date": "2001-01-01"}),
        ("context_get", {"category": nothing, "includeMetadata": True}),
        ("context_search", {"query": nothing, "includeMetadata": True}),
        ("context_semantic_search", {"query": nothing, "minSimilarity": 1}),
        ("context_session_start", {}),
        ("context_summarize", {}),
        ("context_analyze", {}),
        ("context_visualize", {"type": "heatmap"}),
        ("context_timeline", {"startDate": "2001-01-01", "endDate": "2001-01-02"}),
        ("context_delegate", {"taskType": "synthesize", "input": {"synthesisType": "narrative"}}),
        ("context_compress", {"olderThan": "2001-01-01"}),
        ("save_context", {"context_text": large}),
        ("store_reflection", {"content": large, "tags": []}),
        ("context_save", {"key": "large", "value": large, "metadata": {"large": large}}),
        ("retrieve_context", {"query": "walrus", "limit": 100}),
        ("reflect_on_past", {"query": "walrus", "limit": 50, "min_score": 0}),
        ("quick_search", {"query": "walrus", "min_score": 0}),
        ("get_more_results", {"query": "walrus", "offset": 0, "limit": 50}),
        ("context_get", {"includeMetadata": True}),
        ("context_search", {"query": "walrus", "includeMetadata": True}),
        ("context_semantic_search", {"query": "walrus"}),
        ("context_timeline", {"includeItems": True, "groupBy": "hour"}),
        ("context_summarize", {"maxLength": 40_000}),
        (
            "store_session",
            {"conversation": said, "topic": "tusks", "format": "messages", "sessionsDir": directory},
        ),
        ("get_session", {"filename": "tusks", "sessionsDir": directory, "format": "toon"}),
        ("list_project_files", {"max_files": 10_000}),
        ("recall_conversations", {"limit": 100, "days_lookback": 60}),
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
