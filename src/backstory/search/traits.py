"""Traits of each candidate: the speaker and the kind of conversation.

The kind decides whose words count. With a coding assistant the answer is usually the assistant's; in a chat with a
service the assistant repeats the user's words at length; between people everyone contributes, in short messages that
mean little without their neighbours. A memory, or the only message of its conversation, is judged by its own text
alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..domain.arrays import np
from ..domain.records import QUIET_ROLES
from ..readers import CHAT_SERVICES

if TYPE_CHECKING:
    from .evidence import Evidence, Flags, Floats

_WITH_ASSISTANTS = ("user", "assistant", "summary")


class Traits(NamedTuple):
    is_quiet: Flags
    """True for the input and output of tools, and for thinking."""
    is_assistant: Flags
    is_coding: Flags
    """Part of a conversation with a coding assistant."""
    is_between_people: Flags
    is_alone: Flags
    is_unanswered: Flags
    """All that was ever said to a coding assistant, which said nothing."""
    size: Floats
    """The size of each text in characters."""


def traits_of(evidence: Evidence) -> Traits:
    outlines = evidence.outlines
    roles = [outline.role for outline in outlines]
    is_message = np.array([bool(role) for role in roles], bool)
    is_between_people = evidence.is_said & np.array([role not in _WITH_ASSISTANTS for role in roles], bool)
    is_chat = np.array([outline.surface in CHAT_SERVICES for outline in outlines], bool)
    begins = np.array([outline.seq == 0 for outline in outlines], bool)
    is_coding = is_message & ~is_between_people & ~is_chat
    stands_alone = begins & (evidence.before < 0) & (evidence.after < 0)
    is_user = np.array([role == "user" for role in roles], bool)
    return Traits(
        is_quiet=np.array([role in QUIET_ROLES for role in roles], bool),
        is_assistant=np.array([role == "assistant" for role in roles], bool),
        is_coding=is_coding,
        is_between_people=is_between_people,
        is_alone=stands_alone & ~is_coding,
        is_unanswered=stands_alone & is_coding & is_user,
        size=np.array([outline.size for outline in outlines], np.float64),
    )
