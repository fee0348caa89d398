"""The answers of a page: a View is rendered, a Download is saved, and a Redirect leads to another page after a
change."""

from __future__ import annotations

from typing import Any, NamedTuple

Json = dict[str, Any]


class View(NamedTuple):
    template: str
    body: Json
    """All that the template shows, and the answer to `?format=json`."""
    title: str = ""
    part: str = ""
    """The template of the part that a script can request to update an open page, if any."""


class Download(NamedTuple):
    name: str
    type: str
    content: str


class Redirect(NamedTuple):
    path: str
    body: Json
