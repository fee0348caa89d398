"""Blot out keys, tokens and passwords before a text is kept.

Texts of any size pass through here, so every pattern runs on RE2, whose time grows with the text and no faster. One
pattern looks where there may be anything; only there the rules are tried.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

_END = r"(?:[^A-Za-z0-9_-]|\z)"
_PEM = r"(?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----"
_BREAK = r"(?:\s|\\[nr])"
_SECRET_NAME = (
    r"(?i:pass(?:word|wd|phrase)|pwd|secret|token|credentials?|(?:api|access|account|auth|private|secret|signing|"
    r"encryption)[_-]?key)"
)
_VALUE = (
    r'(?:\\{0,2}"([^"\\\n]{4,256})\\{0,2}"|\\{0,2}\'([^\'\\\n]{4,256})\\{0,2}\''
    r'|([^\s"\'`\\,;()\[\]{}<>&|]{6,256}))'
)
_ASSIGNED = rf"{_SECRET_NAME}[0-9]{{0,2}}\\{{0,2}}[\"']?\s{{0,4}}(?::=|=>|[:=])\s{{0,4}}"

_BEARER = r"(?i:\b(?:bearer|basic)[ \t]+)"
_GUARDED_HINTS = rf"{_BEARER}[A-Za-z0-9._~+/-]{{16}}|://[^\s/:@]*:[^\s/@]+@|{_ASSIGNED}"
_WIDE_HINTS = r"@|[A-Za-z0-9_+/-]{24}"

_PLACEHOLDER_WORDS = (
    "a abc access an and api app auth bar basic bearer change changeme client com confirm current default demo dev "
    "dummy email empty env environment example fake false field foo for from github hash hashed here hidden id in "
    "incorrect input insert invalid is key label local localhost me missing mock model must my name new nil no none "
    "not null of old openai optional or pass passwd password passwords placeholder postgres private public pwd real "
    "redacted repeat replace required reset root sample secret secrets secure sk some something str string strong "
    "super test testing text the this to todo token tokens true type undefined use user username value var variable "
    "with wrong x xx xxx xxxx xxxxx y yes you your z"
)
_PLACEHOLDERS = frozenset(_PLACEHOLDER_WORDS.split())
_LEAST_ENTROPY = 2.5  # bits for each character; a word that somebody made up has more
_LEAST_WIDE_ENTROPY = 4.0


class Redacted(NamedTuple):
    text: str
    found: int


Guard = Callable[[bytes, Any], bool]
"""Whether what a pattern took for a secret is one, by its value and by the match; google-re2 has no types."""


class _Rule(NamedTuple):
    kind: str
    marks: tuple[bytes, ...]
    pattern: Any
    is_secret: Guard


class Redactor:
    """`mode` is standard, wide or off. Compiled once; `google-re2` is imported by the first one."""

    def __init__(self, mode: str) -> None:
        self._rules: list[_Rule] = []
        if mode == "off":
            return
        import re2  # not for start-up

        def compiled(pattern: str) -> Any:
            return re2.compile(pattern.encode())

        guarded = _GUARDED | (_WIDE if mode == "wide" else {})
        self._rules += [
            _Rule(kind, tuple(marks.encode().split()), compiled(pattern), _always)
            for kind, (marks, pattern) in _TOKENS.items()
        ]
        self._rules += [
            _Rule(kind, (b"",), compiled(pattern), guard) for kind, (pattern, guard) in guarded.items()
        ]
        marks = [re2.escape(mark.decode()) for rule in self._rules for mark in rule.marks if mark]
        hints = [*marks, _GUARDED_HINTS, *([_WIDE_HINTS] if mode == "wide" else [])]
        self._hint = compiled("|".join(hints))

    def redact(self, text: str) -> Redacted:
        """The text with `[redacted: kind]` in the place of each secret, and how many there were."""
        (redacted,), found = self.redact_all([text])
        return Redacted(redacted, found)

    def redact_all(self, texts: Sequence[str]) -> tuple[list[str], int]:
        """The same for many texts: looking through them as one is several times faster when they are short."""
        redacted = list(texts)
        if not self._rules:
            return redacted, 0
        raws = [text.encode("utf-8", "surrogatepass") for text in texts]
        ends = list(accumulate(len(raw) + 1 for raw in raws))
        hits = self._hint.finditer(b"\0".join(raws))
        count = 0
        for place in sorted({bisect_right(ends, hit.start()) for hit in hits}):
            raw, found = self._blotted(raws[place])
            if found:
                redacted[place] = raw.decode("utf-8", "surrogatepass")
                count += found
        return redacted, count

    def _blotted(self, raw: bytes) -> tuple[bytes, int]:
        count = 0
        for rule in self._rules:
            if any(mark in raw for mark in rule.marks):
                raw, found = _blotted(rule, raw)
                count += found
        return raw, count


def _blotted(rule: _Rule, raw: bytes) -> tuple[bytes, int]:
    parts: list[bytes] = []
    end = 0
    for match in rule.pattern.finditer(raw):
        group = next((g for g in range(1, rule.pattern.groups + 1) if match.start(g) >= 0), 0)
        if rule.is_secret(match.group(group), match):
            parts += (raw[end : match.start(group)], f"[redacted: {rule.kind}]".encode())
            end = match.end(group)
    return (b"".join((*parts, raw[end:])), len(parts) // 2) if parts else (raw, 0)


def _always(value: bytes, match: Any) -> bool:
    return True


def _is_credential(value: bytes, match: Any) -> bool:
    return _has_digit_and_letter(value) and not _is_placeholder(value)


def _is_password(value: bytes, match: Any) -> bool:
    return not _is_placeholder(value)


def _is_assigned_secret(value: bytes, match: Any) -> bool:
    """Code gives names, calls and types where data gives a secret: `token: str`, `password = get_password()`."""
    if _is_placeholder(value) or b"://" in value or any(byte in b" \t" for byte in value):
        return False
    is_quoted = match.start(3) < 0
    is_password = match.group(0)[:2].lower() in (b"pa", b"pw")
    if not is_quoted and (
        match.string[match.end() : match.end() + 1] in (b"(", b"[", b"{") or _is_path(value)
    ):
        return False
    if is_password:
        return len(value) >= 6 and (is_quoted or not value.isalpha()) and _entropy(value) >= 1.5
    return len(value) >= 12 and _has_digit_and_letter(value) and _entropy(value) >= _LEAST_ENTROPY


def _is_path(value: bytes) -> bool:
    """`settings.auth.token`, `self.password`, `/etc/secret`, `./a`: names of things, not the things."""
    if value.startswith((b"/", b"./", b"../", b"~/")):
        return True
    names = value.split(b".")
    return len(names) > 1 and all(
        name.replace(b"_", b"a").isalnum() and not name[:1].isdigit() for name in names
    )


def _is_placeholder(value: bytes) -> bool:
    if (
        value.startswith((b"$", b"%", b"<", b"{", b"*", b"#", b"@", b"[redacted"))
        or b"${" in value
        or b"{{" in value
    ):
        return True
    letters = bytes(byte if chr(byte).isalpha() else 32 for byte in value.lower() if byte < 128)
    words = letters.decode("ascii").split()
    return len(set(value)) < 4 or (bool(words) and _PLACEHOLDERS.issuperset(words))


def _is_dense(value: bytes, match: Any) -> bool:
    """Small and large letters and digits without order; a path, a word and a hash in hexadecimal are none."""
    is_mixed = not value.isupper() and not value.islower() and _has_digit_and_letter(value)
    return is_mixed and _entropy(value) >= _LEAST_WIDE_ENTROPY


def _has_digit_and_letter(value: bytes) -> bool:
    return any(byte in b"0123456789" for byte in value) and any(chr(byte).isalpha() for byte in value)


def _entropy(value: bytes) -> float:
    """Bits for each character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


# Of each kind what every match holds one of, and a pattern: what its first group that matched holds is the secret, or
# all of the match where there is no group.
_TOKENS: dict[str, tuple[str, str]] = {
    "aws key": ("AKIA ASIA ABIA ACCA", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b"),
    "google key": (
        "AIza GOCSPX- ya29.",
        r"\bAIza[0-9A-Za-z_-]{35}|\bGOCSPX-[0-9A-Za-z_-]{28}|\bya29\.[0-9A-Za-z_-]{30,}",
    ),
    "azure key": (
        "AccountKey= SharedAccessKey= sig=",
        r"(?:AccountKey|SharedAccessKey)=([A-Za-z0-9+/]{42,86}={1,2})|[?&]sig=([A-Za-z0-9%+/]{40,}(?:%3[Dd]|=))",
    ),
    "github token": (
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"\bgh[pousr]_[A-Za-z0-9]{36,251}|\bgithub_pat_[A-Za-z0-9_]{22,255}",
    ),
    "gitlab token": (
        "glpat- glptt- gldt- glrt- glcbt- glagent- glsoat-",
        r"\bgl(?:pat|ptt|dt|rt|cbt|agent|soat)-[0-9A-Za-z_-]{20,}",
    ),
    "slack token": (
        "xox xapp- hooks.slack.com",
        r"\bxox[abeoprs]-[0-9A-Za-z-]{10,}|\bxapp-[0-9]-[0-9A-Za-z-]{10,}"
        r"|hooks\.slack\.com/services/(T[0-9A-Z]{6,}/B[0-9A-Z]{6,}/[0-9A-Za-z]{16,})",
    ),
    "stripe key": (
        "k_live_ k_test_ whsec_",
        r"\b[rs]k_(?:live|test)_[0-9a-zA-Z]{16,}|\bwhsec_[0-9A-Za-z]{24,}",
    ),
    "npm token": ("npm_", r"\bnpm_[A-Za-z0-9]{36}\b"),
    "pypi token": ("pypi-AgE", r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    "anthropic key": ("sk-ant-", r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    "openai key": (
        "sk-",
        rf"\b(sk-(?:proj|svcacct|admin|or-v1)-[A-Za-z0-9_-]{{20,}})|\b(sk-[A-Za-z0-9]{{32,}}){_END}",
    ),
    "hugging face token": ("hf_", r"\bhf_[A-Za-z0-9]{30,}\b"),
    "sendgrid key": ("SG.", r"\bSG\.[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,}"),
    "digitalocean token": ("doo_v1_ dop_v1_ dor_v1_", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    "jwt": ("eyJ", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
    "private key": (
        "-----BEGIN",
        rf"-----BEGIN {_PEM}(?:(?:[^-]|-[^-])*-----END {_PEM}|{_BREAK}*[A-Za-z0-9+/=]{{40,}}(?:{_BREAK}+[A-Za-z0-9+/=]{{16,}})*)",
    ),
}
_GUARDED: dict[str, tuple[str, Guard]] = {
    "bearer token": (_BEARER + r"([A-Za-z0-9._~+/-]{16,}=*)", _is_credential),
    "password in a url": (
        r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s/:@\"'<>]{0,100}:([^\s/@\"'<>]{3,200})@[A-Za-z0-9\[]",
        _is_password,
    ),
    "secret": (_ASSIGNED + _VALUE, _is_assigned_secret),
}
_WIDE: dict[str, tuple[str, Guard]] = {
    "e-mail address": (
        r"\b[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}\b",
        _always,
    ),
    "high-entropy string": (r"\b([A-Za-z0-9_+/-]{24,}={0,2})", _is_dense),
}
