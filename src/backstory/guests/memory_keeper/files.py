"""Files: cache a content, and check whether a file changed since."""

from __future__ import annotations

from typing import Annotated, Any, NotRequired, TypedDict

from ...core import Core
from ...domain.metadata import as_given, as_object
from ...domain.when import iso
from ...tools import READS, REPLACES
from ...tools.params import CoreName, PathName
from .file_cache import FileCache
from .vocabulary import surface

FilePath = Annotated[str, "Absolute, or relative to the session's project", PathName(), CoreName("path")]


class CacheAnswer(TypedDict):
    id: str
    filePath: str
    hash: str
    size: int


class ChangeReport(TypedDict):
    changed: bool
    previousHash: NotRequired[str]
    currentHash: str
    lastCached: NotRequired[str]
    metadata: NotRequired[Any]


@surface.tool("Cache file", REPLACES)
def context_cache_file(
    core: Core,
    file_path: FilePath,
    content: Annotated[str, "The file's content"],
    metadata: Annotated[Any, "Anything to keep beside it; context_file_changed shows it"] = None,
) -> CacheAnswer:
    """Cache a file's content for change detection. Caching a file again in a session replaces what was known of it;
    checkpoints that hold the former content keep it."""
    file = FileCache(core).remember(file_path, content, as_object(metadata))
    return {"id": file.id, "filePath": file.path, "hash": file.hash, "size": file.size}


@surface.tool("Check file for changes", READS)
def context_file_changed(
    core: Core,
    file_path: FilePath,
    current_content: Annotated[str | None, "The content now; without it the file is read from disk"] = None,
) -> ChangeReport:
    """Check whether a file changed since it was cached in this session or those it continues or branched from, else
    since any session cached it last. A file that was never cached counts as changed and has no previousHash."""
    change = FileCache(core).changed(file_path, current_content)
    reply: ChangeReport = {"changed": change.changed, "currentHash": change.current_hash}
    if change.cached is not None:
        reply["previousHash"] = change.cached.hash
        reply["lastCached"] = iso(change.cached.cached_at)
        if change.cached.metadata:
            reply["metadata"] = as_given(change.cached.metadata)
    return reply
