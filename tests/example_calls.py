"""A call of every tool that succeeds, in an order in which all of them do, by one connection or by one each."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]


DOOMED = "doomed"


class Known(NamedTuple):
    """What must be there before: two texts of `save_context`, and a session, not the caller's, with an item DOOMED."""

    replaced: str
    deleted: str
    session: str


def example_calls(known: Known) -> list[tuple[str, Json]]:
    return [*_projectmemory(known), *_memory_keeper(known)]


def _projectmemory(known: Known) -> list[tuple[str, Json]]:
    return [
        ("save_context", {"context_text": "Größe matters: 日本語 🦉"}),
        ("retrieve_context", {"query": "staging", "limit": 3}),
        ("replace_context", {"id": known.replaced, "context_text": "It is called egret."}),
        ("delete_context", {"id": known.deleted}),
        ("clear_all_context", {"confirmation": "confirm"}),
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
