"""Fit the order of conversations and its certainty on questions with known answers, and write search/weights.json.

    python scripts/fit_ranking.py QUESTIONS_DIRECTORY WORK_DIRECTORY [WORK_DIRECTORY ...] [--check]

Each WORK_DIRECTORY was prepared by `bench/questions.py` (with and without haystacks) and has a store for each state of the vectors. Both
models are linear. Printed figures are measured on conversations that were left out (five folds, split by conversation); `--check` writes
nothing. A question without an answer is the same question with the conversations that answer it taken out of the store,
and a small store is a random few of the conversations.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from backstory.app import open_core, read_settings
from backstory.core import Core
from backstory.domain.filters import EVERYTHING
from backstory.readers import reader_names
from backstory.search.certainty import SIGNS, signs
from backstory.search.evidence import Evidence, Gathering
from backstory.search.grouping import families
from backstory.search.question import read_question
from backstory.search.ranking import FEATURES, WEIGHTS, Family, features
from backstory.search.scoring import Scores, score

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
STATES = ("none", "tenth", "all")
FOLDS, PENALTY = 5, 5.0
STEPS, RATE = 300, 0.1
SMALL_STORES = (1, 2, 3, 5, 10)
SHARES = {"answered": 1.0, "unanswerable": 0.3, "small": 0.25, "small, unanswerable": 0.15}
"""The weight of each kind of sample when certainty is fitted: most questions have an answer."""
TOP = 10  # hits of each question that certainty is fitted on


class Sample(NamedTuple):
    """The hits of one question in one store."""

    question: dict[str, Any]
    store: str
    evidence: Evidence
    scores: Scores
    families: list[Family]
    is_right: Flags

    @property
    def fold(self) -> int:
        talks = (*self.question["conversations"], *self.question.get("parents", ()))
        return random.Random(min(talks)).randrange(FOLDS)

    def among(self, chosen: Sequence[int]) -> Sample:
        """As if only some of the conversations were in the store."""
        return self._replace(
            families=[self.families[number] for number in chosen], is_right=self.is_right[[*chosen]]
        )

    @property
    def table(self) -> Floats:
        return features(self.families, self.evidence, self.scores)


def samples(directory: Path, work: Path) -> Iterator[Sample]:
    sys.path.insert(0, str(directory))
    run_backstory = importlib.import_module("run_backstory")

    questions = [json.loads(line) for line in (directory / "questions.jsonl").read_text("utf-8").splitlines()]
    for state in STATES:
        if not (work / state).exists():
            continue
        core = open_core(read_settings({"home": work / state}))
        setattr(core.engine.backlog, "wake", lambda: None)  # noqa: B010  (the state stays as it is)
        for question in questions:
            evidence, scores = ask(core, question)
            found = [each for each in families(core.engine.store, evidence, scores) if each.head is not None]
            right = {*question["conversations"], *question.get("parents", ())}
            flags = [run_backstory.canonical(each.head) in right for each in found]
            yield Sample(question, f"{work.name}/{state}", evidence, scores, found, np.array(flags, bool))
        core.close()


def ask(core: Core, question: dict[str, Any]) -> tuple[Evidence, Scores]:
    is_then = question["kind"] == "temporal"
    now = datetime.fromisoformat(question["now"]) if is_then else datetime.now(UTC)
    store = core.engine.store
    asked = read_question(
        question["question"], core.caller.visible(EVERYTHING), now, store.conversations.projects, reader_names
    )
    evidence = Gathering(store, core.engine.backlog, asked.query, asked.where).evidence()
    return evidence, score(evidence)


def fit_order(tables: Sequence[tuple[Floats, Flags]]) -> Floats:
    """Weights that make the right one likely among the others, by gradient descent on the softmax."""
    tables = [(table, right) for table, right in tables if right.any() and not right.all()]
    rows, right = (
        np.concatenate([table for table, _ in tables]),
        np.concatenate([flags for _, flags in tables]),
    )
    sizes = np.array([len(table) for table, _ in tables])
    starts, owner = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(sizes)), sizes)
    scale = rows.std(0) + 1e-9
    rows = rows / scale
    weights, first, second = np.zeros((3, rows.shape[1]))
    for step in range(1, STEPS + 1):
        logits = rows @ weights
        odds = np.exp(logits - np.maximum.reduceat(logits, starts)[owner])
        likely = odds / np.add.reduceat(odds, starts)[owner]
        wanted = likely * right
        wanted /= np.maximum(np.add.reduceat(wanted, starts), 1e-12)[owner]
        slope = (rows.T @ (likely - wanted) + PENALTY * weights) / len(sizes)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        weights = weights - RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    fitted: Floats = weights / scale
    return fitted


def fit_certainty(rows: Floats, right: Flags, shares: Floats) -> Floats:
    """Logistic regression by Newton's method; the last weight is the constant."""
    rows = np.column_stack([rows, np.ones(len(rows))])
    weights = np.zeros(rows.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (shares * (likely - right)) + 0.1 * weights
        bend = (rows * (shares * likely * (1 - likely))[:, None]).T @ rows + 0.1 * np.eye(len(weights))
        weights = weights - np.linalg.solve(bend, slope)
    return weights


def variants(sample: Sample) -> Iterator[tuple[str, Sample]]:
    """The question asked of the store, of the store without the answer, and of small stores with and without it."""
    right, wrong = np.flatnonzero(sample.is_right).tolist(), np.flatnonzero(~sample.is_right).tolist()
    yield "answered", sample
    if wrong:
        yield "unanswerable", sample.among(wrong)
    chance = random.Random(sample.question["id"])
    for count in SMALL_STORES if len(wrong) > max(SMALL_STORES) else ():
        some = chance.sample(wrong, count)
        yield "small, unanswerable", sample.among(some)
        if right:
            yield "small", sample.among([right[0], *some[1:]])


def certain_rows(sample: Sample, order: Floats) -> tuple[Floats, Flags]:
    """The features of certainty for the first hits."""
    if not sample.families:
        return np.zeros((0, len(SIGNS))), np.zeros(0, bool)
    logits = sample.table @ order
    likely = np.exp(logits - logits.max())
    rows = signs(
        [family.places for family in sample.families], likely / likely.sum(), sample.evidence, sample.scores
    )
    best = np.argsort(-logits, kind="stable")[:TOP]
    return rows[best], sample.is_right[best]


def place(sample: Sample, order: Floats) -> int:
    ranking = np.argsort(-(sample.table @ order), kind="stable")
    hits = np.flatnonzero(sample.is_right[ranking])
    return int(hits[0]) + 1 if len(hits) else 0


def cross_validate(known: Sequence[Sample]) -> None:
    places: dict[str, list[int]] = {}
    sure: dict[tuple[str, str], list[tuple[float, bool]]] = {}
    for fold in range(FOLDS):
        kept = [sample for sample in known if sample.fold != fold]
        order, certainty = fit(kept)
        for sample in known:
            if sample.fold == fold:
                places.setdefault(sample.store, []).append(place(sample, order))
                for kind, variant in variants(sample):
                    rows, right = certain_rows(variant, order)
                    if len(rows):
                        chance = 1 / (1 + np.exp(-(rows[0] @ certainty[:-1] + certainty[-1])))
                        sure.setdefault((sample.store, kind), []).append((float(chance), bool(right[0])))
    for store, found in places.items():
        print(f"{store}: {sum(p == 1 for p in found)} / {sum(0 < p <= 5 for p in found)} of {len(found)}")
    for (store, kind), hits in sure.items():
        high = [right for chance, right in hits if chance >= 0.7]
        unsure = sum(chance < 0.5 for chance, _ in hits)
        share = f"{sum(high)} of {len(high)}" if high else "none"
        print(f"{store}, {kind}: right at 0.7 or more {share}; nothing sure for {unsure} of {len(hits)}")


def fit(known: Sequence[Sample]) -> tuple[Floats, Floats]:
    order = fit_order([(sample.table, sample.is_right) for sample in known])
    found = [
        (*certain_rows(variant, order), SHARES[kind])
        for sample in known
        for kind, variant in variants(sample)
    ]
    rows, right = (
        np.concatenate([rows for rows, _, _ in found]),
        np.concatenate([each for _, each, _ in found]),
    )
    return order, fit_certainty(
        rows, right, np.repeat([share for *_, share in found], [len(r) for r, *_ in found])
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("questions", type=Path)
    parser.add_argument("work", type=Path, nargs="+")
    parser.add_argument("--check", action="store_true", help="only measure, write nothing")
    options = parser.parse_args()
    known = [
        sample for work in options.work for sample in samples(options.questions.resolve(), work.resolve())
    ]
    cross_validate(known)
    if not options.check:
        order, certainty = fit(known)
        stored = {
            "order": dict(zip(FEATURES, order.round(3).tolist(), strict=True)),
            "certainty": dict(zip((*SIGNS, "constant"), certainty.round(3).tolist(), strict=True)),
        }
        WEIGHTS.write_text(json.dumps(stored, indent=2) + "\n", "utf-8")


if __name__ == "__main__":
    main()
