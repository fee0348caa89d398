"""Measure which planted secrets redaction finds, what it mistakes for one in ordinary code, and its speed.

    python bench/redaction.py [DIRECTORY OF CODE ...] [--show] [--limit MB]

The contexts of `tests/planted_contexts.py` are counted in two halves: rules are written with the misses of the first one in view,
never with those of the second. Without directories: the standard library and the packages of this environment. `--show` prints what was taken for a
secret: with documents and tests among the files, many of them are what it says, examples of secrets.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.planted import PLANTED, plant
from tests.planted_contexts import is_held_out, samples

from backstory.core.secrets import Redactor

SEEDS = range(20)
SAMPLES_EACH = 5
FAMILIES = {
    "Python": "py pyi",
    "JavaScript": "js mjs cjs jsx",
    "TypeScript": "ts tsx",
    "Go": "go",
    "Rust": "rs",
    "PHP": "php",
    "Ruby": "rb",
    "Java": "java kt",
    "C": "c h",
    "shell": "sh bash",
    "settings": "json toml yaml yml cfg ini pp xml",
    "documents": "md rst txt html svg css",
}
FAMILY_OF = {f".{suffix}": family for family, suffixes in FAMILIES.items() for suffix in suffixes.split()}
SAMPLES = frozenset({"test", "tests", "examples", "awscli", "botocore"})
"""Directories whose files hold secrets on purpose: test vectors, and what the answers of a service look like."""
MAX_FILE_CHARS = 400_000
MAX_LINE_CHARS = 20_000
"""Longer ones are packed code, which has no lines to count."""
BATCH_FILES = 50


def missed(redactor: Redactor) -> dict[str, int]:
    """By kind, of how many seeds something was left."""
    left: dict[str, int] = {}
    for kind, template in PLANTED.items():
        for seed in SEEDS:
            text, secrets = plant(template, seed)
            redacted = redactor.redact(f"I ran this:\n{text}\nand it worked.").text
            if "[redacted: " not in redacted or any(secret in redacted for secret in secrets):
                left[kind] = left.get(kind, 0) + 1
    return left


def contexts(redactor: Redactor) -> tuple[Counter[bool], Counter[bool]]:
    """The number of found and planted secrets, for contexts in view and for held-out ones."""
    found: Counter[bool] = Counter()
    total: Counter[bool] = Counter()
    for sample in samples(SAMPLES_EACH):
        redacted = redactor.redact(f"I ran this:\n{sample.text}\nand it worked.").text
        total[is_held_out(sample.context)] += 1
        found[is_held_out(sample.context)] += "[redacted: " in redacted and sample.secret not in redacted
    return found, total


def code(directories: list[Path], limit: int) -> Iterator[tuple[Path, str]]:
    left = limit
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            if path.suffix not in FAMILY_OF or path.is_symlink() or not path.is_file():
                continue
            if SAMPLES & set(path.relative_to(directory).parts):
                continue
            text = path.read_bytes()[: MAX_FILE_CHARS + 1].decode("utf-8", "replace")
            if len(text) > MAX_FILE_CHARS or max(map(len, text.split("\n"))) > MAX_LINE_CHARS:
                continue
            left -= len(text)
            if left < 0:
                return
            yield path, text


def alarms(redactor: Redactor, files: list[tuple[Path, str]], show: bool) -> tuple[int, float]:
    """The number of alarms, and the seconds of CPU that they took."""
    found, seconds = 0, 0.0
    for start in range(0, len(files), BATCH_FILES):
        some = files[start : start + BATCH_FILES]
        begun = time.process_time()
        redacted, count = redactor.redact_all([text for _, text in some])
        seconds += time.process_time() - begun
        found += count
        for (path, before), after in zip(some, redacted, strict=True):
            if show and before != after:
                print(path, re.findall(r".{0,60}\[redacted: [^\]]+\]", after))
    return found, seconds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("directories", nargs="*", type=Path)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--limit", type=int, default=80, help="MB of code")
    options = parser.parse_args()
    redactor = Redactor("standard")
    left = missed(redactor)
    print(
        f"planted: {len(PLANTED) - len(left)} of {len(PLANTED)} kinds found for each of {len(SEEDS)} seeds",
        left or "",
    )
    found_of, total_of = contexts(redactor)
    for half in (False, True):
        name = "held out" if half else "in view"
        print(
            f"contexts {name}: {found_of[half]:,} of {total_of[half]:,}, {found_of[half] / total_of[half]:.1%}"
        )
    places = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    files = list(code(options.directories or places, options.limit * 1_000_000))
    seconds = 0.0
    for family in FAMILIES:
        some = [(path, text) for path, text in files if FAMILY_OF[path.suffix] == family]
        found, spent = alarms(redactor, some, options.show)
        seconds += spent
        if lines := sum(text.count("\n") for _, text in some):
            print(f"{family}: {found} alarms in {lines:,} lines, {found / lines * 40_000:.2f} in 40,000")
    size = sum(len(text) for _, text in files)
    print(f"speed: {size / 1e6 / seconds:.0f} MB/s CPU over {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
