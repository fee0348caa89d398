"""Where a record came from that another program had kept."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class Imported(NamedTuple):
    """By the id it has here: which importer brought it, and what it said then."""

    id: str
    importer: str
    store: str
    """The file or folder it was read from."""
    place: str
    """What it is called there: a table and the id of a row, mostly."""
    part: str
    """What its statements may supersede each other in, where they have no ids; empty elsewhere."""
    digest: str
    """Of what was imported; empty when that was forgotten."""
    imported_at: datetime
