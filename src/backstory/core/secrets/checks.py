"""Checks whether a match of a pattern is a secret: code has names, calls and placeholders where data has a secret."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from ...domain.lazy import lazy_pattern
from .randomness import is_random, random_bits

Check = Callable[[bytes, Any], bool]
"""Decides by the value and the match."""

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
_LEAST_ENTROPY = 2.5  # bits per character; invented words have more
_LEAST_DENSITY = 4.0
_LEAST_PASSWORD = 8
_SIGNS = frozenset(b"!@#$%^*?~+")
_ADDRESS = lazy_pattern(rb"@[A-Za-z0-9-]+\.[A-Za-z]")
_LEAST_BITS_WITH_DIGITS = -12.0  # `PKCS7PrivateKeyTypes` is a name
_LEAST_BITS_OF_A_KEY = 14.0  # the name says less here, so that the value must say more
_NAME = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_:-"
_LISTING = lazy_pattern(
    rb"(?i)(?:next|page|starting|continuation|pagination|client|sync|request|resume|lock|publickey|public[_-]key)[_-]?token\b"
)
_PASSWORD_NAME = lazy_pattern(rb"(?i)[_-]?p(?:ass|w)")
_VERB = lazy_pattern(rb"[Pp]ass\b|[a-z0-9]Pass\b")
"""A pass over a graph also has this name, and so do passing tests."""
_CODE = lazy_pattern(rb"-?0x[0-9a-fA-F]{1,8}|-[0-9]+")
"""A number that a program knows an error or a flag by."""
_PARTS = lazy_pattern(rb"[=;\s]+")
_HEX = lazy_pattern(rb"[0-9a-f]{24,}")
UUID = lazy_pattern(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_OPEN_KEYS = lazy_pattern(
    rb"(?i)(?:public|publishable|anon|cache|primary|foreign|sort|partition|object|row|hash|idempotency|content|unique|index|group"
    rb"|query|registry|host|block|state|map|search|storage|tracking|translation|item|resource|ssh|gpg|pgp|verify(?:ing)?|pub"
    rb"|site|recaptcha|issue|bucket|s3|etag|dedup\w*|cursor|node|record|entry|lookup|sitemap|measurement|project)[ _-]?key"
)
"""Keys that open nothing: they are public, or they find a thing."""
_OPENED = (b"$", b"%", b"<", b"{", b"*", b"#", b"@", b"[redacted", b"...")


def _any(value: bytes, match: Any) -> bool:
    return True


def _is_varied(value: bytes, match: Any) -> bool:
    """A prefix with a row of the same letter behind it, or with EXAMPLE, is how documents show a token."""
    return len(set(value[-16:])) >= 6 and b"EXAMPLE" not in value


def _is_credential(value: bytes, match: Any) -> bool:
    if is_placeholder(value):
        return False
    return is_random(value) or (has_digit_and_letter(value) and _entropy(value) >= _LEAST_ENTROPY)


def _is_value_of_a_key(value: bytes, match: Any) -> bool:
    """True if a value after the word "key" is a secret: a key may also be that of a table or a cache, and its value
    an id."""
    before: bytes = match.string[max(match.start() - 20, 0) : match.end() - len(value)]
    if (
        _OPEN_KEYS.search(before) is not None
        or is_placeholder(value)
        or UUID.fullmatch(value)
        or _is_compound(value)
    ):
        return False
    return is_random(value, _LEAST_BITS_OF_A_KEY)


def _is_compound(value: bytes) -> bool:
    """True for values such as `setup-uv-linux-9fceb02d0ae5`, whose words describe a cache key."""
    parts: list[bytes] = re.split(rb"[-_./+]", value)
    return sum(len(part) >= 4 and part.isalpha() and random_bits(part) < 0 for part in parts) > 1


def _is_stated(value: bytes, match: Any) -> bool:
    return is_mixed_password(value) or (not is_placeholder(value) and is_random(value, _LEAST_BITS_OF_A_KEY))


def is_mixed_password(value: bytes) -> bool:
    """Letters, digits and signs among each other, as a rule for passwords wants them and no word of a sentence has them."""
    return (
        len(value) >= _LEAST_PASSWORD
        and has_digit_and_letter(value)
        and not _SIGNS.isdisjoint(value[1:])
        and not is_placeholder(value)
        and not _ADDRESS.search(value)
    )


def _is_password(value: bytes, match: Any) -> bool:
    return not is_placeholder(value)


def _is_command_password(value: bytes, match: Any) -> bool:
    return not is_placeholder(value) and not value.isdigit() and not _is_path(value)


def _is_assigned(value: bytes, match: Any) -> bool:
    """`token: str`, `password = get_password()` and `api_key = settings.key` assign no secret."""
    if (
        is_placeholder(value)
        or b"://" in value
        or value.startswith(b"arn:")
        or _CODE.fullmatch(value)
        or any(byte in b" \t" for byte in value)
    ):
        return False
    if is_no_secrets_name(match):
        return False
    is_quoted = match.start(4) < 0
    if _VERB.match(match.group(0)):
        return (
            is_random(value) or is_mixed_password(value) or (len(value) >= 8 and has_digit_and_letter(value))
        )
    is_password = _PASSWORD_NAME.match(match.group(0)) is not None
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
    return is_random(value) or (
        len(value) >= 12
        and has_digit_and_letter(value)
        and _entropy(value) >= _LEAST_ENTROPY
        and random_bits(value) > _LEAST_BITS_WITH_DIGITS
    )


def is_no_secrets_name(match: Any) -> bool:
    """True for names that are not secrets: `AWS::IAM::AccessKey` is a type, `arn:…:secret:…` a path, and the
    continuation token of a listing opens nothing."""
    start = match.start()
    before = match.string[max(start - 40, 0) : start]
    return (
        before.endswith(b":")
        or b"::" in before[len(before.rstrip(_NAME)) :]
        or names_a_listing(before + match.group(0))
    )


def _is_flag(value: bytes, match: Any) -> bool:
    return _is_credential(value, match) and not names_a_listing(match.group(0))


def names_a_listing(text: bytes) -> bool:
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


def is_placeholder(value: bytes) -> bool:
    if value.startswith(_OPENED) or any(sign in value for sign in (b"${", b"{{", b"EXAMPLE")):
        return True
    letters = bytes(byte if chr(byte).isalpha() else 32 for byte in value.lower() if byte < 128)
    words = letters.decode("ascii").split()
    return len(set(value)) < 4 or (bool(words) and _PLACEHOLDERS.issuperset(words))


def _is_mixed(value: bytes, match: Any) -> bool:
    return (
        not value.isupper()
        and not value.islower()
        and (has_digit_and_letter(value) or is_random(value))
        and _is_varied(value, match)
    )


def _is_dense(value: bytes, match: Any) -> bool:
    """Small and large letters and digits without order; a path, a word and a hash in hexadecimal are none."""
    return _is_mixed(value, match) and _entropy(value) >= _LEAST_DENSITY


def has_digit_and_letter(value: bytes) -> bool:
    return any(byte in b"0123456789" for byte in value) and any(chr(byte).isalpha() for byte in value)


def _entropy(value: bytes) -> float:
    """Bits for each character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


CHECKS: dict[str, Check] = {
    "any": _any,
    "random": _is_varied,
    "credential": _is_credential,
    "password": _is_password,
    "command password": _is_command_password,
    "assigned": _is_assigned,
    "cookie": _is_cookie,
    "flag": _is_flag,
    "value of a key": _is_value_of_a_key,
    "stated": _is_stated,
    "mixed": _is_mixed,
    "dense": _is_dense,
}
