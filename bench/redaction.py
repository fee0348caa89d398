"""Which planted secrets redaction finds, what it takes for one in ordinary code, and how fast it is.

    python bench/redaction.py [DIRECTORY OF CODE ...] [--show] [--limit MB]

Without directories: the standard library and the packages of this environment. `--show` prints what was taken for a
secret: with documents and tests among the files, many of them are what it says, examples of secrets.
"""

from __future__ import annotations

import argparse
import re
import sys
import sysconfig
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.planted import PLANTED, plant

from backstory.core.secrets import Redactor

SEEDS = range(20)
SUFFIX = re.compile(r"\.(?:pyi?|[mc]?js|ts|json|md|rst|txt|toml|ya?ml|[ch]|cfg|ini|sh|html|css|xml|svg)")
SAMPLES = frozenset({"test", "tests", "examples", "awscli", "botocore"})
"""Directories whose files hold secrets on purpose: test vectors, and what the answers of a service look like."""
LARGEST = 400_000
LONGEST_LINE = 20_000
"""Longer ones are packed code, which has no lines to count."""
TOGETHER = 50


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


def code(directories: list[Path], limit: int) -> Iterator[tuple[Path, str]]:
    left = limit
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            if not SUFFIX.fullmatch(path.suffix) or path.is_symlink() or not path.is_file():
                continue
            if SAMPLES & set(path.relative_to(directory).parts):
                continue
            text = path.read_bytes()[: LARGEST + 1].decode("utf-8", "replace")
            if len(text) > LARGEST or max(map(len, text.split("\n"))) > LONGEST_LINE:
                continue
            left -= len(text)
            if left < 0:
                return
            yield path, text


def alarms(redactor: Redactor, files: list[tuple[Path, str]], show: bool) -> tuple[int, float]:
    """How many, and the seconds of CPU that it took."""
    found, seconds = 0, 0.0
    for start in range(0, len(files), TOGETHER):
        some = files[start : start + TOGETHER]
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
    places = [Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")]
    files = list(code(options.directories or places, options.limit * 1_000_000))
    lines, size = sum(text.count("\n") for _, text in files), sum(len(text) for _, text in files)
    found, seconds = alarms(redactor, files, options.show)
    print(f"code: {found} alarms in {lines:,} lines, {found / lines * 10_000:.2f} in 10,000")
    print(f"speed: {size / 1e6 / seconds:.0f} MB/s CPU over {size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
