"""Continue a conversation in another assistant: as a session that it resumes natively, or with a file that it reads first.

All content comes from the store, where secrets are redacted. No existing file of an assistant is changed. The
handoff is recorded before the file is written, so that a sync does not import the copied turns a second time.
"""

from __future__ import annotations

import os
import re
import secrets
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ...domain.errors import InvalidInput, NotAllowed, NotFound, NotWritten
from ...domain.handoffs import SessionHandoff
from ...domain.lazy import lazy_pattern
from ...domain.records import Conversation
from ...domain.tokens import count_tokens
from ...domain.when import to_ms
from ...readers import (
    DraftTurn,
    NativeSession,
    Places,
    Reader,
    Role,
    SessionDraft,
    load_readers,
    reader_names,
)
from ...store.whole_files import write_whole
from ..browsing import Browsing
from ..browsing.resumption import root_conversation
from ..part import CallContext, CorePart
from ..secrets import redactor
from ..state import ProjectStates
from ..sync.pieces import conversation_id
from .files import handoff_folder
from .head import MAX_HEAD_TOKENS, ConversationState, head
from .turns import LONG_TURN_PART, cut, markdown, shortened, spoken_turns

DEFAULT_HANDOFF_TOKENS, MIN_HANDOFF_TOKENS = 40_000, 4_000
NATIVE, PROMPT = "native", "prompt"
MAX_PROMPT_CHARS = 8_000
"""A longer one stays in the session: command lines are short on some systems."""
GO_ON = "Please go on with my last message."
AGREED = "Understood."
_PLAIN = lazy_pattern(r"\w")


class Takeover(NamedTuple):
    """The content of a conversation for another assistant."""

    state: ConversationState
    turns: list[DraftTurn]
    """The head first; the last is the assistant's."""
    prompt: str
    """The user's last message, if it was not answered."""
    messages: int
    """Turns that are taken over, without the head."""
    left_out: int

    @property
    def tokens(self) -> int:
        return sum(count_tokens(turn.text) for turn in self.turns) + count_tokens(self.prompt)


class HandoffPlan(NamedTuple):
    """A handoff that is ready to be written."""

    takeover: Takeover
    reader: Reader
    method: str
    session: NativeSession
    """The session; it has no id if the method is `prompt`."""
    directory: str


class Handoffs(CorePart):
    def __init__(self, context: CallContext, states: ProjectStates, browsing: Browsing) -> None:
        super().__init__(context)
        self._states = states
        self._browsing = browsing

    def takeover(self, conversation: Conversation, max_tokens: int = DEFAULT_HANDOFF_TOKENS) -> Takeover:
        """The content for a handoff. Raises InvalidInput for too few tokens, and NotAllowed if there are no messages."""
        if max_tokens < MIN_HANDOFF_TOKENS:
            raise InvalidInput(f"tokens must be at least {MIN_HANDOFF_TOKENS:,}.", field="tokens")
        conversation = root_conversation(self.engine, conversation)
        state, spoken = self._state(conversation)
        if not spoken:
            raise NotAllowed(f"There are no messages in {conversation.id}.")
        prompt = ""
        if spoken[-1].role is Role.USER:
            prompt = shortened(spoken[-1].text, max_tokens // LONG_TURN_PART)
            spoken = spoken[:-1]
        last = cut(spoken, max_tokens - MAX_HEAD_TOKENS - count_tokens(prompt))
        return _takeover(state, last, len(spoken) - len(last), prompt)

    def plan(
        self,
        conversation: Conversation,
        assistant: str,
        places: Places,
        *,
        max_tokens: int = DEFAULT_HANDOFF_TOKENS,
        directory: str = "",
        as_prompt: bool = False,
    ) -> HandoffPlan:
        """Plan a handoff without writing anything.

        Raises InvalidInput for an unknown assistant, NotFound for a missing directory, and NotAllowed for an
        assistant that cannot continue conversations."""
        self.caller.check_local("directory", hint="Run this on the machine where the assistant runs.")
        reader = target_reader(assistant)
        takeover = self.takeover(conversation, max_tokens)
        directory = directory or takeover.state.conversation.directory
        if not directory or not os.path.isdir(directory):
            raise NotFound("directory", directory, hint="Use an existing one: --directory DIR")
        directory = os.path.realpath(directory)
        draft = SessionDraft(
            takeover.turns,
            takeover.state.title or takeover.state.name,
            directory,
            to_ms(self.engine.now()),
            takeover.prompt,
            self._folder,
            lambda: secrets.token_hex(16),
        )
        session = reader.write(draft, places) if reader.write and not as_prompt else None
        method = PROMPT if session is None else NATIVE
        return HandoffPlan(
            takeover, reader, method, session or self._with_file(draft, reader, takeover), directory
        )

    def write(self, plan: HandoffPlan) -> list[str]:
        """Write the files of a plan; their paths. Raises NotWritten."""
        paths = [str(path) for path in plan.session.files]
        id = conversation_id(plan.reader.name, plan.session.id) if plan.session.id else f"file:{paths[0]}"
        source = plan.takeover.state.conversation.id
        self.engine.store.handoffs.put(SessionHandoff(id, source, self.engine.now(), tuple(paths)))
        for path, text in plan.session.files.items():
            try:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                write_whole(path, [text])
            except OSError as error:
                raise NotWritten(f"{path} cannot be written: {error.strerror}.") from None
        return paths

    @property
    def _folder(self) -> Path:
        return handoff_folder(self.engine.settings.home)

    def _state(self, conversation: Conversation) -> tuple[ConversationState, list[DraftTurn]]:
        store, id = self.engine.store, conversation.id
        lineage = self._lineage(id)
        messages = [
            message
            for each, until in lineage.items()
            for message in store.messages.of(each)
            if until is None or message.created_at < until
        ]
        turns, summary = spoken_turns(
            messages, [trace for each in lineage for trace in store.traces.of(each)]
        )
        project = self._states.of(conversation.project)
        statements = [each for each in project.statements if each.conversation in lineage]
        written = [path for each in lineage for path in store.traces.written_since(each, -1)]
        files = list(dict.fromkeys(reversed(written)))
        # what was stored through us, and not read from a file, is kept word for word; before anything is cut, for half a
        # secret is known to no rule
        clean, _ = redactor(self.engine.settings.redaction).redact_all(
            [
                *(turn.text for turn in turns),
                *(each.text for each in statements),
                *files,
                summary,
                conversation.title,
            ]
        )
        texts = iter(clean)
        turns = [turn._replace(text=next(texts)) for turn in turns]
        state = ConversationState(
            conversation,
            assistant_title(conversation.surface),
            self._browsing.names().short(id),
            next((turn.text for turn in turns if turn.role is Role.USER), ""),
            [each._replace(text=next(texts)) for each in statements],
            [next(texts) for _ in files],
            summary=next(texts),
            title=next(texts),
        )
        return state, turns

    def _lineage(self, id: str) -> dict[str, datetime | None]:
        """The chain of conversations that this one continues, oldest first and itself last, each with the time of its
        handoff; None for the last one."""
        lineage: dict[str, datetime | None] = {id: None}
        while (handoffs := self.engine.store.handoffs.into([id])) and handoffs[0].source not in lineage:
            id = handoffs[0].source
            lineage = {id: handoffs[0].handed_at, **lineage}
        return lineage

    def _with_file(self, draft: SessionDraft, reader: Reader, takeover: Takeover) -> NativeSession:
        """The conversation as a file, and the command that starts an assistant with it. Editors have no command."""
        name = re.sub(r"\W+", "-", takeover.state.conversation.id)[-60:]
        path = self._folder / f"{name}-{draft.random()[:8]}.md"
        words = tuple(
            word.replace("{prompt}", _reading(path, takeover.state.assistant)) for word in reader.prompt_words
        )
        return NativeSession("", {path: document(takeover)}, words)


def _reading(path: Path, title: str) -> str:
    return f"Read {path}. It is a conversation that was held in {title}; go on from its end."


def prompt_line(plan: HandoffPlan) -> str:
    """The prompt for an assistant that no command can start."""
    return _reading(next(iter(plan.session.files)), plan.takeover.state.assistant)


def document(takeover: Takeover) -> str:
    """The conversation as Markdown."""
    title = takeover.state.assistant
    begin, *rest = takeover.turns
    if rest and rest[0].text == AGREED:
        rest = rest[1:]
    last = [DraftTurn(Role.USER, takeover.prompt)] if takeover.prompt else []
    return f"{begin.text}\n\n{markdown([*rest, *last], {Role.USER: 'User', Role.ASSISTANT: title})}\n"


def _takeover(state: ConversationState, last: list[DraftTurn], left_out: int, prompt: str) -> Takeover:
    turns = [DraftTurn(Role.USER, head(state, left_out))]
    if not last or last[0].role is Role.USER:
        turns.append(DraftTurn(Role.ASSISTANT, AGREED))
    turns += last
    if len(prompt) > MAX_PROMPT_CHARS:
        turns += [DraftTurn(Role.USER, prompt), DraftTurn(Role.ASSISTANT, AGREED)]
        prompt = GO_ON
    elif prompt and not _PLAIN.match(prompt):
        # a flag, a command of the assistant or one for the shell is not to be obeyed
        prompt = f"Go on with this: {prompt}"
    return Takeover(state, turns, prompt, len(last) + bool(prompt), left_out)


def assistant_title(surface: str) -> str:
    return load_readers([surface])[surface].title if surface in reader_names() else surface


def target_reader(assistant: str) -> Reader:
    """The reader with this name or beginning of a name. Raises InvalidInput."""
    wanted = "-".join(assistant.lower().replace("_", " ").split())
    known = [name for name, reader in load_readers().items() if not reader.is_export]
    named = [name for name in known if name == wanted] or [name for name in known if name.startswith(wanted)]
    if len(named) != 1:
        raise InvalidInput(
            f"There is no assistant {assistant!r}."
            if not named
            else f"{assistant!r} may be {' or '.join(named)}.",
            hint=f"Known: {', '.join(known)}.",
            field="assistant",
        )
    return load_readers(named)[named[0]]
