"""Sets of entry numbers as arrays that ascend: numpy's own operations on sets hash what is in order already, and take ten
times as long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .entries import Numbers


def common(one: Numbers, other: Numbers) -> Numbers:
    """What is in both."""
    few, many = sorted((one, other), key=len)
    if not len(few):
        return few
    found: Numbers = few[many.take(np.searchsorted(many, few), mode="clip") == few]
    return found


def united(one: Numbers, other: Numbers) -> Numbers:
    """What is in any of them."""
    if not len(one) or not len(other):
        return one if len(one) else other
    both = np.concatenate([one, other])
    both.sort(kind="stable")
    found: Numbers = both[np.append(True, both[1:] != both[:-1])]
    return found
