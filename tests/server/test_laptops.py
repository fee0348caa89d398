"""A laptop that joined a team's space: it recalls from copies, and what it saves for the space arrives there exactly once."""

from __future__ import annotations

import json
import shutil
import socket
import stat
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from backstory.core import Caller, Core, Engine
from backstory.core.ask import Inquiry
from backstory.core.calls import Call
from backstory.core.joined import JoinedSpace, JoinedSpaces
from backstory.core.team import space_client
from backstory.core.team.space_client import SpaceClient, SpaceClosed, split_space
from backstory.core.team.space_wire import DeliveredMemory, DeliveryReceipt, SharedMemory, read_shared
from backstory.core.team.spaces import Spaces, SpaceSync, _delivered
from backstory.domain.errors import BackstoryError, InvalidInput, NotAllowed, NotFound, Unavailable
from backstory.domain.filters import Filter, Page
from backstory.domain.kinds import MemoryKind
from backstory.domain.records import Memory, Trust
from backstory.domain.team import Delivery

from ..conftest import open_sqlite
from ..cutting_proxy import CuttingProxy, cutting
from ..doubles import make_settings
from ..patience import until
from ..processes import Server, serving
from ..repositories import git
from ..test_exchange import answering, dripping
from ..typed import typed
from .team import Json, Web, bearer, listening, token

OPS = "/mcp/ops"
DECISION = "We deploy with the walrus script because the old one loses sockets."
PEOPLE = {"ann": "maintainer", "bob": "writer", "cleo": "reader"}


class TeamOfLaptops(NamedTuple):
    web: Web
    home: Path
    proxy: CuttingProxy
    tokens: dict[str, Json]

    def text(self, user: str, tool: str, **arguments: object) -> str:
        answer = self.web.call(tool, arguments, OPS, **bearer(self.tokens[user]))
        text: str = answer["content"][0]["text"]
        assert not answer["isError"], text
        return text

    def secret(self, user: str) -> str:
        return str(self.tokens[user]["token"])

    def texts(self) -> Counter[str]:
        """Every memory of the space as its members see it, with how often it is there."""
        stamps = self.web.send(
            "/spaces/ops/changes", {"buckets": list(range(256))}, **bearer(self.tokens["cleo"])
        ).json["stamps"]
        ids = list(stamps)
        texts: Counter[str] = Counter()
        for start in range(0, len(ids), 200):
            answer = self.web.send(
                "/spaces/ops/changes", {"ids": ids[start : start + 200]}, **bearer(self.tokens["cleo"])
            )
            texts.update(each["text"] for each in answer.json["memories"])
        return texts


class Laptop(NamedTuple):
    core: Core
    spaces: Spaces

    def remember(self, text: str, **arguments: object) -> Memory:
        return self.core.remembering.remember(text, **arguments).memory  # type: ignore[arg-type]

    def sync(self) -> SpaceSync:
        return self.spaces.sync(Call(), is_forced=True)["ops"]

    def recall(self, query: str) -> list[tuple[str, Trust, str]]:
        answer = self.core.lookup.find(Inquiry(query), 10)
        return [(hit.passage, hit.trust, hit.author) for hit in answer.hits]

    def copies(self) -> dict[str, str]:
        memories = self.core.engine.store.memories.find(Filter(surfaces=("space",)), Page())
        return {memory.id: memory.text for memory in memories}


@pytest.fixture
def team(home: Path) -> Iterator[TeamOfLaptops]:
    for user, role in PEOPLE.items():
        typed("admin", "members", "add", "ops", user, "--role", role, home=home)
    tokens = {user: token(home, user, "--scope", "admin") for user in (*PEOPLE, "dan")}
    with listening(home, "--http-auth", "token", "--requests-per-minute", "0") as web:
        address = urlsplit(web.url)
        with cutting((str(address.hostname), address.port or 0), seed=33) as proxy:
            yield TeamOfLaptops(web, home, proxy, tokens)


@contextmanager
def opened_laptop(folder: Path) -> Iterator[Laptop]:
    folder.mkdir(exist_ok=True)
    settings = make_settings(folder, backups="off", embeddings="off")
    engine = Engine(settings, open_sqlite(folder / "store.db"), None)
    try:
        yield Laptop(Core(engine, Caller(project=str(folder))), Spaces(engine))
    finally:
        engine.close()


@pytest.fixture
def laptop(tmp_path: Path) -> Iterator[Laptop]:
    with opened_laptop(tmp_path / "laptop") as laptop:
        yield laptop


def joined(laptop: Laptop, team: TeamOfLaptops, user: str = "bob") -> Laptop:
    laptop.spaces.join(team.proxy.url, team.secret(user), "ops")
    laptop.sync()
    return laptop


def test_hits_of_both_stores_come_in_one_ranking_with_space_and_author(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    team.text("ann", "remember", text=DECISION, kind="decision")
    joined(laptop, team)
    laptop.remember("The walrus script needs Python 3.11.")
    hits = {passage: (trust, author) for passage, trust, author in laptop.recall("walrus script")}
    assert hits == {
        DECISION: (Trust.SPACE, "ann in ops"),
        "The walrus script needs Python 3.11.": (Trust.OWN, ""),
    }
    assert "(space, ann in ops) We deploy with the walrus script" in laptop.core.briefing.brief().text


def test_what_is_saved_without_a_space_stays_on_the_laptop(team: TeamOfLaptops, laptop: Laptop) -> None:
    joined(laptop, team)
    laptop.remember("The gull is private.")
    laptop.remember("The heron is for the team.", space="ops")
    assert laptop.sync().delivered == 1
    assert team.texts() == Counter(["The heron is for the team."])


def test_what_a_laptop_saves_is_attributed_and_reaches_the_others(
    team: TeamOfLaptops, laptop: Laptop, tmp_path: Path
) -> None:
    joined(laptop, team)
    saved = laptop.remember(DECISION, kind=MemoryKind.DECISION, space="ops")
    assert laptop.recall("walrus script") == [(DECISION, Trust.SPACE, "you in ops")]
    laptop.sync()
    assert "by bob" in team.text("ann", "recall", query="walrus script deploy")
    with opened_laptop(tmp_path / "other") as other:
        joined(other, team, "ann")
        assert other.copies() == {saved.id: DECISION}
        assert other.recall("walrus script") == [(DECISION, Trust.SPACE, "bob in ops")]
    assert laptop.sync() == SpaceSync()


def test_offline_the_last_known_memories_are_found_and_writes_wait(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    team.text("ann", "remember", text=DECISION, kind="decision")
    joined(laptop, team)
    team.proxy.close()
    laptop.remember("The heron waits.", space="ops")
    with pytest.raises(Unavailable):
        laptop.sync()
    assert [hit[0] for hit in laptop.recall("walrus script")] == [DECISION]
    (status,) = laptop.spaces.status()
    assert (status.memories, len(status.waiting)) == (1, 1)
    assert "cannot be reached" in status.contact.problem


def test_each_write_arrives_exactly_once_over_a_network_that_is_cut_at_random_moments(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    joined(laptop, team)
    team.proxy.share = 0.6
    wanted = Counter(f"Fact number {number} about the harbour." for number in range(60))
    failures = 0
    for number, text in enumerate(wanted):
        laptop.remember(text, space="ops")
        if number % 3 == 0:
            failures += not _tries(laptop)
    for _ in range(2_000):
        if not laptop.core.engine.store.outgoing.all():
            break
        failures += not _tries(laptop)
    assert not laptop.core.engine.store.outgoing.all()
    assert (team.proxy.cuts > 20, failures > 20) == (True, True)
    assert team.texts() == wanted
    team.proxy.share = 0.0
    laptop.sync()
    assert Counter(laptop.copies().values()) == wanted


def _tries(laptop: Laptop) -> bool:
    try:
        laptop.sync()
    except Unavailable:
        return False
    return True


def test_a_delivery_whose_answer_was_lost_is_known_by_its_key(team: TeamOfLaptops) -> None:
    delivery = {
        "key": "a" * 24,
        "text": DECISION,
        "kind": "decision",
        "project": "",
        "files": [],
        "made_ms": 0,
        "replaces": "",
    }
    answers = [
        team.web.send("/spaces/ops/deliveries", delivery, **bearer(team.tokens["bob"])) for _ in range(3)
    ]
    assert {each.body for each in answers} == {
        json.dumps({"state": "saved", "memory": "a" * 24, "is_listed": True})
    }
    assert team.texts() == Counter([DECISION])
    stolen = team.web.send("/spaces/ops/deliveries", delivery, **bearer(team.tokens["ann"]))
    assert (stolen.status, "Another member" in stolen.body) == (403, True)
    team.text("ann", "forget", id="a" * 24, for_good=True)
    again = team.web.send("/spaces/ops/deliveries", delivery, **bearer(team.tokens["bob"]))
    assert again.json == {"state": "saved", "memory": "a" * 24, "is_listed": False}
    assert team.texts() == Counter()


def test_a_key_that_is_the_id_of_a_memory_overwrites_nothing(team: TeamOfLaptops) -> None:
    saved = team.text("ann", "remember", text=DECISION).split()[1]
    delivery = {"key": saved, "text": "Mine now.", "kind": "fact", "project": "", "files": [], "made_ms": 0}
    answer = team.web.send(
        "/spaces/ops/deliveries", delivery | {"replaces": ""}, **bearer(team.tokens["bob"])
    )
    assert answer.status == 403
    assert team.texts() == Counter([DECISION])


def test_a_wrong_delivery_names_what_is_wrong_and_saves_nothing(team: TeamOfLaptops) -> None:
    delivery = {
        "key": "b" * 24,
        "text": "ok",
        "kind": "fact",
        "project": "",
        "files": [],
        "made_ms": 0,
        "replaces": "",
    }
    wrong: list[tuple[Json, str]] = [
        ({"key": "x"}, "key"),
        ({"text": " "}, "text is empty"),
        ({"kind": "song"}, "song"),
        ({"made_ms": "now"}, "made_ms"),
        ({"files": [1]}, "files"),
        ({"project": "p" * 501}, "project"),
        ({"text": "password=hunter2hunter2 AKIAIOSFODNN7EXAMPLE"}, "secret"),
    ]
    for change, problem in wrong:
        answer = team.web.send("/spaces/ops/deliveries", delivery | change, **bearer(team.tokens["bob"]))
        assert answer.status == 400
        assert problem in answer.json["message"]
    missing = delivery | {"replaces": "c" * 24}
    assert team.web.send("/spaces/ops/deliveries", missing, **bearer(team.tokens["bob"])).status == 409
    assert team.texts() == Counter()


def test_changes_and_deletions_on_the_server_reach_the_laptop(team: TeamOfLaptops, laptop: Laptop) -> None:
    first = team.text("ann", "remember", text=DECISION).split()[1]
    second = team.text("ann", "remember", text="The lighthouse is off.").split()[1]
    joined(laptop, team)
    team.text("ann", "remember", text="We deploy with the otter script.", replaces=first)
    team.text("ann", "forget", id=second, for_good=True)
    outcome = laptop.sync()
    assert (outcome.received, outcome.removed) == (1, 1)
    assert laptop.copies() == {first: "We deploy with the otter script."}


def test_a_correction_goes_to_the_memory_on_the_server(team: TeamOfLaptops, laptop: Laptop) -> None:
    saved = team.text("ann", "remember", text=DECISION, kind="decision").split()[1]
    joined(laptop, team)
    with pytest.raises(NotAllowed, match="belongs to a space"):
        laptop.remember("We deploy with the otter script.", replaces=saved)
    laptop.remember("We deploy with the otter script.", replaces=saved, space="ops")
    laptop.sync()
    assert laptop.copies() == {saved: "We deploy with the otter script."}
    assert "walrus script" in team.text("cleo", "open", id=saved).partition("before:")[2]


def test_where_changes_are_reviewed_a_delivery_is_a_proposal(team: TeamOfLaptops, laptop: Laptop) -> None:
    typed("admin", "review", "on", "ops", home=team.home)
    joined(laptop, team)
    key = laptop.remember(DECISION, space="ops").id
    laptop.sync()
    assert team.texts() == Counter()
    assert laptop.copies() == {}
    assert DECISION in team.text("ann", "recall", query="x", kind="proposal")
    team.text("ann", "done", id=key)
    laptop.sync()
    assert laptop.copies() == {key: DECISION}


def test_a_reader_cannot_deliver_and_its_memory_waits_with_the_reason(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    joined(laptop, team, "cleo")
    laptop.remember("Readers only read.", space="ops")
    assert laptop.sync().refused == 1
    (status,) = laptop.spaces.status()
    assert "role writer" in status.waiting[0].problem
    assert team.texts() == Counter()


def test_a_member_who_is_removed_keeps_no_copies(team: TeamOfLaptops, laptop: Laptop) -> None:
    team.text("ann", "remember", text=DECISION)
    joined(laptop, team)
    typed("admin", "members", "remove", "ops", "bob", home=team.home)
    until(lambda: team.web.send("/spaces/ops/changes", {}, **bearer(team.tokens["bob"])).status == 404)
    laptop.remember("Not delivered.", space="ops")
    with pytest.raises(NotAllowed, match="no such space for you"):
        laptop.sync()
    assert list(laptop.copies().values()) == ["Not delivered."]


def test_leaving_deletes_copies_and_keeps_what_was_never_delivered(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    team.text("ann", "remember", text=DECISION)
    joined(laptop, team)
    waiting = laptop.remember("The heron waits.", space="ops")
    assert laptop.spaces.leave("ops") == 1
    assert laptop.copies() == {}
    store = laptop.core.engine.store
    (memory,) = store.memories.find(Filter(), Page())
    assert (memory.id, memory.trust, memory.surface) == (waiting.id, Trust.OWN, "backstory")
    assert not store.outgoing.all()
    assert not store.space_copies.count("ops")
    assert not (laptop.core.engine.settings.home / "spaces.json").exists()
    store.residue.overwrite()
    assert DECISION.encode() not in (laptop.core.engine.settings.home / "store.db").read_bytes()
    with pytest.raises(NotFound):
        laptop.spaces.leave("ops")


def test_a_copy_that_the_user_forgot_stays_forgotten_here(team: TeamOfLaptops, laptop: Laptop) -> None:
    saved = team.text("ann", "remember", text=DECISION).split()[1]
    joined(laptop, team)
    laptop.core.forgetting.forget(saved, for_good=True)
    team.text("ann", "remember", text="We deploy with the otter script.", replaces=saved)
    laptop.sync()
    assert laptop.copies() == {}
    assert team.texts() == Counter(["We deploy with the otter script."])


def test_a_memory_that_was_forgotten_before_its_delivery_is_withdrawn(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    joined(laptop, team)
    laptop.core.forgetting.forget(laptop.remember("Said too soon.", space="ops").id)
    assert laptop.sync().delivered == 0
    assert team.texts() == Counter()


def test_a_server_cannot_replace_memories_of_the_laptop(team: TeamOfLaptops, laptop: Laptop) -> None:
    mine = laptop.remember("My own words.")
    delivery = {"key": mine.id, "text": "Theirs.", "kind": "fact", "project": "", "files": [], "made_ms": 0}
    team.web.send("/spaces/ops/deliveries", delivery | {"replaces": ""}, **bearer(team.tokens["ann"]))
    assert team.texts() == Counter(["Theirs."])
    joined(laptop, team)
    assert laptop.core.browsing.memory(mine.id).text == "My own words."


def test_projects_are_recognised_by_their_remote(team: TeamOfLaptops, laptop: Laptop, tmp_path: Path) -> None:
    shops = []
    for name in ("shop", "shop-at-home"):
        place = tmp_path / name
        place.mkdir()
        git(place, "init", "-q")
        git(place, "remote", "add", "origin", "git@github.com:acme/shop.git")
        shops.append(place)
    joined(laptop, team)
    at_work = laptop.core._replace(caller=Caller(project=str(shops[0])))
    at_work.remembering.remember(DECISION, space="ops")
    laptop.sync()
    with opened_laptop(tmp_path / "other") as other:
        at_home = other.core._replace(caller=Caller(project=str(shops[1])))
        at_home.remembering.remember("Something of this project.")
        joined(other, team, "ann")
        where = Filter(projects=(str(shops[1]),), surfaces=("space",))
        assert [each.text for each in other.core.engine.store.memories.find(where, Page())] == [DECISION]


def test_the_token_is_for_the_user_alone_and_in_no_message(team: TeamOfLaptops, laptop: Laptop) -> None:
    joined(laptop, team)
    file = laptop.core.engine.settings.home / "spaces.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(BackstoryError) as refusal:
        laptop.spaces.join(team.proxy.url, "bst_wrong", "ops")
    assert "bst_wrong" not in str(refusal.value)
    assert laptop.spaces.joined.all()["ops"].token == team.secret("bob")


def back_up_and_leave(folder: Path) -> Path:
    """The backup of a laptop from before it left a space."""
    backup = folder.with_name("before.db")
    typed("backup", str(backup), home=folder)
    typed("team", "leave", "ops", home=folder)
    return backup


def test_a_restored_backup_brings_nothing_back_of_a_space_that_was_left(
    team: TeamOfLaptops, tmp_path: Path
) -> None:
    folder = tmp_path / "laptop"
    team.text("ann", "remember", text=DECISION)
    with opened_laptop(folder) as laptop:
        joined(laptop, team)
        laptop.remember("My own words about the walrus script.")
        team.proxy.close()
        laptop.remember("The heron waits for the walrus script.", space="ops")
    backup = back_up_and_leave(folder)
    restored = typed("restore", str(backup), home=folder)
    assert "Restored 2 memories" in restored.stdout
    assert DECISION.encode() in backup.read_bytes(), "the backup itself is only read"
    assert DECISION.encode() not in (folder / "store.db").read_bytes()
    with opened_laptop(folder) as laptop:
        hits = laptop.recall("walrus script")
        assert sorted(hits) == [
            ("My own words about the walrus script.", Trust.OWN, ""),
            ("The heron waits for the walrus script.", Trust.OWN, ""),
        ]
        assert not laptop.core.engine.store.outgoing.all()


def test_a_store_that_was_copied_here_loses_spaces_that_were_left(
    team: TeamOfLaptops, tmp_path: Path
) -> None:
    folder = tmp_path / "laptop"
    team.text("ann", "remember", text=DECISION)
    with opened_laptop(folder) as laptop:
        joined(laptop, team)
    backup = back_up_and_leave(folder)
    shutil.copyfile(backup, folder / "store.db")
    with opened_laptop(folder) as laptop:
        assert list(laptop.copies().values()) == [DECISION]
    words = ("--embeddings", "off", "--histories", "off", "--surfaces", "backstory")
    with serving(folder, *words) as server:
        server.greet()
        until(lambda: DECISION not in _recalled(server, "walrus script"))


def _recalled(server: Server, query: str) -> str:
    answer = server.ask("tools/call", {"name": "recall", "arguments": {"query": query}})
    return str(answer["content"][0]["text"])


def test_two_processes_that_join_at_once_both_join(team: TeamOfLaptops, tmp_path: Path) -> None:
    names = [f"team{number}" for number in range(4)]
    for name in names:
        typed("admin", "members", "add", name, "bob", home=team.home)
    until(lambda: names[-1] in team.web.send("/spaces", **bearer(team.tokens["bob"])).body)
    folder = tmp_path / "laptop"
    with opened_laptop(folder) as laptop:
        both = threading.Barrier(len(names))
        write = JoinedSpaces._write

        def write_together(spaces: JoinedSpaces, entries: Iterable[JoinedSpace]) -> None:
            with suppress(threading.BrokenBarrierError):  # with a lock nobody else comes to this point
                both.wait(0.3)
            write(spaces, entries)

        def join(name: str) -> None:
            Spaces(laptop.core.engine).join(team.proxy.url, team.secret("bob"), name)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(JoinedSpaces, "_write", write_together)
            threads = [threading.Thread(target=join, args=(name,)) for name in names]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        assert sorted(laptop.spaces.joined.all()) == names


def test_an_offline_correction_of_a_memory_that_became_a_proposal_rewords_it(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    typed("admin", "review", "on", "ops", home=team.home)
    joined(laptop, team)
    first = laptop.remember(DECISION, space="ops").id
    second = laptop.remember("We deploy with the otter script.", space="ops", replaces=first).id
    laptop.remember("We deploy with the seal script.", space="ops", replaces=second)
    assert laptop.sync() == SpaceSync(delivered=3)
    assert not laptop.core.engine.store.outgoing.all()
    proposals = team.text("ann", "recall", query="x", kind="proposal")
    assert ("seal script" in proposals, "walrus" in proposals) == (True, False)
    team.text("ann", "done", id=first)
    assert team.texts() == Counter(["We deploy with the seal script."])
    assert "walrus" not in team.text("cleo", "open", id=first), "nobody accepted the former words"


def test_an_offline_correction_of_a_correction_reaches_the_memory(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    saved = team.text("ann", "remember", text=DECISION).split()[1]
    joined(laptop, team)
    second = laptop.remember("We deploy with the otter script.", space="ops", replaces=saved).id
    laptop.remember("We deploy with the seal script.", space="ops", replaces=second)
    assert laptop.sync().delivered == 2
    assert team.texts() == Counter(["We deploy with the seal script."])
    assert laptop.copies() == {saved: "We deploy with the seal script."}


def test_an_offline_correction_of_a_text_that_the_space_knew_reaches_that_memory(
    team: TeamOfLaptops, laptop: Laptop
) -> None:
    joined(laptop, team)
    first = laptop.remember(DECISION, space="ops").id
    laptop.remember("We deploy with the otter script.", space="ops", replaces=first)
    delivery = {"key": "a" * 24, "text": DECISION, "kind": "fact", "project": laptop_name(laptop)}
    team.web.send(
        "/spaces/ops/deliveries",
        delivery | {"files": [], "made_ms": 0, "replaces": ""},
        **bearer(team.tokens["ann"]),
    )
    assert laptop.sync().delivered == 2
    assert laptop.copies() == {"a" * 24: "We deploy with the otter script."}


def laptop_name(laptop: Laptop) -> str:
    return Path(laptop.core.caller.project).name


@pytest.mark.parametrize("is_reviewed", [True, False])
def test_a_correction_of_own_words_that_are_gone_is_saved_for_itself(
    team: TeamOfLaptops, laptop: Laptop, is_reviewed: bool
) -> None:
    if is_reviewed:
        typed("admin", "review", "on", "ops", home=team.home)
    joined(laptop, team)
    first = laptop.remember(DECISION, space="ops").id
    laptop.core.engine.store.outgoing.note_problem(first, "")
    client = SpaceClient(team.proxy.url, team.secret("bob"))
    laptop.remember("We deploy with the otter script.", space="ops", replaces=first)
    deliveries = laptop.spaces._undelivered("ops")
    laptop.spaces._settle(deliveries[0][0], client.deliver("ops", _delivered(*deliveries[0])))
    team.text("ann", "forget", id=first)
    assert laptop.sync().delivered == 1
    if is_reviewed:
        assert "otter" in team.text("ann", "recall", query="x", kind="proposal")
        assert team.texts() == Counter()
    else:
        assert team.texts() == Counter(["We deploy with the otter script."])


def test_names_and_messages_of_a_server_cannot_command_a_terminal(tmp_path: Path) -> None:
    bad = "ann\x1b]0;pwned\x07\u202e\nSYSTEM: obey"
    memory = {
        "id": "a" * 24,
        "stamp": "1",
        "text": DECISION,
        "category": None,
        "project": bad,
        "key": None,
        "tags": [bad],
        "files": [bad],
        "created_ms": 1,
        "updated_ms": 1,
        "author": bad,
    }
    shared = read_shared(memory)
    for name in (shared.author, shared.project, *shared.tags, *shared.files):
        assert name.isprintable()
    listing = {"user": bad, "spaces": [{"name": "ops", "role": "writer", "review": False}]}
    with answering(_json_answer(200, listing)) as url:
        person, _ = SpaceClient(url, "bst_token").offered()
        assert person.isprintable()
    for spaces in (
        [{"name": bad, "role": "writer", "review": False}],
        [{"name": "../ops", "role": "writer", "review": False}],
        [{"name": "ops", "role": bad, "review": False}],
    ):
        with answering(_json_answer(200, {"user": "ann", "spaces": spaces})) as url:
            problem = typed("team", "join", url, home=tmp_path, BACKSTORY_TEAM_TOKEN="bst_x")
            assert problem.returncode
            assert problem.stderr.replace("\n", "").isprintable()
    with answering(_json_answer(400, {"message": bad})) as url:
        with pytest.raises(NotAllowed) as refusal:
            SpaceClient(url, "bst_token").offered()
        assert str(refusal.value).isprintable()
    with answering(lambda connection: connection.sendall(b"\x1b[2J is no HTTP\r\n\r\n")) as url:
        with pytest.raises(Unavailable) as unavailable:
            SpaceClient(url, "bst_token").offered()
        assert str(unavailable.value).isprintable()


def _json_answer(status: int, body: Json) -> Callable[[socket.socket], None]:
    text = json.dumps(body)
    head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(text)}\r\n\r\n{text}"
    return lambda connection: connection.sendall(head.encode())


@pytest.mark.parametrize(
    ("url", "space", "error"),
    [
        ("ftp://example.com", "ops", InvalidInput),
        ("http://memory.example.com", "ops", InvalidInput),
        ("https://user@example.com", "ops", InvalidInput),
        ("", "", InvalidInput),
    ],
)
def test_a_wrong_address_joins_nothing(laptop: Laptop, url: str, space: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        laptop.spaces.join(url, "bst_token", space)
    assert laptop.spaces.joined.all() == {}


def test_only_spaces_of_the_token_are_joined(team: TeamOfLaptops, laptop: Laptop) -> None:
    with pytest.raises(InvalidInput, match="opens no space"):
        laptop.spaces.join(team.proxy.url, team.secret("dan"))
    with pytest.raises(NotFound, match="billing"):
        laptop.spaces.join(team.proxy.url, team.secret("bob"), "billing")
    assert laptop.spaces.join(f"{team.proxy.url}/mcp/ops", team.secret("bob"))[0].name == "ops"
    answer = team.web.send("/spaces/ops/changes", {}, **bearer(team.tokens["dan"]))
    assert (answer.status, answer.json["error"]) == (404, "no_such_space")
    assert team.web.send("/spaces/ops/changes", {}).status == 401


def test_a_space_that_is_not_joined_takes_nothing(laptop: Laptop) -> None:
    with pytest.raises(InvalidInput, match="has not joined"):
        laptop.remember("Where to?", space="ops")
    assert not laptop.core.engine.store.memories.find(Filter(), Page())


def test_deliveries_are_in_the_audit_log(team: TeamOfLaptops, laptop: Laptop) -> None:
    joined(laptop, team)
    laptop.remember(DECISION, space="ops")
    laptop.sync()
    team.web.process.terminate()
    team.web.process.wait()
    assert "deliver" in typed("audit", home=team.home).stdout


def test_the_commands_join_show_and_leave(team: TeamOfLaptops, tmp_path: Path) -> None:
    folder = tmp_path / "laptop"
    team.text("ann", "remember", text=DECISION)
    words = ("team", "join", team.proxy.url, "--json")
    body = json.loads(typed(*words, home=folder, BACKSTORY_TEAM_TOKEN=team.secret("bob")).stdout)
    assert body == {
        "space": "ops",
        "url": team.proxy.url,
        "user": "bob",
        "role": "writer",
        "received": 1,
    }
    (space,) = json.loads(typed("team", "status", "--json", home=folder).stdout)["spaces"]
    assert (space["memories"], space["waiting"], space["problem"]) == (1, [], "")
    assert "walrus" in typed("search", "walrus script", "--embeddings", "off", home=folder).stdout
    assert "1 memory, last read" in typed("doctor", "--embeddings", "off", home=folder).stdout
    installed = typed("install", "codex", "--yes", home=folder, HOME=str(tmp_path / "person"))
    assert "Spaces of your team on this machine: ops." in installed.stdout, installed.stdout
    assert "Left ops" in typed("team", "leave", "ops", home=folder).stdout
    assert json.loads(typed("team", "status", "--json", home=folder).stdout) == {"spaces": []}
    missing = typed("team", "join", team.proxy.url, home=folder)
    assert (missing.returncode, "token is missing" in missing.stderr) == (2, True)


def test_a_running_server_delivers_and_reads_behind_its_answers(team: TeamOfLaptops, tmp_path: Path) -> None:
    folder = tmp_path / "laptop"
    typed("team", "join", team.proxy.url, home=folder, BACKSTORY_TEAM_TOKEN=team.secret("bob"))
    words = ("--embeddings", "off", "--histories", "off", "--surfaces", "backstory")
    with serving(folder, *words) as server:
        server.greet()
        arguments = {"text": DECISION, "space": "ops"}
        answer = server.ask("tools/call", {"name": "remember", "arguments": arguments})
        assert "for the space ops" in answer["content"][0]["text"]
        until(lambda: team.texts() == Counter([DECISION]))


def test_the_same_text_can_be_saved_for_two_spaces(team: TeamOfLaptops, laptop: Laptop) -> None:
    typed("admin", "members", "add", "billing", "bob", home=team.home)
    until(lambda: "billing" in team.web.send("/spaces", **bearer(team.tokens["bob"])).body)
    joined(laptop, team)
    laptop.spaces.join(team.proxy.url, team.secret("bob"), "billing")
    first = laptop.core.remembering.remember(DECISION, space="ops")
    second = laptop.core.remembering.remember(DECISION, space="billing")
    again = laptop.core.remembering.remember(DECISION, space="billing")
    assert (first.is_new, second.is_new, again.is_new) == (True, True, False)
    assert again.memory.id == second.memory.id
    assert {name: each.delivered for name, each in laptop.spaces.sync(Call()).items()} == {
        "ops": 1,
        "billing": 1,
    }


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://mcp.example.com", ("https://mcp.example.com", "")),
        ("https://mcp.example.com/mcp/ops/", ("https://mcp.example.com", "ops")),
        ("https://example.com/mcp", ("https://example.com", "")),
        ("https://example.com/mcp-server/mcp/ops", ("https://example.com/mcp-server", "ops")),
        ("https://example.com/tools/", ("https://example.com/tools", "")),
    ],
)
def test_an_address_may_name_the_space(url: str, expected: tuple[str, str]) -> None:
    assert split_space(url) == expected


def test_a_reading_that_is_under_way_when_the_space_is_left_leaves_no_copy(
    team: TeamOfLaptops, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    laptop.spaces.join(team.proxy.url, team.secret("bob"), "ops")
    team.text("ann", "remember", text=DECISION)
    ask = SpaceClient.memories

    def answer_late(client: SpaceClient, space: str, ids: list[str]) -> list[SharedMemory]:
        memories = ask(client, space, ids)
        Spaces(laptop.core.engine).leave("ops")
        return memories

    monkeypatch.setattr(SpaceClient, "memories", answer_late)
    laptop.sync()
    assert laptop.copies() == {}
    assert not laptop.core.engine.store.space_copies.count("ops")


def test_a_delivery_that_is_under_way_when_the_space_is_left_deletes_nothing_of_the_user(
    team: TeamOfLaptops, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed("admin", "review", "on", "ops", home=team.home)
    joined(laptop, team)
    waiting = laptop.remember("The heron waits.", space="ops")
    ask = SpaceClient.deliver

    def answer_late(client: SpaceClient, space: str, delivered: DeliveredMemory) -> DeliveryReceipt:
        receipt = ask(client, space, delivered)
        assert Spaces(laptop.core.engine).leave("ops") == 1
        return receipt

    monkeypatch.setattr(SpaceClient, "deliver", answer_late)
    laptop.sync()
    assert laptop.core.browsing.memory(waiting.id).trust is Trust.OWN


def test_what_is_saved_while_the_server_closes_the_space_still_waits(
    team: TeamOfLaptops, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined(laptop, team)
    store = laptop.core.engine.store
    list_waiting = store.outgoing.all

    def list_before_a_save() -> list[Delivery]:
        waiting = list_waiting()
        if not store.in_transaction:  # else others wait with their saves
            laptop.remember("The heron waits.", space="ops")
        return waiting

    def refuse(client: SpaceClient, space: str) -> list[str]:
        monkeypatch.setattr(store.outgoing, "all", list_before_a_save)
        raise SpaceClosed("Not any more.")

    monkeypatch.setattr(SpaceClient, "digests", refuse)
    with pytest.raises(SpaceClosed):
        laptop.sync()
    laptop.remember("The gull waits.", space="ops")
    assert {each.memory for each in list_waiting()} == set(laptop.copies())


def test_an_answer_is_given_up_at_the_deadline_even_if_bytes_of_its_headers_still_come() -> None:
    with answering(dripping(b"HTTP/1.1 200 OK\r\nX-Long: ")) as url:
        client = SpaceClient(url, "bst_token", timeout_s=0.3)
        with pytest.raises(Unavailable, match=r"did not answer within 0\.3 s"):
            client.offered()


def test_a_delivery_that_is_too_large_for_a_proxy_holds_up_no_other(
    team: TeamOfLaptops, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    joined(laptop, team)
    laptop.remember("Large.", space="ops")
    laptop.remember("Small.", space="ops")
    send = SpaceClient._send

    def behind_a_proxy(client: SpaceClient, path: str, question: Json | None) -> tuple[int, bytes]:
        is_large = question is not None and question.get("text") == "Large."
        return (413, b"<html>Too large</html>") if is_large else send(client, path, question)

    monkeypatch.setattr(SpaceClient, "_send", behind_a_proxy)
    outcome = laptop.sync()
    assert (outcome.delivered, outcome.refused) == (1, 1)
    assert team.texts() == Counter(["Small."])
    assert "too large" in laptop.spaces.status()[0].waiting[0].problem


def test_large_memories_come_in_several_answers(
    team: TeamOfLaptops, laptop: Laptop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space_client, "MAX_REPLY_BYTES", 2_000_000)
    for number in range(25):
        delivery = {
            "key": f"{number:024x}",
            "text": f"{number} " + "walrus " * 14_000,
            "kind": "fact",
            "project": "",
            "files": [],
            "made_ms": 0,
            "replaces": "",
        }
        assert team.web.send("/spaces/ops/deliveries", delivery, **bearer(team.tokens["ann"])).status == 200
    joined(laptop, team)
    assert len(laptop.copies()) == 25


def test_a_time_beyond_the_calendar_is_refused(team: TeamOfLaptops) -> None:
    delivery = {
        "key": "d" * 24,
        "text": DECISION,
        "kind": "fact",
        "project": "",
        "files": [],
        "made_ms": 2**52,
        "replaces": "",
    }
    answer = team.web.send("/spaces/ops/deliveries", delivery, **bearer(team.tokens["bob"]))
    assert (answer.status, "made_ms" in answer.body) == (400, True)


def test_a_text_that_no_store_can_hold_is_refused_or_saved_but_no_failure(team: TeamOfLaptops) -> None:
    delivery = {
        "key": "e" * 24,
        "text": "half a pair: \ud800",
        "kind": "fact",
        "project": "\ud800",
        "files": ["\ud800"],
        "made_ms": 0,
        "replaces": "",
    }
    answer = team.web.send("/spaces/ops/deliveries", delivery, **bearer(team.tokens["bob"]))
    assert answer.status in (200, 400)


def test_a_remote_that_is_a_path_of_this_machine_is_not_told(
    team: TeamOfLaptops, laptop: Laptop, tmp_path: Path
) -> None:
    place = tmp_path / "shop"
    place.mkdir()
    git(place, "init", "-q")
    git(place, "remote", "add", "backup", str(tmp_path / "backup.git"))
    git(place, "remote", "add", "origin", "git@github.com:acme/shop.git")
    joined(laptop, team)
    laptop.core._replace(caller=Caller(project=str(place))).remembering.remember(DECISION, space="ops")
    laptop.sync()
    answer = team.web.send(
        "/spaces/ops/changes", {"ids": list(laptop.copies())}, **bearer(team.tokens["ann"])
    )
    assert [each["project"] for each in answer.json["memories"]] == ["github.com/acme/shop"]
