"""Which requests of the user changed a file."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from ...domain.entries import Outline
from ...domain.lines import one_line
from ...store import Store
from ..quoting import sentences

PROMPT_CHARS = 2_000
"""The part of a prompt to read: enough to show it and to find the file in the user's text."""


SHORT_PROMPT_WORDS = 3
LOOKED_BACK = 3
"""Messages before a prompt: the last of the turn before it is among them."""
QUESTION_CHARS = 120


class FileWrite(NamedTuple):
    conversation: str
    """The main conversation of the family: edits of a subagent count for the request that started it."""
    place: int
    """The place of the message in it; -1 if only the time of the edit is known."""
    at: datetime


class UserRequest(NamedTuple):
    """A user's request, up to the next one."""

    conversation: str
    place: int
    """The place of the prompt; -1 for events before the first one."""
    end: int
    """The place of the next prompt, or the end of the conversation."""


class Requests:
    """The requests of conversations, looked up by place or by time."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._prompts: dict[str, dict[int, str]] = {}
        self._times: dict[str, dict[int, datetime]] = {}

    def at(self, conversation: str, place: int) -> UserRequest:
        """The request that a message belongs to."""
        places = list(self._prompts_of(conversation))
        number = bisect_right(places, place)
        end = places[number] if number < len(places) else self._store.messages.last_place(conversation) + 1
        return UserRequest(conversation, places[number - 1] if number else -1, end)

    def of(self, write: FileWrite) -> UserRequest:
        """The request that an edit was made for."""
        if write.place >= 0:
            return self.at(write.conversation, write.place)
        times = self._times_of(write.conversation)
        return self.at(
            write.conversation, max((each for each in times if times[each] <= write.at), default=-1)
        )

    def counted(self, writes: Iterable[FileWrite]) -> Counter[UserRequest]:
        """The number of changes of the file, by request."""
        return Counter(map(self.of, writes))

    def places(self, writes: Iterable[FileWrite]) -> dict[str, list[int]]:
        """The places at which each conversation changed the file. If only the time is known, the place of the request."""
        places: dict[str, list[int]] = {}
        for write in writes:
            place = write.place if write.place >= 0 else self.of(write).place
            places.setdefault(write.conversation, []).append(place)
        return places

    def prompt(self, request: UserRequest) -> str:
        """The user's text, or "" for events before the first prompt."""
        return self._prompts_of(request.conversation).get(request.place, "")

    def question_before(self, request: UserRequest) -> str:
        """The end of the assistant's last message before a short prompt, because "yes" alone has no meaning;
        otherwise ""."""
        if len(self.prompt(request).split()) > SHORT_PROMPT_WORDS:
            return ""
        before = self._store.messages.of(
            request.conversation, range(max(request.place - LOOKED_BACK, 0), max(request.place, 0))
        )
        answers = [each.text for each in before if each.role == "assistant" and each.text.strip()]
        ending = sentences(answers[-1])[-1:] if answers else []
        return one_line("".join(ending), QUESTION_CHARS)

    def begun_at(self, request: UserRequest) -> datetime | None:
        return self._times_of(request.conversation).get(request.place)

    def _prompts_of(self, conversation: str) -> dict[int, str]:
        if conversation not in self._prompts:
            self._prompts[conversation] = dict(self._store.messages.prompts(conversation, PROMPT_CHARS))
        return self._prompts[conversation]

    def _times_of(self, conversation: str) -> dict[int, datetime]:
        if conversation not in self._times:
            times = self._store.messages.prompt_times(conversation)
            self._times[conversation] = {place: begun for place, (begun, _) in times.items()}
        return self._times[conversation]


def writes_of(
    outlines: Iterable[Outline], times: Mapping[int, datetime], heads: Mapping[str, str]
) -> list[FileWrite]:
    """The edits in these messages, attributed to the main conversations."""
    return [
        FileWrite(head, each.seq if head == each.thread else -1, times[each.entry])
        for each in outlines
        if each.thread and (head := heads.get(each.thread, each.thread))
    ]
