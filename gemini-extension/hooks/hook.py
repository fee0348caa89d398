"""The hook of every client that starts one: it prints the brief of the project, or nothing.

Run as `python -I -S hook.py CLIENT [DATA]`, it imports nothing but what Python has started with, and asks no server. Whatever is
wrong, it is silent and succeeds: a session must never wait for its memory, nor fail for want of it.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as checkers know it; `typing` takes 5 ms to import
if TYPE_CHECKING:
    from typing import Any

    Json = dict[str, Any]

LONGEST_S = 0.08
HOUR_S = 3600.0
KEEP = (
    "Keep in the summary: decisions and their reasons, open items and the next step, and every id"
    " that Backstory gave, as it is written."
)


def main(client: str, data: str) -> None:
    give_up_after(float(os.environ.get("BACKSTORY_BRIEF_TIMEOUT_S") or LONGEST_S))
    if is_off(os.environ.get("BACKSTORY_BRIEF", "")):
        return
    event = parse(sys.stdin.buffer.read())
    project = project_of(event)
    mode = setting(data, project)
    if is_off(mode) or "agent_id" in event or (mode != "on" and is_unattended()):
        return
    brief = parse(read(os.path.join(data, "briefs", file_name(project))))
    if brief["project"] != project:
        return
    if event.get("hook_event_name", "").lower() == "precompact":
        print(KEEP)
        return
    text = news(event, brief, data)
    if text:
        print(envelope(client, event, text))


def news(event: Json, brief: Json, data: str) -> str:
    """What this session does not know yet. A compaction has just made it forget."""
    source = event.get("source", "startup")
    text: str = brief["continued"] if source == "compact" else brief["text"]
    if source == "resume":
        silence = event.get("seconds_since_last_response")
        if silence is not None and (silence < HOUR_S or brief["last_at"] / 1000 <= now() - silence):
            return ""
    return text if text and is_new(event, brief["project"], text, data, source) else ""


def is_new(event: Json, project: str, text: str, data: str, source: str) -> bool:
    """Whether the session was not given the very same before; it is from now on. A server reads from these notes who was told what."""
    session = "".join(c for c in session_of(event) if c.isalnum() or c in "-_")[:100]
    if not session:
        return True
    path = os.path.join(data, "briefs", "given", session)
    note = f'"project": {quoted(project)}, "text": {quoted(text)}}}\n'.encode()
    if source != "compact" and os.path.exists(path) and read(path).endswith(note):
        return False
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        file.write(f'{{"at": {now() * 1000:.0f}, '.encode() + note)
    return True


def envelope(client: str, event: Json, text: str) -> str:
    if client == "opencode":
        return text
    if client == "cursor":
        return f'{{"additional_context": {quoted(text)}}}'
    name = quoted(event.get("hook_event_name", "SessionStart"))
    return f'{{"hookSpecificOutput": {{"hookEventName": {name}, "additionalContext": {quoted(text)}}}}}'


def project_of(event: Json) -> str:
    """The checkout that the session works in; all worktrees of one repository are the project of its first checkout."""
    roots = event.get("workspace_roots") or [event.get("cwd") or os.getcwd()]
    directory = folder = os.path.realpath(str(roots[0]))
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return directory
        folder = above
    git = os.path.join(folder, ".git")
    if os.path.isfile(git):
        own = os.path.join(folder, read(git).decode().partition("gitdir:")[2].strip())
        shared = os.path.join(own, "commondir")
        if os.path.exists(shared):
            common = os.path.realpath(os.path.join(own, read(shared).decode().strip()))
            if os.path.basename(common) == ".git":
                return os.path.dirname(common)
    return folder


def setting(data: str, project: str) -> str:
    """What the variable, else `config.toml`, says of briefs; it is only parsed where it says something."""
    mode = os.environ.get("BACKSTORY_BRIEF", "")
    path = os.path.join(data, "config.toml")
    if not os.path.exists(path):
        return mode
    content = read(path)
    if b"brief" not in content:
        return mode
    import tomllib

    config = tomllib.loads(content.decode())
    excepted = config.get("brief_off", [])
    excepted = excepted.split(",") if isinstance(excepted, str) else excepted
    if project in [os.path.realpath(os.path.expanduser(str(each).strip())) for each in excepted]:
        return "off"
    return mode or str(config.get("brief", ""))


def is_off(mode: str) -> bool:
    return mode.lower() in ("off", "0", "false", "no")


def is_unattended() -> bool:
    """A run that no person reads along with: it has its task, and memory would only cost it."""
    get = os.environ.get
    is_print = (
        get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk") or get("CLAUDE_CODE_SESSION_ATTENDED") == "0"
    )
    return is_print or get("CI", "") not in ("", "0", "false")


def session_of(event: Json) -> str:
    return str(event.get("session_id") or event.get("conversation_id") or "")


def file_name(project: str) -> str:
    return checksum(project) + ".json"


class Scanning:
    """What the scanner of `json` asks for; it is in C, while `json` around it imports `re`, which takes as long as Python itself."""

    strict = True
    object_hook = object_pairs_hook = parse_constant = None
    parse_float, parse_int = float, int


def parse(content: bytes) -> Any:
    text = content.decode().lstrip()
    try:
        from _json import make_scanner
    except ImportError:  # another Python
        import json

        return json.loads(text)
    scanner: Any = make_scanner
    return scanner(Scanning)(text, 0)[0]


def quoted(text: str) -> str:
    try:
        from _json import encode_basestring_ascii
    except ImportError:
        import json

        return json.dumps(text)
    return str(encode_basestring_ascii(text))


def checksum(text: str) -> str:
    from binascii import crc32

    return format(crc32(os.fsencode(text)), "08x")


def now() -> float:
    from time import time

    return time()


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def give_up_after(seconds: float) -> None:
    """`signal` itself imports `enum`, which takes longer than all the rest."""
    try:
        import _signal

        _signal.signal(_signal.SIGALRM, lambda number, frame: os._exit(0))
        _signal.setitimer(_signal.ITIMER_REAL, seconds)
    except (ImportError, AttributeError):
        pass  # Windows has no such clock; the client's own does


def default_data() -> str:
    """Where Backstory keeps its data unless told otherwise."""
    home = os.path.expanduser("~")
    if os.environ.get("BACKSTORY_HOME"):
        return os.environ["BACKSTORY_HOME"]
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Application Support", "backstory")
    if sys.platform == "win32":
        return os.path.join(
            os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local"), "backstory"
        )
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "backstory")


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else default_data())
        sys.stdout.flush()
    finally:
        # Whatever it was: silence, and success. Not through Python's own way out, which takes away the handler of the
        # alarm while its clock still runs: a signal that comes then kills the process.
        os._exit(0)
