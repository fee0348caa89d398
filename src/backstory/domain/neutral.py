"""Make foreign text safe to show to a model by removing imitated roles, protocol tags and invisible characters.

The text stays readable: angle brackets become single guillemets, which no protocol uses, and a speaker's name at the
start of a line is enclosed in them."""

from __future__ import annotations

import re

from .lazy import lazy_pattern

_OPEN, _CLOSE = "\u2039", "\u203a"
_ROLES = "system|assistant|human|user|developer|tool|function|model|ai"
_TAG = lazy_pattern(
    rf"[<\uff1c]\s*(/?\s*(?:{_ROLES}|instructions?|invoke|parameter|antml|thinking|backstory|memory|memories|recalled|notices?"
    r"|important|admin|context)(?![a-z])[^<>\uff1c\uff1e]{0,200})[>\uff1e]",
    re.IGNORECASE,
)
_CHAT = lazy_pattern(r"<\|([^|<>\n]{1,60})\|>")
_BRACKETS = lazy_pattern(
    rf"\[(/?\s*(?:INST|SYS|{_ROLES})\b[^\[\]\n]{{0,40}})\]|<<?\s*(/?\s*(?:SYS|S))\s*>>?", re.IGNORECASE
)
_SPEAKER = lazy_pattern(rf"^([ \t>*#_`|-]*)({_ROLES})([*_` \t]*)([:\uff1a])", re.IGNORECASE | re.MULTILINE)
_INVISIBLE = lazy_pattern(
    "[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f"
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|(?<=[!-~])[\u200c\u200d](?=[!-~])"
)
"""The last alternative matches joiners of other scripts between two ASCII characters, where they only hide a word."""


def neutral(text: str) -> str:
    text = _INVISIBLE.sub("", text)
    text = _CHAT.sub(rf"{_OPEN}|\1|{_CLOSE}", text)
    text = _TAG.sub(rf"{_OPEN}\1{_CLOSE}", text)
    text = _BRACKETS.sub(lambda match: f"{_OPEN}{match[1] or match[2]}{_CLOSE}", text)
    return _SPEAKER.sub(rf"\1{_OPEN}\2{_CLOSE}\3\4", text)
