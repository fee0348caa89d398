"""Kill processes at random moments, thousands of times: nothing acknowledged is lost, nothing is half written.

    python bench/crash.py [KILLS]

Each kill is a SIGKILL for a process that is forked for it, at a moment drawn from twice the time that its
work takes, so that many are killed right after they have answered. Half of them
meet a tool (crash_tools.py), half a command (crash_commands.py). A process acknowledges through a pipe, as a server does.
At the end tools are acknowledged before they have done anything, which the lab must notice.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence

from crash_commands import command_trials
from crash_process import Outcome, Trial
from crash_tools import ToolTrial, tool_trials

LOST = "it was acknowledged and is lost"


def main(kills: int) -> int:
    chosen = random.Random(kills)
    started = time.monotonic()
    outcomes: list[Outcome] = []
    with tool_trials() as tools, command_trials() as commands:
        for number in range(kills):
            trials: Sequence[Trial] = tools if number % 2 else commands
            outcomes.append(chosen.choice(trials).run(chosen))
            if sys.stderr.isatty():
                print(f"\r{number + 1} of {kills}", end="", file=sys.stderr, flush=True)
        notices = _notices_haste(tools, chosen)
    _print(outcomes, time.monotonic() - started)
    if not notices:
        print("FAULT of the lab: answers before the commit were not noticed")
    return 1 if not notices or any(outcome.faults for outcome in outcomes) else 0


def _notices_haste(tools: Sequence[ToolTrial], chosen: random.Random) -> bool:
    for tool in tools:
        tool.is_hasty = True
    return any(LOST in tool.run(chosen).faults for tool in chosen.sample(tools, 10))


def _print(outcomes: Sequence[Outcome], took_s: float) -> None:
    kills: Counter[str] = Counter(outcome.trial for outcome in outcomes)
    early: Counter[str] = Counter(outcome.trial for outcome in outcomes if not outcome.is_acknowledged)
    for name, count in sorted(kills.items()):
        print(f"{name:<28} {count:>6} kills, {early[name]:>6} before the answer")
    for outcome in outcomes:
        for fault in outcome.faults:
            print(f"FAULT {outcome.trial}: {fault}")
    faults = sum(bool(outcome.faults) for outcome in outcomes)
    acknowledged = sum(outcome.is_acknowledged for outcome in outcomes)
    print(
        f"{len(outcomes)} kills, {len(outcomes) - acknowledged} before the answer; {acknowledged} acknowledged,"
        f" {faults} lost, half written or damaged; {took_s:.0f} s"
    )


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    sys.exit(main(numbers[0] if numbers else 500))
