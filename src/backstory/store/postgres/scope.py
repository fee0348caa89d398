"""Tenant isolation in SQL: restricts every tenant table in a statement to the rows of one tenant.

The rooms of the store write their SQL as if a store owned its tables, which is true in SQLite. Here the key of the
tenant is added as a number in the statement itself, so that the planner reads one partition and a distributed
database sends the statement to one node:

- a table that is read becomes `(SELECT * FROM entry WHERE tenant_number = 7) AS entry`, which the planner flattens
- UPDATE, DELETE and SELECT … FOR UPDATE get the condition in their WHERE
- INSERT gets the column and its value, ON CONFLICT the column

Row-level security compares the same key with the tenant of the transaction (`layout.py`), so a statement that this
module misses reads nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ..tables import TENANT_TABLES
from .layout import KEY

MARK = "\x01"
"""Placeholder for the tenant number in a statement that is cached for all tenants."""

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\w+|\s+|.", re.DOTALL)
_NO_ALIAS = {
    "AS", "WHERE", "JOIN", "LEFT", "RIGHT", "FULL", "INNER", "CROSS", "NATURAL", "ON", "ORDER", "GROUP", "HAVING", "LIMIT",
    "OFFSET", "SET", "USING", "UNION", "EXCEPT", "INTERSECT", "RETURNING", "FOR", "VALUES", "SELECT", "DEFAULT",
}  # fmt: skip
_ENDS_CONDITION = {"RETURNING", "ORDER", "LIMIT", "GROUP", "FOR", "OFFSET", "UNION"}
_ENDS_TABLES = _ENDS_CONDITION | {"WHERE", "HAVING", "SET", "SELECT"}
_NO_TABLE_FOLLOWS = {"DO", "FOR", "KEY"}  # ON CONFLICT DO UPDATE, FOR NO KEY UPDATE


@lru_cache(maxsize=2048)
def scoped(sql: str) -> str:
    """Add the key of the tenant to a statement, with MARK as its number."""
    return _Scoping(sql).run()


@dataclass
class _Level:
    """One pair of parentheses, or the statement itself."""

    target: str = ""
    """The table whose condition must go into the WHERE clause."""
    is_condition_open: bool = False
    lists_tables: bool = False
    inserts: str = ""
    """Position inside an INSERT: "source" before VALUES or SELECT, "values" between the rows of VALUES."""


class _Scoping:
    def __init__(self, sql: str) -> None:
        self._tokens = [match.group() for match in _TOKEN.finditer(sql)]
        self._output: list[str] = []
        self._levels = [_Level()]
        self._place = 0

    def run(self) -> str:
        before = ""
        while self._place < len(self._tokens):
            token = self._tokens[self._place]
            if token == "(":
                self._open(before)
            elif token == ")":
                self._end_condition()
                self._levels.pop()
                self._output.append(token)
                self._place += 1
            elif token == "," and self._levels[-1].lists_tables:
                self._take(1)
                self._read_table()
            elif token[0].isalpha():
                self._word(token.upper(), before)
            else:
                self._take(1)
            if not token.isspace():
                before = token.upper()
        self._end_condition()
        return "".join(self._output)

    def _take(self, count: int) -> None:
        self._output += self._tokens[self._place : self._place + count]
        self._place += count

    def _next(self, start: int) -> int:
        """The place of the next token that is no space; after the last one the number of tokens."""
        while start < len(self._tokens) and self._tokens[start].isspace():
            start += 1
        return start

    def _at(self, place: int) -> str:
        return self._tokens[place] if place < len(self._tokens) else ""

    def _open(self, before: str) -> None:
        level = self._levels[-1]
        self._take(1)
        if before == "CONFLICT":
            self._output.append(f"{KEY}, ")
        elif level.inserts == "values":
            self._output.append(f"{MARK}, ")
        self._levels.append(_Level())

    def _word(self, word: str, before: str) -> None:
        level = self._levels[-1]
        if word in _ENDS_CONDITION:
            self._end_condition()
        if word in _ENDS_TABLES:
            level.lists_tables = False
        if word == "WHERE" and level.target:
            self._take(1)
            self._output.append(f" {level.target}.{KEY} = {MARK} AND (")
            level.target, level.is_condition_open = "", True
            return
        if word in ("CONFLICT", "RETURNING"):
            level.inserts = ""
        self._take(1)
        if word == "INTO" and before == "INSERT":
            self._insert()
        elif word == "VALUES" and level.inserts == "source":
            level.inserts = "values"
        elif word == "SELECT" and level.inserts == "source":
            self._select_key()
        elif (word == "UPDATE" and before not in _NO_TABLE_FOLLOWS) or (
            word == "FROM" and before == "DELETE"
        ):
            self._change_table()
        elif word in ("FROM", "JOIN", "USING"):
            level.lists_tables = True
            self._read_table()

    def _table(self) -> str:
        """The tenant table that is named next, if one is."""
        place = self._next(self._place)
        name = self._at(place)
        return name if name in TENANT_TABLES and self._at(self._next(place + 1)) not in ("(", ".") else ""

    def _alias(self, place: int) -> str:
        """The alias that follows a table, or "" if there is none."""
        follows = self._next(place)
        if self._at(follows).upper() == "AS":
            return self._at(self._next(follows + 1))
        alias = self._at(follows)
        return alias if alias[:1].isalpha() and alias.upper() not in _NO_ALIAS else ""

    def _read_table(self) -> None:
        name = self._table()
        if not name:
            return
        place = self._next(self._place)
        alias = self._alias(place + 1)
        if self._locks_rows() and not self._levels[-1].target:
            self._take(place + 1 - self._place)
            self._levels[-1].target = alias or name
            return
        self._take(place - self._place)
        self._output.append(f"(SELECT * FROM {name} WHERE {KEY} = {MARK})" + ("" if alias else f" AS {name}"))
        self._place = place + 1

    def _locks_rows(self) -> bool:
        """True if the enclosing SELECT ends with FOR UPDATE, which would lock every row of a subquery."""
        depth = 0
        for token in self._tokens[self._place :]:
            depth += {"(": 1, ")": -1}.get(token, 0)
            if depth < 0:
                return False
            if depth == 0 and token.upper() == "FOR":
                return True
        return False

    def _change_table(self) -> None:
        if name := self._table():
            place = self._next(self._place)
            self._levels[-1].target = self._alias(place + 1) or name
            self._take(place + 1 - self._place)

    def _insert(self) -> None:
        place = self._next(self._place)
        if self._at(place) not in TENANT_TABLES:
            return
        self._levels[-1].inserts = "source"
        self._take(place + 1 - self._place)
        columns = self._next(self._place)
        if self._at(columns) == "(":
            self._take(columns + 1 - self._place)
            self._output.append(f"{KEY}, ")
            self._levels.append(_Level())

    def _select_key(self) -> None:
        if self._at(self._next(self._place)).upper() == "DISTINCT":
            self._take(self._next(self._place) + 1 - self._place)
        self._output.append(f" {MARK},")

    def _end_condition(self) -> None:
        """Close the condition after the key of the tenant; if the statement has no condition, the key becomes the condition."""
        level = self._levels[-1]
        if level.is_condition_open:
            self._output.append(") ")
            level.is_condition_open = False
        elif level.target:
            self._output.append(f" WHERE {level.target}.{KEY} = {MARK} ")
            level.target = ""
