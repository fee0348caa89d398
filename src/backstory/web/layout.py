"""Where the nodes of a graph stand: springs along its edges, and every node keeps off the others (Fruchterman, Reingold 1991).

The same graph always looks the same."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

STEPS = 60
WARMTH = 0.12  # of the width, that a node may move in the first step


def layout(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """For each node x and y from 0 to 1."""
    if count == 0:
        return []
    turn = np.arange(count) * 2.399963  # the golden angle: no two begin in one line
    reach = np.sqrt(np.arange(count) / max(count, 1)) / 2
    place = np.stack([reach * np.cos(turn), reach * np.sin(turn)], axis=1)
    ideal = 0.8 / np.sqrt(count)
    ends = np.array(edges, np.int64).reshape(-1, 2)
    for step in range(STEPS):
        apart = place[:, None, :] - place[None, :, :]
        distance = np.maximum(np.hypot(apart[:, :, 0], apart[:, :, 1]), 1e-3)
        force = np.einsum("ijk,ij->ik", apart, ideal**2 / distance**2)
        along = place[ends[:, 0]] - place[ends[:, 1]]
        pull = along * (np.sqrt((along**2).sum(1)) / ideal)[:, None]
        np.add.at(force, ends[:, 0], -pull)
        np.add.at(force, ends[:, 1], pull)
        length = np.maximum(np.sqrt((force**2).sum(1)), 1e-6)
        place += force / length[:, None] * np.minimum(length, WARMTH * (1 - step / STEPS))[:, None]
    low, high = place.min(0), place.max(0)
    fitted = (place - low) / np.maximum(high - low, 1e-9) if count > 1 else place + 0.5
    return [(round(float(x), 4), round(float(y), 4)) for x, y in fitted]
