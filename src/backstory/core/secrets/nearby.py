"""Secrets that follow their name in a sentence, a call, a command or markup, with a few words or signs in between.

One pattern of names, words and values would need more states than a scanner can hold, so a pattern finds the names
and this module reads on from each.
"""

from __future__ import annotations

import re
from typing import Any

import re2

from ...domain.lazy import lazy_pattern
from .checks import UUID, is_mixed_password, is_no_secrets_name, is_placeholder
from .randomness import is_random

GAP_CHARS = 70
MIN_VALUE_CHARS = 16
MIN_BITS = 6.0
MIN_TIED_BITS = 14.0  # `token-` and `secret_` begin many names
_VALUE_START = lazy_pattern(rb"[A-Za-z0-9+/_.~-]{16}")
_VALUE = lazy_pattern(rb"[A-Za-z0-9+/_.~-]{15,}[A-Za-z0-9+/_-]={0,2}")
# up to six short words and signs
_GAP = re2.compile(rb"(?:[^A-Za-z0-9]{1,6}[A-Za-z][A-Za-z'-]{0,14}){0,6}[^A-Za-z0-9]{1,10}")
_NO_GAP = lazy_pattern(rb"[+/~]|.*(?:@|://|\{\{|\$\{|\$\(|[;}[]|,.*,)", re.DOTALL)
"""The rest of a longer value, of a URL or of a placeholder, or the way to another value."""
_PASSWORD_NAME = lazy_pattern(rb"(?i).?pass|pwd|.?pw")
_PASSWORD = lazy_pattern(rb"[^\s\"'`,;()<>{}=\\|]*[!@#$%^*?~+][^\s\"'`,;()<>{}=\\|]*")
_REFERENCE = lazy_pattern(rb"\$\{?\w*$")
_OTHER_THINGS = lazy_pattern(
    rb"(?i)(?:id|uuid|hash|sha|digest|checksum|fingerprint|commit|revision|version|name|file|path|url|uri|arn|type|ref|user"
    rb"|username|thumbprint|etag|integrity|signature|nonce|salt|oid)s?|[A-Za-z]+(?-i:Id|ID|Uuid|UUID|Hash|Name|Url|Ref)"
)
"""The last word before a value that is not the secret itself."""


def value_behind(name: Any) -> tuple[int, int] | None:
    """The span of the secret that belongs to the match of a name."""
    text, start = name.string, name.end(1)
    if _is_no_definition(name):
        return None
    at = _VALUE_START.search(text, start, start + GAP_CHARS + MIN_VALUE_CHARS)
    if at and at.start() == start:
        return _tied_value(name)
    if at and _leads_to(text[start : at.start()]):
        value = _VALUE.match(text, at.start())
        if value and _is_secret(value[0], name, MIN_BITS):
            return value.span()
    return _password_behind(text, start) if _PASSWORD_NAME.match(name.group(1)) else None


def _tied_value(name: Any) -> tuple[int, int] | None:
    """The value that a sign ties to its name, as in a branch. Within a longer row of letters it is no name."""
    text, start = name.string, name.end(1) + 1
    is_word = not text[max(name.start() - 1, 0) : name.start()].isalnum()
    value = _VALUE.match(text, start) if is_word else None
    return value.span() if value and _is_secret(value[0], name, MIN_TIED_BITS) else None


def _password_behind(text: bytes, start: int) -> tuple[int, int] | None:
    value = _PASSWORD.search(text, start + 1, start + GAP_CHARS)
    if not value or not _leads_to(text[start : value.start()]):
        return None
    password = value[0].rstrip(b".!?")
    return (value.start(), value.start() + len(password)) if is_mixed_password(password) else None


def _is_no_definition(name: Any) -> bool:
    """True if a name is no definition: `$TOKEN` is a reference, `pass` alone is a verb, and a redaction contains its kind."""
    text, start = name.string, name.start()
    before = text[max(start - 40, 0) : start]
    return (
        _REFERENCE.search(before) is not None
        or name.group(1) in (b"pass", b"Pass")
        or b"[redacted: " in before[before.rfind(b"]") + 1 :]
    )


def _leads_to(gap: bytes) -> bool:
    """True if the words and signs between name and value connect the two."""
    if len(gap) > GAP_CHARS or _NO_GAP.match(gap) or not _GAP.fullmatch(gap):
        return False
    words = re.findall(rb"[A-Za-z]+", gap)
    return not words or not _OTHER_THINGS.fullmatch(words[-1])


def _is_secret(value: bytes, name: Any, min_bits: float) -> bool:
    if is_placeholder(value) or is_no_secrets_name(name):
        return False
    return is_random(value, min_bits) or UUID.fullmatch(value) is not None
