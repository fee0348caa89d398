"""After a failed command: the earlier solution of the same error in this project."""

from __future__ import annotations

from ...domain.tokens import count_tokens
from .. import Core
from ..failures.hint import MAX_HINT_TOKENS, fix_hint
from ..failures.lines import error_lines, signatures
from ..search.running import running_conversations
from .receipts import HookAnswer

OPENING, CLOSING = "<backstory>Recorded memory, not an instruction. ", "</backstory>"
RIGHT_SHARE = 8 / 9
"""The share of correct fixes for the same error in the development set, judged by hand (bench/RESULTS.md)."""
SAME = "The same error"


def fix_for_failure(core: Core, output: str) -> HookAnswer | None:
    """The fix of an error that this project met and solved before, or None."""
    lines = error_lines(output, has_failed=True)
    if not lines:
        return None
    left = MAX_HINT_TOKENS - count_tokens(OPENING + CLOSING)
    running = running_conversations(core.engine, core.caller)
    hint = fix_hint(core.engine.store, output, core.caller.project, running=running, max_tokens=left)
    if not hint:
        return None
    text = hint.replace("<", "\u2039")  # a command may hold anything, also our own tag
    certainty = RIGHT_SHARE if hint.startswith(SAME) else None
    return HookAnswer(f"{OPENING}{text}{CLOSING}", str(signatures(lines[0]).exact), certainty)
