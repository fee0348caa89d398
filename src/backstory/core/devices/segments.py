"""Segments: sealed, compressed files of records that are written once and never changed.

Format: `BKS1`, the id of the key, a nonce, and sealed JSON lines in zstd. The first line describes the log of the
device that wrote it. The name contains the SHA-256 of the file, so that an incomplete copy is detected before it is
opened.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from ...domain.devices import WireRecord
from ...domain.lazy import lazy_pattern
from ...domain.zstd import ZstdDecompressor, ZstdError, compress
from .vault import FORMAT, KEY_ID_BYTES, Vault, seal, unseal

MAGIC = b"BKS1"
MAX_SEGMENT_BYTES = 1_000_000
"""Before sealing. A deletion rewrites whole segments, and half a copy is read again."""
MAX_OPENED_BYTES = 200_000_000
"""Limit for the decompressed size of a damaged or hostile file."""
ZSTD_LEVEL = 3
_NAME = lazy_pattern(r"([0-9a-f]{12})/(\d{8})-([0-9a-f]{16})[^/]*\.seg")


class SegmentName(NamedTuple):
    device: str
    number: int
    digest: str

    def __str__(self) -> str:
        return f"{self.device}/{self.number:08d}-{self.digest}.seg"


class OpenedSegment(NamedTuple):
    name: SegmentName
    header: Mapping[str, Any]
    records: Sequence[WireRecord]


class NotOpened(Exception):
    """A complete file that cannot be read; the message gives the reason."""


def parse_name(path: str) -> SegmentName | None:
    """Parse a segment's file name. Text that a synchroniser inserts between the digest and `.seg` is ignored."""
    match = _NAME.fullmatch(path)
    return SegmentName(match[1], int(match[2]), match[3]) if match else None


def is_whole(name: SegmentName, raw: bytes) -> bool:
    return hashlib.sha256(raw).hexdigest()[:16] == name.digest


def make_segment(
    vault: Vault, device: str, number: int, header: Mapping[str, Any], lines: Iterable[bytes]
) -> tuple[SegmentName, bytes]:
    first = json.dumps({"format": FORMAT, **header}, ensure_ascii=False).encode()
    # Compressed first, since sealed bytes do not compress.
    packed = compress(b"\n".join([first, *lines]), ZSTD_LEVEL)
    raw = MAGIC + vault.key_id + seal(vault.key, _about(vault, device, number), packed)
    return SegmentName(device, number, hashlib.sha256(raw).hexdigest()[:16]), raw


def open_segment(vault: Vault, name: SegmentName, raw: bytes) -> OpenedSegment:
    """Open a segment. Raises NotOpened for another key, a forged or damaged file, and an unknown format."""
    start = len(MAGIC) + KEY_ID_BYTES
    if not raw.startswith(MAGIC):
        raise NotOpened("not a segment of this version")
    if raw[len(MAGIC) : start] != vault.key_id:
        raise NotOpened("encrypted with another key")
    packed = unseal(vault.key, _about(vault, name.device, name.number), raw[start:])
    if packed is None:
        raise NotOpened("not written by a device of this vault, or moved there from another place")
    try:
        # A few kilobytes can unpack to gigabytes, so the size is limited while unpacking.
        frame = ZstdDecompressor()
        text = frame.decompress(packed, max_length=MAX_OPENED_BYTES)
        if not frame.eof:
            raise NotOpened(f"cut off, or larger than {MAX_OPENED_BYTES:,} bytes")
        header, *records = [json.loads(line) for line in text.split(b"\n")]
    except (ZstdError, ValueError) as error:
        raise NotOpened(f"damaged before it was encrypted ({error})") from None
    if header.get("format") != FORMAT:
        raise NotOpened("written by a newer version of Backstory; it is read after an update")
    return OpenedSegment(name, header, records)


def encoded(record: WireRecord) -> bytes:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def entities_in(records: Iterable[WireRecord]) -> dict[str, bool]:
    """The ids in a segment, each with True if the segment contains more than its deletion."""
    entities: dict[str, bool] = {}
    for record in records:
        is_content = record["k"] != "forget"
        for id in subjects(record):
            entities[id] = entities.get(id, False) or is_content
    return entities


def subjects(record: WireRecord) -> list[str]:
    """The ids of all that a record would betray: with any of them forgotten, it goes."""
    # Events and links name other records, and would reveal them after they are forgotten.
    fields = ("id", "memory", "source", "target") if record["k"] in ("event", "link") else ("id",)
    return [record[field] for field in fields if isinstance(record.get(field), str)]


def _about(vault: Vault, device: str, number: int) -> bytes:
    # Sealed into the file: a segment that is moved or renamed does not open under its new name.
    return f"{FORMAT}/{vault.id}/{device}/{number:08d}".encode()
