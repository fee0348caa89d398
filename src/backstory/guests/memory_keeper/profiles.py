"""The tools of Memory Keeper's two smaller profiles. The third, `full`, is every tool."""

from __future__ import annotations

MINIMAL = (
    "context_session_start", "context_session_list", "context_save", "context_get", "context_search", "context_status",
    "context_checkpoint", "context_restore_checkpoint",
)  # fmt: skip
STANDARD = (
    *MINIMAL,
    "context_set_project_dir", "context_search_all", "context_summarize", "context_prepare_compaction",
    "context_git_commit", "context_export", "context_import", "context_journal_entry", "context_timeline",
    "context_list_channels", "context_channel_stats", "context_batch_save", "context_batch_update",
    "context_batch_delete",
)  # fmt: skip
