"""The cells of activity charts: a year by day, and a week by hour.

They are built here and not in a template, where 540 cells took half of the time of the home page."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from markupsafe import Markup

from ..domain.lines import counted
from .view import Json

CELL_PX, LEFT_PX, TOP_PX = 11, 28, 17
"""The distance between cells, and the position of the first one, in units of the drawing."""


def year_cells(weeks: Iterable[Iterable[Json]]) -> Markup:
    """A column for each week, with a row for each day."""
    return Markup().join(
        _cell(column, row, each["level"], f"{_day(each['day'])}: {counted(each['count'], 'record')}")
        for column, week in enumerate(weeks)
        for row, each in enumerate(week)
    )


def week_cells(rows: Iterable[Json]) -> Markup:
    """A row for each day of the week, with a column for each hour."""
    return Markup().join(
        _cell(
            each["hour"],
            row,
            each["level"],
            f"{day['day']}, {each['hour']:02d}:00: {counted(each['count'], 'record')}",
        )
        for row, day in enumerate(rows)
        for each in day["hours"]
    )


def _cell(column: int, row: int, level: int, title: str) -> Markup:
    """`title` consists of names of days and numbers only: nothing in it needs escaping."""
    x, y = column * CELL_PX + LEFT_PX, row * CELL_PX + TOP_PX
    return Markup(
        f'<rect class="h{level}" x="{x}" y="{y}" width="9" height="9" rx="2"><title>{title}</title></rect>'
    )


def _day(day: str) -> str:
    moment = date.fromisoformat(day)
    return f"{moment.day} {moment:%b %Y}"
