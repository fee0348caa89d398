"""Migrations: released scripts never change, older databases are copied first, newer ones are left alone."""

from __future__ import annotations

import hashlib
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from backstory.domain.errors import Incompatible, Unavailable
from backstory.domain.filters import Filter
from backstory.store import migrate
from backstory.store.sqlite import SqliteStore

from ..doubles import make_memory

RELEASED = {
    "0001_entries.postgres.sql": "ea869c81c27db752ba6a875631fd84b4a448fd1de1bdd8ff444ed8bbb62b780c",
    "0001_entries.sqlite.sql": "465a787663061458a147af3ed4092232d3c8077b053b5c03d23c0aa9cf090a14",
    "0002_sessions.sql": "f3b5635638ce84895c97cb2bcd51d8e98675e5a9720464ab8119b4709be308e6",
    "0003_copies.sql": "9ac1c8ff4efc2bb64dd7a3bb84930fe2b186c91753ebeccb32e51594e61764cb",
    "0004_graph.sql": "e82359e042ff7aab6064a978e87b7e58ac7462e12fa9bccefa958251a4c05b63",
    "0005_events.sql": "19d392e964296e58699ee309effac0e997aadadf38bbf2c31b07f2d631c860f8",
    "0006_keys.postgres.sql": "89514056f0c4fb9e1c39de14576cc6b7076018d1308d3459e4a045576a80f3bd",
    "0006_keys.sqlite.sql": "211b3f553395b31785d4a3cc3895e241358d75a1534a6a2ea9944ff2609ee17f",
    "0007_histories.sql": "397a60566a1a6f64740427873506e20c3da5464bfa513b8ea898c94aab398b05",
    "0008_kept_answers.sql": "f772f28ba3ffb1f147aed79258eb3787a9db16d9316b4e1c81bc04c816d546f0",
    "0009_team.sql": "345d6d86821212ef47dcc3de335ac28287aa991250fc3666bcbe35872bda274e",
    "0010_archived_conversations.sql": "ae6117b7b449845d1a366467d86148f8918ae60b908f5ee5d42be1ece9920f4e",
    "0011_levels.sql": "f76c92fb7b5f9ba2399e2265b50ab15130e37792563f3d01e1e30652114d8df3",
    "0012_trust.sql": "0ac5eff831c8e759fc286febcfab1794f3056c61631d60891f6c4f994e340597",
    "0013_witnesses.sql": "0fbc0992025f5b5816a1e38202872509b6c64487d5a00ecc11e221eb4d165c1c",
    "0014_prompts.sql": "3a7a50abaec0b0e9b184a01bb8a22ed499d9c352ef20bd9766af999e10551d03",
    "0015_forgotten_memories.sql": "266bb2bf8ab1bf762739796f987cc0cc2fa64339d5efd8f2ac259ec9c7447fbb",
    "0016_imported.sql": "749bcffdf734fb15dedf071135b68fffc5359c77ef34eae8d6cb36d18e53a455",
    "0017_injections.sql": "915c4a56b95f14980de42aa98c9a63556f913daa1a584fbabba91389490fa427",
    "0018_moved.postgres.sql": "2ff5500af2188d4a5bec88e38df2f761408503da918070ef73ef2bdf51060a1e",
    "0018_moved.sqlite.sql": "5397dd5741b727c1f728654ad302a1756af18e28d721dcf8a7f48df44a591583",
    "0019_embedding.postgres.sql": "335251e050da833c2a9205f00700ab740f1f860f177f86209d1d1d32892e59ed",
    "0019_embedding.sqlite.sql": "0be936b46e63eb1a02aaca5c947fa2d4e102ebbef922d6f26c0d06defbff7aef",
    "0020_pending.postgres.sql": "dd1084febc809248484308c3f6ded1f7f8b019e4bbfed06af48f4edff7543131",
    "0020_pending.sqlite.sql": "902b5a9b560c69391819bcbf8d6378de80404fbffcbf3a9a084cfc541c6206d5",
    "0021_memory_indexes.sql": "0ddc90456663f06d503a4d2f6ec194ca88620b9b1a665fc0ea3e414a203ce77d",
    "0022_channels.sql": "224e882bee4bec4082f9e3e68b946fdc446c292960594f7773e3141e3ece4d84",
    "0023_removals.postgres.sql": "c8198a0576ed074770f61322fc85d92216038f13ad41917c8f9c798c056b4da8",
    "0023_removals.sqlite.sql": "3a7061908ea55e0bba2bb52c8142cadd1938c16c05de5324cc6f188d26c40c3c",
    "0024_activity.sql": "6a253692b71aed71a3ea12a6afc68b70c6eb13856e892beed8988b588c24a5f1",
    "0025_metadata.sql": "59556ff7d40cce8731a9d4a663ee570eecfb31f7ddc89bcaf62998c8e798a144",
    "0026_deleted_words.postgres.sql": "8bbf41ae79a50800546678cf8f64f4557b871889b06cc78ca524909591b20235",
    "0026_deleted_words.sqlite.sql": "6856c1dd46152bcfc6494f80d7bb6085a3df732ffbc417eccfa48d4b3ccd17ef",
    "0027_links.sql": "1646f87e58c957abdc4dd9db397687305f8876713bfd5acda54841184dd373f0",
    "0028_level.postgres.sql": "036af73355e6836496fdfd7ca59139b749ab93f2134cc6b767e3835db193ea9a",
    "0028_level.sqlite.sql": "4a7e01eafa9057d87dc6239e1980467b3c66dbe858ecbbb1d4f18f7e1a07d284",
    "0029_shape.postgres.sql": "167311fa9b0a98def263a0d817aea31ce4c2be7cabd63dd69c1cdc92a2320768",
    "0029_shape.sqlite.sql": "cc8f3f5ddbe2e0b5811ac01d763e755b61e0fdffc68319dc721a30d0fc095179",
    "0030_sayings.sql": "6808346c6e61bf438bcb4b9bc458f4c7353631a20c2dc30f82bc677aa41fc6bb",
    "0031_traces.postgres.sql": "903001ffc0d79b2fd18a6cd122da49c8177a731df95a92f743b92626db1142bd",
    "0031_traces.sqlite.sql": "5c94bc059062dba6d31f1d37fac420000935a325df2bd6723f9567ccbd10babc",
    "0032_command_runs.sql": "8c889e73ce6d86db4add08e6c00ee6901c3bbdd0b5b5e98a44e19bab3569b01c",
    "0033_receipts.sql": "132329de446112142c4cd41663bf9fd0aec2d609bc94e5dea5a329b612ebeb9f",
    "0034_client_memories.sql": "2daab92db5182895be82b25a434ad8ed5abbf3bcebaa22c656a2a2f701169edd",
    "0035_devices.postgres.sql": "ba95a71efbcfdbd007892e31e0a3ef3d500aab38e872d2b85925d02b4268cd22",
    "0035_devices.sqlite.sql": "9d7c0dbefe336590f59ebc722c45afac09bc6b8a92cb8ae29e414879a0389e6e",
    "0036_handoffs.sql": "8645676500d0872865f1a760f0f2505d9473f7fe48a160bc5c30ac9aa7bd4e0c",
    "0037_key_sets.sql": "e7dab2ecb52995fece35eb5aa1328f7054af3be65184ab5ee1a87e4cc4c9ef79",
    "0038_exports.sql": "15f9c7d98081a8265030576fb4d82defc114d91c446e65712a21a4cd66ce0826",
    "0039_team_memory.sql": "40aa56a85f9d7ca7a3cd518759d73d4987da72358e103f8f45a407c690c88e6d",
    "0040_tenants.postgres.sql": "632dc3972b7836664bc290ebec3062ac8a2a9f6d33454d1e68e11e8badece41e",
    "0040_tenants.sqlite.sql": "83d4bdc0ebcb0e018c44be10e0b06b3505fb4bce6ddcbb575c0ba61afbde2448",
    "0041_space_copies.sql": "9dc8b18693a4026fee481a79288d5e97bb0e179d28f140aea7d577fc0574363b",
    "0042_sign_in.sql": "6b5adff8ca6931995dab7b7acffa0f03548a1ea5168044c5bcdfb847728e49d6",
    "0043_audited_memories.sql": "9f54ae0dfc3b28a3064cdf2aa09cb676ee50a2c5f695893eb8c125f620ed0c6c",
}
"""SHA-256 of each script. A line is added with a new script; a line that is here never changes."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def make_store(path: Path, *ids: str) -> None:
    with closing(SqliteStore(path)) as store:
        store.memories.put([make_memory(id) for id in ids])


def add_script(monkeypatch: pytest.MonkeyPatch, folder: Path, sql: str) -> None:
    """Pretend that a next version of the program has one more script."""
    shutil.copytree(migrate._SCRIPTS, folder)
    (folder / f"{migrate.LATEST + 1:04}_next.sqlite.sql").write_text(sql)
    monkeypatch.setattr(migrate, "_SCRIPTS", folder)
    monkeypatch.setattr(migrate, "LATEST", migrate.LATEST + 1)


def schema_of(path: Path) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()


def test_released_scripts_never_change() -> None:
    scripts = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in migrate._SCRIPTS.glob("*.sql")
    }
    assert scripts == RELEASED


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_the_code_is_written_for_the_last_script(backend: str) -> None:
    assert [script.version for script in migrate.scripts(backend)] == list(range(1, migrate.LATEST + 1))


def test_opening_again_migrates_nothing(path: Path) -> None:
    make_store(path, "a")
    before = schema_of(path)
    make_store(path, "b")
    assert schema_of(path) == before
    assert not (path.parent / "backups").exists()


def test_an_older_database_is_copied_and_then_migrated(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_store(path, "a")
    add_script(
        monkeypatch, tmp_path / "scripts", "-- compat: 1\nCREATE TABLE novelty (x);\nDELETE FROM entry;\n"
    )
    with closing(SqliteStore(path)) as store:
        assert migrate.schema(store.database) == (
            migrate.LATEST,
            max(each.compat for each in migrate.scripts("sqlite")),
        )
        assert store.entries.count(Filter()) == 0
    assert "novelty" in dict(schema_of(path))
    (copy,) = (path.parent / "backups").iterdir()
    assert re.fullmatch(r"store-\d{8}-\d{6}-before-migration\.db", copy.name)
    assert "novelty" not in dict(schema_of(copy))
    with closing(sqlite3.connect(copy)) as database:
        assert database.execute("SELECT id FROM entry").fetchall() == [("a",)]


def test_a_fresh_database_equals_a_migrated_one(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_store(path)
    add_script(monkeypatch, tmp_path / "scripts", "ALTER TABLE entry ADD COLUMN mood TEXT;\n")
    make_store(path)
    fresh = tmp_path / "fresh" / "store.db"
    make_store(fresh)
    assert schema_of(path) == schema_of(fresh)
    assert not (fresh.parent / "backups").exists()


def test_a_script_that_fails_changes_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_store(path, "a")
    before = schema_of(path)
    add_script(
        monkeypatch, tmp_path / "scripts", "CREATE TABLE novelty (x);\nINSERT INTO missing VALUES (1);\n"
    )
    with pytest.raises(Unavailable, match="no such table"):
        SqliteStore(path)
    assert schema_of(path) == before
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT max(version) FROM migration").fetchall() == [(migrate.LATEST - 1,)]


def record_version(path: Path, version: int, compat: int) -> None:
    with closing(sqlite3.connect(path)) as database:
        database.execute("INSERT INTO migration VALUES (?, 'from the future', ?, 0)", [version, compat])
        database.commit()


def test_a_newer_incompatible_database_is_refused_untouched(path: Path) -> None:
    make_store(path, "a")
    record_version(path, 99, 99)
    before = path.read_bytes()
    with pytest.raises(Incompatible, match="newer Backstory"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert not (path.parent / "backups").exists()


def test_a_newer_database_that_still_understands_us_is_used(path: Path) -> None:
    make_store(path, "a")
    record_version(path, 99, migrate.LATEST)
    with closing(SqliteStore(path)) as store:
        store.memories.put([make_memory("b")])
        assert store.entries.count(Filter()) == 2


@pytest.mark.parametrize("is_any_deleted", [True, False])
def test_words_that_older_versions_deleted_are_noted_to_be_erased(path: Path, is_any_deleted: bool) -> None:
    make_store(path, "a", "b")
    if is_any_deleted:
        with closing(SqliteStore(path)) as store:
            store.memories.delete(Filter(ids=("a",)))
    (script,) = [each for each in migrate.scripts("sqlite") if each.name == "deleted_words"]
    with closing(sqlite3.connect(path)) as database:
        database.executescript(script.path.read_text("utf-8"))
    with closing(SqliteStore(path)) as store:
        residue = store.residue.get()
    assert (residue.tables if residue else None) == ({"entry_text", "key_text"} if is_any_deleted else None)


@pytest.mark.parametrize("backend", ["sqlite", "postgres"])
def test_a_store_is_only_for_programs_that_name_turns_as_this_one_does(backend: str) -> None:
    """CONTRIBUTING says when the level is raised."""
    assert max(script.compat for script in migrate.scripts(backend)) >= 28


def test_a_program_that_opened_the_store_before_it_was_migrated_keeps_no_histories(path: Path) -> None:
    """It looked at the level when it started, and does not have what the triggers ask for."""
    make_store(path, "a")
    with closing(sqlite3.connect(path)) as earlier:
        for statement in (
            "INSERT INTO conversation (id, title, project, surface, created_at, updated_at)"
            " VALUES ('c', '', '', '', 0, 0)",
            "INSERT INTO source (path, reader, size, modified_ns, position, head, tail, state, skipped, read_at)"
            " VALUES ('/a', 'codex', 0, 0, 0, '', '', '{}', '{}', 0)",
            "UPDATE source SET is_gone = 1",
        ):
            with pytest.raises(sqlite3.OperationalError, match="known_level"):
                earlier.execute(statement)
