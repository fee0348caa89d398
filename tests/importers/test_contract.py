"""The contract of every importer, whichever program it is for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from backstory.core import Core
from backstory.core.forgetting.removal import ForgetRequest, Removal
from backstory.domain.filters import Filter
from backstory.domain.records import Trust

from .invented import SECRET, STORES
from .running import counts, memories, run, total

pytestmark = [
    pytest.mark.parametrize("name", STORES),
    pytest.mark.parametrize("open_store", ["sqlite"], indirect=True),  # tests of single programs run on both
]


@pytest.fixture
def foreign(name: str, tmp_path: Path) -> Path:
    folder = tmp_path / "foreign"
    folder.mkdir()
    return STORES[name].write(folder)


def everything(core: Core) -> str:
    """All texts that are kept, of memories and of conversations."""
    rows = core.engine.store.database.values("SELECT text FROM entry")
    return "\n".join(rows)


def bytes_below(path: Path) -> dict[str, tuple[bytes, int]]:
    """Every file of the folder, with what it holds and when it was written."""
    files = [Path(top, name) for top, _, names in os.walk(path) for name in names]
    return {str(file): (file.read_bytes(), file.stat().st_mtime_ns) for file in files}


def test_importing_twice_changes_nothing(core: Core, name: str, foreign: Path) -> None:
    first = run(core, name, foreign)
    before = everything(core)
    second = run(core, name, foreign)
    assert total(first).new > 0
    assert total(first).updated == total(first).unchanged == 0
    assert (total(second).new, total(second).updated) == (0, 0)
    assert total(second).unchanged == total(first).new
    assert everything(core) == before


def test_a_dry_run_counts_the_same_and_changes_nothing(core: Core, name: str, foreign: Path) -> None:
    dry = counts(run(core, name, foreign, dry_run=True))
    assert everything(core) == ""
    assert core.engine.store.database.value("SELECT count(*) FROM imported") == 0
    assert dry == counts(run(core, name, foreign))


def test_an_edited_record_is_found_in_its_new_form(core: Core, name: str, foreign: Path) -> None:
    run(core, name, foreign)
    STORES[name].edit(foreign)
    outcome = total(run(core, name, foreign))
    assert outcome.new + outcome.updated == 1
    assert "heron" in everything(core)
    assert total(run(core, name, foreign)).unchanged == outcome.unchanged + 1


def test_secrets_do_not_come(core: Core, name: str, foreign: Path) -> None:
    outcome = run(core, name, foreign)
    assert outcome.redacted >= 1
    assert "walrus" in everything(core)
    assert SECRET[4:] not in everything(core)


def test_the_foreign_store_is_only_read(core: Core, name: str, foreign: Path) -> None:
    before = bytes_below(foreign.parent)
    run(core, name, foreign, with_deleted=True)
    assert bytes_below(foreign.parent) == before


def test_what_the_user_deleted_does_not_come_back(core: Core, name: str, foreign: Path) -> None:
    run(core, name, foreign)
    gone = [memory.id for memory in memories(core)]
    talks = core.engine.store.database.values("SELECT id FROM conversation")
    request = ForgetRequest(talks, Filter(ids=tuple(gone)) if gone else None)
    Removal(core.engine.store, core.engine.now(), ()).forget(request)
    STORES[name].edit(foreign)
    outcome = run(core, name, foreign)
    assert "walrus" not in everything(core)
    reasons = {reason for count in outcome.kinds.values() for reason in count.skipped}
    assert "deleted here" in reasons
    kept = core.engine.store.imports.get(gone).values()
    assert {(row.store, row.place, row.digest) for row in kept} <= {("", "", "")}


def test_what_is_imported_is_marked_so(core: Core, name: str, foreign: Path) -> None:
    run(core, name, foreign)
    trusts = core.engine.store.database.values("SELECT DISTINCT trust FROM entry")
    assert set(trusts) <= {Trust.IMPORTED, Trust.TOOL}
    assert {memory.surface for memory in memories(core)} <= {name}


def test_the_folder_of_a_store_stands_for_it(core: Core, name: str, foreign: Path) -> None:
    run(core, name, foreign)
    assert total(run(core, name, foreign.parent)).new == 0
