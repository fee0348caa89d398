"""How long a test waits for what will come: a hang ends it, and no busy machine does."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

PATIENCE_S = 240.0


def until(holds: Callable[[], bool]) -> None:
    """Wait for what another thread or process does."""
    pulse, deadline = threading.Event(), time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it never came to hold"
        pulse.wait(0.01)
