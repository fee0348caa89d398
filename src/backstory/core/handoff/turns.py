"""The turns of a conversation that another assistant takes over: speech, tool calls as text, cut to a number of
tokens. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...domain.lines import one_line
from ...domain.neutral import neutral
from ...domain.records import Message, Trace, Trust
from ...domain.tokens import count_tokens
from ...readers import DraftTurn, Role

MAX_CALL_LINES = 8
"""The maximum number of lines for the tool calls of one turn; the others are counted."""
CALL_CHARS = 200
LONG_TURN_PART = 4
"""A turn longer than this fraction of the budget is reduced to its beginning and end."""
_CALLS = {"read": "read {}", "written": "edited {}", "command": "ran: {}", "error": "error: {}"}


def spoken_turns(messages: Iterable[Message], traces: Iterable[Trace]) -> tuple[list[DraftTurn], str]:
    """Merge adjacent messages of one role into turns. Thinking and messages of the harness are left out.

    Returns the turns and the assistant's last summary of its own conversation, or ""."""
    by_message: dict[str, list[Trace]] = {}
    for trace in traces:
        by_message.setdefault(trace.message, []).append(trace)
    turns: list[tuple[Role, list[str], list[str]]] = []
    summary = ""
    for message in messages:
        if message.role == "summary":
            summary = _safe(message)
        elif message.role in (Role.USER, Role.ASSISTANT):
            texts, text = _turn(turns, Role(message.role))[1], _safe(message)
            if texts[-1:] != [text]:  # an unanswered message is repeated as the prompt of the new session
                texts.append(text)
        elif message.role == "tool" and (calls := _calls(by_message.get(message.id, ()))):
            _turn(turns, Role.ASSISTANT)[2].extend(calls)
    return [DraftTurn(role, _joined(texts, calls)) for role, texts, calls in turns], summary


def _turn(turns: list[tuple[Role, list[str], list[str]]], role: Role) -> tuple[Role, list[str], list[str]]:
    """The last turn if it is of this role, else a new one."""
    if not turns or turns[-1][0] is not role:
        turns.append((role, [], []))
    return turns[-1]


def _safe(message: Message) -> str:
    return message.text if message.trust is Trust.OWN else neutral(message.text)


def _calls(traces: Sequence[Trace]) -> list[str]:
    """One line of text for each. The target must not take them for calls of its own."""
    lines = (_CALLS[trace.kind].format(one_line(neutral(trace.value), CALL_CHARS)) for trace in traces)
    return [f"[{line}]" for line in dict.fromkeys(lines)]


def _joined(texts: Sequence[str], calls: Sequence[str]) -> str:
    more = [f"[{len(calls) - MAX_CALL_LINES} more]"] if len(calls) > MAX_CALL_LINES else []
    return "\n\n".join([*texts, *(["\n".join([*calls[:MAX_CALL_LINES], *more])] if calls else [])])


def cut(turns: Sequence[DraftTurn], max_tokens: int) -> list[DraftTurn]:
    """The last turns that fit; at least one, shortened if need be."""
    chosen: list[DraftTurn] = []
    left = max_tokens
    for turn in reversed(turns):
        text = shortened(turn.text, max_tokens // LONG_TURN_PART)
        cost = count_tokens(text)
        if cost > left and chosen:
            break
        chosen.append(turn._replace(text=text))
        left -= cost
    return chosen[::-1]


def shortened(text: str, max_tokens: int) -> str:
    """The text, or its beginning and its end with the number of characters between them."""
    # no token of any script has more than 8 characters, so nothing beyond that can fit
    tokens = count_tokens(text) if len(text) <= 8 * max_tokens else max_tokens + 1
    if tokens <= max_tokens:
        return text
    half = min(len(text) // 2, 4 * max_tokens)
    while half > 1:
        left_out = f"\n[… {len(text) - 2 * half:,} characters left out …]\n"
        part = text[:half].rstrip() + left_out + text[-half:].lstrip()
        if len(part) < len(text) and count_tokens(part) <= max_tokens:
            return part
        half = half * 9 // 10
    return text[: max_tokens // 2]


def markdown(turns: Sequence[DraftTurn], names: Mapping[Role, str]) -> str:
    return "\n\n".join(f"## {names[turn.role]}\n\n{turn.text}" for turn in turns)
