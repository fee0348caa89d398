"""The team server with the tools that the official conformance suite calls: `conformance_server.py HOME`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TypedDict

from backstory.core import Core
from backstory.domain.errors import Unavailable
from backstory.server.http import serve_http
from backstory.settings import build_settings
from backstory.tools import READS, Surface, dump

fixture = Surface(
    name="conformance",
    about="What the suite asks for by name.",
    word_error=lambda error: dump({"error": str(error)}),
)


class Said(TypedDict):
    text: str


@fixture.tool("Simple text", READS)
def test_simple_text(core: Core) -> Said:
    """Answer with a text."""
    return {"text": "This is a simple text response for testing."}


@fixture.tool("Error handling", READS)
def test_error_handling(core: Core) -> Said:
    """Fail."""
    raise Unavailable("This tool intentionally returns an error for testing")


@fixture.tool("Progress", READS)
def test_tool_with_progress(core: Core) -> Said:
    """Report three steps."""
    for done in (0, 50, 100):
        core.call.progress(done, 100, "")
    return {"text": "done"}


@fixture.tool("Logging", READS)
def test_logging_tool(core: Core) -> Said:
    """Be called: each call is an event that is logged."""
    return {"text": "done"}


def main() -> int:
    home = Path(sys.argv[1])
    options = {"http": "127.0.0.1:0", "embeddings": "off"}
    settings = build_settings(options, defaults={"home": home, "project": home})
    return serve_http({fixture.name: fixture}, settings)


if __name__ == "__main__":
    sys.exit(main())
