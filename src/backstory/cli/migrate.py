"""`backstory migrate`: move stores between SQLite and PostgreSQL, and prove that nothing was lost."""

from __future__ import annotations

import argparse
from contextlib import closing

from ..app import find_spaces, open_store, store_place
from ..core.copying import TableComparison, TableDigest, copy_store
from ..domain.errors import InvalidInput, NotFound
from ..domain.lines import counted
from ..settings import Settings
from .report import FAILED, Json, Report, show_progress, table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    url = "sqlite:///path/to/file.db or postgresql://user:password@host/database"
    parser.add_argument("--from", dest="source", required=True, metavar="URL", help=url)
    parser.add_argument("--to", dest="target", required=True, metavar="URL", help="URL of an empty store")
    parser.add_argument(
        "--space",
        action="append",
        metavar="NAME",
        help="team server: copy only this store, for example user-alice; can be repeated (default: all)",
    )


def run(options: argparse.Namespace, settings: Settings) -> Report:
    source, target = (
        settings.changed(database_url=url, read_url="") for url in (options.source, options.target)
    )
    places = {"from": store_place(source), "to": store_place(target)}
    if options.source == options.target:
        raise InvalidInput("--from and --to are the same store.", hint="Nothing was changed.", field="to")
    known = find_spaces(source)
    for space in options.space or ():
        if space not in known:
            raise NotFound("space", space, hint=f"There are: {', '.join(filter(None, known)) or 'none'}.")
    if not known:
        raise InvalidInput(f"There is no store at {places['from']}.", hint="Check --from.", field="from")
    moved = {space: _copy(space, source, target) for space in options.space or known}
    is_equal = all(each.is_equal for compared in moved.values() for each in compared)
    body = {**places, "ok": is_equal, "stores": [_body(*each) for each in moved.items()]}
    return Report(body, _text(moved, is_equal), 0 if is_equal else FAILED)


def _copy(space: str, source: Settings, target: Settings) -> list[TableComparison]:
    def show(message: str, count: int, total: int) -> None:
        show_progress(count, total, f"{space}: {message}" if space else message)

    with closing(open_store(source, space)) as old, closing(open_store(target, space)) as new:
        return copy_store(old, new, store_place(source), show)


def _body(space: str, compared: list[TableComparison]) -> Json:
    tables = {each.table: {"from": each.source._asdict(), "to": each.target._asdict()} for each in compared}
    return {"space": space, "tables": tables}


def _text(moved: dict[str, list[TableComparison]], is_equal: bool) -> str:
    lines = []
    for space, compared in moved.items():
        rows = [
            (each.table, "equal" if each.is_equal else "DIFFERS", _told(each.source), _told(each.target))
            for each in compared
            if each.source.rows or each.target.rows
        ]
        lines += [f"{space}:"] if space else []
        lines.append(table([("table", "", "from", "to"), *rows]))
    if is_equal:
        lines.append("Every row arrived. Set database_url to use the new store; the old one is unchanged.")
    else:
        lines.append(
            "They differ: something wrote to one of them. Stop its servers and run this again; it starts again from the beginning."
        )
    return "\n".join(lines)


def _told(digest: TableDigest) -> str:
    return f"{counted(digest.rows, 'row')} {digest.hash[:16]}"
