"""The endpoint: every way it can fail is Unavailable, and the key stays with its host."""

from __future__ import annotations

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import numpy as np
import pytest

from backstory.domain.errors import InvalidInput, Unavailable
from backstory.search.embed import build_embedder
from backstory.search.endpoint import Endpoint
from backstory.search.remote import Remote
from backstory.settings import build_settings

KEY = "sk-secret-4711"
PLACES = {"home": ".", "project": "."}


@dataclass
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    path: str
    authorization: str | None
    question: dict[str, Any]


@dataclass
class Server:
    """A real HTTP server on loopback that answers what the test says and keeps what it was asked."""

    url: str
    asked: list[Asked]


Reply = Callable[[Asked], Answer]


@contextmanager
def serve(reply: Reply) -> Iterator[Server]:
    asked: list[Asked] = []

    class Conversation(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked.append(Asked(self.path, self.headers["Authorization"], question))
            answer = reply(asked[-1])
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            self.wfile.write(answer.body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Conversation) as http:
        thread = Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield Server(f"http://127.0.0.1:{http.server_port}/v1", asked)
        finally:
            http.shutdown()
            thread.join()


def vectors_for(asked: Asked) -> Answer:
    """A vector that tells the texts apart by their length, in reverse order."""
    items = [
        {"index": index, "embedding": [len(text), 1.0]} for index, text in enumerate(asked.question["input"])
    ]
    return Answer(json.dumps({"data": items[::-1]}).encode())


def endpoint(server: Server, **changed: Any) -> Endpoint:
    remote = {"name": "embeddings", "url": server.url, "path": "/embeddings", "key": KEY, **changed}
    return Endpoint(Remote(**remote), "nomic")


def failure(reply: Reply) -> str:
    with serve(reply) as server, pytest.raises(Unavailable) as raised:
        endpoint(server).embed(["text"])
    return str(raised.value)


def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length() -> None:
    with serve(vectors_for) as server:
        vectors = endpoint(server).embed(["a", "bbb"])

    expected = np.array([[1, 1], [3, 1]]) / np.sqrt([[2], [10]])
    assert vectors.dtype == np.float32
    assert np.allclose(vectors, expected)


def test_the_request_is_the_openai_one() -> None:
    with serve(vectors_for) as server:
        endpoint(server).embed(["a"])

    assert server.asked == [
        Asked(
            "/v1/embeddings", f"Bearer {KEY}", {"model": "nomic", "input": ["a"], "encoding_format": "float"}
        )
    ]


def test_without_a_key_no_authorization_is_sent() -> None:
    with serve(vectors_for) as server:
        endpoint(server, key="").embed(["a"])

    assert server.asked[0].authorization is None


def test_many_texts_go_in_batches() -> None:
    texts = ["t" * (number + 1) for number in range(150)] + ["long" * 20_000, "long" * 20_000]
    with serve(vectors_for) as server:
        vectors = endpoint(server).embed(texts)

    assert [len(asked.question["input"]) for asked in server.asked] == [64, 64, 23, 1]
    assert np.allclose(vectors[:, 0] / vectors[:, 1], [len(text) for text in texts], rtol=1e-3)


def test_dimensions_are_asked_for_once() -> None:
    with serve(vectors_for) as server:
        embedder = endpoint(server)

        assert (embedder.dimensions, embedder.dimensions) == (2, 2)
        assert embedder.embed([]).shape == (0, 2)
        assert len(server.asked) == 1


def test_the_model_names_host_and_model() -> None:
    assert (
        Endpoint(
            Remote(name="embeddings", url="http://localhost:11434/v1", path="/embeddings"), "nomic"
        ).model
        == "endpoint:localhost:11434/nomic"
    )


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again_after_the_time_it_names(status: int) -> None:
    waits: list[float] = []

    def reply(asked: Asked) -> Answer:
        return vectors_for(asked) if waits else Answer(status=status, headers={"Retry-After": "2"})

    with serve(reply) as server:
        vectors = endpoint(server, wait=waits.append).embed(["text"])

    assert vectors.shape == (1, 2)
    assert waits == [2.0]


def test_without_a_named_time_the_pauses_grow_until_the_time_is_up() -> None:
    now = [0.0]

    def wait(seconds: float) -> None:
        now.append(now[-1] + seconds)

    with serve(lambda _: Answer(status=503)) as server, pytest.raises(Unavailable, match="answered 503"):
        endpoint(server, timeout_s=3, clock=lambda: now[-1], wait=wait).embed(["text"])

    assert now == [0, 0.25, 0.75, 1.75]


def test_a_server_that_asks_for_more_than_the_timeout_is_not_waited_for() -> None:
    waits: list[float] = []
    busy = Answer(status=429, headers={"Retry-After": "3600"})
    with serve(lambda _: busy) as server, pytest.raises(Unavailable, match="429"):
        endpoint(server, wait=waits.append).embed(["text"])

    assert waits == []


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=401, body=b"Incorrect key " + KEY.encode()), "answered 401. Check embeddings_key."),
        (Answer(status=404), "embeddings_model"),
        (Answer(b"<html>"), "did not send JSON"),
        (Answer(b"[]"), "a list of vectors"),
        (Answer(b'{"data": []}'), "0 vectors for 1 texts"),
        (Answer(b'{"data": [{"index": 7, "embedding": [1]}]}'), "indexes"),
        (Answer(b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'), "not finite"),
        (Answer(b'{"data": [{"index": 0, "embedding": [0, 0]}]}'), "zero"),
        (Answer(b'{"data": [{"index": 0, "embedding": "AAAA"}]}'), "a list of vectors"),
        (Answer(json.dumps({"data": [{"index": 0, "embedding": [KEY]}]}).encode()), "a list of vectors"),
    ],
)
def test_a_wrong_answer_is_unavailable_and_says_what_came(answer: Answer, said: str) -> None:
    message = failure(lambda _: answer)

    assert said in message
    assert KEY not in message


def test_vectors_of_different_lengths_are_refused() -> None:
    items = [{"index": 0, "embedding": [1]}, {"index": 1, "embedding": [1, 2]}]
    answer = Answer(json.dumps({"data": items}).encode())
    with serve(lambda _: answer) as server, pytest.raises(Unavailable, match="a list of vectors"):
        endpoint(server).embed(["a", "b"])


def test_a_model_that_changes_its_dimensions_is_refused() -> None:
    answers = iter([[1, 2], [1, 2, 3]])

    def reply(_: Asked) -> Answer:
        return Answer(json.dumps({"data": [{"index": 0, "embedding": next(answers)}]}).encode())

    with serve(reply) as server:
        embedder = endpoint(server)
        embedder.embed(["a"])
        with pytest.raises(Unavailable, match="3 dimensions where it sent 2"):
            embedder.embed(["b"])


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_refused_so_the_key_stays_with_its_host(status: int) -> None:
    with serve(vectors_for) as elsewhere:
        message = failure(
            lambda _: Answer(status=status, headers={"Location": f"{elsewhere.url}/embeddings"})
        )

    assert "redirects elsewhere" in message
    assert elsewhere.asked == []


def test_a_refused_connection_is_unavailable() -> None:
    with serve(vectors_for) as stopped:
        pass
    with pytest.raises(Unavailable, match="cannot be reached"):
        endpoint(stopped).embed(["text"])


def test_a_server_that_never_answers_is_unavailable_after_the_timeout() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(Unavailable, match=r"did not answer within 0\.05 s"):
            Endpoint(Remote(name="embeddings", url=url, path="/embeddings", timeout_s=0.05), "m").embed(
                ["text"]
            )


def test_the_time_that_earlier_attempts_took_is_part_of_the_limit() -> None:
    ticks = iter((0.0, 0.0, 1.0, 5.0))
    busy = lambda _: Answer(status=503)  # noqa: E731
    with serve(busy) as server, pytest.raises(Unavailable, match="did not answer within 4 s"):
        endpoint(server, timeout_s=4, clock=lambda: next(ticks), wait=lambda _: None).embed(["text"])


@pytest.mark.parametrize(
    "url", ["localhost:11434", "ftp://host/v1", "http://", "http://user:pw@host", "http://h:x"]
)
def test_an_address_that_cannot_work_names_its_setting(url: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        Remote(name="embeddings", url=url, path="/embeddings")
    assert raised.value.field == "embeddings_url"


def test_a_key_that_no_header_can_carry_is_refused_without_repeating_it() -> None:
    with pytest.raises(InvalidInput) as raised:
        Remote(name="embeddings", url="http://localhost/v1", path="/embeddings", key=f"{KEY}\n")
    assert raised.value.field == "embeddings_key"
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("missing", ["embeddings_url", "embeddings_model"])
def test_settings_without_url_or_model_name_what_is_missing(missing: str) -> None:
    given = {
        "embeddings": "endpoint",
        "embeddings_url": "http://localhost/v1",
        "embeddings_model": "m",
        missing: "",
    }
    with pytest.raises(InvalidInput) as raised:
        build_embedder(build_settings(given, defaults=PLACES))
    assert raised.value.field == missing


def test_settings_reach_the_endpoint() -> None:
    with serve(vectors_for) as server:
        given = {
            "embeddings": "endpoint",
            "embeddings_url": server.url,
            "embeddings_model": "m",
            "embeddings_key": KEY,
        }
        embedder = build_embedder(build_settings(given, defaults=PLACES))
        assert embedder is not None
        embedder.embed(["text"])

    assert server.asked[0].authorization == f"Bearer {KEY}"
