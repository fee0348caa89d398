"""A home with the database of the newer Kilo Code, which is OpenCode's."""

from __future__ import annotations

from pathlib import Path

from ..databases_of import database
from ..opencode.make import BEGUN, TABLES, message, part, session


def make_home(home: Path) -> None:
    rows = {
        "session": [session("ses_k", title="Kites")],
        "message": [
            message("msg_1", "ses_k", BEGUN, role="user"),
            message("msg_2", "ses_k", BEGUN + 1, role="assistant", modelID="k-1"),
        ],
        "part": [
            part("prt_1", "msg_1", "ses_k", type="text", text="Fly the kite."),
            part("prt_2", "msg_2", "ses_k", type="text", text="It flies."),
        ],
    }
    database(home / ".local" / "share" / "kilo" / "kilo.db", TABLES, rows)
