"""A home with a conversation of each generation of Cursor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..databases_of import database, editor_state, lines, workspace, write

BEGUN = 1_760_000_000_000
CHAT = "workbench.panel.aichat.view.aichat.chatdata"
HEADERS = """CREATE TABLE composerHeaders (
    composerId TEXT, workspaceId TEXT, createdAt INTEGER, lastUpdatedAt INTEGER, isSubagent INTEGER, value BLOB);"""


def composer(id: str, *bubbles: str, **others: Any) -> dict[str, Any]:
    """As it is today: names of bubbles, which lie in rows of their own. `u…` is a user's."""
    headers = [{"bubbleId": bubble, "type": 1 if bubble.startswith("u") else 2} for bubble in bubbles]
    return {"composerId": id, "createdAt": BEGUN, "fullConversationHeadersOnly": headers, **others}


def user_directory(home: Path) -> Path:
    return home / ".config" / "Cursor" / "User"


def make_home(home: Path) -> None:
    user = user_directory(home)
    _of_2024(workspace(user, "old", "file:///w/old"))
    app = workspace(user, "app", "file:///w/my%20app")
    editor_state(
        app / "state.vscdb",
        {
            "composer.composerData": {
                "allComposers": [{"composerId": "inline"}, {"composerId": "rows"}],
                "selectedComposerIds": ["tab"],
            },
            "workbench.panel.composerChatViewPane.7f": {"workbench.panel.aichat.view.pane": {"size": 3}},
            "aiService.prompts": [{"text": "Why is the cache stale?", "commandType": 4}],
        },
    )
    workspace(user, "listed", "vscode-remote://ssh-remote%2Bbox/srv/listed")
    editor_state(user / "globalStorage" / "state.vscdb", _items(), _disk(), HEADERS + _header_rows())
    _agents(home / ".cursor")


def _of_2024(directory: Path) -> None:
    uri = {"$mid": 1, "fsPath": "/w/old/pages/menu.tsx", "scheme": "file"}
    editor_state(
        directory / "state.vscdb",
        {
            CHAT: {
                "tabs": [
                    {
                        "tabId": "tab-1",
                        "chatTitle": "A menu on the left",
                        "lastSendTime": BEGUN,
                        "bubbles": [
                            {
                                "type": "user",
                                "id": "q1",
                                "text": "Move the menu.",
                                "fileSelections": [{"uri": uri}],
                            },
                            {"type": "ai", "id": "a1", "text": "Moved.", "modelType": "claude-3.5-sonnet"},
                        ],
                    },
                    {"tabId": "tab-2", "bubbles": []},
                ]
            },
            "composer.composerData": {
                "allComposers": [
                    {
                        "composerId": "whole",
                        "createdAt": BEGUN,
                        "text": "",
                        "conversation": [
                            {
                                "type": 1,
                                "bubbleId": "q1",
                                "text": "Footer, please.",
                                "relevantFiles": ["pages/menu.tsx"],
                            },
                            {
                                "type": 2,
                                "bubbleId": "a1",
                                "text": "Here it is.",
                                "codeBlocks": [{"uri": uri}],
                            },
                        ],
                    },
                    {"composerId": "draft", "createdAt": BEGUN, "text": "not sent", "conversation": []},
                ]
            },
            "aiService.prompts": [
                {"text": "Footer, please.", "commandType": 4},
                {"text": "A chat that is gone."},
            ],
        },
    )


def _items() -> dict[str, object]:
    place = {"workspaceIdentifier": {"id": "listed"}}
    return {
        "composer.composerHeaders": {"allComposers": [{"composerId": "listed", "name": "Listed", **place}]},
        "cursorAuth/accessToken": "never-read-token",
        "secret://keys": "never-read-secret",
    }


def _header_rows() -> str:
    return """INSERT INTO composerHeaders VALUES ('child', 'app', 1, 2, 1, '{"name": "A child"}');"""


def _disk() -> dict[str, object]:
    call = {
        "name": "read_file_v2",
        "params": '{"targetFile": "src/cache.py"}',
        "status": "completed",
        "result": "{}",
    }
    shell = {"name": "run_terminal_cmd", "rawArgs": '{"command": "pytest -x"}', "status": "error"}
    shell["error"] = '{"clientVisibleErrorMessage": "exit code 1"}'
    place = {"workspaceIdentifier": {"id": "x", "uri": {"fsPath": "/w/today"}}}
    return {
        "composerData:inline": {
            "composerId": "inline",
            "name": "Inline",
            "createdAt": BEGUN,
            "conversation": [
                {"type": 1, "bubbleId": "u1", "text": "Sort it."},
                {"type": 2, "bubbleId": "a1", "text": ""},
                {"type": 2, "bubbleId": "a2", "text": "Sorted."},
            ],
            "capabilities": [{"type": 15, "data": {"bubbleDataMap": f'{{"a1": {_old_call()}}}'}}],
        },
        "bubbleId:inline:a2": {
            "type": 2,
            "timingInfo": {"clientStartTime": 12.5, "clientEndTime": BEGUN + 900.5},
        },
        "composerData:rows": composer(
            "rows",
            "u1",
            "a1",
            "a2",
            "a3",
            "a4",
            "gone",
            "a5",
            modelConfig={"modelName": "gpt-5"},
            subComposerIds=["sub"],
        ),
        "bubbleId:rows:u1": {"type": 1, "text": "Why is the cache stale?", "bubbleId": "u1"},
        "bubbleId:rows:a1": {
            "type": 2,
            "thinking": {"text": "Look first."},
            "createdAt": "2025-10-09T08:53:21.000Z",
        },
        "bubbleId:rows:a2": {"type": 2, "text": "I read it.", "bubbleId": "a2"},
        "bubbleId:rows:a3": {"type": 2, "text": "", "capabilityType": 15, "toolFormerData": call},
        "bubbleId:rows:a4": {"type": 2, "text": "", "capabilityType": 15, "toolFormerData": shell},
        "bubbleId:rows:a5": b'{"type": 2, "text": "No one clears it."}',
        "bubbleId:rows:orphan": {"type": 1, "text": "Rewound, so not part of it."},
        "bubbleId:rowsX:a1": {"type": 1, "text": "Of another composer."},
        "composerData:tab": composer("tab", "u1"),
        "bubbleId:tab:u1": {
            "type": 1,
            "richText": '{"root": {"children": [{"type": "paragraph", "children": [{"text": "Rich."}]}]}}',
        },
        "composerData:pane": composer("pane", "u1"),
        "bubbleId:pane:u1": {"type": 1, "text": "In a pane."},
        "composerData:listed": composer("listed", "u1"),
        "bubbleId:listed:u1": {"type": 1, "text": "In a list."},
        "composerData:own": composer("own", "u1", name="Own", lastUpdatedAt=BEGUN + 5000, **place),
        "bubbleId:own:u1": {"type": 1, "text": "Says where it is."},
        "composerData:child": composer("child", "u1", "a1"),
        "bubbleId:child:u1": {"type": 1, "text": "Search for me."},
        "bubbleId:child:a1": {"type": 2, "text": "Found."},
        "composerData:sub": composer(
            "sub", "u1", "a1", gitWorktree={"worktreePath": "/w/tree", "branchName": "fix"}
        ),
        "bubbleId:sub:u1": {"type": 1, "text": "Started by rows."},
        "bubbleId:sub:a1": {"type": 2, "text": "Ended by itself."},
        "composerData:draft": {**composer("draft"), "text": "not sent"},
        "composerData:null": None,
        "checkpointId:1": "never-read-checkpoint",
        "agentKv:1": "never-read-blob",
    }


def _old_call() -> str:
    return '{"name": "edit_file", "params": {"relativeWorkspacePath": "src/sort.py"}, "status": "completed"}'


def _agents(root: Path) -> None:
    project = root / "projects" / "home-me-agent-app" / "agent-transcripts"
    asked = "<user_info>\nOS: linux\n</user_info>\n<user_query>\nRun the tests.\n</user_query>"
    command = {"type": "tool_use", "name": "Shell", "input": {"command": "pytest"}}
    told = {
        "type": "tool_result",
        "tool_use_id": "t",
        "is_error": True,
        "content": [{"type": "text", "text": "1 failed"}],
    }
    write(
        project / "agent-1" / "agent-1.jsonl",
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": asked}]}},
            {
                "role": "assistant",
                "message": {"content": [{"type": "thinking", "thinking": "Which?"}, command]},
            },
            {"role": "user", "message": {"content": [told]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "[REDACTED]"}]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "One fails."}]}},
            {"type": "turn_ended", "status": "success"},
        ),
    )
    write(
        project / "agent-1" / "subagents" / "helper.jsonl",
        lines(
            {"role": "user", "message": {"content": [{"type": "text", "text": "List files."}]}},
            {"role": "assistant", "message": {"content": [{"type": "text", "text": "There are two."}]}},
        ),
    )
    write(
        project / "older.txt",
        "user:\n<user_query>\nWhat is it?\n</user_query>\n\nassistant:\n[Thinking] Hm.\n\nA parser.\n"
        "[Tool call] Read\n  path: src/parse.py\n\n[Tool result] Read\ncontent\n",
    )
    meta = '{"schemaVersion": 1, "createdAtMs": 1760000000000, "updatedAtMs": 1760000060000, "cwd": "/home/me/agent_app"}'
    write(root / "chats" / "0f" / "agent-1" / "meta.json", meta)
    store = "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT); CREATE TABLE blobs (id TEXT PRIMARY KEY, data BLOB);"
    for id, name in (("agent-1", "Tests"), ("agent-2", "Only a store")):
        about = f'{{"agentId": "{id}", "name": "{name}", "createdAt": {BEGUN}, "lastUsedModel": "auto"}}'
        database(root / "chats" / "0f" / id / "store.db", store, {"meta": [("0", about.encode().hex())]})
