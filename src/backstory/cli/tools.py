"""`backstory tools`: the tools of each surface, from the registry."""

from __future__ import annotations

import argparse

from ..app import served_surfaces
from ..settings import Settings
from ..tools import Surface
from .report import Report, wrapped


def run(options: argparse.Namespace, settings: Settings) -> Report:
    surfaces = served_surfaces(settings)
    body = {
        "surfaces": [
            {
                "name": surface.name,
                "about": surface.about,
                "tools": [tool.describe() for tool in surface.tools.values()],
            }
            for surface in surfaces.values()
        ]
    }
    return Report(body, "\n\n".join(map(_describe, surfaces.values())))


def _describe(surface: Surface) -> str:
    lines = [f"{surface.name}: {surface.about}"]
    for tool in surface.tools.values():
        parameters = ", ".join(p.wire if p.required else f"[{p.wire}]" for p in tool.params)
        lines += ["", f"  {tool.name}({parameters})", wrapped(tool.description, "    ", "    ")]
    return "\n".join(lines)
