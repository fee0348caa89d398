"""CodeArchitect's three tools: store conversations as files and fetch them again, with `{"success": ...}` replies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypedDict

from ...core import Core
from ...domain.errors import (
    BackstoryError,
    InvalidInput,
    Missing,
    NoFolder,
    NoName,
    NotFound,
    NotWritten,
    StorageFull,
)
from ...domain.when import iso
from ...tools import ADDS, READS, ErrorTable, Surface, Tool, camel, dump
from ...tools.budget import fitting
from ...tools.origin import cautions, safe_text
from ...tools.params import CoreName, Json, Param, PathName, Range
from .places import is_day
from .sessions_in_store import SessionsInStore
from .stored_sessions import StoredSessions
from .toon import session_content

if TYPE_CHECKING:
    from .stored_sessions import SavedSession, StoredSession, StoredSessionPage

_ERRORS = ErrorTable(
    {
        InvalidInput: "INVALID_INPUT",
        NotFound: "SESSION_NOT_FOUND",
        NoFolder: "DIRECTORY_CREATION_ERROR",
        NoName: "FILENAME_GENERATION_ERROR",
        NotWritten: "FILE_WRITE_ERROR",
        StorageFull: "FILE_WRITE_ERROR",
        BackstoryError: "UNKNOWN_ERROR",
    },
    hints={"session": "get_session without a filename lists them."},
)
EMPTY = "Conversation cannot be empty"


def _word_error(error: BackstoryError) -> str:
    is_empty = isinstance(error, Missing) and error.field == "conversation"
    message = EMPTY if is_empty else error.message
    code, details = _ERRORS.code(error), _ERRORS.hint(error) or None
    return dump({"success": False, "error": code, "message": message, "details": details})


surface = Surface(
    "codearchitect",
    about="Conversations as Markdown files in the project: stored whole, listed, and fetched again.",
    success={"success": True},
    word_error=_word_error,
    wire=camel,
)


class WireMessage(TypedDict):
    role: str
    content: NotRequired[Any]


class StoreAnswer(TypedDict):
    file: str
    summaryFile: str
    fullFile: str
    filename: str
    topic: str
    date: str
    message: str
    warning: NotRequired[str]
    warnings: NotRequired[Annotated[list[str], "All of them, where there are several"]]
    warningCodes: NotRequired[list[str]]


class SessionRow(TypedDict):
    filename: str
    topic: str
    date: str
    file: str
    size: int
    source: str
    trust: str


class SessionBody(TypedDict):
    filename: str
    topic: str
    date: str
    file: str
    content: str
    messages: list[WireMessage]
    format: Literal["json", "toon"]
    source: str
    trust: str
    caution: NotRequired[str]


class SessionsAnswer(TypedDict):
    session: NotRequired[SessionBody]
    sessions: NotRequired[list[SessionRow]]
    count: NotRequired[int]
    total: NotRequired[int]
    nextOffset: NotRequired[Annotated[int, "Present when there are more: the offset that goes on"]]
    message: str


class Feature(TypedDict):
    name: str
    description: str
    usage: str
    examples: list[str]
    next_step: NotRequired[str]
    when_to_use: NotRequired[list[str]]
    details: NotRequired[str]


class Help(TypedDict):
    message: NotRequired[str]
    usage_pattern: NotRequired[str]
    features: NotRequired[list[Feature]]
    feature: NotRequired[Feature]


SessionsDir = Annotated[
    str | None,
    "Directory of the sessions, such as /home/me/sessions. Default: the configured one, else the project's own",
    PathName(),
]


@surface.tool("CodeArchitect help", READS)
def codearchitect_help(
    core: Core, feature: Annotated[str | None, "Only this feature, such as store_session"] = None
) -> Help:
    """Explain what can be done with stored sessions: each feature, how to ask for it, and examples."""
    features = {name: tool for name, tool in surface.tools.items() if name != "codearchitect_help"}
    if feature is None:
        return {
            "message": "CodeArchitect MCP - Available Features",
            "usage_pattern": 'Say "use codearchitect [feature_name]" or just "use codearchitect" to see options',
            "features": [_feature(tool) for tool in features.values()],
        }
    if feature not in features:
        raise InvalidInput(
            f"There is no feature {feature!r}.", hint=f"Known: {', '.join(features)}.", field="feature"
        )
    return {"feature": _explained(features[feature])}


@surface.tool("Store session", ADDS)
def store_session(
    core: Core,
    conversation: Annotated[
        str | list[WireMessage],
        "The whole conversation, every message with its complete content: plain text with speakers (`User: …`), or messages",
    ],
    topic: Annotated[
        str | None,
        "What it is about, such as authentication implementation. Default: taken from the first request",
    ] = None,
    format: Annotated[
        Literal["plain", "messages"], "Whether the conversation is text or an array of messages"
    ] = "plain",
    sessions_dir: SessionsDir = None,
) -> StoreAnswer:
    """Save a conversation as files that people can read: a summary, and the full text that get_session reads back
    exactly. Use it when a conversation holds decisions or solutions worth keeping. Use it when the user asks to save
    or store the session. Give the full content of every message, with all code: never summaries or placeholders."""
    if format == "messages" and isinstance(conversation, str) and conversation:
        raise InvalidInput(
            'With format "messages" the conversation must be an array.',
            hint='Leave format out, or give "plain", for text.',
            field="conversation",
        )
    sessions = _sessions(core)
    place = sessions.place(sessions_dir)
    session = sessions.keep(conversation, topic, place)
    summary, full = session.folder / "summary.md", session.folder / "full.md"
    reply: StoreAnswer = {
        "file": str(summary),
        "summaryFile": str(summary),
        "fullFile": str(full),
        "filename": session.folder.name,
        "topic": session.header.topic,
        "date": iso(session.header.date),
        "message": f"Session saved in folder {session.folder.name}: summary.md and full.md"
        if core.caller.is_local
        else f"Session saved: {session.folder.name}",
    }
    warnings = _warnings(session, place.is_guessed)
    if not warnings:
        return reply
    texts, codes = list(warnings), [code for code in warnings.values() if code]
    reply = {**reply, "warning": texts[0], "warningCodes": codes}
    return {**reply, "warnings": texts} if len(texts) > 1 else reply


@surface.tool("Get session", READS)
def get_session(
    core: Core,
    filename: Annotated[
        str | None,
        "Name of the session, such as authentication-implementation. Default: list the sessions",
        CoreName("name"),
    ] = None,
    date: Annotated[str | None, "Only sessions of this UTC day, such as 2025-01-15"] = None,
    format: Annotated[
        Literal["json", "toon", "auto"], "Notation of the content; auto takes the smaller"
    ] = "auto",
    limit: Annotated[int | None, "At most this many sessions in a list, newest first", Range(low=1)] = None,
    sessions_dir: SessionsDir = None,
    offset: Annotated[int, "How many sessions of a list to pass over", Range(low=0)] = 0,
) -> SessionsAnswer:
    """Fetch a stored conversation whole by its name, or list the stored ones. Use it when the user refers to an
    earlier session. Use it when a list of the stored sessions is wanted: leave the filename out."""
    if date is not None and not is_day(date):
        raise InvalidInput(f"{date[:60]!r} is not a date.", hint="Use YYYY-MM-DD.", field="date")
    sessions = _sessions(core)
    place = sessions.place(sessions_dir)
    if filename is None:
        listing = sessions.listing(place, date, offset=offset, limit=limit or MOST_LISTED)
        return _listed(listing, offset, limit)
    fetched = sessions.fetch(place, filename, date)
    content, used = session_content(fetched.turns, format)
    row, messages = _row(fetched.session), [turn.as_json() for turn in fetched.turns]
    body: SessionBody = {
        "filename": row["filename"],
        "topic": row["topic"],
        "date": iso(fetched.session.head.date),
        "file": row["file"],
        "content": content,
        "messages": messages,  # type: ignore[typeddict-item]  # whatever fields a message has
        "format": used,
        "source": row["source"],
        "trust": row["trust"],
    }
    if caution := cautions([fetched.session.trust]):
        body["caution"] = caution[0]
    return {"session": body, "message": f"Session retrieved: {row['filename']}"}


MOST_LISTED = 1_000


def _sessions(core: Core) -> StoredSessions:
    """Return the sessions in the caller's project or, on a team server, in the tenant's store."""
    if core.caller.is_local:
        return StoredSessions(core)
    return SessionsInStore(core)


def _warnings(session: SavedSession, is_guessed: bool) -> dict[str, str]:
    """Map warnings to their codes, most important first. The document has no code for the first two."""
    warnings: dict[str, str] = {}
    if session.is_empty:
        warnings["Conversation is empty"] = ""
    if session.is_cut:
        warnings["Conversation truncated to 1MB"] = ""
    if is_guessed:
        warnings["Using current directory as project root"] = "PROJECT_ROOT_NOT_FOUND"
    if session.is_unnamed:
        warnings[f"No topic was found, using {session.folder.name}"] = "TOPIC_EXTRACTION_ERROR"
    return warnings


def _row(session: StoredSession) -> SessionRow:
    return {
        "filename": session.found.name,
        "topic": safe_text(session.head.topic, session.trust),
        "date": session.day,
        "file": str(session.found.file),
        "size": session.head.size,
        "source": surface.name,
        "trust": session.trust.value,
    }


def _listed(listing: StoredSessionPage, offset: int, limit: int | None) -> SessionsAnswer:
    """Return the rows that fit into an answer. If some are left out, the message says how to get them."""
    rows = fitting(map(_row, listing.sessions))
    message = f"Found {len(rows)} session(s)"
    reply: SessionsAnswer = {"sessions": rows, "count": len(rows), "total": listing.total, "message": message}
    following = offset + len(rows)
    if following >= listing.total:
        return reply
    reply["nextOffset"] = following
    if limit is None or len(rows) < limit:
        reply["message"] = (
            f"{message} of {listing.total}; the others do not fit into this answer: offset {following} goes on"
        )
    return reply


def _feature(tool: Tool) -> Feature:
    purpose, _ = _sentences(tool)
    first = next(param for param in tool.params if not param.required)
    return {
        "name": tool.name,
        "description": purpose[0],
        "usage": f"use codearchitect {tool.name} [{first.wire}]",
        "examples": [f"use codearchitect {tool.name}", *_examples(tool)],
        "next_step": f"codearchitect_help with feature {tool.name} explains every parameter.",
    }


def _explained(tool: Tool) -> Feature:
    purpose, occasions = _sentences(tool)
    feature = _feature(tool)
    del feature["next_step"]
    parameters = "\n".join(
        f"{param.wire} ({_nature(param)}): {param.schema['description']}." for param in tool.params
    )
    return {**feature, "when_to_use": occasions, "details": f"{' '.join(purpose)}\n\n{parameters}"}


def _sentences(tool: Tool) -> tuple[list[str], list[str]]:
    """Split a tool's description into its purpose and when to use it."""
    sentences = [f"{sentence.rstrip('.')}." for sentence in tool.description.split(". ")]
    occasions = [sentence for sentence in sentences if sentence.startswith("Use it when")]
    return [sentence for sentence in sentences if sentence not in occasions], occasions


def _nature(param: Param) -> str:
    if param.required:
        return "required"
    schema: Json = param.schema
    return (
        f"one of {', '.join(schema['enum'])}; default {schema['default']}" if "enum" in schema else "optional"
    )


def _examples(tool: Tool) -> list[str]:
    """Return an example for each parameter whose description contains one or that has choices.

    The first needs no name."""
    examples: list[str] = []
    for param in tool.params:
        _, separator, example = param.schema["description"].partition(", such as ")
        name = f" {param.wire}" if examples else ""
        if separator:
            examples.append(f'use codearchitect {tool.name}{name} "{example.partition(". ")[0]}"')
        elif "enum" in param.schema:
            examples.append(f"use codearchitect {tool.name}{name} {param.schema['enum'][-1]}")
    return examples
