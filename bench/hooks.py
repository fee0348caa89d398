"""The cost of hooks, and how often they add text where they should not.

    python bench/hooks.py cost                     CPU of each hook call, compared with a Python that does nothing
    python bench/hooks.py starts                   CPU of a session's start without any text
    python bench/hooks.py prompts HOME [QUESTIONS] share of unrelated prompts that get a sentence, and of questions
    python bench/hooks.py own HOME [PROMPTS]       sentences for prompts of the same project, for a person to judge
    python bench/hooks.py files HOME               notes about files, for a person to judge

HOME is a data directory with histories, read and embedded (`backstory sync`, `backstory embed`). Unrelated prompts are the
first prompts of conversations of other projects: nothing in this project answers them. QUESTIONS is a file of questions with the
conversations that answer each (`questions.jsonl`), asked in the project of the first. `own` asks the first prompts of each conversation (PROMPTS, else 3) in
its own project, without that conversation, its family and its copies.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from servers import percentile

from backstory.app import open_core, read_settings
from backstory.clients.hook import MAX_FRUITLESS_READINGS, MAX_SENT_CHARS, MIN_PROMPT_CHARS, STARTS
from backstory.clients.hooks import SOURCE, quiet_words
from backstory.core import Caller, Core
from backstory.core import ask as asking
from backstory.core import state as stating
from backstory.core.brief.file_notes import notes_by_file
from backstory.core.brief.files import BriefFiles
from backstory.core.hooks import HookRequest, answer
from backstory.core.watch import Watch, watched_file
from backstory.domain.filters import ConversationFilter
from backstory.domain.tokens import count_tokens
from backstory.search.families import family_heads

ROUNDS = 40
FILES = 40
START_ROUNDS = 20
WATCHED_FILES, READER_FILES = 5_000, 500
MIN_CONVERSATIONS = 3
"""Minimum number of conversations of a measured project: with fewer, there is nothing that a hook could wrongly mention."""
MIN_COPIED_CHARS = 120
"""An answer of this length in two conversations was copied from one to the other."""


def run(words: list[str], given: bytes) -> tuple[float, float, bytes]:
    """CPU and wall-clock time in ms, and what it printed."""
    environment = {
        "BACKSTORY_BRIEF_TIMEOUT_S": "60"
    }  # no time limit, so that a busy machine does not change the result
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(words, input=given, env=environment, capture_output=True, check=True)
    after, end = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu * 1000, (end - start) * 1000, done.stdout


def cost() -> None:
    """Each round is a new session whose hook prints text, with a running server and one line of settings."""
    bare = [sys.executable, "-I", "-S", "-c", "0"]
    with TemporaryDirectory() as folder:
        home, project = Path(folder, "home"), Path(folder, "project").resolve()
        (project / "src").mkdir(parents=True)
        subprocess.run(["git", "init", "-q", str(project)], check=True)
        for number in range(FILES):
            (project / "src" / f"module_{number}.py").write_text("pass\n")
        home.mkdir()
        (home / "config.toml").write_text(f"brief_off = ['{folder}/elsewhere']\n")
        server = subprocess.Popen(
            [sys.executable, "-m", "backstory", "serve", "--home", str(home), "--project", str(project)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "BACKSTORY_HISTORIES": "off", "BACKSTORY_BRIEF": "on"},
        )
        ask_server(server, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}})  # fmt: skip
        for number in range(FILES):
            text = f"We decided that src/module_{number}.py keeps its own port {9000 + number}."
            ask_server(
                server, "tools/call", {"name": "remember", "arguments": {"text": text, "kind": "decision"}}
            )
        brief = BriefFiles(home).path(str(project))
        while not list((home / "doors").glob("*")) or f"module_{FILES - 1}.py" not in str(
            BriefFiles(home).read(brief)
        ):
            time.sleep(0.1)
        hook = quiet_words([sys.executable, "-I", "-S", str(SOURCE), "claude-code", str(home)])
        events: dict[str, dict[str, object]] = {
            "session start": {"hook_event_name": "SessionStart"},
            "before an edit": {"hook_event_name": "PreToolUse", "tool_name": "Edit", "tool_input": {"file_path": f"{project}/src/module_7.py"}},
            "at a prompt": {"hook_event_name": "UserPromptSubmit", "prompt": "Which port does the walrus server listen on?"},
            "after a failure": {"hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "error": "Exit code 1\nValueError: no walrus"},
            "stop": {"hook_event_name": "Stop"},
        }  # fmt: skip
        costs: dict[str, list[tuple[float, float]]] = {name: [] for name in ("python -I -S", *events)}
        for number in range(ROUNDS):
            costs["python -I -S"].append(run(bare, b"")[:2])
            for name, event in events.items():
                given = {"cwd": str(project), "session_id": f"s{number}-{len(name)}", **event}
                cpu, wall, printed = run(hook, json.dumps(given).encode())
                assert bool(printed) == (name in ("session start", "before an edit")), (name, printed)
                costs[name].append((cpu, wall))
        server.communicate(timeout=60)
    base = percentile([cpu for cpu, _ in costs["python -I -S"]], 0.5)
    for name, each in costs.items():
        cpus, walls = [cpu for cpu, _ in each], [wall for _, wall in each]
        print(
            f"{name}: {percentile(cpus, 0.5):.0f} ms CPU (p95 {percentile(cpus, 0.95):.0f},"
            f" {percentile(cpus, 0.95) - base:+.0f} beside Python), best time {min(walls):.0f} ms"
        )


def starts() -> None:
    """In a home without any assistant, and in one with thousands of files that were all read."""
    with TemporaryDirectory() as folder:
        project, nothing, watched = (Path(folder, name) for name in ("project", "nothing", "watched"))
        for each in (project / ".git", nothing / STARTS, watched):
            each.mkdir(parents=True)
        (nothing / STARTS / "claude-code").write_text("." * MAX_FRUITLESS_READINGS)
        readers = {}
        for name in ("claude-code", *map(str, range(WATCHED_FILES // READER_FILES - 1))):
            files = [Path(folder, name, f"{number}.jsonl") for number in range(READER_FILES)]
            files[0].parent.mkdir()
            for file in files:
                file.write_text("x")
            readers[name] = [watched_file(file) for file in files]
        Watch(watched).put(readers)
        given = json.dumps({"hook_event_name": "SessionStart", "cwd": str(project), "session_id": "s"})
        hook = [sys.executable, "-I", "-S", str(SOURCE), "claude-code"]
        commands = {
            "python -I -S": [*hook[:3], "-c", "0"],
            "no assistant": [*hook, str(nothing)],
            f"{WATCHED_FILES:,} files": [*hook, str(watched)],
        }
        costs: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(START_ROUNDS):
            for name, words in commands.items():
                cpu, _, printed = run(words, given.encode())
                assert not printed
                costs[name].append(cpu)
    for name, cpus in costs.items():
        print(f"{name}: {percentile(cpus, 0.5):.0f} ms CPU (p95 {percentile(cpus, 0.95):.0f})")


def ask_server(server: subprocess.Popen[bytes], method: str, params: dict[str, object]) -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()
    server.stdout.readline()


def first_prompts(core: Core) -> dict[str, list[tuple[str, str]]]:
    """By project, the conversations with their first prompts."""
    prompts: dict[str, list[tuple[str, str]]] = {}
    found = core.engine.store.conversations.find(ConversationFilter(kinds=("main",)))
    texts = core.engine.store.messages.first_said([each.id for each in found], "user")
    for each in found:
        if len(texts.get(each.id, "")) >= 20:
            prompts.setdefault(each.project, []).append((each.id, texts[each.id]))
    return prompts


def unrelated(core: Core) -> Iterator[tuple[str, str]]:
    """Projects, and prompts that were made in others."""
    prompts = first_prompts(core)
    asked = [project for project in sorted(prompts) if len(prompts[project]) >= MIN_CONVERSATIONS]
    for project in asked:
        for other in sorted(prompts):
            if other != project:
                yield from ((project, text) for _, text in prompts[other][:2])


def prompts(home: str, questions: str = "") -> None:
    core = open_core(read_settings({"home": home, "histories": "off"}))
    asked = list(unrelated(core))
    spoken = [(project, prompt, said) for project, prompt in asked if (said := ask(core, project, prompt))]
    print(
        f"unrelated prompts: {len(asked)}, of which {len(spoken)} got a sentence ({100 * len(spoken) / max(len(asked), 1):.1f} %)"
    )
    for project, prompt, said in spoken[:20]:
        print(f"  {Path(project).name}: {' '.join(prompt.split())[:100]!r}\n    {said}")
    own = [(project, id, text) for project, each in first_prompts(core).items() for id, text in each]
    answered = [(text, said) for project, id, text in own if (said := ask(core, project, text, id))]
    print(f"own first prompts, asked again later: {len(own)}, of which {len(answered)} got a sentence")
    for prompt, said in answered[:20]:
        print(f"  {' '.join(prompt.split())[:100]!r}\n    {said}")
    if questions:
        ask_questions(core, Path(questions))


def own(home: str, prompts_each: str = "3") -> None:
    core = open_core(read_settings({"home": home, "histories": "off"}))
    relatives = Relatives(core)
    asked = spoken = 0
    for project, conversations in sorted(relatives.by_project.items()):
        if len(set(map(relatives.group, conversations))) < MIN_CONVERSATIONS:
            continue
        for conversation in conversations:
            opening = core.engine.store.messages.opening(conversation, int(prompts_each))
            for prompt in filter(is_asked, opening):
                asked += 1
                with ignoring(relatives.of(conversation)):
                    said = ask(core, project, prompt[:MAX_SENT_CHARS], conversation)
                if said:
                    spoken += 1
                    print(f"  {Path(project).name}: {' '.join(prompt.split())[:600]!r}\n    {said}")
    print(f"prompts in their own project: {asked}, of which {spoken} got a sentence")


def is_asked(prompt: str) -> bool:
    """Return whether a person may have typed it, and a hook asks about it."""
    return len(prompt) >= MIN_PROMPT_CHARS and prompt[0] not in "/!#<"


@contextmanager
def ignoring(conversations: frozenset[str]) -> Iterator[None]:
    """Treat these as the conversation that runs: nothing of it is a memory yet."""
    with (
        patch.object(asking, "running_conversations", return_value=conversations),
        patch.object(stating, "running_conversations", return_value=conversations),
    ):
        yield


class Relatives:
    """Groups of conversations with common messages: forks, subagents and copies."""

    def __init__(self, core: Core) -> None:
        store = core.engine.store
        found = store.conversations.find(ConversationFilter())
        heads = family_heads(store, [each.id for each in found])
        self._leader = {each.id: each.id for each in found}
        first: dict[str, str] = {}
        for each in found:
            self._join(each.id, heads[each.id])
            for message in store.messages.of(each.id):
                if message.role == "assistant" and len(message.text) >= MIN_COPIED_CHARS:
                    self._join(each.id, first.setdefault(message.text, each.id))
        self.by_project: dict[str, list[str]] = {}
        for each in found:
            if each.kind == "main":
                self.by_project.setdefault(each.project, []).append(each.id)

    def of(self, conversation: str) -> frozenset[str]:
        leader = self.group(conversation)
        return frozenset(id for id in self._leader if self.group(id) == leader)

    def group(self, conversation: str) -> str:
        while (leader := self._leader.get(conversation, conversation)) != conversation:
            conversation = leader
        return conversation

    def _join(self, one: str, other: str) -> None:
        self._leader[self.group(one)] = self.group(other)


def ask_questions(core: Core, path: Path) -> None:
    store = core.engine.store
    known = {each.native_id: each for each in store.conversations.get(store.conversations.ids())}
    asked = spoken = right = 0
    for line in path.read_text("utf-8").splitlines():
        body = json.loads(line)
        answering = [known[id] for id in body["conversations"] if id in known]
        if answering:
            asked += 1
            said = ask(core, answering[0].project, body["question"])
            spoken += bool(said)
            right += any(each.native_id[:8] in said for each in answering)
    print(f"questions: {asked}, of which {spoken} got a sentence, {right} of a conversation that answers")


def ask(core: Core, project: str, prompt: str, conversation: str = "") -> str:
    """The answer of the hook; the prompt's own conversation counts as the running one."""
    assistant, _, session = conversation.partition(":")
    request = HookRequest("UserPromptSubmit", assistant, session, project, project, prompt)
    said = answer(core, request)
    assert said is None or count_tokens(said.text) <= 200
    return "" if said is None else f"{said.certainty or 0:.2f} {said.text}"


def files(home: str) -> None:
    core = open_core(read_settings({"home": home, "histories": "off"}))
    for project in core.engine.store.conversations.projects():
        own = core._replace(caller=Caller(project=project))
        for path, note in notes_by_file(own, project, own.state.of(project)).items():
            print(f"{Path(project).name} {path}: {note['text']}")


if __name__ == "__main__":
    command, *words = sys.argv[1:] or ["cost"]
    if command == "cost":
        cost()
    elif command == "starts":
        starts()
    elif command == "prompts":
        prompts(*words)
    elif command == "own":
        own(*words)
    else:
        files(*words)
