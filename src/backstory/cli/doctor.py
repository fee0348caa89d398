"""`backstory doctor`: check this installation, and suggest how to repair it."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, NamedTuple

from ..app import (
    find_spaces,
    in_postgres,
    open_engine,
    open_store,
    store_path,
    store_place,
    this_machine,
    unknown_variables,
)
from ..clients.condition import Condition, conditions
from ..core import Engine
from ..core.client_memories.feeding import refused_files
from ..core.contents import StoreContents, backup_state, contents_of, waiting_texts
from ..core.devices.setup import synced_place
from ..core.team.spaces import Spaces
from ..domain.errors import BackstoryError
from ..domain.lines import counted
from ..domain.when import iso
from ..search.backlog import PROBE
from ..search.embed import build_embedder, embed_texts, missing_packages
from ..settings import Settings, without_password
from ..store.backups import FOLDER
from ..surfaces import all_tools, load_surfaces
from .first_look import stored_histories
from .integrity import advice, problems_of
from .report import (
    FAILED,
    Block,
    Report,
    Span,
    Style,
    Verbatim,
    conversation_count,
    show_progress,
    size,
    table,
)

LEAST_FREE_BYTES = 200 * 1024 * 1024
State = Literal["info", "ok", "warn", "fail"]
"""From best to worst. `info` is a neutral fact, for example that a client is not installed."""
STYLES: dict[str, Style] = {
    "info": Style.QUIET,
    "ok": Style.GOOD,
    "warn": Style.WARNING,
    "fail": Style.BAD,
}


class Check(NamedTuple):
    name: str
    state: State
    message: str
    advice: str = ""


def run(options: argparse.Namespace, settings: Settings) -> Report:
    checks = []
    clients = conditions(this_machine(settings))
    for check in (*_checks(settings), *_clients(clients)):
        show_progress(0, None, f"Checked {check.name}")
        checks.append(check)
    worst = max(checks, key=lambda check: list(STYLES).index(check.state)).state
    body = {
        "state": worst,
        "checks": [check._asdict() for check in checks],
        "clients": [each._asdict() for each in clients],
    }
    return Report(body, list(_lines(checks)), FAILED if worst == "fail" else 0)


def _lines(checks: Sequence[Check]) -> Iterator[Block]:
    """One wrapped row for each check, which begins with its state in colour."""
    for line in table((c.state, c.name, f"{c.message} {c.advice}".rstrip()) for c in checks).splitlines():
        state = line.partition(" ")[0]
        yield Verbatim([Span(state, STYLES[state]), line[len(state) :]]) if state else line


def _checks(settings: Settings) -> Iterator[Check]:
    yield Check("python", "ok", f"{platform.python_implementation()} {platform.python_version()}")
    yield _sqlite(settings)
    yield _variables()
    yield _permissions(settings)
    if settings.exclude:
        yield Check("excluded", "ok", ", ".join(settings.exclude))
    yield from _memory_files(settings)
    yield _space(settings)
    yield _synced_home(settings)
    yield _tools(settings)
    yield from _store(settings)
    yield from _team_stores(settings)
    yield _embeddings(settings)


def _memory_files(settings: Settings) -> Iterator[Check]:
    """A line for each memory file of another program that cannot be updated."""
    for path, problem in refused_files(settings.home).items():
        yield Check(
            "memory files",
            "warn",
            f"{path}: {problem}",
            "Correct it, then run `backstory install --memory-files`.",
        )


def _clients(clients: Sequence[Condition]) -> Iterator[Check]:
    """A line for each client that is installed or has our entry, and one line that names the others."""
    for each in clients:
        if each.is_here or each.entries:
            yield _client(each)
    absent = [each.client for each in clients if not each.is_here and not each.entries]
    if absent:
        yield Check("clients", "info", f"not on this machine: {', '.join(absent)}")


def _client(client: Condition) -> Check:
    title = " ".join(filter(None, (client.title, client.version)))
    if client.is_answered is False:
        return Check(
            client.client, "fail", f"{title}: {client.problem}.", f"`backstory install {client.client}`."
        )
    if client.problem:
        return Check(client.client, "warn", f"{title}: {client.problem}.", "Correct the file.")
    if not client.entries:
        return Check(
            client.client,
            "info",
            f"Backstory is not installed in {title}.",
            f"`backstory install {client.client}` adds it.",
        )
    if client.hooks == "not trusted":
        message = f"Installed in {title}, the server answers; its hooks are not trusted."
        return Check(client.client, "warn", message, "Open Codex, type /hooks, and trust Backstory's hooks.")
    hooks = f"; hooks: {client.hooks}" if client.hooks else ""
    message = f"Installed in {title} ({', '.join(client.entries)}), the server answers{hooks}"
    return Check(client.client, "ok", message)


def _sqlite(settings: Settings) -> Check:
    """A new store needs all that ours needs of SQLite: its version, FTS5 and WAL."""
    with TemporaryDirectory(prefix="backstory-") as folder:
        try:
            open_store(settings.changed(database_url=f"sqlite:///{folder}/store.db", read_url="")).close()
        except BackstoryError as error:
            return Check("sqlite", "fail", error.message, error.hint or "Use another Python.")
    return Check("sqlite", "ok", f"{sqlite3.sqlite_version}, with FTS5")


def _synced_home(settings: Settings) -> Check:
    """A file synchroniser copies the parts of a database at different moments."""
    if why := synced_place(settings.home):
        return Check(
            "home",
            "fail",
            f"{settings.home} is copied by a file synchroniser ({why}), which damages databases.",
            "Move it elsewhere (BACKSTORY_HOME); `backstory devices` synchronises machines.",
        )
    return Check("home", "ok", f"{settings.home} is not in a synchronised folder")


def _variables() -> Check:
    if unknown := unknown_variables():
        return Check(
            "variables", "warn", f"{', '.join(unknown)} is not a setting.", "`backstory settings` lists them."
        )
    return Check("variables", "ok", "every BACKSTORY_ variable is a setting")


def _permissions(settings: Settings) -> Check:
    name, home = "permissions", settings.home
    if not home.exists():
        return Check(name, "ok", f"{home} is created when the first server starts")
    if not os.access(home, os.W_OK | os.X_OK):
        return Check(name, "fail", f"{home} cannot be written.", "Check its owner and mode, or set --home.")
    if os.name != "posix":
        return Check(name, "ok", f"{home} can be written")
    paths = [home, *_store_files(settings)]
    open_to_others = [path for path in paths if stat.S_IMODE(path.stat().st_mode) & 0o077]
    if open_to_others:
        advice = " ".join(f"chmod go= '{path}';" for path in open_to_others).rstrip(";")
        return Check(name, "warn", "Other users can read your memories.", f"Run: {advice}")
    return Check(name, "ok", f"only you can read {home}")


def _store_files(settings: Settings) -> list[Path]:
    if in_postgres(settings):
        return []
    files = [store_path(settings, space) for space in find_spaces(settings)]
    return [path for file in files for path in (file, *file.parent.glob(f"{file.name}-*"))]


def _space(settings: Settings) -> Check:
    existing = next(path for path in (settings.home, *settings.home.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if free < LEAST_FREE_BYTES:
        return Check("space", "warn", f"Only {size(free)} are free on the disk.", "Free some space.")
    return Check("space", "ok", f"{size(free)} free")


def _tools(settings: Settings) -> Check:
    try:
        surfaces = load_surfaces(settings.surfaces, settings.prefix)
    except BackstoryError as error:
        return Check("tools", "fail", error.message, error.hint)
    return Check("tools", "ok", f"{counted(len(all_tools(surfaces)), 'tool')} of {', '.join(surfaces)}")


def _store(settings: Settings) -> Iterator[Check]:
    try:
        engine = open_engine(settings)
    except BackstoryError as error:
        yield Check("store", "fail", error.message, error.hint)
        return
    try:
        contents = contents_of(engine)
        census = contents.census
        counts = f"{counted(census.memories, 'memory', 'memories')}, {counted(census.messages, 'message')}"
        yield Check("store", "ok", f"{store_place(settings)} opens: {counts}, {size(census.bytes)}")
        yield _integrity(engine, settings)
        yield _backups(engine)
        if settings.read_url:
            yield _standby(engine, settings)
        yield _waiting(engine)
        yield _histories(engine, contents)
        yield _background(engine)
        yield from _joined_spaces(engine)
    except BackstoryError as error:  # damage may show only when a page is read
        yield Check("integrity", "fail", error.message, error.hint)
    finally:
        engine.close()


def _standby(engine: Engine, settings: Settings) -> Check:
    if problem := engine.store.standby_problem():
        return Check("standby", "warn", f"Searches run on the primary: {problem}", "Check read_url.")
    return Check("standby", "ok", f"{without_password(settings.read_url)} answers searches")


def _joined_spaces(engine: Engine) -> Iterator[Check]:
    """Spaces of the team that this machine has joined: whether they are read, and what waits to be delivered."""
    for each in Spaces(engine).status():
        name = f"space {each.space.name}"
        read = f"{counted(each.memories, 'memory', 'memories')}, last read {each.contact.at[:16] or 'never'}"
        refused = [delivery for delivery in each.waiting if delivery.problem]
        if refused:
            message = f"{counted(len(refused), 'memory', 'memories')} refused: {refused[0].problem}"
            yield Check(name, "warn", message, "`backstory team status` lists them.")
        elif each.contact.problem:
            yield Check(name, "warn", f"{each.contact.problem} {read}", "`backstory team sync` tries again.")
        else:
            waiting = f", {len(each.waiting)} waiting to be delivered" if each.waiting else ""
            yield Check(name, "ok", f"{read}{waiting}")


def _team_stores(settings: Settings) -> Iterator[Check]:
    """One line for the stores of a team server, where there are any."""
    name = "team stores"
    try:
        spaces = [space for space in find_spaces(settings) if space]
    except BackstoryError as error:
        yield Check(name, "fail", error.message, error.hint)
        return
    if not spaces:
        return
    damages = {space: faults for space, faults in problems_of(settings, spaces).items() if faults}
    if damages:
        space, faults = next(iter(damages.items()))
        message = f"{', '.join(damages)}: {counted(sum(map(len, damages.values())), 'problem')}, such as {faults[0]}."
        yield Check(name, "fail", message, advice(settings, space))
    else:
        yield Check(name, "ok", f"every page and index of {counted(len(spaces), 'store')} is sound")


def _integrity(engine: Engine, settings: Settings) -> Check:
    if problems := engine.store.problems():
        message = f"{counted(len(problems), 'problem')}: {problems[0]}."
        return Check("integrity", "fail", message, advice(settings))
    return Check("integrity", "ok", "every page and index is sound")


def _backups(engine: Engine) -> Check:
    name = "backups"
    state = backup_state(engine)
    if state is None:
        return Check(name, "ok", "left to PostgreSQL: pg_dump, or its archive of the log")
    backups = state.files
    if state.is_too_large:
        return Check(
            name,
            "warn",
            "The store is larger than the limit for its backups.",
            "Raise BACKSTORY_BACKUPS_MAX_MB.",
        )
    if not engine.makes_backups and not backups:
        return Check(name, "warn", "Backups are off, and there are none.", "`backstory backup` makes one.")
    text = f"{counted(len(backups), 'file')} in {engine.settings.home / FOLDER}"
    return Check(name, "ok", text if backups else "none yet; the first is made when the store is a day old")


def _waiting(engine: Engine) -> Check:
    if waiting := waiting_texts(engine):
        message = f"{counted(waiting, 'text')} without vectors: found by their words only."
        return Check(
            "waiting", "warn", message, "A running server computes them; `backstory embed` does it now."
        )
    return Check("waiting", "ok", "every text has its vectors")


def _histories(engine: Engine, contents: StoreContents) -> Check:
    if contents.unreadable:
        path, problem = next(iter(contents.unreadable.items()))
        message = f"{counted(len(contents.unreadable), 'file')} cannot be read, such as {path}: {problem}"
        return Check("histories", "warn", message, "`backstory status --json` lists them.")
    text = ", ".join(
        f"{conversation_count(each.conversations, each.subagents)} of {name}"
        for name, each in contents.histories.items()
    )
    if not text:
        return _unread_histories(stored_histories(engine))
    return Check("histories", "ok", text)


def _unread_histories(files: Mapping[str, int]) -> Check:
    if not files:
        return Check("histories", "info", "no conversations of assistants were found on this machine")
    text = ", ".join(f"{title} ({counted(count, 'file')})" for title, count in files.items())
    return Check("histories", "info", f"not read yet: {text}.", "`backstory sync` reads them.")


def _background(engine: Engine) -> Check:
    """Failing background jobs of running servers, or of the last one."""
    if failing := engine.problems.reported():
        text = " ".join(f"{each.sentence} (since {iso(each.since)})." for each in failing)
        logs = engine.settings.home / "logs"
        return Check("background", "warn", text, f"It is tried again automatically; {logs} has details.")
    return Check("background", "ok", "no errors")


def _no_embeddings(name: str, settings: Settings) -> Check:
    if settings.embeddings == "off":
        return Check(name, "warn", "Off: search is by words alone.", "--embeddings local turns them on.")
    missing = " and ".join(missing_packages())
    advice = "Install `backstory` in place of `backstory-lite` to search by meaning too, if onnxruntime has a wheel for this machine."
    return Check(name, "info", f"Search is by words alone: {missing} not installed.", advice)


def _embeddings(settings: Settings) -> Check:
    """Load the model, or ask the endpoint, as the first search would."""
    name = "embeddings"
    try:
        embedder = build_embedder(settings)
        if embedder is None:
            return _no_embeddings(name, settings)
        start = time.perf_counter()
        embed_texts(embedder, [PROBE])
    except BackstoryError as error:
        return Check(name, "fail", error.message, error.hint or "Until then search is by words alone.")
    took = f"{embedder.model} answered in {(time.perf_counter() - start) * 1000:.0f} ms"
    if degraded := getattr(embedder, "degraded", ""):
        return Check(name, "warn", f"{took}. {degraded}", "Another version of onnxruntime may be faster.")
    return Check(name, "ok", f"{took}, loading included")
