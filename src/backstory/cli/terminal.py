"""A report in colour, for a terminal. Only then is rich loaded; it obeys NO_COLOR, TERM=dumb and the width itself."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markdown import Markdown
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text as RichText
from rich.theme import Theme

from ..console import harmless_parts
from .report import Block, Hint, Paragraph, Span, Style, Table, Text

GAP = 2  # between columns
NARROWEST = 12
THEME = Theme(
    {
        Style.ID: "yellow",
        Style.MATCH: "bold red",
        Style.HEADING: "bold",
        Style.ASSISTANT: "cyan",
        Style.QUIET: "bright_black",
        Style.GOOD: "green",
        Style.WARNING: "yellow",
        Style.BAD: "bold red",
    }
)


def show(blocks: Sequence[Block]) -> None:
    console = Console(theme=THEME, highlight=False, markup=False, emoji=False)
    for place, block in enumerate(harmless_parts(blocks)):
        if isinstance(block, Table):
            if block.above:
                console.print(("\n" if place else "") + block.above, style=Style.HEADING.value)
            output = _table(block, console.width) if _has_room(block, console.width) else _stacked(block)
            console.print(output, no_wrap=not block.wraps, overflow="fold" if block.wraps else "ellipsis")
        elif isinstance(block, Paragraph):
            console.print(Padding(_paragraph(block), (0, 0, 0, block.indent), expand=False))
        elif isinstance(block, Hint):
            console.print(block.text, style=Style.QUIET.value)
        else:
            console.print(block if isinstance(block, str) else _text(block.text), soft_wrap=True)


def _paragraph(block: Paragraph) -> RichText | Markdown:
    if block.is_markdown and isinstance(block.text, str):
        return Markdown(block.text, code_theme="ansi_dark", hyperlinks=False)
    return _text(block.text)


def _has_room(table: Table, width: int) -> bool:
    return sum(needed + GAP for needed in table.widths) + NARROWEST <= width


def _stacked(table: Table) -> RichText:
    """The layout for narrow terminals: the subject of a record below its other columns."""
    lines = []
    for row in table.rows:
        *cells, closing = map(_text, row)
        lines += [RichText(" " * GAP).join(cells), RichText(" " * GAP).append_text(closing)]
    return RichText("\n").join(lines)


def _table(table: Table, width: int) -> RichTable:
    output = RichTable(
        box=None, pad_edge=False, show_header=bool(table.heads), header_style=Style.QUIET.value
    )
    *heads, last = table.heads or [""] * len(table.rows[0])
    for head, needed in zip(heads, table.widths, strict=True):
        output.add_column(head, no_wrap=True, min_width=needed)
    output.add_column(last, no_wrap=not table.wraps)
    # cut here: where not all has room, rich would take from every column
    left = width - sum(needed + GAP for needed in table.widths)
    for row in table.rows:
        *cells, closing = map(_text, row)
        if not table.wraps:
            closing.truncate(left, overflow="ellipsis")
        output.add_row(*cells, closing)
    return output


def _text(text: Text) -> RichText:
    parts = [text] if isinstance(text, str) else text
    return RichText.assemble(
        *((part.text, part.style.value) if isinstance(part, Span) else part for part in parts)
    )
