"""What is extracted from developers' notes: prose, code in four languages, stack traces."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from backstory.core.graph import names, trees
from backstory.core.graph.facts import MOST_ENTITIES
from backstory.core.graph.reading import LONGEST_TEXT, read
from backstory.domain.graph import UnreadEntry

ORIGINALS = Path(__file__).resolve().parents[3] / "shared" / "data" / "originals" / "memory-keeper"

PYTHON = """
from app.db import Session
import os

class Auth(Base):
    def login(self, user):
        self.check(user)
        os.path.join(user)
        raise BadLogin(user)

    def check(self, user):
        lookup(user)

def lookup(user): print(user)
"""
TYPESCRIPT = """
import { Repo } from './repo';
export class Login extends View<Props> implements Page {
  show(): void {
    this.check();
    new Session();
  }
}
const start = async () => { boot(); };
"""
GO = """
package main

import (
	"fmt"
)

type Server struct {
	port int
}

func (s *Server) Run() error {
	s.stop()
	return NewThing()
}
"""
RUST = """
use crate::net::Socket;

impl Handler for Server {
    fn run(&self) {
        self.stop();
        net::listen(1);
    }
}
"""


def told(
    text: str, category: str | None = None, *, key: str = "note"
) -> tuple[dict[str, int], dict[str, float]]:
    """Entities with how often, and relations other than plain mentions with their confidence."""
    extract = read(UnreadEntry(1, 0, key, category, text))
    ids = {mention.entity: f"{mention.type}:{mention.name}" for mention in extract.mentions}
    return (
        {ids[m.entity]: m.times for m in extract.mentions},
        {
            f"{ids[r.subject]} {r.predicate} {ids[r.object]}": r.confidence
            for r in extract.relations
            if r.predicate != "mentions"
        },
    )


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("see src/auth/login.ts:42", "file:src/auth/login.ts"),
        (r"in C:\proj\src\main.rs today", "file:C:/proj/src/main.rs"),
        ("the ./scripts/run.sh script", "file:scripts/run.sh"),
        ("edit package.json.", "file:package.json"),
        ("call validate_token() first", "function:validate_token"),
        ("TokenRepository is slow", "class:TokenRepository"),
        ("module auth.tokens moved", "module:auth.tokens"),
        ("added package pyjwt", "package:pyjwt"),
        ("bump @types/node", "package:@types/node"),
        ("Redis is down", "service:redis"),
        ("the payments service is down", "service:payments-service"),
        ("auth-service restarts", "service:auth-service"),
        ("ask @alice", "person:alice"),
        ("Alice said no", "person:alice"),
        ("Reviewed by Bob", "person:bob"),
        ("docs at https://Redis.io/docs/ttl.", "url:https://redis.io/docs/ttl"),
        ("AUTH-1234 is open", "issue:AUTH-1234"),
        ("closes #123", "issue:#123"),
        ("DATABASE_URL is unset", "config:DATABASE_URL"),
        ("set app.timeout_ms = 3000", "config:app.timeout_ms"),
        ("got a TypeError", "error:TypeError"),
        ("ECONNREFUSED again", "error:ECONNREFUSED"),
        ("POST /login answers", "endpoint:POST /login"),
        ("as in auth_decision", "name:auth_decision"),
    ],
)
def test_a_thing_is_recognised_by_its_spelling(text: str, entity: str) -> None:
    assert entity in told(text)[0]


@pytest.mark.parametrize(
    "text",
    [
        "UTF-8 and SHA-256 and/or ISO-8601, e.g. Node.js 18.2.1",
        "We said no. Everyone agreed. 3 of 5 endpoints implemented ✅ — осталось два",
        "mail john@example.com about the JavaScript file(s)",
        "Done.Then we left",
        "",
    ],
)
def test_ordinary_words_are_no_entities(text: str) -> None:
    assert told(text) == ({"item:note": 1}, {})


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("AuthService calls TokenRepository", "class:AuthService calls class:TokenRepository"),
        ("Auth.login() is called by LoginView", "class:LoginView calls function:Auth.login"),
        ("PayService extends BaseService", "class:PayService extends class:BaseService"),
        ("PayService implements IPayable", "class:PayService implements class:IPayable"),
        ("src/a.py imports src/b.py", "file:src/a.py imports file:src/b.py"),
        ("validate() depends on REDIS_URL", "function:validate depends_on config:REDIS_URL"),
        ("Fixed AUTH-12 today", "item:note fixes issue:AUTH-12"),
        ("Fixed AUTH-12 and AUTH-13", "item:note fixes issue:AUTH-13"),
        ("AUTH-12 is in src/a.py", "issue:AUTH-12 located_in file:src/a.py"),
        ("Decided to use Redis because of its TTL", "service:redis decided_in item:note"),
        ("Stripe over Adyen because of the contract", "service:stripe replaces service:adyen"),
        ("getUser() throws ECONNREFUSED", "function:getUser causes error:ECONNREFUSED"),
        ("PayService calls GateWay and needs REDIS_URL", "class:PayService depends_on config:REDIS_URL"),
        ("AUTH-12 was assigned to @bob", "issue:AUTH-12 assigned_to person:bob"),
    ],
)
def test_a_sentence_relates_the_things_it_names(text: str, relation: str) -> None:
    relations = told(text)[1]
    assert relation in relations
    assert 0.5 <= relations[relation] < 0.95


@pytest.mark.parametrize(
    ("text", "relations"),
    [
        ("shop depends on stock", ["item:shop depends_on name:stock"]),
        ("Shop calls the till-2 for cash", ["item:shop calls name:till-2"]),
        ("shop uses stock, till and Redis.", [f"item:shop uses {n}" for n in ("name:stock", "name:till", "service:redis")]),
        ("Slow. shop is used by till and waits for it", ["name:till uses item:shop"]),
        ("shop never calls stock", []),
        ("shop needs it", []),
        ("shop in town", []),
        ("Shopping depends on stock", []),
        ("The shop depends on stock", []),
    ],
)  # fmt: skip
def test_plain_words_are_names_where_the_items_own_stands_before_them(
    text: str, relations: list[str]
) -> None:
    assert sorted(told(text, key="shop")[1]) == sorted(relations)


def test_a_verb_is_no_name_of_a_module() -> None:
    assert told("The payment module depends on the billing module")[0] == {"item:note": 1}


def test_a_denied_relation_is_not_told() -> None:
    assert told("AuthService never calls TokenRepository")[1] == {}


def test_a_decision_is_where_its_things_were_decided() -> None:
    assert "service:stripe decided_in item:note" in told("Stripe it is", "decision")[1]
    assert told("Stripe it is", "note")[1] == {}


def test_mentions_are_counted() -> None:
    assert told("AUTH-1 blocks it. AUTH-1 again, see auth-1 or AUTH-1.")[0]["issue:AUTH-1"] == 3


def test_python_is_read_by_its_syntax_tree() -> None:
    relations = told(f"The flow:\n```python\n{PYTHON}```\nAuth.login() is called by LoginView.")[1]
    for relation in (
        "item:note imports module:app.db",
        "item:note defines class:Auth",
        "class:Auth extends class:Base",
        "class:Auth contains function:Auth.login",
        "function:Auth.login calls function:Auth.check",
        "function:Auth.login calls function:os.path.join",
        "function:Auth.login causes error:BadLogin",
        "function:Auth.check calls function:lookup",
        "item:note defines function:lookup",
    ):
        assert relations[relation] == 0.95
    assert "class:LoginView calls function:Auth.login" in relations
    assert told(PYTHON)[1].keys() <= relations.keys()


@pytest.mark.parametrize("has_trees", [False, True], ids=["lines", "trees"])
@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        (
            "ts",
            TYPESCRIPT,
            [
                "item:note imports module:./repo",
                "class:Login extends class:View",
                "class:Login implements class:Page",
                "class:Login contains function:Login.show",
                "function:Login.show calls function:Login.check",
                "function:Login.show calls class:Session",
                "function:start calls function:boot",
            ],
        ),
        (
            "go",
            GO,
            [
                "item:note imports module:fmt",
                "item:note defines class:Server",
                "class:Server contains function:Server.Run",
                "function:Server.Run calls function:Server.stop",
                "function:Server.Run calls function:NewThing",
            ],
        ),
        (
            "rust",
            RUST,
            [
                "class:Server implements class:Handler",
                "class:Server contains function:Server.run",
                "function:Server.run calls function:Server.stop",
                "function:Server.run calls function:net::listen",
            ],
        ),
    ],
)
def test_other_languages_are_read_by_trees_or_less_surely_by_lines(
    monkeypatch: pytest.MonkeyPatch, language: str, source: str, expected: list[str], has_trees: bool
) -> None:
    if not has_trees:
        monkeypatch.setattr("backstory.core.graph.code.can_read", lambda language: False)
    elif not trees.can_read("rust"):
        pytest.skip("the extra `code` is not installed")
    for text in (f"```{language}\n{source}```", source):
        relations = told(text)[1]
        assert {relation: relations.get(relation) for relation in expected} == dict.fromkeys(
            expected, 0.95 if has_trees else 0.6
        )


def test_a_python_trace_tells_who_called_whom() -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "app/main.py", line 3, in main\n    run()\n'
        '  File "app/run.py", line 9, in run\n    raise ValueError("x")\n'
        "ValueError: x\n"
    )
    entities, relations = told(trace)
    assert "error:ValueError" in entities
    assert relations["function:main calls function:run"] == 0.9
    assert relations["function:run located_in file:app/run.py"] == 0.9


def test_a_javascript_trace_tells_who_called_whom() -> None:
    trace = (
        "TypeError: undefined\n    at getUser (src/user.ts:12:5)\n    at async handler (src/index.ts:3:1)\n"
    )
    entities, relations = told(trace)
    assert "error:TypeError" in entities
    assert relations["function:handler calls function:getUser"] == 0.9


def test_broken_code_is_read_line_by_line() -> None:
    assert told("```python\nclass A:\n  def broken(:\n    go(\n```")[0].keys() >= {"class:A"}


@pytest.mark.parametrize("unit", ["a", "a.", "a/", "@a", "aA", "(", "-", "\\", "_a", "a+", "```python\n"])
def test_work_and_facts_are_bounded(unit: str) -> None:
    extract = read(UnreadEntry(1, 0, "note", None, unit * LONGEST_TEXT))
    assert len(extract.mentions) <= MOST_ENTITIES


def test_a_long_text_is_looked_through_once_not_for_each_of_its_names(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[str] = []

    class Pattern:
        def search(self, text: str) -> None:
            looked.append(text)

    monkeypatch.setattr(names, "_settings", Pattern)
    log = "app.start done.\n" * 1_000
    assert list(names.find_names(log)) == []
    assert looked == [log]


def test_a_very_long_text_is_read_in_part() -> None:
    names = " ".join(f"name_{n}()" for n in range(20_000))
    assert len(read(UnreadEntry(1, 0, "note", None, names)).mentions) == MOST_ENTITIES
    assert told(" " * LONGEST_TEXT + "AUTH-1")[0] == {"item:note": 1}


@pytest.mark.skipif(not ORIGINALS.exists(), reason="the originals' data is not here")
def test_items_of_the_original_are_understood() -> None:
    export = json.loads((ORIGINALS / "memory-keeper-export-8c92887e.json").read_text("utf-8"))
    values = {item["key"]: item["value"] for item in export["contextItems"]}
    assert told(values["task_login"])[1].keys() == {
        "item:note implements endpoint:POST /login",
        "endpoint:POST /login located_in file:src/auth/login.ts",
        "class:AuthService calls class:TokenRepository",
    }
    for value in values.values():
        told(value)
