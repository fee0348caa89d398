"""Translation to PostgreSQL: of statements and scripts written for both databases, and of texts that contain NUL."""

from __future__ import annotations

import re
from functools import lru_cache

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format
from psycopg.types.string import StrDumperUnknown, TextLoader

from ...domain.lazy import lazy_pattern
from ..where import Glob

_TOKEN = lazy_pattern(r"'(?:[^']|'')*'|\?|%|\bLIKE\b|\bGLOB\b|\bIN \(\)")
_TYPE = lazy_pattern(r"\bTEXT\b(?! SEARCH)|\bREAL\b")
_TYPES = {
    # collation "C" compares bytes, as SQLite does in every language
    "TEXT": 'TEXT COLLATE "C"',
    "REAL": "DOUBLE PRECISION",
}

_GLOB_PART = lazy_pattern(r"\[(\^?+)(\]?+[^\]]*)\]|.", re.DOTALL)
_GLOB_MEMBER = lazy_pattern(r"(.)(?:-(.))?", re.DOTALL)
_GLOB_WILDCARDS = {"*": ".*", "?": "."}
_NOTHING, _ANYTHING = "(?!)", "."

ESCAPE = "\ufdd0"
"""A code point that Unicode reserves for internal use by programs.

PostgreSQL texts cannot contain NUL, so NUL is stored as ESCAPE and "0", and the code point itself as ESCAPE and "1".
"""

NUL = f"{ESCAPE}0"


@lru_cache(maxsize=1024)
def translated(sql: str) -> str:
    """A statement of ours with psycopg's parameters."""
    return _TOKEN.sub(lambda match: _in_postgres(match.group()), sql)


def _in_postgres(token: str) -> str:
    if token == "?":
        return "%s"
    if token == "LIKE":
        return "ILIKE"  # SQLite's ignores the case of ASCII letters, and so does this in the collation "C"
    if token == "GLOB":
        return "~"  # of what `_GlobDumper` makes of the pattern
    if token == "IN ()":
        return "IN (NULL)"
    return token.replace("%", "%%")


def translated_script(script: str, vector_schema: str) -> str:
    """A migration script for PostgreSQL. pgvector lives in the schema that the database's owner chose."""
    return _TYPE.sub(lambda match: _TYPES[match.group()], script).replace("pgvector.", f"{vector_schema}.")


class _TextDumper(StrDumperUnknown):
    def dump(self, obj: str) -> Buffer | None:
        if ESCAPE in obj or "\0" in obj:
            obj = obj.replace(ESCAPE, f"{ESCAPE}1").replace("\0", NUL)
        return super().dump(obj)


class _GlobDumper(_TextDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(_regular_expression(obj))


def _regular_expression(glob: str) -> str:
    return f"^(?:{_GLOB_PART.sub(_in_regular_expression, glob)})$"


def _in_regular_expression(match: re.Match[str]) -> str:
    part, negation, members = match.group(), match[1], match[2]
    if part in _GLOB_WILDCARDS:
        return _GLOB_WILDCARDS[part]
    if members is not None:
        listed = _GLOB_MEMBER.sub(_in_class, members)
        return f"[{negation}{listed}]" if listed else _ANYTHING if negation else _NOTHING
    if part == "[":
        return _NOTHING  # a class that never ends matches nothing
    return re.escape(part)


def _in_class(match: re.Match[str]) -> str:
    """A letter or a range of a character class. A range that ends before it begins is dropped: PostgreSQL rejects it."""
    first, last = match[1], match[2] or match[1]
    if first > last:
        return ""
    ends = [end if end.isalnum() else f"\\{end}" for end in (first, last)]
    return "-".join(dict.fromkeys(ends))


class _TextLoader(TextLoader):
    def load(self, data: Buffer) -> str:
        text = super().load(data)
        assert isinstance(text, str)
        return text.replace(NUL, "\0").replace(f"{ESCAPE}1", ESCAPE) if ESCAPE in text else text


class HalfVector(bytes):
    """A halfvec in the binary form of pgvector."""


class _HalfVectorDumper(Dumper):
    """Leaves the type to the server: its number is another in every database."""

    format = Format.BINARY

    def dump(self, obj: bytes) -> Buffer | None:
        return obj


def adapt_values(connection: Connection) -> None:
    connection.adapters.register_dumper(HalfVector, _HalfVectorDumper)
    connection.adapters.register_dumper(str, _TextDumper)
    connection.adapters.register_dumper(Glob, _GlobDumper)
    connection.adapters.register_loader("text", _TextLoader)
