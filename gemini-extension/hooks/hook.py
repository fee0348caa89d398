"""The program that every hook of every client starts. It prints one sentence of memory, or nothing.

Run as `python -I -S hook.py CLIENT [DATA [EVENT]]`. It imports almost nothing: servers prepare briefs and notes about
files as files, and a running server answers everything else over a local socket. After any error it prints nothing and
succeeds: a session must never wait for its memory or show an error because of it.

Only `is_silent` decides whether a session gets any text.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # as checkers know it; `typing` takes 5 ms to import
if TYPE_CHECKING or __name__ != "__main__":
    from .hook_means import (
        TimeLimit,
        as_json,
        ask,
        default_data,
        doors,
        limit_s,
        now,
        parse,
        quoted,
        read,
        send,
        write,
    )
else:  # under -I Python does not search the script's own directory for hook_means
    sys.dont_write_bytecode = True
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    from hook_means import (
        TimeLimit,
        as_json,
        ask,
        default_data,
        doors,
        limit_s,
        now,
        parse,
        quoted,
        read,
        send,
        write,
    )
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    Json = dict[str, Any]

DEFAULT_LIMIT_S = 0.9
"""The clients' own limits are longer, so that none of them reports a cancelled hook."""
READING_LIMIT_S = 3.0
"""More, for a session that starts when something was not read yet. It takes 0.3 s where the machine is idle."""
READING_SHARE = 0.8
"""The part of READING_LIMIT_S that is for reading; the rest is for the brief."""
HOUR_S, DAY_S = 3600.0, 86_400.0
START, COMPACT, PROMPT, EDIT, FAILURE, STOP = (
    "SessionStart",
    "PreCompact",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
)
EVENTS = {
    "sessionstart": START,
    "precompact": COMPACT,
    "userpromptsubmit": PROMPT,
    "userpromptsubmitted": PROMPT,
    "pretooluse": EDIT,
    "posttooluse": FAILURE,
    "posttoolusefailure": FAILURE,
    "stop": STOP,
    "agentstop": STOP,
}
"""The clients' names of the events, in lower case."""
KEEP = (
    "Keep in the summary: decisions and their reasons, open items and the next step, and every id"
    " that Backstory gave, as it is written."
)
CHANGING_TOOLS = ("edit", "write", "create", "patch", "replace")
"""Parts of the names of tools that change a file."""
SHELL_TOOLS = ("bash", "shell", "exec", "terminal")
"""Parts of the names of tools that run a command; results of other tools may quote any error."""
SUCCESS = "completed with exit code 0>"
PATCH_HEADS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
MAX_FILES = 3
"""Files of one patch about which something is said."""
MIN_PROMPT_CHARS = 20
MAX_SENT_CHARS = 20_000
META_BYTES = 4_096
WATCH, STARTS = "watch.json", "starts"
"""The list of files that were read, by reader; and a folder with the clients of which none was read yet."""
FOLDER_SIZE = -1
"""Used as the size of a folder, for which only the time counts."""
READERS = {"copilot-cli": "copilot", "vscode": "copilot"}
"""The readers of clients that are not called the same."""
MAX_FRUITLESS_READINGS = 3
NO_WINDOW = 0x08000000
"""A flag of Windows: the process shows no console."""


def main(client: str, data: str, name: str = "") -> None:
    limit = TimeLimit(limit_s(DEFAULT_LIMIT_S))
    event = parse(sys.stdin.buffer.read())
    name = name or str(event.get("hook_event_name") or START)
    project, checkout = project_of(event)
    if is_silent(event, read_mode(data, project), os.environ):
        return
    moment = EVENTS[name.lower()]
    if moment == START:
        if names := unread(client, data):
            limit.extend(limit_s(READING_LIMIT_S))
            read_unread(names, data, request(client, moment, event, project, checkout, " ".join(names)))
        say(client, name, data, event, opening(client, event, data, project))
    elif moment == COMPACT:
        send(data, request(client, moment, event, project, checkout), to_all=True)
        if client == "claude-code" and is_known(data, project):
            write(KEEP)
    elif moment == STOP:  # any output here makes Claude Code continue
        send(data, request(client, moment, event, project, checkout))
    elif moment == EDIT:
        say(client, name, data, event, *file_notes(event, data, project, checkout))
    elif session_of(event) and (subject := question(moment, event)):
        answer = ask(data, request(client, moment, event, project, checkout, subject))
        if answer and not was_told(moment, answer["subject"], notes_of(event, data)):
            say(client, name, data, event, {**answer, "event": moment, "project": project})


def is_silent(event: Mapping[str, Any], mode: str, environment: Mapping[str, str]) -> bool:
    """Return whether hooks stay silent in this session: the user turned them off, or it is a subagent or an
    unattended run, which already have their task. With `on` hooks also add text there."""
    if mode == "off" or "agent_id" in event:
        return True
    return mode != "on" and is_unattended(environment, str(event.get("transcript_path") or ""))


def is_unattended(environment: Mapping[str, str], transcript: str) -> bool:
    """Return whether no person reads along, as far as the client says: `claude -p`, `codex exec`, or a build
    server."""
    get = environment.get
    if get("CLAUDE_CODE_ENTRYPOINT", "").startswith("sdk") or get("CLAUDE_CODE_SESSION_ATTENDED") == "0":
        return True
    if get("CI", "") not in ("", "0", "false"):
        return True
    if not os.path.isfile(transcript):
        return False
    with open(transcript, "rb") as file:
        meta = file.readline(META_BYTES).replace(b" ", b"")
    return b'"session_meta"' in meta and (b'"source":"exec"' in meta or b'"originator":"codex_exec"' in meta)


def read_mode(data: str, project: str) -> str:
    """`off`, `on` or `auto`, from the variable, or else from `config.toml`, which is parsed only if it contains "brief"."""
    mode = os.environ.get("BACKSTORY_BRIEF", "")
    path = os.path.join(data, "config.toml")
    content = read(path) if os.path.exists(path) else b""
    if b"brief" in content and not is_off(mode):
        import tomllib  # 3 ms, where a user set something

        config = tomllib.loads(content.decode())
        excepted = config.get("brief_off", [])
        excepted = excepted.split(",") if isinstance(excepted, str) else excepted
        if is_excepted(project, excepted):
            return "off"
        mode = mode or str(config.get("brief", ""))
    return "off" if is_off(mode) else "on" if mode.lower() == "on" else "auto"


def is_excepted(project: str, excepted: Any) -> bool:
    folders = (os.path.expanduser(str(each).strip()) for each in excepted)
    return project in [root_of(os.path.realpath(folder))[0] for folder in folders]


def is_off(mode: str) -> bool:
    return mode.lower() in ("off", "0", "false", "no")


def unread(client: str, data: str) -> list[str]:
    """The readers whose files changed since they were read. Of a client whose reader has found nothing yet it is only known
    that it was started."""
    starts = os.path.join(data, STARTS)
    try:
        watched = read_watch(data).get("readers", {})
        names = [name for name, paths in watched.items() if any(is_changed(*each) for each in paths)]
        names += [
            name
            for name in (os.listdir(starts) if os.path.isdir(starts) else ())
            if not watched.get(name) and is_promising(os.path.join(starts, name))
        ]
        own = READERS.get(client, client)
        if not watched.get(own):
            os.makedirs(starts, 0o700, exist_ok=True)
            os.close(os.open(os.path.join(starts, own), os.O_WRONLY | os.O_CREAT, 0o600))
            os.utime(os.path.join(starts, own))
    except Exception:
        return []  # a full disk, an incomplete list, or a list of another version: the prepared text can still be printed
    return names


def read_watch(data: str) -> Json:
    path = os.path.join(data, WATCH)
    body: Json = parse(read(path)) if os.path.exists(path) else {}
    return body


def is_promising(start: str) -> bool:
    state = os.stat(start)
    return state.st_size < MAX_FRUITLESS_READINGS and state.st_mtime > now() - DAY_S


def count_fruitless(names: list[str], data: str) -> None:
    """A client may keep its files where no reader looks: after some readings that found none, its starts count no more."""
    watched = read_watch(data).get("readers", {})
    for name in names:
        start = os.path.join(data, STARTS, name)
        if not watched.get(name) and os.path.exists(start):
            with open(start, "ab") as file:
                file.write(b".")


def is_changed(path: str, size: int, modified_ns: int) -> bool:
    try:
        state = os.stat(path)
    except OSError:
        return modified_ns != 0
    return state.st_mtime_ns != modified_ns or size not in (FOLDER_SIZE, state.st_size)


def read_unread(names: list[str], data: str, body: Mapping[str, str]) -> None:
    """Let a running server read the new messages, or else a separate process, which continues after the hook ends."""
    wait_s = limit_s(READING_LIMIT_S)
    try:
        for door in doors(data):
            door.settimeout(wait_s)
            door.sendall(as_json({**body, "wait_s": str(READING_SHARE * wait_s)}))
            if door.recv(1):  # a server that is about to leave does not answer
                break
        else:
            start_reading(names, data, body["project"], READING_SHARE * wait_s).wait(wait_s)
        count_fruitless(names, data)
    except Exception:  # the earlier text can still be printed
        return


def start_reading(names: list[str], data: str, project: str, wait_s: float) -> Any:
    import subprocess  # 10 ms, where something is to be read

    python = str(read_watch(data).get("python") or "")
    if not os.path.exists(python):  # of an environment that was removed
        python = sys.executable
    return subprocess.Popen(
        [python, "-I", "-m", "backstory.cli.recent", data, project, str(wait_s), *names],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        creationflags=NO_WINDOW if sys.platform == "win32" else 0,
    )


def opening(client: str, event: Json, data: str, project: str) -> Json:
    """The brief, if it is news to this session, whose memory was not just emptied.

    Without notes that the client has itself."""
    brief = parse(read(brief_path(data, project)))
    if brief["project"] != project:
        return {}
    source = event.get("source", "startup")
    text: str = brief["continued"] if source == "compact" else brief.get("own", {}).get(client, brief["text"])
    if source == "resume":
        silence = event.get("seconds_since_last_response")
        if silence is not None and (silence < HOUR_S or brief["last_at"] / 1000 <= now() - silence):
            return {}
    if source not in ("compact", "clear") and f'"text": {quoted(text)}}}\n' in notes_of(event, data):
        return {}
    return {"event": START, "project": project, "text": text}


def file_notes(event: Json, data: str, project: str, checkout: str) -> Iterator[Json]:
    """The notes about each file that is about to change, except those that this session already received."""
    paths = [os.path.relpath(path, checkout).replace(os.sep, "/") for path in changing(event)]
    if not paths or not session_of(event):
        return
    brief = parse(read(brief_path(data, project)))
    earlier_notes = notes_of(event, data) if brief["project"] == project else ""
    notes = brief.get("files", {}) if brief["project"] == project else {}
    for path in [path for path in dict.fromkeys(paths) if path in notes][:MAX_FILES]:
        if not was_told(EDIT, path, earlier_notes):
            yield {**notes[path], "event": EDIT, "subject": path, "project": project}


def changing(event: Json) -> list[str]:
    """Absolute paths of the files that a tool is about to change."""
    tool = str(event.get("tool_name") or event.get("toolName") or "").lower()
    arguments = event.get("tool_input") or event.get("toolArgs") or {}
    arguments = (
        parse(arguments.encode()) if isinstance(arguments, str) and arguments.startswith("{") else arguments
    )
    fields = arguments if isinstance(arguments, dict) else {"command": arguments}
    command = fields.get("command") or fields.get("input") or fields.get("patch") or ""
    patch = "\n".join(map(str, command)) if isinstance(command, list) else str(command)
    if "*** Begin Patch" in patch:
        heads = (line for line in patch.splitlines() if line.startswith(PATCH_HEADS))
        paths = [line.partition(": ")[2].strip() for line in heads]
    elif any(part in tool for part in CHANGING_TOOLS):
        names = ("file_path", "notebook_path", "path", "filePath", "absolute_path")
        paths = [str(fields[name]) for name in names if fields.get(name)][:1]
    else:
        paths = []
    folder = str(event.get("cwd") or os.getcwd())
    return [os.path.realpath(os.path.join(folder, path)) for path in paths]


def question(moment: str, event: Json) -> str:
    """The text of a request to the server: the user's prompt, or the output of a failed command. Empty if there is
    nothing to ask."""
    if moment == PROMPT:
        prompt = str(event.get("prompt") or "").strip()
        return "" if len(prompt) < MIN_PROMPT_CHARS or prompt[0] in "/!#" else prompt[:MAX_SENT_CHARS]
    tool = str(event.get("tool_name") or event.get("toolName") or "").lower()
    if not any(part in tool for part in SHELL_TOOLS):
        return ""
    output = event.get("error") or event.get("tool_response") or event.get("toolResult") or ""
    if isinstance(output, dict):
        output = output.get("textResultForLlm") or "\n".join(
            str(output.get(name) or "") for name in ("stdout", "stderr", "error", "output")
        )
    text = str(output)[-MAX_SENT_CHARS:].strip()
    return "" if text.endswith(SUCCESS) else text


def request(
    client: str, moment: str, event: Json, project: str, checkout: str, subject: str = ""
) -> dict[str, str]:
    return {
        "event": moment,
        "client": client,
        "session": session_of(event),
        "project": project,
        "directory": checkout,
        "text": subject,
        "transcript": str(event.get("transcript_path") or event.get("transcriptPath") or ""),
    }


def say(client: str, name: str, data: str, event: Json, *messages: Json) -> None:
    """Print the messages that this session did not get before, after a note of each: a server makes receipts of the
    notes."""
    texts = []
    for message in messages:
        if message.get("text"):
            note(event, data, message)
            texts.append(str(message["text"]))
    if texts:
        write(envelope(client, name, "\n".join(texts)))


def envelope(client: str, name: str, text: str) -> str:
    if client == "opencode":
        return text
    if client == "cursor":
        return f'{{"additional_context": {quoted(text)}}}'
    if client == "copilot-cli":
        return f'{{"additionalContext": {quoted(text)}}}'
    return (
        f'{{"hookSpecificOutput": {{"hookEventName": {quoted(name)}, "additionalContext": {quoted(text)}}}}}'
    )


def note(event: Json, data: str, message: Json) -> None:
    path = notes_path(event, data)
    if not path:
        return
    certainty = message.get("certainty")
    line = (
        f'{{"at": {now() * 1000:.0f}, "event": {quoted(message["event"])}, "subject": {quoted(message.get("subject", ""))},'
        f' "certainty": {"null" if certainty is None else float(certainty)}, "project": {quoted(message["project"])},'
        f' "text": {quoted(message["text"])}}}\n'
    )
    os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as file:
        file.write(line.encode())


def notes_of(event: Json, data: str) -> str:
    """The texts that this session has received, one line of JSON each."""
    path = notes_path(event, data)
    return read(path).decode() if path and os.path.exists(path) else ""


def was_told(moment: str, subject: str, notes: str) -> bool:
    return f'"event": "{moment}", "subject": {quoted(subject)},' in notes


def notes_path(event: Json, data: str) -> str:
    session = "".join(c for c in session_of(event) if c.isalnum() or c in "-_")[:100]
    return os.path.join(data, "briefs", "given", session) if session else ""


def project_of(event: Json) -> tuple[str, str]:
    """The project and the checkout that the session works in."""
    roots = event.get("workspace_roots") or [event.get("cwd") or os.getcwd()]
    return root_of(os.path.realpath(str(roots[0])))


def root_of(directory: str) -> tuple[str, str]:
    """The project and the checkout of a directory; all worktrees of one repository are the project of its first checkout."""
    folder = directory
    while not os.path.lexists(os.path.join(folder, ".git")):
        above = os.path.dirname(folder)
        if above == folder:
            return directory, directory
        folder = above
    git = os.path.join(folder, ".git")
    if os.path.isfile(git):
        own = os.path.join(folder, read(git).decode().partition("gitdir:")[2].strip())
        shared = os.path.join(own, "commondir")
        if os.path.exists(shared):
            common = os.path.realpath(os.path.join(own, read(shared).decode().strip()))
            if os.path.basename(common) == ".git":
                return os.path.dirname(common), folder
    return folder, folder


def session_of(event: Json) -> str:
    return str(event.get("session_id") or event.get("sessionId") or event.get("conversation_id") or "")


def is_known(data: str, project: str) -> bool:
    return bool(parse(read(brief_path(data, project)))["project"] == project)


def brief_path(data: str, project: str) -> str:
    from binascii import crc32  # a library to load, 0.2 ms: only for sessions that get a brief

    return os.path.join(data, "briefs", format(crc32(os.fsencode(project)), "08x") + ".json")


if __name__ == "__main__":
    try:
        main(sys.argv[1], *(sys.argv[2:] or [default_data()]))
    finally:
        os._exit(0)  # after any error: no output, and success
