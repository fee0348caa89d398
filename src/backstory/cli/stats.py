"""`backstory stats`: tokens and costs by day, project, assistant and model, and how often tools were called and failed."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import open_core
from ..core.hooks.receipts import injection_precision
from ..domain.lines import counted, dollars, short_count
from ..settings import Settings
from .narrowing import add_narrowing, nothing, read_bounds
from .report import Block, Json, Paragraph, Report, Span, Style, Table, Text, project_name, terminal_line

GROUPS = ("day", "project", "assistant", "model", "tool")
MAX_TOOLS = 30
_HEADS = ("", "input", "output", "cache read", "cache write", "cost")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_narrowing(parser)
    parser.add_argument(
        "--by", choices=GROUPS, help="show one table (default: by assistant and by model; JSON has all)"
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    with closing(open_core(settings)) as core:
        body = core.usage.stats(read_bounds(options, core))
        injections = injection_precision(core)
    body["injections"] = injections._asdict() | {"events": [each._asdict() for each in injections.events]}
    return Report(body, _blocks(options, body))


def usage_line(usage: Json) -> str:
    """Tokens and cost in one line."""
    parts = [
        f"{short_count(usage[name])} {name.replace('_', ' ')}"
        for name in ("input", "output", "cache_read", "cache_write")
    ]
    cost = (
        f"; {dollars(usage['cost_usd'])} at list prices of {usage['prices_of']}" if usage["prices_of"] else ""
    )
    partial = "; some numbers are not known" if usage["is_partial"] else ""
    return f"{', '.join(parts)} tokens in {counted(usage['calls'], 'model call')}{cost}{partial}"


def _blocks(options: argparse.Namespace, body: Json) -> list[Block]:
    if body["usage"] is None and not body["tools"]:
        return [
            nothing(
                options, "usage", "No usage is recorded yet. `backstory sync` reads it from the histories."
            )
        ]
    blocks: list[Block] = []
    if body["usage"] is not None:
        blocks += [Paragraph(usage_line(body["usage"]))]
    for group in [options.by] if options.by else ["assistant", "model"]:
        rows = _tool_rows(body) if group == "tool" else _rows(group, body)
        heads = (group, "calls", "failed") if group == "tool" else (group, *_HEADS[1:])
        blocks += ["", Table(heads, rows)] if rows else []
    if body["usage"] is not None and (unpriced := body["usage"]["unpriced"]):
        names = ", ".join(terminal_line(name or "unnamed", 60) for name in unpriced)
        blocks += ["", Paragraph([Span(f"Without a price, and not in the cost: {names}", Style.QUIET)])]
    return blocks


def _rows(group: str, body: Json) -> list[list[Text]]:
    def name_of(name: str) -> str:
        return project_name(name) if group == "project" else terminal_line(name or "unnamed", 60)

    return [
        [
            [Span(name_of(each["name"]), Style.ASSISTANT)],
            *(f"{short_count(each[name]):>7}" for name in ("input", "output", "cache_read", "cache_write")),
            dollars(each["cost_usd"]),
        ]
        for each in body[f"by_{group}"]
    ]


def _tool_rows(body: Json) -> list[list[Text]]:
    return [
        [
            [Span(terminal_line(each["name"], 60), Style.ASSISTANT)],
            f"{each['calls']:>7,}",
            f"{each['failed']:,}",
        ]
        for each in body["tools"][:MAX_TOOLS]
    ]
