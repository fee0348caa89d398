"""Find the code in a text and have it read by what knows its language best."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from .facts import Facts
from .lexical import read_lines
from .python import read_python
from .trees import can_read, read_tree

LANGUAGES = {
    "py": "python", "python": "python", "python3": "python", "pycon": "python",
    "ts": "typescript", "typescript": "typescript", "tsx": "tsx", "mts": "typescript",
    "js": "javascript", "javascript": "javascript", "jsx": "javascript", "mjs": "javascript", "node": "javascript",
    "go": "go", "golang": "go", "rs": "rust", "rust": "rust",
    "java": "other", "kotlin": "other", "kt": "other", "c": "other", "cpp": "other", "c++": "other", "cs": "other",
    "csharp": "other", "php": "other", "ruby": "other", "rb": "other", "swift": "other", "scala": "other",
}  # fmt: skip
"""What people write behind a fence → the language that reads it. Any other fenced text is read as prose."""


class CodePiece(NamedTuple):
    text: str
    language: str | None
    """None for prose."""


def pieces(text: str) -> list[CodePiece]:
    """Prose and code in turn. A text without a fence is code as a whole, or prose."""
    if "```" not in text and "~~~" not in text:
        return [CodePiece(text, guess_language(text))]
    return list(_fenced(text))


def _fenced(text: str) -> Iterator[CodePiece]:
    lines: list[str] = []
    fence, language = "", None
    for line in text.splitlines(keepends=True):
        mark = line.lstrip()
        if fence and mark.startswith(fence) and not mark.strip(f"{fence[0]} \n\r"):
            yield CodePiece("".join(lines), language)
            lines, fence, language = [], "", None
        elif not fence and mark.startswith(("```", "~~~")):
            yield CodePiece("".join(lines), None)
            lines, fence = [], mark[:3]
            name = mark.strip("`~ \n\r").split(maxsplit=1)
            language = LANGUAGES.get(name[0].lower()) if name else None
        else:
            lines.append(line)
    if fence and language is None:
        language = guess_language("".join(lines))
    yield CodePiece("".join(lines), language)


@cache
def _signs() -> dict[str, re.Pattern[str]]:
    signs = {
        "python": r"^\s*(?:(?:async\s+)?def\s+\w+\s*\(|class\s+\w+[^{\n]*:\s*$|from\s+[\w.]+\s+import\s|import\s+[\w.]+\s*$|@\w+)",
        "go": r"^(?:package\s+\w+\s*$|func\s+(?:\([^)\n]*\)\s*)?\w+\s*\(|type\s+\w+\s+(?:struct|interface)\b)",
        "rust": r"^\s*(?:pub(?:\([^)\n]*\))?\s+)?(?:fn\s+\w+|impl\b|struct\s+\w+|enum\s+\w+|trait\s+\w+|use\s+[\w:]+)[^\n]*[{;]\s*$",
        "typescript": r"^\s*(?:export\s+)?(?:default\s+)?(?:import\s.*from\s*['\"]|(?:async\s+)?function\s+\w+\s*[(<]|(?:abstract\s+)?class\s+\w+[^\n]*\{|interface\s+\w+[^\n]*\{|const\s+\w+\s*[:=])",
    }
    return {language: re.compile(sign, re.MULTILINE) for language, sign in signs.items()}


def guess_language(text: str) -> str | None:
    """The language of a text that is code from end to end, else None: a sentence about code is no code."""
    lines = [line for line in text[:4_000].splitlines() if line.strip()]
    if len(lines) < 2:
        return None
    coded = sum(
        line.rstrip().endswith(("{", "}", ";", ":", "(", ")", ",")) or line[0] in " \t" for line in lines
    )
    matches = {language: len(sign.findall(text[:4_000])) for language, sign in _signs().items()}
    language = max(matches, key=lambda each: matches[each])
    is_code = matches[language] > 0 and coded + matches[language] >= 0.6 * len(lines)
    return language if is_code else None


def read_code(piece: CodePiece, facts: Facts) -> bool:
    """Whether the piece was code that could be read."""
    language = piece.language or ""
    if language == "python":
        if read_python(piece.text, facts):
            return True
    else:
        if can_read(language) and read_tree(piece.text, language, facts):
            return True
    return read_lines(piece.text, facts)
