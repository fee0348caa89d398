"""The subject of a conversation, from the words of its title and the user's first requests."""

from __future__ import annotations

from collections.abc import Iterable

from ..domain.lazy import lazy_pattern

GENERAL = "general"
OPENING = 8
"""The number of user messages to look at: the subject is mentioned at the beginning."""
_MAX_TEXT_CHARS = 2_000

_WORDS = {
    "debugging": "bug bugs debug debugging error errors exception fail fails failed failing failure broken breaks crash "
    "crashes crashed traceback stacktrace stack hang hangs fix fixed wrong regression segfault leak flaky undefined null",
    "architecture": "architecture architect design designs pattern patterns structure refactor refactoring schema module "
    "modules layer layers service services microservice migrate migration scale scaling component components decouple "
    "interface interfaces boundary boundaries system plan planning rewrite",
    "problem_solving": "how why problem problems issue issues solve solution solutions approach best better should "
    "alternative alternatives option options compare decide decision stuck investigate figure improve help",
    "technical": "api database sql query server deploy deployment docker kubernetes config configuration install build "
    "ci pipeline network http auth authentication token cache performance latency memory index endpoint version upgrade "
    "dependency dependencies package cloud aws linux git",
    "code_discussion": "code function functions class classes method methods variable implement implementation write add "
    "test tests review file files type types rename remove loop parse parser script comment comments docstring line lint",
}
_SUBJECT = {word: subject for subject, words in _WORDS.items() for word in words.split()}
_WEIGHT = {
    "debugging": 1.5,
    "architecture": 1.4,
    "problem_solving": 0.8,
    "technical": 1.0,
    "code_discussion": 0.9,
}
_WORD = lazy_pattern(r"[a-z]+")


def subject_of(title: str, opening: Iterable[str]) -> str:
    """One of the five that are named here, or `general` when their words do not occur."""
    scores = dict.fromkeys(_WORDS, 0.0)
    for text in (title, *opening):
        for word in _WORD.findall(text[:_MAX_TEXT_CHARS].lower()):
            if (subject := _SUBJECT.get(word)) is not None:
                scores[subject] += _WEIGHT[subject]
    best = max(scores, key=lambda subject: scores[subject])
    return best if scores[best] else GENERAL
