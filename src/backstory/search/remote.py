"""One path of an OpenAI-compatible server: a JSON question, a JSON answer, within a time limit.

The key goes to the configured host and nowhere else: not through a redirect, not into a message.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from ..domain.errors import InvalidInput, Unavailable
from ..domain.lazy import lazy_module

if TYPE_CHECKING:
    from http import client
    from urllib import request

    from .. import exchange as http
else:  # 20 ms, for those who have set an endpoint
    client = lazy_module("http.client")
    request = lazy_module("urllib.request")
    http = lazy_module("backstory.exchange")

LARGEST_REPLY = 64 * 1024 * 1024
FIRST_PAUSE_S = 0.25


class Remote:
    """`name` is what its settings start with: `embeddings_url`, `embeddings_key`. Every request, including its retries,
    ends within `timeout_s`."""

    def __init__(
        self,
        *,
        name: str,
        url: str,
        path: str,
        key: str = "",
        timeout_s: float = 10.0,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._name, self._path = name, path
        self._address = _checked_address(url, name)
        # the error of a header that http.client refuses would contain the key
        if not (key.isascii() and key.isprintable()):
            raise InvalidInput(f"{name}_key must be printable ASCII.", field=f"{name}_key")
        self._key = key
        self._timeout_s, self._clock, self._wait = timeout_s, clock, wait

    @property
    def host(self) -> str:
        return self._address.netloc

    def ask(self, question: dict[str, Any]) -> Any:
        """The answer; raises Unavailable. Busy and failing servers are asked again for as long as there is time."""
        body = json.dumps(question).encode()
        deadline = self._clock() + self._timeout_s
        pause_s = FIRST_PAUSE_S
        while True:
            status, headers, reply = self._post(body, deadline)
            if 200 <= status < 300:
                return self._decoded(reply)
            if status != 429 and status < 500:
                raise self.unavailable(f"answered {status}", hint=self._hint(status))
            # its other form, a date, is rare and not worth a wall clock
            asked_for = headers.get("Retry-After", "")
            wait_s = float(asked_for) if asked_for.isdecimal() else pause_s
            if self._clock() + wait_s >= deadline:
                raise self.unavailable(
                    f"answered {status} and asks to wait longer than {self._timeout_s:g} s"
                )
            self._wait(wait_s)
            pause_s *= 2

    def unavailable(self, happened: str, hint: str = "") -> Unavailable:
        if self._key:
            happened = happened.replace(self._key, "***")
        return Unavailable(f"The {self._name} endpoint {self.host} {happened}.", hint=hint)

    def _decoded(self, reply: bytes) -> Any:
        try:
            return json.loads(reply)
        except (ValueError, RecursionError) as error:
            raise self.unavailable(f"did not send JSON: {error}") from error

    def _hint(self, status: int) -> str:
        if status < 400:
            return f"It redirects elsewhere: set {self._name}_url to the final address."
        if status == 404:
            return f"Check {self._name}_url and {self._name}_model."
        return f"Check {self._name}_key." if status in (401, 403) else ""

    def _post(self, question: bytes, deadline: float) -> http.HttpReply:
        headers = {"Content-Type": "application/json"}
        if self._key:
            headers["Authorization"] = f"Bearer {self._key}"
        post = request.Request(f"{self._address.geturl().rstrip('/')}{self._path}", question, headers)
        try:
            if (left_s := deadline - self._clock()) <= 0:
                raise TimeoutError
            return http.exchange(post, left_s, LARGEST_REPLY)
        except TimeoutError as error:
            raise self.unavailable(f"did not answer within {self._timeout_s:g} s") from error
        except http.ReplyTooLarge as error:
            raise self.unavailable("sent too much data") from error
        except (OSError, client.HTTPException, UnicodeError) as error:
            raise self.unavailable(f"cannot be reached: {error}") from error


def _checked_address(url: str, name: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = None
    if not usable or "@" in parts.netloc:
        raise InvalidInput(
            f"{name}_url must be an http or https address, without a user name.",
            hint="Such as http://localhost:11434/v1.",
            field=f"{name}_url",
        )
    return parts
