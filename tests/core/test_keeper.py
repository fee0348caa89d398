"""The keeper of conversations: nothing that happens to files loses what they told."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from backstory.core.sync import Sync, reading
from backstory.core.sync.redacting import Redaction
from backstory.domain import zstd
from backstory.readers import Cursor, Piece, Places, Reader, Source, load_readers
from backstory.store import Store

from ..conftest import OpenCore, OpenStore
from .test_sync import said
from .toy_reader import append, toy_reader, write

HOMES = Path(__file__).resolve().parents[1] / "readers"
CLAUDE = "1f6a0000-0000-4000-8000-000000000001"
CODEX = "0199aaaa-0000-7000-8000-000000000001"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def sync(open_core: OpenCore, store: Store, home: Path) -> Callable[..., None]:
    syncs = Sync(open_core(store, None).engine)

    def run(reader: str, **roots: tuple[Path, ...]) -> None:
        named = {name.replace("_", "-"): paths for name, paths in roots.items()}
        assert syncs.run(load_readers([reader]).values(), Places(home, {}, "linux", roots=named)) is not None

    return run


@pytest.fixture
def toy_sync(open_core: OpenCore, store: Store, home: Path) -> Callable[[], None]:
    home.mkdir()
    syncs = Sync(open_core(store, None).engine)

    def run() -> None:
        assert syncs.run([toy_reader()], Places(home, {}, "linux")) is not None

    return run


def texts(store: Store, conversation: str) -> list[str]:
    return [message.text for message in store.messages.of(conversation)]


def touch(path: Path) -> None:
    """As a backup program does that sets times anew."""
    state = path.stat()
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1_000_000_000))


def test_a_backup_that_is_only_touched_loses_nothing(
    sync: Callable[..., None], store: Store, home: Path, tmp_path: Path
) -> None:
    shutil.copytree(HOMES / "claude-code/home", home)
    backup = tmp_path / "old-laptop/.claude"
    shutil.copytree(home / ".claude", backup)
    sync("claude-code", claude_code=(backup,))
    before = texts(store, f"claude-code:{CLAUDE}")
    assert len(before) > 3
    shutil.rmtree(home)
    home.mkdir()
    sync("claude-code", claude_code=(backup,))
    for path in backup.rglob("*.jsonl"):
        touch(path)
    sync("claude-code", claude_code=(backup,))
    assert texts(store, f"claude-code:{CLAUDE}") == before


def test_a_codex_thread_that_is_archived_and_resumed_is_whole(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    shutil.copytree(HOMES / "codex/home", home)
    (log,) = (home / ".codex/sessions").rglob(f"*{CODEX}.jsonl")
    archived = home / ".codex/archived_sessions" / log.name
    sync("codex")
    before = texts(store, f"codex:{CODEX}")
    for there, then in ((log, archived), (archived, log)):
        there.rename(then)
        sync("codex")
        assert texts(store, f"codex:{CODEX}") == before
    with log.open("a") as file:
        file.write(
            '{"timestamp":"2026-03-01T00:00:00.000Z","type":"event_msg","payload":{"type":"agent_message","message":"Resumed."}}\n'
        )
    sync("codex")
    now = texts(store, f"codex:{CODEX}")
    assert len(now) >= len(before) > 3
    assert "Resumed." in now[-1]
    assert now[: len(before) - 1] == before[:-1]


def test_a_log_that_is_compressed_and_expanded_is_whole(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    shutil.copytree(HOMES / "codex/home", home)
    (log,) = (home / ".codex/sessions").rglob(f"*{CODEX}.jsonl")
    packed = log.with_name(f"{log.name}.zst")
    sync("codex")
    before = texts(store, f"codex:{CODEX}")
    for _ in range(2):
        packed.write_bytes(zstd.compress(log.read_bytes()))
        log.unlink()
        sync("codex")
        assert texts(store, f"codex:{CODEX}") == before
        log.write_bytes(zstd.decompress(packed.read_bytes()))
        packed.unlink()
        sync("codex")
        assert texts(store, f"codex:{CODEX}") == before
    touch(log)
    sync("codex")
    assert texts(store, f"codex:{CODEX}") == before


def codex_line(at: int, role: str, text: str) -> str:
    item = {
        "type": "message",
        "role": role,
        "content": [{"type": "input_text" if role == "user" else "output_text", "text": text}],
    }
    entry = {"timestamp": f"2026-01-01T00:00:{at:02}.000Z", "type": "response_item", "payload": item}
    return json.dumps(entry) + "\n"


CODEX_META = json.dumps({"type": "session_meta", "payload": {"id": CODEX, "cwd": "/w/app"}}) + "\n"
ASKED = [codex_line(1, "user", "Which cache?"), codex_line(2, "assistant", "The small one.")]
HERE = [codex_line(3, "user", "Why small here?"), codex_line(4, "assistant", "It is enough.")]
THERE = [codex_line(5, "user", "And large there"), codex_line(6, "assistant", "It is slower.")]


def write_codex(home: Path, *lines: str, folder: str = "sessions") -> Path:
    log = home / ".codex" / folder / f"rollout-2026-01-01T00-00-00-{CODEX}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(CODEX_META + "".join(lines))
    return log


def codex_texts(store: Store) -> list[str]:
    return sorted(texts(store, f"codex:{CODEX}"))


def said_in(*lines: str) -> list[str]:
    return sorted(json.loads(line)["payload"]["content"][0]["text"] for line in lines)


def test_a_codex_session_that_went_on_on_two_machines_has_all_that_was_said(
    sync: Callable[..., None], store: Store, home: Path, tmp_path: Path
) -> None:
    write_codex(home, *ASKED, *HERE)
    write_codex(tmp_path / "other", *ASKED, *THERE)
    sync("codex", codex=(tmp_path / "other/.codex",))
    assert codex_texts(store) == said_in(*ASKED, *HERE, *THERE)


def test_a_line_that_is_edited_in_a_codex_log_doubles_nothing(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    write_codex(home, *ASKED, *HERE)
    write_codex(home, *ASKED, *HERE, folder="archived_sessions")
    sync("codex")
    edited = codex_line(1, "user", "Which [removed] cache?")
    for folder in ("sessions", "archived_sessions"):
        write_codex(home, edited, ASKED[1], *HERE, folder=folder)
        sync("codex")
    assert codex_texts(store) == said_in(edited, ASKED[1], *HERE)


def test_a_shorter_codex_log_that_goes_on_overwrites_nothing(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    log = write_codex(home, *ASKED, *HERE)
    sync("codex")
    log.unlink()
    sync("codex")
    write_codex(home, *ASKED, *THERE)
    sync("codex")
    assert codex_texts(store) == said_in(*ASKED, *HERE, *THERE)


def as_before(reader: Reader) -> Reader:
    """The reader as it was when it named turns by their place in the file."""

    def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
        for piece in reader.read(source, Cursor(cursor.offset, {**cursor.state, "named": {}})):
            turns = [turn._replace(id=turn.former_id or turn.id, former_id="") for turn in piece.turns]
            state = {} if piece.cursor is None else {**piece.cursor.state}
            state.pop("named", None)
            yield piece._replace(turns=turns, cursor=piece.cursor and piece.cursor._replace(state=state))

    return reader._replace(read=read)


@pytest.mark.parametrize("change", ["unchanged", "grown", "moved", "compressed", "copied", "gone and back"])
def test_a_store_that_named_turns_by_their_place_doubles_none(
    open_core: OpenCore, store: Store, home: Path, change: str
) -> None:
    (reader,) = load_readers(["codex"]).values()
    places = Places(home, {}, "linux")
    log = write_codex(home, *ASKED, *HERE)
    (home / ".codex/history.jsonl").write_text(
        json.dumps({"session_id": "lost", "ts": 1_767_225_601, "text": "only a prompt"}) + "\n"
    )
    syncs = Sync(open_core(store, None).engine)
    assert syncs.run([as_before(reader)], places) is not None
    assert all("/@" in message.id for message in store.messages.of(f"codex:{CODEX}"))
    match change:
        case "grown":
            log.write_text(log.read_text() + "".join(THERE))
            with (home / ".codex/history.jsonl").open("a") as file:
                file.write(json.dumps({"session_id": "lost", "ts": 1_767_225_602, "text": "and one"}) + "\n")
        case "moved":
            log.rename(write_codex(home, folder="archived_sessions"))
        case "compressed":
            log.with_name(f"{log.name}.zst").write_bytes(zstd.compress(log.read_bytes()))
            log.unlink()
        case "copied":
            write_codex(home, *ASKED, *HERE, *THERE, folder="archived_sessions")
        case "gone and back":
            raw = log.read_bytes()
            log.unlink()
            assert syncs.run([reader], places) is not None
            log.write_bytes(raw)
    assert syncs.run([reader], places) is not None
    more = THERE if change in ("grown", "copied") else []
    assert codex_texts(store) == said_in(*ASKED, *HERE, *more)
    assert texts(store, "codex:lost") == ["only a prompt", *(["and one"] if change == "grown" else [])]
    assert store.problems() == []


def test_a_project_folder_that_is_renamed_and_named_back_loses_nothing(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    shutil.copytree(HOMES / "claude-code/home", home)
    project = home / ".claude/projects/-w-app"
    sync("claude-code")
    before = texts(store, f"claude-code:{CLAUDE}")
    other = project.with_name("-w-renamed")
    project.rename(other)
    sync("claude-code")
    assert texts(store, f"claude-code:{CLAUDE}") == before
    other.rename(project)
    sync("claude-code")
    for path in project.rglob("*.jsonl"):
        touch(path)
    sync("claude-code")
    assert texts(store, f"claude-code:{CLAUDE}") == before
    assert not store.conversations.get([f"claude-code:{CLAUDE}"])[0].is_gone


ONE, TWO, THREE = (said(str(n), text) for n, text in enumerate(("one", "two", "three"), 1))


def test_an_older_shorter_copy_takes_nothing_from_a_turn(
    toy_sync: Callable[[], None], store: Store, home: Path
) -> None:
    write(home / "a.toy", ONE, said("2", "two, and all the rest"))
    toy_sync()
    (home / "a.toy").unlink()
    write(home / "b.toy", ONE, said("2", "two, and"))
    toy_sync()
    assert texts(store, "toy:t") == ["one", "two, and all the rest"]
    write(home / "b.toy", ONE, said("2", "[gone]"))
    toy_sync()
    assert texts(store, "toy:t") == ["one", "[gone]"]


def test_an_edit_of_the_same_length_in_the_middle_of_a_log_is_noticed(
    toy_sync: Callable[[], None], store: Store, home: Path
) -> None:
    lines = [said(str(n), f"{n:06} " + "x" * 300) for n in range(100)]
    write(home / "a.toy", *lines)
    toy_sync()
    raw = (home / "a.toy").read_bytes()
    at = raw.index(b"000050")
    (home / "a.toy").write_bytes(raw[:at] + b"scrubs" + raw[at + 6 :])
    touch(home / "a.toy")
    toy_sync()
    kept = texts(store, "toy:t")
    assert (len(kept), kept[50][:7], "000050" in "".join(kept)) == (100, "scrubs ", False)


def test_what_readers_remember_holds_no_secret(sync: Callable[..., None], store: Store, home: Path) -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0hLaB3d"
    log = home / ".claude/projects/-w-app" / f"{CLAUDE}.jsonl"
    log.parent.mkdir(parents=True)
    asked = {
        "type": "user",
        "uuid": "u1",
        "sessionId": CLAUDE,
        "timestamp": "2026-01-01T10:00:00.000Z",
        "cwd": "/w/app",
        "message": {"role": "user", "content": f"deploy with {token} please"},
    }
    log.write_text(json.dumps(asked) + "\n")
    sync("claude-code")
    (state,) = store.sync.sources("claude-code").values()
    assert "please" in repr(state.state)
    assert token not in repr(state)
    with log.open("a") as file:
        file.write(
            json.dumps(asked | {"uuid": "u2", "message": {"role": "user", "content": "thanks"}}) + "\n"
        )
    sync("claude-code")
    assert texts(store, f"claude-code:{CLAUDE}") == ["deploy with [redacted: github token] please", "thanks"]


def test_ids_that_look_random_are_remembered_as_they_are() -> None:
    redaction = Redaction("wide")
    id = "toolu_01A9b8C7d6E5f4G3h2J1k0"
    cursor = redaction.cursor(Cursor(7, {"late": {id: "Bash"}, "id": id, "title": f"see {id} x@y.org"}))
    assert (cursor.offset, cursor.state["id"], list(cursor.state["late"])) == (7, id, [id])
    assert "x@y.org" not in cursor.state["title"]


@pytest.mark.skipif(os.name != "posix", reason="needs named pipes")
def test_what_is_no_regular_file_is_reported_and_holds_nobody_up(
    toy_sync: Callable[[], None], store: Store, home: Path
) -> None:
    os.mkfifo(home / "a.toy")
    (home / "b.toy").symlink_to("/dev/zero")
    (home / "c.whole").symlink_to(home / "a.toy")
    write(home / "d.toy", ONE)
    toy_sync()
    assert texts(store, "toy:t") == ["one"]
    problems = store.sync.problems()
    assert sorted(problems) == [str(home / name) for name in ("a.toy", "b.toy", "c.whole")]
    assert all("not a regular file" in problem for problem in problems.values())


@pytest.mark.parametrize("silent", ["a", "b"])
@pytest.mark.parametrize("small_bytes", [1, 4_000_000])
def test_a_file_that_does_not_answer_is_passed_over_while_others_write(
    open_core: OpenCore,
    open_store: OpenStore,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
    small_bytes: int,
    silent: str,
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", small_bytes)
    monkeypatch.setattr(reading, "STALL_S", 2.0)
    store, other = open_store(), open_store()
    is_over = threading.Event()
    home.mkdir()
    for name in "abc":
        write(home / f"{name}.toy", said("1", name, talk=name))
    toy = toy_reader()

    def hang(source: Source, cursor: Cursor) -> Iterator[Piece]:
        if source.path.stem == silent:
            is_over.wait(60)  # as a read of a mount that is gone, whose answer comes too late
        assert other.leases.take("anything", "other", for_ms=1000), "others write while files are read"
        yield from toy.read(source, cursor)

    run = Sync(open_core(store, None).engine).run([toy._replace(read=hang)], Places(home, {}, "linux"))
    is_over.set()
    assert run is not None
    (problem,) = run["toy"].problems.items()
    assert (problem[0], problem[1][:21]) == (str(home / f"{silent}.toy"), "It did not answer wit")
    assert [texts(store, f"toy:{name}") for name in "abc"] == [
        [name] if name != silent else [] for name in "abc"
    ]


def test_what_was_forgotten_while_its_file_was_read_is_not_remembered(
    open_core: OpenCore, store: Store, home: Path
) -> None:
    home.mkdir()
    write(home / "a.toy", ONE)
    engine = open_core(store, None).engine
    Sync(engine).run([toy_reader()], Places(home, {}, "linux"))
    append(home / "a.toy", TWO)
    before = store.sync.sources()[str(home / "a.toy")]

    def forget() -> None:
        store.sync.put(before._replace(state={"mark": {}, "stale": []}))

    Sync(engine).run([toy_reader(2, forget)], Places(home, {}, "linux"))
    assert store.sync.sources()[str(home / "a.toy")].state == {"mark": {}, "stale": []}
    assert texts(store, "toy:t") == ["one"], "it is read at the next sync"
    Sync(engine).run([toy_reader()], Places(home, {}, "linux"))
    assert texts(store, "toy:t") == ["one", "two"]


def claude_line(session: str, uuid: str, role: str, content: object, **more: object) -> dict[str, object]:
    message = {"role": role, "content": content, **({"id": more.pop("id")} if "id" in more else {})}
    at = f"2026-01-01T10:00:{int(uuid[1:]):02}.000Z"
    return {"type": role, "uuid": uuid, "sessionId": session, "timestamp": at, "message": message, **more}


def write_claude(home: Path, session: str, *lines: dict[str, object]) -> Path:
    log = home / ".claude/projects/-w-app" / f"{session}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(json.dumps({**line, "sessionId": session}) + "\n" for line in lines))
    return log


FORK_PAST = [
    claude_line("", "u1", "user", "Why is it slow?"),
    claude_line("", "u2", "assistant", [{"type": "text", "text": "The cache is cold."}], id="m1"),
]
FORK_OWN = claude_line("", "u3", "user", "Drop it.")
ORIGINAL_OWN = claude_line("", "u9", "user", "Warm it.")


@pytest.mark.parametrize(("original", "fork"), [("a", "z"), ("z", "a")])
@pytest.mark.parametrize("order", ["original first", "fork first", "both", "original empty", "original back"])
def test_a_fork_and_its_original_are_kept_once_whichever_is_read_first(
    sync: Callable[..., None], store: Store, home: Path, original: str, fork: str, order: str
) -> None:
    if order == "original empty":
        write_claude(home, original)
    if order == "original back":
        write_claude(home, original, *FORK_PAST)
        sync("claude-code")
        write_claude(home, original).unlink()
        sync("claude-code")
    if order == "original first":
        write_claude(home, original, *FORK_PAST, ORIGINAL_OWN)
    elif order != "both":
        write_claude(home, fork, *FORK_PAST, FORK_OWN)
        sync("claude-code")
    write_claude(home, original, *FORK_PAST, ORIGINAL_OWN)
    write_claude(home, fork, *FORK_PAST, FORK_OWN)
    for _ in range(2):
        sync("claude-code")
        assert texts(store, f"claude-code:{original}") == [
            "Why is it slow?",
            "The cache is cold.",
            "Warm it.",
        ]
        assert texts(store, f"claude-code:{fork}") == ["Drop it."]
        ((kind, parent),) = [
            (each.kind, each.parent) for each in store.conversations.get([f"claude-code:{fork}"])
        ]
        assert (kind, parent) == ("fork", f"claude-code:{original}")
    assert store.problems() == []


def test_a_fork_stays_as_it_is_when_its_original_is_deleted(
    sync: Callable[..., None], store: Store, home: Path
) -> None:
    log = write_claude(home, "a", *FORK_PAST, ORIGINAL_OWN)
    write_claude(home, "z", *FORK_PAST, FORK_OWN)
    sync("claude-code")
    log.unlink()
    sync("claude-code")
    write_claude(home, "z", *FORK_PAST, FORK_OWN, claude_line("", "u10", "user", "And now?"))
    sync("claude-code")
    assert texts(store, "claude-code:z") == ["Drop it.", "And now?"]
    assert texts(store, "claude-code:a") == ["Why is it slow?", "The cache is cold.", "Warm it."]


@pytest.mark.parametrize(("original", "fork"), [("a", "z"), ("z", "a")])
def test_a_fork_that_is_read_before_anything_is_said_in_it_takes_nothing_from_its_original(
    sync: Callable[..., None], store: Store, home: Path, original: str, fork: str
) -> None:
    touch(write_claude(home, fork))
    os.utime(write_claude(home, original, *FORK_PAST), ns=(0, 1_000_000_000))
    sync("claude-code")
    write_claude(home, fork, *FORK_PAST)
    sync("claude-code")
    write_claude(home, fork, *FORK_PAST, FORK_OWN)
    sync("claude-code")
    assert texts(store, f"claude-code:{original}") == ["Why is it slow?", "The cache is cold."]
    assert texts(store, f"claude-code:{fork}") == ["Drop it."]


def cut_lines() -> list[dict[str, object]]:
    """Two questions; the answers have several lines each, all of them with their message's id."""
    uses = [
        [{"type": "tool_use", "id": f"t{n}", "name": "Bash", "input": {"command": command}}]
        for n, command in enumerate(("ls src", "ls tests"))
    ]
    words = [
        [{"type": "text", "text": text}] for text in ("I look around.", "It is in src.", "See the test.")
    ]
    thought = [{"type": "thinking", "thinking": "Where may it be?"}]
    return [
        claude_line("", "u1", "user", "Where is the parser?"),
        claude_line("", "u2", "assistant", thought, id="m1"),
        claude_line("", "u3", "assistant", words[0], id="m1"),
        claude_line("", "u4", "assistant", uses[0], id="m1"),
        claude_line("", "u5", "assistant", uses[1], id="m1"),
        claude_line("", "u6", "assistant", words[1], id="m2"),
        claude_line("", "u7", "user", "And its test?"),
        claude_line("", "u8", "assistant", words[2], id="m3"),
    ]


def conversation_of(store: Store) -> list[tuple[str, str]]:
    """What is said in its order, and what is thought and called with it."""
    messages = store.messages.of("claude-code:s")
    said = [(each.role, each.text) for each in messages if each.role in ("user", "assistant")]
    return said + sorted((each.role, each.text) for each in messages if each.role in ("thinking", "tool"))


CUT_WHOLE = [
    ("user", "Where is the parser?"),
    ("assistant", "I look around."),
    ("assistant", "It is in src."),
    ("user", "And its test?"),
    ("assistant", "See the test."),
    ("thinking", "Where may it be?"),
    ("tool", "Bash command: ls src\nBash command: ls tests"),
]


@pytest.mark.parametrize("damage", ["missing", "cut"])
@pytest.mark.parametrize("line", range(1, 8))
@pytest.mark.parametrize("order", ["whole first", "cut first"])
def test_a_copy_that_lacks_a_line_changes_nothing(
    sync: Callable[..., None], store: Store, home: Path, tmp_path: Path, damage: str, line: int, order: str
) -> None:
    lines = write_claude(tmp_path / "whole", "s", *cut_lines()).read_text().splitlines(keepends=True)
    half = [lines[line][: len(lines[line]) // 2] + "\n"] if damage == "cut" else []
    copies = [lines, [*lines[:line], *half, *lines[line + 1 :]]]
    other = tmp_path / "other/.claude"
    for directory, copy in zip(
        (home / ".claude", other), copies if order == "whole first" else copies[::-1], strict=True
    ):
        log = directory / "projects/-w-app/s.jsonl"
        log.parent.mkdir(parents=True)
        log.write_text("".join(copy))
        sync("claude-code", **({"claude_code": (other,)} if directory == other else {}))
    assert conversation_of(store) == CUT_WHOLE
    assert store.problems() == []


def by_first_line(reader: Reader) -> Reader:
    """The reader of Claude Code as it was when it named an assistant's turn by its first line."""

    def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
        for piece in reader.read(source, cursor):
            turns = [turn._replace(id=turn.former_id or turn.id, former_id="") for turn in piece.turns]
            if piece.cursor is not None:
                piece.cursor.state["memory"].pop("messages")
            yield piece._replace(turns=turns)

    return reader._replace(read=read)


@pytest.mark.parametrize("change", ["unchanged", "grown", "moved", "copied", "rewritten", "gone and back"])
def test_a_store_that_named_answers_by_their_first_line_doubles_none(
    open_core: OpenCore, store: Store, home: Path, change: str
) -> None:
    (reader,) = load_readers(["claude-code"]).values()
    places = Places(home, {}, "linux")
    lines = cut_lines()
    half = lines[:4] if change == "grown" else lines
    log = write_claude(home, "s", *half)
    syncs = Sync(open_core(store, None).engine)
    assert syncs.run([by_first_line(reader)], places) is not None
    assert "claude-code:s/u2" in store.messages.places("claude-code:s")
    match change:
        case "grown":
            write_claude(home, "s", *lines)
        case "moved":
            log.parent.rename(log.parent.with_name("-w-renamed"))
        case "copied":
            shutil.copytree(log.parent, log.parent.with_name("-w-copied"))
        case "rewritten":
            log.write_text("\n" + log.read_text())
        case "gone and back":
            raw = log.read_bytes()
            log.unlink()
            assert syncs.run([reader], places) is not None
            log.write_bytes(raw + b"\n")
            touch(log)
    assert syncs.run([reader], places) is not None
    assert conversation_of(store) == CUT_WHOLE
    ids = store.messages.places("claude-code:s")
    assert ("claude-code:s/m1" in ids) is (change not in ("unchanged", "gone and back"))
    assert store.problems() == []
