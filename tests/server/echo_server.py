"""A real server with toy tools, for tests that need a process: `echo_server.py HOME [SETTING=VALUE ...]`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, TypedDict, cast

from backstory.core import Caller, Core, Engine
from backstory.domain.errors import InvalidInput
from backstory.server.stdio import StdioServer
from backstory.settings import Settings, build_settings
from backstory.store import Store
from backstory.tools import ADDS, READS, Surface, dump

toy = Surface(
    name="toy",
    about="Toys that echo, fail, crash and wait.",
    word_error=lambda error: dump({"status": "error", "error": str(error)}),
    success={"status": "success"},
)
servers: list[StdioServer] = []


def toybox(settings: Settings) -> Core:
    """A real Core without a store behind it: the toys use nothing but the call."""
    return Core(engine=Engine(settings, cast(Store, None), None), caller=Caller(project="/p"))


class Echoed(TypedDict):
    text: str


class Measured(Echoed):
    size: int


@toy.tool("Echo", READS)
def echo(core: Core, text: Annotated[str, "What to say"]) -> Measured:
    """Say it again."""
    return {"text": text, "size": len(text)}


@toy.tool("Fail", READS)
def fail(core: Core) -> Echoed:
    """Fail in a way the caller understands."""
    raise InvalidInput("The toy is broken.", hint="Try another.")


@toy.tool("Crash", READS)
def crash(core: Core, secret: str = "") -> Echoed:
    """Fail in a way that nobody foresaw."""
    raise RuntimeError(f"leaked {secret}")


@toy.tool("Leave", READS)
def leave(core: Core) -> Echoed:
    """Do what some libraries do when they are unhappy."""
    sys.exit(3)


@toy.tool("Chatter", READS)
def chatter(core: Core) -> Echoed:
    """Print to standard output, read standard input, and have a child process do the same."""
    print("stray line", flush=True)
    os.system("echo stray child; cat")
    return {"text": sys.stdin.read()}


@toy.tool("Half a character", READS)
def half_a_character(core: Core) -> Echoed:
    """Answer with text that is not Unicode."""
    return {"text": "a\ud800b\u2028c"}


@toy.tool("Not a number", READS)
def not_a_number(core: Core) -> Measured:
    """Answer with something that JSON cannot say."""
    return {"text": "", "size": float("nan")}  # type: ignore[typeddict-item]


@toy.tool("Steps", READS)
def steps(core: Core, count: int) -> Echoed:
    """Report progress at every step."""
    for done in range(count):
        core.call.raise_if_cancelled()
        core.call.progress(done + 1, count, f"step {done + 1}")
    return {"text": "done"}


@toy.tool("Wait", READS)
def wait(core: Core, pipe: Annotated[str, "A named pipe to wait for"]) -> Echoed:
    """Say as progress that it runs, wait for a line in the pipe, and give it back."""
    core.call.progress(0, None, "waiting")
    with open(pipe) as opened:
        text = opened.readline()
    core.call.raise_if_cancelled()
    return {"text": text.rstrip()}


@toy.tool("Grow", ADDS)
def grow(core: Core) -> Echoed:
    """Add a tool while the server runs."""

    def late(core: Core) -> Echoed:
        """A tool that was not there at the start."""
        return {"text": "late"}

    toy.tool("Late", READS)(late)
    servers[0].tools_changed()
    return {"text": "grown"}


def main() -> int:
    options = dict(option.split("=", 1) for option in sys.argv[2:])
    home = Path(sys.argv[1])
    settings = build_settings(options, defaults={"home": home, "project": home})
    servers.append(StdioServer(toybox(settings), {"toy": toy}, settings))
    return servers[0].serve()


if __name__ == "__main__":
    sys.exit(main())
