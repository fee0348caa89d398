"""Colour for code: comments, strings, numbers and keywords, by a pattern for each family of languages.

A parser would colour more; a page shows fragments, which no parser reads."""

from __future__ import annotations

import re
from functools import cache
from pathlib import PurePosixPath

from markupsafe import Markup, escape

MAX_COLOURED_CHARS = 200_000
_HASH, _SLASHES, _DASHES, _TAGS = r"#[^\n]*", r"//[^\n]*|/\*.*?(?:\*/|\Z)", r"--[^\n]*", r"<!--.*?(?:-->|\Z)"
_QUOTED = r'"(?:\\.|[^"\\\n])*"?|\'(?:\\.|[^\'\\\n])*\'?'
_TRIPLE = r'"""(?:\\.|[^\\])*?(?:"""|\Z)|\'\'\'(?:\\.|[^\\])*?(?:\'\'\'|\Z)'
_BACKTICKS = r"`(?:\\.|[^`\\])*(?:`|\Z)"
_PYTHON = (
    "and as assert async await break case class continue def del elif else except finally for from global if import in is"
    " lambda match nonlocal not or pass raise return try while with yield None True False self"
)
_C_LIKE = (
    "abstract as async await bool boolean break case catch char class const continue default defer delete do double else enum"
    " export extends false final finally float fn for func function go if impl implements import in instanceof int interface let"
    " long match mod mut namespace new nil null override package private protected pub public readonly return self short static"
    " string struct super switch this throw trait true try type typeof undefined unsafe use using var void where while yield"
)
_SHELL = (
    "case do done elif else esac export fi for function if in local return set then until while sudo cd echo"
)
_SQL = (
    "add all alter and as asc between by case create default delete desc distinct drop else end exists foreign from group having"
    " in index insert into is join key left like limit not null on or order outer primary references select set table then"
    " union unique update values view when where with"
)
_RUBY = "begin class def do else elsif end ensure false if module nil require rescue return self true unless until when while yield"

_FAMILIES = {
    "py python pyi": (_HASH, f"{_TRIPLE}|{_QUOTED}", _PYTHON),
    "js jsx ts tsx mjs cjs javascript typescript vue svelte": (_SLASHES, f"{_BACKTICKS}|{_QUOTED}", _C_LIKE),
    "go golang": (_SLASHES, f"{_BACKTICKS}|{_QUOTED}", _C_LIKE),
    "c h cc cpp cxx hpp cs csharp java kt kotlin swift scala dart php rs rust zig proto css scss less": (_SLASHES, _QUOTED, _C_LIKE),
    "sh bash zsh shell console fish dockerfile makefile make": (_HASH, _QUOTED, _SHELL),
    "yaml yml toml ini conf cfg env properties": (_HASH, _QUOTED, "true false null yes no on off"),
    "json json5 jsonc jsonl": (_SLASHES, _QUOTED, "true false null"),
    "sql sqlite postgres postgresql mysql": (_DASHES, _QUOTED, _SQL),
    "lua hs haskell elm": (_DASHES, _QUOTED, f"{_C_LIKE} local then end elseif data module instance deriving"),
    "rb ruby": (_HASH, _QUOTED, _RUBY),
    "html xml svg htm": (_TAGS, _QUOTED, ""),
}  # fmt: skip
_BY_LANGUAGE = {name: family for names, family in _FAMILIES.items() for name in names.split()}


def language_of(path: str) -> str:
    """The language of a file, by its extension or name."""
    name = PurePosixPath(path.replace("\\", "/")).name.lower()
    return name.rpartition(".")[2]


def coloured(text: str, language: str) -> Markup:
    """The text with a class around each part that has a colour; escaped and nothing more where the language is not known."""
    pattern = _pattern(language.lower())
    if pattern is None or len(text) > MAX_COLOURED_CHARS:
        return escape(text)
    parts, end = [], 0
    for match in pattern.finditer(text):
        parts.append(escape(text[end : match.start()]))
        # one span for each line, so that lines can be shown apart
        lines = match[0].split("\n")
        spans = (Markup('<span class="c-{}">{}</span>').format(match.lastgroup, line) for line in lines)
        parts.append(Markup("\n").join(spans))
        end = match.end()
    return Markup("").join([*parts, escape(text[end:])])


@cache
def _pattern(language: str) -> re.Pattern[str] | None:
    family = _BY_LANGUAGE.get(language)
    if family is None:
        return None
    comment, string, keywords = family
    kinds = [f"(?P<comment>{comment})", f"(?P<string>{string})"]
    if keywords:
        kinds.append(rf"(?P<keyword>\b(?:{'|'.join(keywords.split())})\b)")
    kinds.append(r"(?P<number>\b(?:0x[0-9a-fA-F_]+|\d[\d_]*(?:\.\d+)?)\b)")
    flags = re.DOTALL | (re.IGNORECASE if keywords is _SQL else 0)
    return re.compile("|".join(kinds), flags)
