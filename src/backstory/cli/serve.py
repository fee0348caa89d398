"""`backstory serve`: speak MCP over standard input and output until the client leaves, or over HTTP."""

from __future__ import annotations

import gc
import os
from collections.abc import Mapping
from threading import Thread
from typing import TYPE_CHECKING

from .. import console
from ..app import open_core, read_settings, served_surfaces
from ..core import Core
from ..core.background import BRIEFS
from ..domain.lazy import lazy_name
from ..front import Heard
from ..server.stdio import StdioServer
from ..settings import Settings
from ..surfaces import Surfaces

if TYPE_CHECKING:
    from ..core.brief.files import Briefs
else:  # 40 ms, for servers that saved something
    Briefs = lazy_name("backstory.core.brief.files", "Briefs")

CLOSING_S = 0.2
RENDERING_S = 3.0
"""Time limit, in place of CLOSING_S, if something was saved: the brief is rendered first. That takes about 50 ms. A client
that waits at most a second may kill the server meanwhile, so the file is replaced atomically."""
AT_A_TERMINAL = (
    "Backstory speaks MCP here, as it does when an assistant starts it. Ctrl-C ends it; "
    "`backstory --help` lists what people can do."
)


def _serve_http(settings: Settings) -> int:
    from ..server.http import serve_http  # 60 ms and the extra `http`, and stdio needs none of it

    return serve_http(_surfaces(settings), settings)


def _surfaces(settings: Settings) -> Surfaces:
    surfaces = served_surfaces(settings)
    for warning in surfaces.profile_warnings():
        console.notify(f"backstory: {warning}")
    return surfaces


def _close(core: Core, is_brief_due: bool) -> None:
    """Render the brief before closing: the client's next session may start before any other server could render it."""
    try:
        if is_brief_due:
            Briefs(core.engine).refresh_project(core.caller.project)
    except Exception as error:  # the next server renders it
        core.engine.problems.failed(BRIEFS, error)
    finally:
        core.engine.close()


def serve(flags: Mapping[str, str], heard: Heard) -> int:
    settings = read_settings(flags)
    if settings.http:
        gc.enable()
        return _serve_http(settings)
    surfaces = _surfaces(settings)  # first: a wrong name opens no store
    core = open_core(settings)
    if os.isatty(0):
        console.notify(AT_A_TERMINAL)
    gc.freeze()
    gc.enable()
    server = StdioServer(core, surfaces, settings)
    code = server.serve(heard)
    is_brief_due = server.has_written and settings.brief != "off"
    closing = Thread(target=_close, args=(core, is_brief_due), name="closing", daemon=True)
    closing.start()
    closing.join(CLOSING_S + RENDERING_S if is_brief_due else CLOSING_S)
    if closing.is_alive():
        # It waits for a statement or a model that still runs. A client does not wait for those, and Python's
        # own way out would tear a thread out of native code, which aborts the process.
        os._exit(code)
    return code
