"""Archives of ChatGPT and Claude.ai: read to the end, and no further than an honest one goes."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from backstory.domain.errors import Unreadable
from backstory.readers import CHAT_SERVICES, Cursor, Form, Source, load_readers
from backstory.readers.formats import exports

from .golden import check_golden, sources

HERE = Path(__file__).parent
SAMPLE = HERE / "chatgpt" / "home" / "export" / "conversations.json"
reader = load_readers(["chatgpt"])["chatgpt"]


@pytest.mark.parametrize("name", ["chatgpt", "claude-ai"])
def test_a_home_reads_as_expected(name: str, request: pytest.FixtureRequest) -> None:
    check_golden(name, request, roots={name: (HERE / name / "home" / "export",)})


def test_nothing_is_read_that_nobody_named(tmp_path: Path) -> None:
    (tmp_path / "conversations.json").write_bytes(SAMPLE.read_bytes())
    assert sources(reader, tmp_path) == []


def zipped(path: Path, **files: bytes) -> Source:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/") + ".json", content)
    return Source(path, Form.DOCUMENT)


def test_an_archive_with_several_lists_is_read_to_the_last(tmp_path: Path) -> None:
    first, second = json.loads(SAMPLE.read_text("utf-8"))[:1], json.loads(SAMPLE.read_text("utf-8"))[:1]
    second[0]["conversation_id"] = "c-9"
    source = zipped(
        tmp_path / "export.zip",
        **{"user": b"{}", "conversations-000": json.dumps(first).encode()},
        **{"deeper__conversations-001": json.dumps(second).encode()},
    )
    pieces = list(reader.read(source, Cursor()))
    assert [piece.header.native_id for piece in pieces] == ["c-1", "c-9"]
    assert [piece.cursor for piece in pieces] == [None, Cursor()]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{}", "not a list of conversations"),
        (b"[{", "not JSON"),
        (b"[" + b" " * 3_000_000 + b"]", "too much"),
    ],
)
def test_what_is_no_archive_of_conversations_says_so(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(Unreadable, match=said):
        list(reader.read(zipped(tmp_path / "export.zip", conversations=content), Cursor()))


def test_an_archive_without_conversations_says_so(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="no conversations"):
        list(reader.read(zipped(tmp_path / "export.zip", user=b"{}"), Cursor()))


def test_an_archive_that_is_larger_than_it_claims_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = zipped(tmp_path / "export.zip", conversations=SAMPLE.read_bytes())
    monkeypatch.setattr(exports, "MAX_EXPORT_BYTES", 100)
    with pytest.raises(Unreadable, match="too much"):
        list(reader.read(source, Cursor()))
    with pytest.raises(Unreadable, match="too large"):
        list(reader.read(Source(SAMPLE, Form.DOCUMENT), Cursor()))


def test_services_that_are_exported_from_are_known_as_chats() -> None:
    assert {name for name, reader in load_readers().items() if reader.is_export} == CHAT_SERVICES
