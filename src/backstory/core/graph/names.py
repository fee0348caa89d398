"""Recognise the names of things in a text, each with the evidence its spelling gives."""

from __future__ import annotations

import errno
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

from ...domain.words import STOP_WORDS
from .facts import Thing, listed, thing

SERVICES = listed(
    "redis postgres postgresql mysql mariadb sqlite mongodb kafka rabbitmq elasticsearch opensearch nginx envoy"
    " memcached dynamodb cassandra kubernetes docker stripe adyen twilio sendgrid sentry datadog grafana prometheus"
    " github gitlab jenkins auth0 okta keycloak vault consul etcd airflow snowflake bigquery cloudflare vercel"
    " netlify heroku supabase firebase clickhouse celery graphql"
)
"""Names that denote a running system in any context."""

ORDINARY = listed(
    "JavaScript TypeScript GitHub GitLab LinkedIn YouTube DevOps MacOS WebSocket WebSockets OpenAI ChatGPT"
    " CoffeeScript PowerShell IntelliJ VSCode OAuth GraphQL MongoDB MySQL SQLite PostgreSQL DynamoDB RabbitMQ"
    " CircleCI StackOverflow BitBucket NoSQL WiFi PyPI IPv4 IPv6 README"
)
"""Names with a hump that are no classes."""

NO_ISSUES = listed(
    "UTF ISO SHA RFC HTTP HTTPS GPT ES PEP TLS SSL AES RSA MD X UTC GMT COVID IPV TCP UDP USB MP H GB MB KB CPU"
)
"""Words before a dash and a number that are not the project of an issue tracker."""

_EXTENSIONS = (
    "py|pyi|ipynb|tsx?|jsx?|mjs|cjs|vue|svelte|go|rs|java|kt|kts|scala|rb|php|cs|cpp|cc|hpp|c|h|swift|sh|bash|zsh|ps1"
    "|sql|proto|graphql|html?|s?css|less|json5?|jsonl|ya?ml|toml|ini|cfg|conf|env|xml|md|mdx|rst|txt|csv|lock|tf|gradle"
    "|db|log|pdf|png|svg|diff|patch"
)
_FOLDERS = "src|lib|apps|tests|packages|pkg|cmd|internal|scripts|migrations"

# Alternatives are tried in this order; each begins where a word begins, so a text is read once.
_PATTERN = rf"""
  (?P<url>\b(?:https?|wss?|postgres(?:ql)?|redis|mongodb)://[^\s<>"'`)\]}}]+)
| (?P<email>(?<![\w.+-])[\w.+-]+@[\w-]+\.[\w.-]+)
| (?P<scoped>(?<![\w@])@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*)
| (?P<person>(?<![\w@./`])@[A-Za-z][\w-]{{1,38}}(?![\w(./]*[(/]|\.\w))
| (?P<endpoint>\b(?:GET|POST|PUT|PATCH|DELETE|OPTIONS|HEAD)\s+/[\w/{{}}:.*-]*)
| (?P<file>(?<![\w@+/.\\-])(?:(?:[A-Za-z]:)?[\\/]|~/|\.{{1,2}}/)?(?:[\w@.+-]+[\\/])*
    (?:[\w@+-][\w@.+-]*\.(?:{_EXTENSIONS})|Dockerfile|Makefile|Cargo\.lock|\.env(?:\.\w+)?|\.gitignore)(?![\w/\\-]|\.\w)
  |(?<![\w@+/.\\-])(?:\.{{1,2}}/|~/)[\w@.+-]+(?:/[\w@.+-]+)*/?
  |(?<![\w@+/.\\-])(?:{_FOLDERS})/(?:[\w@.+-]+(?:/[\w@.+-]+)*/?)?)
| (?P<issue>\b[A-Z][A-Z0-9]{{1,9}}-\d{{1,6}}\b(?![-.]\d)|(?<![\w#&.-])(?:[\w.-]+/[\w.-]+)?\#\d{{1,6}}\b)
| (?P<error>\b(?:ERR_[A-Z0-9_]+|(?:TS|E)\d{{4}}\b|(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Fault)\b))
| (?P<config>\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b)
| (?P<call>\b[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)*\(\))
| (?P<dotted>\b[A-Za-z_]\w*(?:(?:\.|::)[A-Za-z_]\w*)+)
| (?P<humped>\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]*)+\b|\b[A-Z]{{2,8}}[a-z]{{3}}\w*\b)
| (?P<kebab>\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:service|api|worker|gateway|server|db|queue|proxy)\b)
| (?P<snake>\b_*[a-z][a-z0-9]*(?:_[A-Za-z0-9]+)+\b|\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]+)+\b)
| (?P<constant>\bE[A-Z]{{3,14}}\b)
| (?P<word>\b[A-Za-z][\w-]*)
"""

_TRAILING = ".,;:!?*"
_FRAMEWORKS = frozenset(
    ["node.js", "next.js", "vue.js", "express.js", "nuxt.js", "three.js", "d3.js", "e.g", "i.e"]
)


class NamedThing(NamedTuple):
    thing: Thing
    start: int
    end: int


@cache
def _compiled() -> re.Pattern[str]:
    return re.compile(_PATTERN, re.VERBOSE)


def find_names(sentence: str) -> Iterator[NamedThing]:
    """The names in a sentence, in order."""
    before = ""
    for match in _compiled().finditer(sentence):
        kind, text = match.lastgroup or "", match.group()
        thing = _thing(
            kind,
            text.rstrip(_TRAILING) if kind in ("url", "endpoint", "file") else text,
            before,
            sentence,
            match,
        )
        before = text.lower()
        if thing is not None:
            yield NamedThing(thing, match.start(), match.end())


def find_files(text: str) -> Iterator[str]:
    """The file names in a text. Other kinds of names are not looked up."""
    for match in _compiled().finditer(text):
        if match.lastgroup == "file" and (
            thing := _thing("file", match.group().rstrip(_TRAILING), "", text, match)
        ):
            yield thing.name


def _thing(kind: str, text: str, before: str, sentence: str, match: re.Match[str]) -> Thing | None:
    if kind == "word":
        return _word(text, before, sentence[match.end() : match.end() + 9], _ticked(sentence, match))
    if kind in ("file", "dotted") and text.lower() in _FRAMEWORKS:
        return None
    if kind in ("url", "endpoint", "file", "config", "error"):
        return thing(kind, text)
    if kind == "issue":
        return None if text.partition("-")[0] in NO_ISSUES else thing("issue", text)
    if kind == "person":
        return thing("person", text[1:])
    if kind == "call":
        return thing("function", text[:-2].replace("->", "."))
    if kind == "dotted":
        return _dotted(text, before, sentence, match)
    if kind == "humped":
        return _humped(text)
    return _other(kind, text)


def _other(kind: str, text: str) -> Thing | None:
    if kind == "scoped":
        return thing("package", text)
    if kind == "kebab":
        return thing("service", text)
    if kind == "snake":
        return thing("name", text)
    if kind == "constant" and text in _error_codes():
        return thing("error", text)
    return None


def _humped(text: str) -> Thing | None:
    if text.lower() in SERVICES:
        return thing("service", text)
    return None if text in ORDINARY else thing("class", text)


def _dotted(text: str, before: str, sentence: str, match: re.Match[str]) -> Thing | None:
    if before in ("import", "from", "module", "namespace"):
        return thing("module", text)
    following = sentence[match.end() : match.end() + 3].lstrip()
    if following[:1] == "=" or _is_about_settings(sentence):
        return thing("config", text) if text.islower() else thing("name", text)
    # a dot without a blank is often a missed blank ("done.Then"), so a plain pair of words is nothing
    return thing("name", text) if "_" in text or "::" in text or _ticked(sentence, match) else None


def _word(text: str, before: str, after: str, is_ticked: bool) -> Thing | None:
    lowered = text.lower()
    if lowered in SERVICES:
        return thing("service", text)
    if before in ("module", "namespace"):
        return thing("module", text) if lowered not in _plain() else None
    if before in ("package", "library", "crate", "dependency", "gem"):
        return thing("package", text) if lowered not in _plain() else None
    if is_ticked and len(text) > 1:
        return thing("name", text)
    if after.lower().startswith(" service") and lowered not in _plain() and len(text) > 2:
        return thing("service", f"{lowered}-service")
    return None


def _ticked(sentence: str, match: re.Match[str]) -> bool:
    return (
        sentence[match.start() - 1 : match.start()] == "`" and sentence[match.end() : match.end() + 1] == "`"
    )


@lru_cache(1)  # a sentence has many names, and may be a log without an end
def _is_about_settings(sentence: str) -> bool:
    return _settings().search(sentence) is not None


@cache
def _settings() -> re.Pattern[str]:
    return re.compile(
        r"\b(?:config(?:ure[ds]?|uration)?|settings?|set|flags?|options?|propert(?:y|ies)|env)\b", re.I
    )


@cache
def _error_codes() -> frozenset[str]:
    return frozenset(errno.errorcode.values()) | {"EAI_AGAIN", "ENOTFOUND", "ERESOLVE", "EINTEGRITY"}


@cache
def _plain() -> frozenset[str]:
    return STOP_WORDS | listed(
        "new old external internal third web micro rest api background customer main first same every each file files"
        " manager managers version versions update updates name names level self systemd no which called named"
        " depends requires needs uses calls imports contains extends implements provides handles"
    )
