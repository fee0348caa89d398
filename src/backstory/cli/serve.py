"""`backstory serve`: speak MCP over standard input and output until the client leaves."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from threading import Thread

from ..app import open_core, read_settings
from ..server import serve_stdio
from ..surfaces import load_surfaces

CLOSING_S = 0.2


def serve(flags: Mapping[str, str]) -> int:
    settings = read_settings(flags)
    core = open_core(settings)
    surfaces = load_surfaces(settings.surfaces)
    gc.freeze()
    gc.enable()
    code = serve_stdio(core, surfaces, settings)
    closing = Thread(target=core.engine.close, name="closing", daemon=True)
    closing.start()
    closing.join(CLOSING_S)
    if closing.is_alive():
        # It waits for a statement or a model that still runs. A client does not wait for those, and Python's
        # own way out would tear a thread out of native code, which aborts the process.
        os._exit(code)
    return code
