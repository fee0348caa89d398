"""The tokens of a list of tools, by surface, compared with other servers.

    python bench/tool_tokens.py [COMMAND OF A SERVER TO COMPARE WITH ...]

Counted are name, description and input schema of each tool as compact JSON, which is what assistants put into a request, by
the estimate of `src/backstory/domain/tokens.py`: rather more than less, and the same for all.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence

from servers import BACKSTORY, Server

from backstory.domain.tokens import count_tokens
from backstory.surfaces import load_surfaces

SENT = ("name", "description", "inputSchema")


def tools_of(command: Sequence[str]) -> tuple[int, int]:
    """The number of tools, and their tokens."""
    server = Server(command)
    server.initialize()
    tools = server.ask("tools/list", {})["tools"]
    server.stop()
    shutil.rmtree(server.home)
    sent = [{field: tool[field] for field in SENT if field in tool} for tool in tools]
    text = json.dumps(sent, ensure_ascii=False, separators=(",", ":"))
    return len(tools), count_tokens(text)


def main(others: list[str]) -> None:
    own = [*BACKSTORY, "--histories=off", "--embeddings=off"]
    commands = {f"backstory, surface `{name}`": [*own, f"--surfaces={name}"] for name in load_surfaces()}
    keeper = [*own, "--surfaces=memory-keeper"]
    commands |= {
        f"`memory-keeper`, profile {name}": [*keeper, f"--profile={name}"] for name in ("minimal", "standard")
    }
    commands |= {"backstory, all": own} | {other: [other] for other in others}
    print("| | tools | tokens |\n|---|---|---|")
    for name, command in commands.items():
        tools, tokens = tools_of(command)
        print(f"| {name} | {tools} | {tokens:,} |")


if __name__ == "__main__":
    main(sys.argv[1:])
