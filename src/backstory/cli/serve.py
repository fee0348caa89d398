"""`backstory serve`: speak MCP over standard input and output until the client leaves, or over HTTP."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Mapping
from threading import Thread

from ..app import open_core, read_settings
from ..front import Heard
from ..server.stdio import StdioServer
from ..settings import Settings
from ..surfaces import load_surfaces

CLOSING_S = 0.2
AT_A_TERMINAL = (
    "Backstory speaks MCP here, as it does when an assistant starts it. Ctrl-C ends it; "
    "`backstory --help` lists what people can do."
)


def _serve_http(settings: Settings) -> int:
    from ..server.http import serve_http  # stdio needs none of it

    return serve_http(load_surfaces(settings.surfaces, settings.prefix), settings)


def serve(flags: Mapping[str, str], heard: Heard) -> int:
    settings = read_settings(flags)
    if settings.http:
        gc.enable()
        return _serve_http(settings)
    core = open_core(settings)
    surfaces = load_surfaces(settings.surfaces, settings.prefix)
    if os.isatty(0):
        print(AT_A_TERMINAL, file=sys.stderr)
    gc.freeze()
    gc.enable()
    code = StdioServer(core, surfaces, settings).serve(heard)
    closing = Thread(target=core.engine.close, name="closing", daemon=True)
    closing.start()
    closing.join(CLOSING_S)
    if closing.is_alive():
        # It waits for a statement or a model that still runs. A client does not wait for those, and Python's
        # own way out would tear a thread out of native code, which aborts the process.
        os._exit(code)
    return code
