"""A hook sees within milliseconds whether an assistant wrote something that nobody has read yet."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from backstory.clients.hook import FOLDER_SIZE, STARTS, WATCH, is_changed, unread
from backstory.core import Caller, Core, Engine
from backstory.core.background import Background
from backstory.core.brief.files import BriefFiles, Briefs
from backstory.core.calls import Call, Cancelled
from backstory.core.hooks import HookRequest, answer
from backstory.core.sync import Sync
from backstory.core.watch import Watch, watched_file, watched_paths
from backstory.readers import Places, Source
from backstory.store import Store

from ..doubles import make_settings
from ..patience import PATIENCE_S
from ..repositories import git
from .toy_reader import append, toy_reader, write

LONG_AGO_NS = 1_700_000_000_000_000_000
LATER_NS = LONG_AGO_NS + 3_600_000_000_000


def file_at(path: Path, text: str = "x") -> Path:
    """A file in folders that nobody touched for long."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    for each in (path, *path.parents[:3]):
        os.utime(each, ns=(LONG_AGO_NS, LONG_AGO_NS))
    return path


def watch(data: Path, *files: Path, looked_at_ns: int = LATER_NS, with_folders: bool = True) -> None:
    home = data.parent
    Watch(data).put(
        {"codex": watched_paths(map(watched_file, files), home, looked_at_ns, with_folders=with_folders)}
    )


def append_text(path: Path) -> None:
    with path.open("a") as file:
        file.write("more")


def rewrite(path: Path) -> None:
    path.write_text("y")


def add_beside(path: Path) -> None:
    path.with_name("other.jsonl").touch()


def add_folder(path: Path) -> None:
    (path.parent.parent / "19").mkdir()


@pytest.mark.parametrize("change", [append_text, rewrite, add_beside, add_folder, Path.unlink])
def test_a_change_of_a_file_or_of_its_folders_is_seen(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    path = file_at(tmp_path / ".codex" / "sessions" / "11" / "18" / "a.jsonl")
    watch(tmp_path / "data", path)
    assert unread("codex", str(tmp_path / "data")) == []
    change(path)
    assert unread("codex", str(tmp_path / "data")) == ["codex"]


def test_what_changes_elsewhere_in_a_programs_folder_is_not_looked_at(tmp_path: Path) -> None:
    path = file_at(tmp_path / ".codex" / "sessions" / "a.jsonl")
    watch(tmp_path / "data", path)
    (tmp_path / ".codex" / "config.toml").touch()
    assert unread("codex", str(tmp_path / "data")) == []


def test_of_files_within_a_project_only_the_files_are_watched(tmp_path: Path) -> None:
    path = file_at(tmp_path / "shop" / "history.md")
    watch(tmp_path / "data", path, with_folders=False)
    add_beside(path)
    assert unread("codex", str(tmp_path / "data")) == []
    append_text(path)
    assert unread("codex", str(tmp_path / "data")) == ["codex"]


def test_a_log_of_a_database_that_appears_is_seen(tmp_path: Path) -> None:
    path = file_at(tmp_path / "opencode.db")
    log = tmp_path / "opencode.db-wal"
    watch(tmp_path / "data", path, log, with_folders=False)
    assert unread("codex", str(tmp_path / "data")) == []
    log.write_text("x")
    assert unread("codex", str(tmp_path / "data")) == ["codex"]


def test_a_folder_that_changed_while_files_were_looked_for_counts_as_changed(tmp_path: Path) -> None:
    path = file_at(tmp_path / ".codex" / "sessions" / "a.jsonl")
    (folder,) = [
        each
        for each in watched_paths([watched_file(path)], tmp_path, LONG_AGO_NS)
        if each.path == str(path.parent)
    ]
    assert folder.size == FOLDER_SIZE
    assert is_changed(*folder)
    assert not is_changed(*folder._replace(modified_ns=LONG_AGO_NS))


def test_readers_that_did_not_look_stay_as_they_were(tmp_path: Path) -> None:
    path = file_at(tmp_path / ".codex" / "sessions" / "a.jsonl")
    data = tmp_path / "data"
    watch(data, path)
    append_text(path)
    Watch(data).put({"opencode": watched_paths([watched_file(path)], tmp_path, LATER_NS)})
    assert unread("codex", str(data)) == ["codex"]


def test_a_client_whose_reader_found_nothing_yet_is_known_by_its_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    watch(data, file_at(tmp_path / ".codex" / "sessions" / "a.jsonl"))
    assert unread("copilot-cli", str(data)) == []  # its own session has said nothing yet
    assert unread("codex", str(data)) == ["copilot"]
    path = file_at(tmp_path / ".copilot" / "sessions" / "b.jsonl")
    Watch(data).put({"copilot": watched_paths([watched_file(path)], tmp_path, LATER_NS)})
    assert unread("codex", str(data)) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"readers": ',
        "{half",
        "[]",
        '{"readers": 3}',
        '{"readers": {"codex": 3}}',
        '{"readers": {"codex": [["/x"]]}}',
    ],
)
def test_a_list_that_cannot_be_understood_means_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / WATCH).write_text(text)
    assert unread("codex", str(tmp_path)) == []
    Watch(tmp_path).put({"codex": []})
    assert unread("codex", str(tmp_path)) == []


def test_a_disk_that_takes_no_note_of_a_start_means_nothing(tmp_path: Path) -> None:
    (tmp_path / STARTS).write_text("no folder")
    assert unread("codex", str(tmp_path)) == []


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


@pytest.mark.parametrize("histories", ["off", "codex"])
def test_a_reader_that_the_user_no_longer_wants_is_not_asked_for_at_every_start(
    store: Store, home: Path, tmp_path: Path, histories: str
) -> None:
    data = tmp_path / "data"
    path = file_at(home / ".claude" / "projects" / "p" / "a.jsonl")
    Watch(data).put({"claude-code": watched_paths([watched_file(path)], home, LATER_NS)})
    append_text(path)
    assert unread("claude-code", str(data)) == ["claude-code"]
    settings = make_settings(data, histories=(histories,))
    places = Places(home, {}, "linux")
    Background(Engine(settings, store, None), lambda: places).read_recent(
        ["claude-code"], str(tmp_path), PATIENCE_S
    )
    for _ in range(2):  # the first notes that the client was started
        assert unread("claude-code", str(data)) == []


def line(id: str, text: str, **fields: str) -> dict[str, object]:
    return {"talk": id, "id": id, "text": text, **fields}


def test_what_was_read_counts_as_known_once_the_briefs_are_rendered(
    store: Store, home: Path, tmp_path: Path
) -> None:
    data = str(tmp_path / "data")
    engine = Engine(make_settings(tmp_path / "data"), store, None)
    write(home / "a.toy", line("1", "one"))
    places = Places(home, {}, "linux")
    with pytest.raises(Cancelled):
        Sync(engine).run([toy_reader()], places, call=Call(is_cancelled=lambda: True))
    Briefs(engine).refresh()
    assert not (tmp_path / "data" / WATCH).exists()
    Sync(engine).run([toy_reader()], places)
    assert not (tmp_path / "data" / WATCH).exists()  # a hook would print a brief from before
    Briefs(engine).refresh()
    assert unread("toy", data) == []
    append(home / "a.toy", line("2", "two"))
    assert unread("toy", data) == ["toy"]
    assert Sync(engine).run_file([toy_reader()], places, home / "a.toy") is not None
    Briefs(engine).refresh()
    assert unread("toy", data) == ["toy"]  # others may have changed too
    Sync(engine).run([toy_reader()], places)
    Briefs(engine).refresh()
    assert unread("toy", data) == []


def test_with_little_time_the_file_that_changed_last_is_read_first(
    store: Store, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backstory.core.sync.decoding.SMALL_BYTES", 1)
    for number, name in enumerate(("b", "c", "a")):
        write(home / f"{name}.toy", line(name, name))
        os.utime(home / f"{name}.toy", ns=(LONG_AGO_NS + number, LONG_AGO_NS + number))
    order: list[str] = []
    reader = toy_reader()

    def read(source: Source, cursor: object) -> object:
        order.append(source.path.stem)
        return toy_reader().read(source, cursor)  # type: ignore[arg-type]

    engine = Engine(make_settings(tmp_path / "data"), store, None)
    seeing = reader._replace(read=read)  # type: ignore[arg-type]
    Sync(engine).run([seeing], Places(home, {}, "linux"), newest_first=True)
    assert order == ["a", "c", "b"]


def test_a_server_reads_what_is_new_for_a_session_that_starts(
    store: Store, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = (tmp_path / "shop").resolve()
    project.mkdir()
    git(project, "init", "-q")
    monkeypatch.setattr("backstory.readers.load_readers", lambda names: {"toy": toy_reader()})
    monkeypatch.setattr("backstory.readers.reader_names", lambda: ["toy"])
    settings = make_settings(tmp_path / "data", sync_interval_s=100_000.0)
    places = Places(home, {}, "linux")
    engine = Engine(settings, store, None, background=lambda engine: Background(engine, lambda: places))
    rule = "From now on, always use tabs in the Makefile."
    write(home / "a.toy", line("1", rule, directory=str(project)))
    core = Core(engine, Caller(project=str(project), directory=str(project)))
    names = "toy memories unknown"
    request = HookRequest("SessionStart", project=str(project), text=names, wait_s=str(PATIENCE_S))
    reply = answer(core, request)
    assert reply is not None  # a hook that gets no reply has another process read
    files = BriefFiles(tmp_path / "data")
    assert rule in files.read(files.path(str(project)))["text"]
    engine.close()
