"""Claude Code: one log per session below `projects/`, and logs of subagents in the same or lower directories."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...domain.usage import ModelCall
from .. import (
    PULL_REQUEST,
    ConversationKind,
    Cursor,
    Form,
    Piece,
    Places,
    Reader,
    Resume,
    Role,
    Source,
    ToolCall,
    WitnessRank,
)
from ..formats.files import open_regular
from ..formats.lines import to_ms
from ..formats.logs import Log, OpenConversation, OpenTurn, Title
from ..formats.noise import head_and_tail
from ..formats.paths import config_home, homes
from .lines import (
    AGENT,
    LINES,
    NOTHING,
    PROMPTS,
    WARM_UP,
    Block,
    LineMessage,
    LogLine,
    QueuedPrompt,
    Utterance,
    blocks_of,
    call_of,
    is_content,
    model_call,
    progress_in,
    text_of,
    utterance_of,
    with_pastes,
)
from .siblings import copied_lines, forks_of, siblings_of
from .writing import write_session

NO_TASK = "subagent without a task"
NO_SESSION = "prompt without session"
REMEMBERED_LINES = 32
"""Minimum number of recent lines whose ids are remembered, to find the conversation of a side chain or a title.

At most twice as many."""
PROMPT_LOG = "history.jsonl"


def find(places: Places) -> Iterator[Source]:
    for base in dict.fromkeys(_bases(places)):
        if (base / PROMPT_LOG).is_file():
            yield Source(base / PROMPT_LOG, Form.LOG)
        for path in _logs(base / "projects"):
            yield Source(path, Form.LOG)
    for base in places.roots.get("claude-code", ()):
        if not (base / "projects").is_dir():  # the user named a directory of logs
            yield from (Source(path, Form.LOG) for path in _logs(base))


def _bases(places: Places) -> Iterator[Path]:
    yield from places.roots.get("claude-code", ())
    named = places.environment.get("CLAUDE_CONFIG_DIR", "")
    yield from (Path(part.strip()) for part in named.split(",") if part.strip())
    yield from (home / ".claude" for home in homes(places))
    yield config_home(places) / "claude"
    if places.platform == "darwin":
        desktop = places.home / "Library/Application Support/Claude/local-agent-mode-sessions"
        yield from sorted(desktop.glob("**/local_*/.claude"))


def _logs(projects: Path) -> Iterator[Path]:
    """Yield the logs of sessions and subagents. Other files contain nothing more."""
    for directory, subdirectories, names in os.walk(projects):
        subdirectories[:] = sorted(name for name in subdirectories if name != "tool-results")
        logs = {
            name for name in names if name.endswith(".jsonl") and name not in ("journal.jsonl", PROMPT_LOG)
        }
        if logs:
            # iterdir creates paths many times faster than joining, which parses each name
            children = (path for path in Path(directory).iterdir() if path.name in logs)
            yield from sorted(children, key=lambda path: path.name)


def rereads(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield the forks of new logs. A fork that was read before its original counted the copied lines as its own."""
    for path in paths:
        if path.name != PROMPT_LOG and not path.stem.startswith(AGENT):
            yield from forks_of(path)


def read(source: Source, cursor: Cursor) -> Iterator[Piece]:
    log = Log(str(source.path), cursor)
    with open_regular(source.path) as stream:
        if source.path.name == PROMPT_LOG:
            yield from log.read(stream, PROMPTS, functools.partial(_hear_prompt, log))
        else:
            yield from log.read(stream, LINES, _ClaudeSession(source.path, log).hear, is_content)


class _ClaudeSession:
    """The state of reading one log: the conversation of each line, and what the line adds."""

    def __init__(self, path: Path, log: Log) -> None:
        self.id = path.stem
        self.is_agent = path.stem.startswith(AGENT)
        self.log = log
        self.leaves: dict[str, str] = log.memory.setdefault("leaves", {})
        """Titles in this log for later lines or for other logs, by line id."""
        siblings = None if self.is_agent else siblings_of(path)
        self.titles = self.leaves if siblings is None else siblings.titles | self.leaves
        self.copied = {} if siblings is None else copied_lines(path, siblings)
        self.fork: dict[str, str] = log.memory.setdefault("fork", {})
        """The session that this one was forked from, under `origin`."""
        self.recent: dict[str, str] = log.memory.setdefault("recent", {})
        """By line id, the side chain that the line belongs to; "" for the main one."""
        self.begun: dict[str, int] = log.memory.setdefault("begun", {})
        """The conversations that have a turn."""
        self.messages: dict[str, str] = log.memory.setdefault("messages", {})
        """By id of an assistant's message, the name of its first line."""
        self.usage: tuple[str | None, bytes] = None, b""
        """The message of the last line, and its token counts."""

    def hear(self, line: LogLine) -> None:
        self._trace(line)
        match line.type:
            case "user":
                self._hear_user(line)
            case "assistant":
                self._hear_assistant(line)
            case "attachment" if line.attachment is not None and line.attachment.type == "queued_command":
                self._say(self._conversation(line), line, utterance_of([text_of(line.attachment.prompt)]))
            case "system" if line.subtype == "away_summary":
                if text := text_of(line.content):
                    self._begin(self._conversation(line), line, Role.SUMMARY).texts.append(text)
            case "pr-link" if line.pr_url:
                call = ToolCall(PULL_REQUEST, line.pr_url)
                self._begin(self._conversation(line), line, Role.SYSTEM).calls.append(call)
            case "progress":
                self._hear_progress(line)
            case "summary" if line.leaf_uuid and line.summary:
                self._hear_title(line.leaf_uuid, line.summary)
            case "ai-title":
                self._own().entitle(line.ai_title or "", Title.GENERATED)
            case "custom-title":
                self._own().entitle(line.custom_title or "", Title.CHOSEN)

    def _trace(self, line: LogLine) -> None:
        """Assign a copied line to the session it was copied from, which stores it once."""
        if line.forked_from is not None and line.forked_from.session_id:
            line.session_id = line.forked_from.session_id
            line.uuid = line.forked_from.message_uuid or line.uuid
        elif line.uuid in self.copied:
            line.session_id = self.copied[line.uuid]
        is_other = line.session_id not in (None, self.id)
        if is_other and not (self.is_agent or line.is_sidechain) and self.id not in self.begun:
            self.fork["origin"] = str(line.session_id)

    def _hear_title(self, leaf: str, title: str) -> None:
        """Record a title. It may precede or follow the line it refers to, or be in another log."""
        if leaf in self.recent:
            self._own().entitle(title, Title.SUMMARY)
        else:
            self.leaves[leaf] = self.titles[leaf] = title
            if len(self.leaves) > 2 * REMEMBERED_LINES:
                _forget(self.leaves)

    def _hear_user(self, line: LogLine) -> None:
        conversation = self._conversation(line)
        texts = []
        for block in blocks_of(line.message):
            if block.type == "tool_result":
                at_ms = to_ms(line.timestamp)
                conversation.happened(at_ms)
                # results can be large: decode the text only if a call waits for it
                text = functools.partial(text_of, block.content)
                self.log.answer(
                    conversation, block.tool_use_id or "", text, at_ms, is_error=bool(block.is_error)
                )
            elif block.text:
                texts.append(block.text)
        if not texts:
            return
        if line.is_compact_summary:
            self._begin(conversation, line, Role.SUMMARY).texts.extend(texts)
        elif not line.is_meta:
            self._say(conversation, line, utterance_of(texts))

    def _say(self, conversation: OpenConversation, line: LogLine, utterance: Utterance) -> None:
        if not utterance.text or self._has_no_task(conversation, utterance):
            return
        is_subagent = conversation.kind is ConversationKind.SUBAGENT
        if utterance.is_human:
            conversation.is_idle = False
            conversation.entitle_by_prompt(utterance.text)
        # a subagent's prompt comes from the agent that started it, not from a person
        role = Role.USER if utterance.is_human and not is_subagent else Role.SYSTEM
        turn = self._begin(conversation, line, role)
        turn.texts.append(utterance.text if utterance.is_human else head_and_tail(utterance.text))
        if utterance.command:
            turn.calls.append(ToolCall("bash", command=utterance.command))

    def _has_no_task(self, conversation: OpenConversation, utterance: Utterance | None = None) -> bool:
        """True for a side chain that was only started in advance: without a prompt, or without a session to belong
        to."""
        if conversation.kind is not ConversationKind.SUBAGENT or conversation.native_id in self.begun:
            return False
        if self.is_agent:
            conversation.is_idle = True
            return utterance is not None and utterance.text == WARM_UP
        if utterance is not None and utterance.is_human and conversation.parent in self.begun:
            return False
        self.log.skipped[NO_TASK] += 1
        return True

    def _hear_assistant(self, line: LogLine) -> None:
        conversation = self._conversation(line)
        message = line.message if isinstance(line.message, LineMessage) else LineMessage(content=line.message)
        if message.model == "<synthetic>":
            return  # written by the harness: errors, "no response requested"
        at_ms = to_ms(line.timestamp)
        used = self._usage_in(line, message, at_ms)
        if self._has_no_task(conversation):
            if used is not None:
                conversation.spend(used)
            return
        turn = self.log.open
        key = message.id or line.uuid
        if turn is None or turn.key != key or turn.conversation is not conversation:
            turn = self._begin(conversation, line, Role.ASSISTANT, message.id or "")
            turn.model = conversation.model = message.model or conversation.model
        elif line.uuid in turn.seen:
            return  # the log repeats a line
        turn.seen.add(line.uuid)
        if used is not None:
            conversation.spend(used._replace(turn=turn.id))
        for block in blocks_of(message):
            _add(turn, block, at_ms)

    def _hear_progress(self, line: LogLine) -> None:
        """Count the tokens of a subagent. Its own log contains them too, unless it was deleted."""
        progress = progress_in(line)
        answer = progress.message if progress is not None else None
        if (
            progress is None
            or answer is None
            or answer.message is None
            or answer.message.model == "<synthetic>"
        ):
            return
        used = model_call(answer, answer.message, to_ms(answer.timestamp) or to_ms(line.timestamp))
        if used is not None:
            session = line.session_id or self.id
            agent = self.log.conversation(
                f"{session}/{progress.agent_id or ''}",
                kind=ConversationKind.SUBAGENT,
                parent=session,
                standing=WitnessRank.REPLAY,
            )
            agent.spend(used)

    def _usage_in(self, line: LogLine, message: LineMessage, at_ms: int | None) -> ModelCall | None:
        """Return the token counts of a line, unless the previous line reported the same counts for the same message."""
        usage_key = message.id, bytes(message.usage)
        if usage_key == self.usage:
            return None
        self.usage = usage_key
        return model_call(line, message, at_ms)

    def _begin(
        self, conversation: OpenConversation, line: LogLine, role: Role, message_id: str = ""
    ) -> OpenTurn:
        at_ms = to_ms(line.timestamp)
        conversation.happened(at_ms)
        if line.cwd and not conversation.directory:
            conversation.directory = line.cwd
        conversation.branch = line.git_branch or conversation.branch
        self.begun[conversation.native_id] = 1
        name = line.uuid or self.log.name(at_ms)
        id = self._turn_id(message_id, name)
        turn = self.log.begin(conversation, id, role, at_ms, message_id or line.uuid)
        if id != name:
            turn.former_id = name
        return turn

    def _turn_id(self, message_id: str, name: str) -> str:
        """Return the message's id. Every line of the message has it, so a copy of the log that lacks the first line
        yields the same id.

        Lines of a message that follow after another turn form a separate turn, named by their first line."""
        if not message_id or self.messages.setdefault(message_id, name) != name:
            return name
        if len(self.messages) > 2 * REMEMBERED_LINES:
            _forget(self.messages)
        return message_id

    def _own(self) -> OpenConversation:
        own = self.log.conversation(self.id)
        if origin := self.fork.get("origin"):
            own.kind, own.parent = ConversationKind.FORK, origin
        return own

    def _conversation(self, line: LogLine) -> OpenConversation:
        session = line.session_id or self.id
        if self.is_agent:
            agent = line.agent_id or self.id.removeprefix(AGENT)
            return self.log.conversation(f"{session}/{agent}", kind=ConversationKind.SUBAGENT, parent=session)
        if line.is_sidechain:
            # a side chain is named by its agent, otherwise by its first line
            chain = line.agent_id or self.recent.get(line.parent_uuid or "") or line.uuid
            self._remember(line.uuid, chain)
            id = f"{session}/{chain}"
            standing = WitnessRank.OWN if session == self.id else WitnessRank.REPLAY
            return self.log.conversation(
                id, kind=ConversationKind.SUBAGENT, parent=session, standing=standing
            )
        self._remember(line.uuid, "")
        conversation = self._own() if session == self.id else self._other(session)
        if line.uuid in self.titles:
            conversation.entitle(self.titles[line.uuid], Title.SUMMARY)
        return conversation

    def _other(self, session: str) -> OpenConversation:
        return self.log.conversation(session, standing=WitnessRank.REPLAY)

    def _remember(self, uuid: str, chain: str) -> None:
        self.recent[uuid] = chain
        if len(self.recent) > 2 * REMEMBERED_LINES:
            _forget(self.recent)


def _forget(facts: dict[str, str]) -> None:
    """Drop the oldest facts, which keeps the cursor small."""
    for old in list(facts)[:-REMEMBERED_LINES]:
        del facts[old]


def _add(turn: OpenTurn, block: Block, at_ms: int | None) -> None:
    if block.type == "text":
        if block.text and block.text != NOTHING:
            turn.texts.append(block.text)
    elif block.type == "thinking":
        if block.thinking:
            turn.thoughts.append(block.thinking)
    elif block.type == "tool_use":
        turn.call(block.id or "", call_of(block), at_ms)
        turn.conversation.is_idle = False


def _hear_prompt(log: Log, prompt: QueuedPrompt) -> None:
    if not prompt.session_id:
        log.skipped[NO_SESSION] += 1
    elif text := with_pastes(prompt):
        conversation = log.prompt(prompt.session_id, text, to_ms(prompt.timestamp))
        conversation.directory = conversation.directory or prompt.project or ""


reader = Reader(
    "claude-code",
    "Claude Code",
    find,
    read,
    rereads=rereads,
    resume=Resume(("claude", "--resume", "{id}")),
    write=write_session,
    prompt_words=("claude", "{prompt}"),
)
