"""Write src/backstory/core/secrets/letter_pairs.txt: how often letters follow each other in the words of code.

    python scripts/make_letter_pairs.py DIRECTORY OF CODE ...

Every word of four characters and more counts once for each doubling of its occurrences: what is repeated is what the next text
has too. Words with a long row of hexadecimal digits are hashes and do not count."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from backstory.core.secrets.randomness import KIND_OF, PAIRS_FILE

WORD = re.compile(r"[A-Za-z0-9_\-+/=.:]{4,60}(?![A-Za-z0-9_\-+/=.:])")
HASH = re.compile(r"[0-9a-fA-F]{16}")
SUFFIX = re.compile(r"\.(?:py|go|[mc]?[jt]s|php|rb|md|rst|json|ya?ml)")
MAX_FILE_CHARS = 300_000
MAX_DIRECTORY_CHARS = 12_000_000
MAX_LINE_CHARS = 5_000  # longer ones are packed code
MAX_BITS = 4.0  # either way: one rare pair must not decide


def texts(directory: Path) -> Iterator[str]:
    left = MAX_DIRECTORY_CHARS
    for path in sorted(directory.rglob("*")):
        if not SUFFIX.fullmatch(path.suffix) or not path.is_file():
            continue
        text = path.read_bytes()[:MAX_FILE_CHARS].decode("utf-8", "replace")
        if max(map(len, text.split("\n"))) > MAX_LINE_CHARS:
            continue
        left -= len(text)
        if left < 0:
            return
        yield text


def words(directories: list[Path]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for directory in directories:
        for text in texts(directory):
            counts.update(word for word in WORD.findall(text) if not HASH.search(word))
    return counts


def main() -> None:
    letters = [[1.0] * 26 for _ in range(26)]
    kinds = [[1.0] * 4 for _ in range(4)]
    for word, count in words([Path(each) for each in sys.argv[1:]]).items():
        weight = 1 + math.log2(count)
        raw = word.encode()
        for before, after in pairwise(raw):
            kinds[KIND_OF[before]][KIND_OF[after]] += weight
            if KIND_OF[before] < 2 and KIND_OF[after] < 2:
                letters[(before | 32) - 97][(after | 32) - 97] += weight
    rows = [[math.log2(count / sum(row)) for count in row] for row in kinds]
    rows += [[_bounded(math.log2(26 * count / sum(row))) for count in row] for row in letters]
    PAIRS_FILE.write_text("\n".join(" ".join(f"{bits:.1f}" for bits in row) for row in rows) + "\n")


def _bounded(bits: float) -> float:
    return max(-MAX_BITS, min(MAX_BITS, bits))


if __name__ == "__main__":
    main()
