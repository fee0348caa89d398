"""Make the table of related words that search uses while texts still wait for their vectors.

    python scripts/make_related_words.py DIRECTORY ...

The words are those that the documentation below the directories uses most (.md, .rst, .txt, and comments of .py and
.ts), such as that of installed packages. Each goes through the embedding model alone; its neighbours are the words
nearest to it once what all words have in common is taken away. The table is a fact about the model and its words.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from backstory.domain.words import STOP_WORDS
from backstory.search.minilm import MiniLM
from backstory.search.related import MOST_RELATED, NO_WORD, TABLE
from backstory.search.terms import stem
from backstory.search.wordpiece import VOCABULARY

KNOWN_IN = 10  # files that use a word which the model knows as one piece
OTHERS_IN = 60  # files that use any other word: names and typing errors are in few
LARGEST = 400_000
CONSIDERED = 50
LEAST_SIMILARITY = 0.35

_WORD = re.compile(r"[A-Za-z][a-z]{2,17}(?![A-Za-z])")
_COMMENT = re.compile(r'#.*|"""[\s\S]*?"""|//.*|/\*[\s\S]*?\*/')


def documents(directories: Sequence[Path]) -> Iterator[str]:
    seen = set()
    for path in (path for directory in directories for path in directory.rglob("*")):
        if path.suffix not in (".md", ".rst", ".txt", ".py", ".ts") or not path.is_file():
            continue
        size = path.stat().st_size
        if size > LARGEST or (path.name, size) in seen:
            continue
        seen.add((path.name, size))
        text = path.read_text("utf-8", errors="ignore")
        yield " ".join(_COMMENT.findall(text)) if path.suffix in (".py", ".ts") else text


def vocabulary(directories: Sequence[Path]) -> list[str]:
    used = Counter[str]()
    for text in documents(directories):
        used.update({word.lower() for word in _WORD.findall(text)})
    pieces = set(VOCABULARY.read_text("utf-8").split("\n"))
    return sorted(
        word
        for word, files in used.items()
        if word not in STOP_WORDS and files >= (KNOWN_IN if word in pieces else OTHERS_IN)
    )


def main(directories: Sequence[Path]) -> None:
    words = vocabulary(directories)
    model = MiniLM()
    vectors = np.concatenate([model.embed([word]) for word in words])
    vectors -= vectors.mean(0)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    stems = [stem(word) for word in words]
    neighbours = np.full((len(words), MOST_RELATED), NO_WORD, np.uint16)
    similarities = np.zeros((len(words), MOST_RELATED), np.uint8)
    for number, vector in enumerate(vectors):
        likeness = vectors @ vector
        seen = {stems[number]}
        place = 0
        for other in np.argsort(-likeness, kind="stable")[:CONSIDERED]:
            if likeness[other] < LEAST_SIMILARITY or place == MOST_RELATED:
                break
            if stems[other] not in seen:
                seen.add(stems[other])
                neighbours[number, place] = other
                similarities[number, place] = round(255 * float(likeness[other]))
                place += 1
    spelled = np.frombuffer("\n".join(words).encode("ascii"), np.uint8)
    np.savez_compressed(TABLE, words=spelled, neighbours=neighbours, similarities=similarities)
    print(f"{len(words)} words, {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
