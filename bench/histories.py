"""Every real and invented history of ../shared/data/histories, read in one sync and compared with COUNTS.tsv.

    python bench/histories.py

Each file is copied to its assistant's own folder in a temporary home, and read into a temporary store. COUNTS.tsv has the
counts of an independent parser for the files of Claude Code and Codex.
"""

from __future__ import annotations

import csv
import re
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from backstory.core import Engine
from backstory.core.sync import Sync
from backstory.domain.filters import ConversationFilter
from backstory.readers import (
    ConversationKind,
    Cursor,
    Form,
    Places,
    Role,
    Source,
    Turn,
    WitnessRank,
    load_readers,
)
from backstory.settings import Settings
from backstory.store.sqlite import SqliteStore

HISTORIES = Path(__file__).resolve().parents[2] / "shared" / "data" / "histories"
COUNTED = ("human_prompt", "assistant_text", "tool_use")
CURSOR = ".config/Cursor/User"

PLACES: list[tuple[str, str]] = [
    (r"claude-code/(.*\.jsonl)", r".claude/projects/\1"),
    (r"codex/(.*)/(?:rollout-)?([^/]*\.jsonl)", r".codex/sessions/\1/rollout-\2"),
    (r"aider/(.*)\.aider\.chat\.history\.md", r"projects/\1/.aider.chat.history.md"),
    (r"copilot-cli/.*/([^/]*\.jsonl)", r".copilot/session-state/\1"),
    (r"cline/.*/session(\.messages)?\.json", r".cline/data/sessions/session/session\1.json"),
    (r"cline/tomjnsn.*/crud\.json", r".cline/data/tasks/1/api_conversation_history.json"),
    (r"cursor/.*/store-root/(.*)", r".cursor/\1"),
    (r"cursor/.*/transcripts/(.*\.jsonl)", r".cursor/projects/s/agent-transcripts/\1"),
    (r"cursor/.*/composer-global-state\.vscdb", rf"{CURSOR}/globalStorage/state.vscdb"),
    (r"cursor/slevin48.*/state\.chatonly\.vscdb", rf"{CURSOR}/workspaceStorage/a/state.vscdb"),
    (r"gemini-cli/(.*)/((?!gemini_logs)[^/]*\.jsonl?)", r".gemini/tmp/g/chats/session-\2"),
    (r"opencode-export/.*/([^/]*\.json)", r"exports/\1"),
    (r"pi/.*/([^/]*\.jsonl)", r".pi/agent/sessions/p/\1"),
    (r".*/stage0/agents/claude/(.*\.jsonl)", r".claude/projects/stage0/\1"),
    (r".*/(?:stage0/agents/codex|Resources/Fixtures|samples/docs)/((?:codex|session)[^/]*|[^/]*)\.jsonl", r".codex/sessions/x/rollout-\1.jsonl"),
    (r".*/stage0/agents/opencode/storage_\w+/(.*\.json)", r".local/share/opencode/storage/\1"),
    (r".*/stage0/agents/qwen/(.*\.jsonl)", r".qwen/projects/stage0/chats/\1"),
    (r".*/stage0/agents/droid/(session_store.*)", r".factory/sessions/stage0/\1"),
    (r".*/stage0/agents/antigravity/(.*)\.jsonl", r".gemini/antigravity-cli/brain/\1/.system_generated/logs/transcript.jsonl"),
    (r".*/stage0/agents/antigravity/(.*)\.md", r".gemini/antigravity-cli/brain/\1/task.md"),
    (r".*/stage0/agents/gemini/(.*)", r".gemini/tmp/stage0/chats/session-\1"),
    (r".*/stage0/agents/copilot/(?:subdir_v1/)?(.*\.jsonl)", r".copilot/session-state/\1"),
    (r".*/stage0/agents/cursor/(.*\.jsonl)", r".cursor/projects/stage0/agent-transcripts/\1"),
    (r".*/Fixtures/Cursor/(.*\.jsonl)", r".cursor/projects/f/agent-transcripts/\1"),
    (r".*/Fixtures/Cursor/(.*)\.db", r".cursor/chats/0/\1/store.db"),
    (r".*/stage0/agents/(openclaw|pi)/(.*\.jsonl)", r".pi/agent/sessions/\1/\2"),
    (r".*/claude\.history/(.*)", r".claude/\1"),
    (r".*/claude\.(projects\.\w+)/(.*)", r".claude/projects/\1/\2"),
    (r".*/codex\.history/.*", r".codex/history.jsonl"),
    (r".*/codex\.sessions/(.*)", r".codex/sessions/\1"),
    (r".*/cursor-cli\.transcripts/(.*)", r".cursor/projects/grep/agent-transcripts/\1"),
    (r".*/gemini\.tmp\.chats/(.*)", r".gemini/tmp/grep/chats/\1"),
    (r".*/gemini\.tmp\.logs/(.*)", r".gemini/tmp/grep/\1"),
    (r".*/pi\.sessions/(.*)", r".pi/agent/sessions/grep/\1"),
    (r".*/vscode\.chat_sessions/(.*)", r".config/Code/User/workspaceStorage/a/chatSessions/\1"),
    (r".*/antigravity-cli\.history/(.*)", r".gemini/antigravity-cli/\1"),
    (r".*/registry/aider/(.*)", r"projects/registry/\1"),
    (r".*/registry/antigravity/(.*)", r".gemini/antigravity/\1"),
    (r".*/registry/claude-code/(.*)", r".claude/projects/registry/\1"),
    (r".*/registry/cline/(?:legacy|modern)/(.*)", r".cline/data/\1"),
    (r".*/registry/codex/(.*)", r".codex/sessions/\1"),
    (r".*/registry/copilot/(.*)", r".copilot/session-state/\1"),
    (r".*/registry/cursor/(.*)", r".cursor/\1"),
    (r".*/registry/gemini/(.*)", r".gemini/tmp/registry/chats/\1"),
    (r".*/registry/goose/sessions/(.*\.jsonl)", r".local/share/goose/sessions/\1"),
    (r".*/registry/goose/sessions/goose\.sql", r".local/share/goose/sessions/sessions.db"),
    (r".*/registry/opencode/opencode\.sql", r".local/share/opencode/opencode.db"),
    (r".*/registry/zed/zed\.sql", r".local/share/zed/threads/threads.db"),
    (r".*/registry/openclaw/(.*)", r".openclaw/\1"),
    (r".*/registry/pi/(.*)", r".pi/agent/sessions/registry/\1"),
    (r".*/registry/qwen/(.*)", r".qwen/\1"),
    (r".*/registry/roo/(.*)", r".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/\1"),
]  # fmt: skip
"""The path of a file of that name in its assistant's folder."""

OTHERS = [
    (r"(grok|hermes|kimi|deepseek|omp)/|grok\.|cursor-cli\.(plans|prompt)", "no reader for this assistant or kind of file"),
    (r"stream_json", "what a command printed, no history"),
    (r"claude-code/.*|codex/.*", "parts of messages, state and notes, no logs"),
    (r"cursor/.*\.json|cline/.*|gemini.*|migration|README|meta\.json", "what other programs made of a history, or tell about it"),
]  # fmt: skip
"""The reason why a file has no place."""


class Tally(NamedTuple):
    counted: Counter[str]
    read: Counter[str]


def put(home: Path) -> dict[str, Path]:
    """Copy every file of the manifest into the home. Returns their paths by name."""
    placed = {}
    with (HISTORIES / "MANIFEST.tsv").open(encoding="utf-8") as table:
        names = [row["file"] for row in csv.DictReader(table, delimiter="\t")]
    for name in names:
        target = next(
            (found.expand(into) for pattern, into in PLACES if (found := re.fullmatch(pattern, name))), ""
        )
        if not target:
            continue
        path = home / target
        while path.exists():
            path = path.with_name(f"x-{path.name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        if name.endswith(".sql"):
            with sqlite3.connect(path) as database:
                database.executescript((HISTORIES / name).read_text("utf-8"))
        else:
            shutil.copyfile(HISTORIES / name, path)
        placed[name] = path
    for name in names:
        if name not in placed:
            reason = next((why for pattern, why in OTHERS if re.search(pattern, name)), "?")
            unplaced[reason] += 1
    return placed


unplaced: Counter[str] = Counter()


def read_all(home: Path, database: Path) -> None:
    projects = tuple(sorted((home / "projects").iterdir()))
    places = Places(home, {}, "linux", projects=projects, roots={"opencode": (home / "exports",)})
    engine = Engine(Settings(home=database.parent, project=home), SqliteStore(database), None)
    outcome = Sync(engine).run(load_readers().values(), places)
    assert outcome is not None
    print(
        "| reader | files | conversations | turns | skipped records | problems |\n|---|---|---|---|---|---|"
    )
    for name, told in outcome.items():
        if told.sources:
            skipped = "; ".join(f"{count} {why}" for why, count in sorted(told.skipped.items()))
            print(
                f"| {name} | {told.sources} | {told.conversations} | {told.turns} | {skipped} | {len(told.problems)} |"
            )
    titles = Counter(each.title for each in engine.store.conversations.find(ConversationFilter()))
    print(f"\nTitles that several conversations share: {[title for title, n in titles.items() if n > 2]}")
    engine.close()


def compare(placed: dict[str, Path]) -> Iterator[tuple[str, Tally]]:
    """The counts of the other parser and of our reading of the same files, by assistant."""
    tallies: dict[str, Tally] = {}
    readers = load_readers(["claude-code", "codex"])
    with (HISTORIES / "COUNTS.tsv").open(encoding="utf-8") as table:
        for row in csv.DictReader(table, delimiter="\t"):
            tally = tallies.setdefault(row["assistant"], Tally(Counter(), Counter()))
            tally.counted.update({name: int(row[name]) for name in COUNTED})
            source = Source(placed[row["file"]], Form.LOG)
            turns: dict[tuple[str, str], tuple[Turn, ConversationKind, WitnessRank]] = {}
            for piece in readers[row["assistant"]].read(source, Cursor()):
                header = piece.header
                turns |= {(header.native_id, t.id): (t, header.kind, header.standing) for t in piece.turns}
            for turn, kind, standing in turns.values():
                tally.read.update(_counts(turn, kind, standing))
    yield from tallies.items()


def _counts(turn: Turn, kind: ConversationKind, standing: WitnessRank) -> Counter[str]:
    is_human = turn.role is Role.USER
    is_command = is_human and turn.text.startswith(("/", "!"))
    is_task = (
        kind is ConversationKind.SUBAGENT
        and turn.role is Role.SYSTEM
        and not turn.text.startswith(("<", "# AGENTS"))
    )
    return Counter(
        human_prompt=int(is_human),
        assistant_text=int(turn.role is Role.ASSISTANT and bool(turn.text)),
        tool_use=len(turn.calls),
        commands=int(is_command),
        shell=len(turn.calls) if is_human else 0,
        tasks=int(is_task),
        repeated=int(standing is WitnessRank.REPLAY),
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as directory:
        home = Path(directory) / "home"
        placed = put(home)
        print(f"{len(placed)} of {len(placed) + unplaced.total()} files have a place in a home. The others:")
        for reason, count in unplaced.most_common():
            print(f"- {count}: {reason}")
        print()
        read_all(home, Path(directory) / "store.db")
        print("\n| assistant | | " + " | ".join(COUNTED) + " |\n|---|---|---|---|---|")
        for assistant, (counted, read) in compare(placed):
            print(f"| {assistant} | counted | " + " | ".join(str(counted[name]) for name in COUNTED) + " |")
            print("| | read | " + " | ".join(str(read[name]) for name in COUNTED) + " |")
            causes = ("commands", "shell", "tasks", "repeated")
            print("| | of these | " + ", ".join(f"{read[cause]} {cause}" for cause in causes) + " | | |")


if __name__ == "__main__":
    main()
