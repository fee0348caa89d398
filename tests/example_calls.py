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


OFF_BY_DEFAULT = {"context_git_commit"}
"""Tools that refuse until the user switches them on; tests/surfaces/test_memory_keeper_commits.py calls them."""

NOTHING, LARGE = "qqzzxx", "walrus " * 20_000
ONE_SIZE = {
    "get_server_version",
    "get_cached_chunk",
    "replace_context",
    "delete_context",
    "clear_all_context",
    "context_delete",
}
"""Tools whose answer has the same parts whatever they did; a chunk is as large as any other."""


def emptiest_calls(directory: str, session: str) -> list[tuple[str, Json]]:
    """Calls that find or do as little as they can, with a session of somebody else's to take from."""
    return [
        ("store_session", {"conversation": "x", "sessionsDir": f"{directory}/empty"}),
        ("get_session", {"sessionsDir": directory, "date": "2001-01-01"}),
        ("codearchitect_help", {"feature": "get_session"}),
        ("recall_conversations", {"search_query": NOTHING}),
        ("export_individual_conversations", {"conversation_filter": NOTHING, "output_dir": directory}),
        ("get_project_info", {"include_stats": False}),
        ("list_project_files", {"file_types": [NOTHING]}),
        ("save_context", {"context_text": "x"}),
        ("retrieve_context", {"query": NOTHING}),
        ("init", {}),
        ("checkpoint", {}),
        ("status", {}),
        ("end", {}),
        ("store_reflection", {"content": "x"}),
        ("reflection_stats", {}),
        ("reflect_on_past", {"query": NOTHING, "min_score": 1}),
        ("quick_search", {"query": NOTHING, "min_score": 1}),
        ("get_more_results", {"query": NOTHING, "offset": 1_000}),
        ("search_by_file", {"file_path": f"{NOTHING}.py"}),
        ("search_by_concept", {"concept": NOTHING}),
        ("context_session_start", {}),
        ("context_session_list", {"beforeDate": "2001-01-01"}),
        ("context_get", {"category": NOTHING, "includeMetadata": True}),
        ("context_search", {"query": NOTHING, "includeMetadata": True}),
        ("context_semantic_search", {"query": NOTHING, "minSimilarity": 1}),
        ("context_summarize", {}),
        ("context_analyze", {}),
        ("context_visualize", {"type": "heatmap"}),
        ("context_visualize", {"type": "graph"}),
        ("context_visualize", {"type": "timeline"}),
        ("context_timeline", {"startDate": "2001-01-01", "endDate": "2001-01-02"}),
        ("context_delegate", {"taskType": "synthesize", "input": {"synthesisType": "narrative"}}),
        ("context_compress", {"olderThan": "2001-01-01"}),
        ("context_checkpoint", {"name": "empty"}),
        ("context_restore_checkpoint", {"name": "empty"}),
        ("context_branch_session", {"branchName": "bare"}),
        (
            "context_merge_sessions",
            {"sourceSessionId": session, "conflictResolution": "keep_current", "categories": ["error"]},
        ),
        ("context_export", {"outputPath": "empty.json"}),
        ("context_import", {"filePath": "empty.json"}),
        ("context_file_changed", {"filePath": NOTHING, "currentContent": ""}),
        ("context_cache_file", {"filePath": "empty", "content": ""}),
        ("context_save", {"key": "alone", "value": "x"}),
        ("context_find_related", {"key": "alone"}),
        ("context_journal_entry", {"entry": "x"}),
        ("context_integrate_tool", {"toolName": "t", "eventType": "e", "data": None}),
        ("context_batch_save", {"items": [{"key": "other", "value": "x"}]}),
        ("context_batch_update", {"updates": [{"key": NOTHING, "value": "x"}]}),
        ("context_batch_delete", {"keys": [NOTHING]}),
        ("context_link", {"sourceKey": "alone", "targetKey": "other", "relationship": "blocks"}),
        ("context_get_related", {"key": "alone", "relationship": "serves"}),
        ("context_watch", {"action": "list"}),
        ("context_list_channels", {"sessionIds": ["current"]}),
        ("context_channel_stats", {"timeRange": {"end": "2001-01-01"}}),
        ("context_reassign_channel", {"toChannel": "tusks", "keys": [NOTHING]}),
        ("context_diff", {"since": "now", "category": NOTHING}),
        ("context_search_all", {"query": NOTHING}),
        ("context_status", {}),
        ("context_prepare_compaction", {}),
        ("context_set_project_dir", {"projectDir": directory}),
    ]


def largest_calls(directory: str, session: str) -> list[tuple[str, Json]]:
    """Calls whose answers are as large as they get."""
    said = [{"role": "user", "content": LARGE}, {"role": "assistant", "content": LARGE}]
    related = "AuthService calls TokenRepository in src/auth.ts; fixes AUTH-12."
    many = [
        {"key": f"key {number}", "value": LARGE[:100], "channel": f"c{number % 50}"}
        for number in range(1_000)
    ]
    return [
        ("codearchitect_help", {}),
        (
            "store_session",
            {"conversation": said, "topic": "tusks", "format": "messages", "sessionsDir": directory},
        ),
        ("get_session", {"filename": "tusks", "sessionsDir": directory, "format": "toon"}),
        ("recall_conversations", {"limit": 100, "days_lookback": 60}),
        ("export_individual_conversations", {"limit": 100, "output_dir": directory}),
        ("get_project_info", {}),
        ("list_project_files", {"max_files": 10_000}),
        ("save_context", {"context_text": LARGE}),
        ("retrieve_context", {"query": "walrus", "limit": 100}),
        ("init", {"working_directory": directory}),
        ("checkpoint", {}),
        ("status", {"working_directory": directory}),
        ("end", {}),
        ("store_reflection", {"content": f"src/walrus.py {LARGE}", "tags": [f"tag{n}" for n in range(20)]}),
        ("reflect_on_past", {"query": "walrus", "limit": 50, "min_score": 0}),
        ("quick_search", {"query": "walrus", "min_score": 0}),
        ("get_more_results", {"query": "walrus", "offset": 0, "limit": 50}),
        ("search_by_file", {"file_path": "src/walrus.py", "limit": 50}),
        ("search_by_concept", {"concept": "walrus", "limit": 50}),
        ("reflection_stats", {}),
        (
            "context_session_start",
            {"name": LARGE[:200], "description": LARGE[:2_000], "continueFrom": session},
        ),
        ("context_save", {"key": "large", "value": LARGE, "metadata": {"large": LARGE}, "category": "task"}),
        ("context_save", {"key": "related", "value": related, "priority": "critical", "channel": "tusks"}),
        ("context_cache_file", {"filePath": "large.txt", "content": LARGE, "metadata": {"large": LARGE}}),
        ("context_file_changed", {"filePath": "large.txt", "currentContent": LARGE + "!"}),
        ("context_journal_entry", {"entry": LARGE, "tags": ["large"], "mood": "stressed"}),
        (
            "context_integrate_tool",
            {"toolName": "t", "eventType": "e", "data": {"large": LARGE}, "important": True},
        ),
        ("context_session_list", {"limit": 100}),
        ("context_get", {"includeMetadata": True}),
        ("context_search", {"query": "walrus", "includeMetadata": True}),
        ("context_semantic_search", {"query": "walrus", "topK": 100}),
        ("context_summarize", {"maxLength": 40_000}),
        ("context_analyze", {"maxDepth": 5}),
        ("context_find_related", {"key": "related", "maxDepth": 5, "limit": 100}),
        ("context_visualize", {"type": "graph"}),
        ("context_visualize", {"type": "heatmap", "groupBy": "hour"}),
        ("context_visualize", {"type": "timeline", "groupBy": "hour"}),
        ("context_timeline", {"includeItems": True, "groupBy": "hour", "relativeTime": True}),
        ("context_delegate", {"taskType": "analyze", "input": {"analysisType": "comprehensive"}}),
        (
            "context_checkpoint",
            {"name": "large", "description": LARGE, "includeFiles": True, "includeGitStatus": True},
        ),
        ("context_restore_checkpoint", {"name": "large", "restoreFiles": True}),
        ("context_branch_session", {"branchName": "large", "copyDepth": "deep"}),
        ("context_merge_sessions", {"sourceSessionId": session, "conflictResolution": "keep_source"}),
        ("context_export", {"outputPath": "large.json", "includeMetadata": True}),
        ("context_import", {"filePath": "large.json", "merge": True, "mergeStrategy": "rename"}),
        ("context_batch_save", {"items": many}),
        ("context_batch_update", {"updates": [{**item, "priority": "high"} for item in many]}),
        (
            "context_link",
            {"sourceKey": "large", "targetKey": "key 1", "relationship": "serves", "metadata": LARGE},
        ),
        ("context_get_related", {"key": "large", "depth": 10}),
        ("context_watch", {"action": "create", "filters": {"keys": ["*"]}, "includeExisting": True}),
        ("context_list_channels", {"includeEmpty": True, "sort": "count"}),
        ("context_channel_stats", {"includeTimeSeries": True, "includeInsights": True}),
        ("context_channel_stats", {"channel": "tusks", "includeTimeSeries": True, "includeInsights": True}),
        ("context_reassign_channel", {"toChannel": "ivory", "keyPattern": "*"}),
        ("context_diff", {"since": "2001-01-01"}),
        ("context_search_all", {"query": "walrus", "includeMetadata": True, "limit": 100}),
        ("context_status", {}),
        ("context_prepare_compaction", {}),
        ("context_set_project_dir", {"projectDir": directory}),
        ("context_batch_delete", {"keyPattern": "*", "dryRun": True}),
        ("context_batch_delete", {"keyPattern": "key *"}),
        ("context_compress", {"olderThan": "2999-01-01"}),
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
        (
            "context_batch_save",
            {"items": [{**item, "category": "task"}, {"key": "tokens", "value": "Renewed daily."}]},
        ),
        (
            "context_batch_update",
            {"updates": [{"key": "auth", "priority": "critical", "metadata": {"by": "us"}}]},
        ),
        ("context_link", {"sourceKey": "auth", "targetKey": "tokens", "relationship": "depends_on"}),
        ("context_get_related", {"key": "auth", "depth": 2, "direction": "outgoing"}),
        ("context_watch", {"action": "create", "filters": {"keys": ["auth*"]}, "includeExisting": True}),
        ("context_list_channels", {"sort": "activity", "includeEmpty": True}),
        ("context_channel_stats", {"includeInsights": True, "includeTimeSeries": True}),
        ("context_reassign_channel", {"toChannel": "security", "keyPattern": "auth*"}),
        ("context_diff", {"since": "2 hours ago"}),
        ("context_search_all", {"query": "token", "sort": "updated_desc"}),
        ("context_status", {}),
        ("context_prepare_compaction", {}),
        ("context_set_project_dir", {"projectDir": known.directory}),
        ("context_batch_delete", {"keys": ["tokens", "auth"]}),
        ("context_delete", {"key": DOOMED, "sessionId": known.session}),
    ]
