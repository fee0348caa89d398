"""The tokens that Backstory costs a model: the list of tools by family, instructions, briefs and pages of hits.

    python bench/tokens.py [--ranks o200k_base.json]

Counted by our own estimate, which budgets are kept by. With the package `tiktoken` and the ranks of o200k, which the npm
package `tiktoken` has as a file, also by a real tokenizer."""

from __future__ import annotations

import argparse
import base64
import json
import tempfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

from backstory.app import open_core, read_settings
from backstory.core import Core
from backstory.domain.kinds import MemoryKind
from backstory.domain.records import Conversation, Message
from backstory.domain.tokens import count_tokens
from backstory.server.offer import instructions
from backstory.surfaces import all_tools, load_surfaces

Count = Callable[[str], int]
SENTENCES = (
    "The login page loses the session after the redirect, but only in Safari.",
    "We decided to keep sessions in SQLite, because one file is easier to back up.",
    "I tried SameSite=None, but the cookie was dropped anyway, so it was reverted.",
    "All 214 tests pass; the fragment is read once in src/shop/session/redirect.py and removed.",
    "Next step: write the migration note and rotate the signing key before the release.",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=Path, help="o200k_base.json of the npm package tiktoken")
    options = parser.parse_args()
    real = None if options.ranks is None else _real_count(options.ranks)
    rows = [*_lists(), *_answers()]
    print(f"{'':34} {'estimate':>9}" + ("" if real is None else f" {'o200k':>7} {'ratio':>6}"))
    for name, text in rows:
        estimate = count_tokens(text)
        line = f"{name:34} {estimate:9,}"
        if real is not None:
            exact = real(text)
            line += f" {exact:7,} {estimate / exact:6.2f}"
        print(line)


def _lists() -> list[tuple[str, str]]:
    rows = []
    for names in ([name] for name in load_surfaces()):
        described = [tool.describe() for tool in all_tools(load_surfaces(names)).values()]
        rows.append((f"tools/list, {names[0]} ({len(described)})", _compact({"tools": described})))
        rows.append((f"  shown to a model, {names[0]}", _compact([_shown(each) for each in described])))
    everything = [tool.describe() for tool in all_tools(load_surfaces()).values()]
    rows.append((f"tools/list, all ({len(everything)})", _compact({"tools": everything})))
    rows.append(("instructions, backstory", instructions(["backstory"])))
    rows.append(("instructions, all", instructions(load_surfaces())))
    return rows


def _shown(tool: dict[str, Any]) -> dict[str, Any]:
    return {name: tool[name] for name in ("name", "description", "inputSchema")}


def _answers() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        flags = {"home": Path(folder), "project": Path(folder), "histories": "off", "embeddings": "off"}
        core = open_core(read_settings(flags))
        try:
            _fill(core)
            tools = all_tools(load_surfaces(["backstory"]))
            calls: list[tuple[str, str, dict[str, Any]]] = [
                *(
                    (f"brief, {size} tokens at most", "brief", {"max_tokens": size})
                    for size in (100, 400, 600)
                ),
                (
                    "recall, 5 hits",
                    "recall",
                    {"query": "keep sessions in SQLite, one file is easier to back up"},
                ),
                (
                    "recall, 20 hits",
                    "recall",
                    {"query": "keep sessions in SQLite, one file is easier to back up", "limit": 20},
                ),
                ("sessions, 10", "sessions", {}),
                ("open, a page", "open", {"id": f"claude-code:{0:032x}", "limit": 50}),
            ]
            return [(name, tools[tool].call(core, arguments).text) for name, tool, arguments in calls]
        finally:
            core.engine.close()


def _fill(core: Core) -> None:
    now, project = core.engine.now(), core.caller.project
    for n in range(40):
        at = now - timedelta(hours=n + 1)
        id = f"claude-code:{n:032x}"
        title = SENTENCES[n % len(SENTENCES)]
        told = Conversation(id, title, project, "claude-code", at, at, branch="fix/login")
        messages = [
            Message(
                f"{id}/{seq}", id, seq, "assistant" if seq % 2 else "user",
                " ".join(SENTENCES[(n + seq + k) % len(SENTENCES)] for k in range(3)), project, "claude-code", at,
            )
            for seq in range(20)
        ]  # fmt: skip
        core.engine.store.conversations.add(told, messages, [])
    for n in range(25):
        kind = (MemoryKind.DECISION, MemoryKind.TASK)[n % 2]
        others = " ".join(SENTENCES[(n + k) % len(SENTENCES)] for k in range(3))
        core.remembering.remember(
            f"Service {n}: sessions stay in SQLite, one file is easier to back up. {others}", kind
        )


def _compact(body: object) -> str:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _real_count(path: Path) -> Count:
    import tiktoken  # type: ignore[import-not-found]  # for this measurement only

    given = json.loads(path.read_text("utf-8"))
    ranks: dict[bytes, int] = {}
    for line in given["bpe_ranks"].split("\n"):
        if line:
            _, first, *tokens = line.split(" ")
            ranks |= {base64.b64decode(token): int(first) + place for place, token in enumerate(tokens)}
    encoding = tiktoken.Encoding(
        "o200k", pat_str=given["pat_str"], mergeable_ranks=ranks, special_tokens=given["special_tokens"]
    )
    return lambda text: len(encoding.encode(text, disallowed_special=()))


if __name__ == "__main__":
    main()
