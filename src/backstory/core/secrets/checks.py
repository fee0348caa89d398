"""Whether what a pattern took for a secret is one: code gives names, calls and placeholders where data gives a secret."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

Check = Callable[[bytes, Any], bool]
"""By the value and by the match."""

_PLACEHOLDER_WORDS = (
    "a abc access an and api app auth bar basic bearer change changeme client com confirm current default demo dev "
    "dummy email empty env environment example fake false field foo for from github guest hash hashed here hidden id in "
    "incorrect input insert invalid is key label local localhost me missing mock model must my name new nil no none "
    "not null of old openai optional or pass passwd password passwords placeholder postgres private public pwd real "
    "redacted repeat replace required reset root sample secret secrets secure sk some something str string strong "
    "super test testing text the this to todo token tokens true type undefined use user username value var variable "
    "with wrong x xx xxx xxxx xxxxx y yes you your z"
)
_PLACEHOLDERS = frozenset(_PLACEHOLDER_WORDS.split())
_LEAST_ENTROPY = 2.5  # bits for each character; a word that somebody made up has more
_LEAST_DENSITY = 4.0
_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-"
_LISTING = re.compile(
    rb"(?i)(?:next|page|starting|continuation|pagination|client|sync|request|resume|lock)[_-]?token\b"
)
_PARTS = re.compile(rb"[=;\s]+")
_HEX = re.compile(rb"[0-9a-f]{24,}")
_OPENED = (b"$", b"%", b"<", b"{", b"*", b"#", b"@", b"[redacted", b"...")


def _any(value: bytes, match: Any) -> bool:
    return True


def _is_random(value: bytes, match: Any) -> bool:
    """A prefix with a row of the same letter behind it, or with EXAMPLE, is how documents show a token."""
    return len(set(value[-16:])) >= 6 and b"EXAMPLE" not in value


def _is_credential(value: bytes, match: Any) -> bool:
    return _has_digit_and_letter(value) and not _is_placeholder(value) and _entropy(value) >= _LEAST_ENTROPY


def _is_password(value: bytes, match: Any) -> bool:
    return not _is_placeholder(value)


def _is_command_password(value: bytes, match: Any) -> bool:
    return not _is_placeholder(value) and not value.isdigit() and not _is_path(value)


def _is_assigned(value: bytes, match: Any) -> bool:
    """`token: str`, `password = get_password()` and `api_key = settings.key` assign no secret."""
    if (
        _is_placeholder(value)
        or b"://" in value
        or value.startswith(b"arn:")
        or any(byte in b" \t" for byte in value)
    ):
        return False
    if _is_no_secrets_name(match):
        return False
    is_quoted = match.start(4) < 0
    is_password = match.group(0)[:3].lower().lstrip(b"_-")[:2] in (b"pa", b"pw")
    if not is_quoted and (
        match.string[match.end() : match.end() + 1] in (b"(", b"[", b"{") or _is_path(value)
    ):
        return False
    if is_password:
        return (
            len(value) >= 6
            and (is_quoted or not value.replace(b"_", b"").isalpha())
            and _entropy(value) >= 1.5
        )
    return len(value) >= 12 and _has_digit_and_letter(value) and _entropy(value) >= _LEAST_ENTROPY


def _is_no_secrets_name(match: Any) -> bool:
    """`AWS::IAM::AccessKey` is a type, `arn:…:secret:…` a path; a token that says where a listing goes on opens
    nothing."""
    start = match.start()
    before = match.string[max(start - 40, 0) : start]
    return (
        before.endswith(b":")
        or b"::" in before[len(before.rstrip(_NAME)) :]
        or _goes_on(before + match.group(0))
    )


def _is_flag(value: bytes, match: Any) -> bool:
    return _is_credential(value, match) and not _goes_on(match.group(0))


def _goes_on(text: bytes) -> bool:
    return _LISTING.search(text) is not None


def _is_cookie(value: bytes, match: Any) -> bool:
    return any(
        len(part) >= 16 and (_is_mixed(part, match) or _HEX.fullmatch(part)) for part in _PARTS.split(value)
    )


def _is_path(value: bytes) -> bool:
    """`settings.auth.token`, `self.password`, `/etc/secret`, `./a`: names of things, not the things."""
    if value.startswith((b"/", b"./", b"../", b"~/")):
        return True
    names = value.split(b".")
    return len(names) > 1 and all(
        name.replace(b"_", b"a").isalnum() and not name[:1].isdigit() for name in names
    )


def _is_placeholder(value: bytes) -> bool:
    if value.startswith(_OPENED) or any(sign in value for sign in (b"${", b"{{", b"EXAMPLE")):
        return True
    letters = bytes(byte if chr(byte).isalpha() else 32 for byte in value.lower() if byte < 128)
    words = letters.decode("ascii").split()
    return len(set(value)) < 4 or (bool(words) and _PLACEHOLDERS.issuperset(words))


def _is_mixed(value: bytes, match: Any) -> bool:
    return (
        not value.isupper()
        and not value.islower()
        and _has_digit_and_letter(value)
        and _is_random(value, match)
    )


def _is_dense(value: bytes, match: Any) -> bool:
    """Small and large letters and digits without order; a path, a word and a hash in hexadecimal are none."""
    return _is_mixed(value, match) and _entropy(value) >= _LEAST_DENSITY


def _has_digit_and_letter(value: bytes) -> bool:
    return any(byte in b"0123456789" for byte in value) and any(chr(byte).isalpha() for byte in value)


def _entropy(value: bytes) -> float:
    """Bits for each character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


CHECKS: dict[str, Check] = {
    "any": _any,
    "random": _is_random,
    "credential": _is_credential,
    "password": _is_password,
    "command password": _is_command_password,
    "assigned": _is_assigned,
    "cookie": _is_cookie,
    "flag": _is_flag,
    "mixed": _is_mixed,
    "dense": _is_dense,
}
