"""A small invented memory: two assistants, a subagent, a decision, files, and text that would do harm if it were HTML."""

from __future__ import annotations

from datetime import timedelta

from backstory.core import Core
from backstory.domain.records import Conversation, Memory, Message, Priority, Trace
from backstory.domain.statements import MessageSaying, Saying, Speaker, StatementKind
from backstory.domain.tool_results import StoredCall, StoredResult, TextRange
from backstory.domain.usage import ModelCall
from backstory.domain.when import to_ms

from ..doubles import DAWN

PLANTED = '<script>window.harmed=1</script><img src=x onerror="window.harmed=1">'
MARKDOWN = "[click](javascript:window.harmed=1) ![x](http://127.0.0.1:9/x.png) <b>bold</b>"
SHOP, BLOG = "/work/shop", "/work/blog"
MAIN, SUBAGENT, HARMFUL, LONG = "codex:main", "codex:sub", "claude-code:harm", "claude-code:long"
LONG_LENGTH = 20_000
TRACED, TRACED_SUBAGENT, EDITED = "claude-code:traced", "claude-code:traced-sub", "claude-code:edited"
SECRET = "ghp_" + "q7Tz3LkW9xVb2NfR8mYc4HsJ6dPa1Ge5Uo0B"
LONG_RESULT = "\n".join(f"line {number} of the log" for number in range(1, 1_001))


def conversation(id: str, title: str, *, project: str = SHOP, **changes: object) -> Conversation:
    plain = Conversation(
        id=id,
        title=title,
        project=project,
        surface=id.partition(":")[0],
        created_at=DAWN,
        updated_at=DAWN + timedelta(hours=1),
        native_id=id.partition(":")[2],
        directory=project,
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def message(of: Conversation, seq: int, role: str, text: str, **changes: object) -> Message:
    plain = Message(
        id=f"{of.id}:{seq}:{role}",
        conversation=of.id,
        seq=seq,
        role=role,
        text=text,
        project=of.project,
        surface=of.surface,
        created_at=of.created_at + timedelta(minutes=seq % 600),
    )
    return plain._replace(**changes)  # type: ignore[arg-type]


def fill(core: Core) -> None:
    store = core.engine.store
    with store.transaction():
        _fill_main(core)
        harmful = conversation(
            HARMFUL, PLANTED, project=f"/work/{PLANTED.replace('/', '')}", branch=PLANTED, model=PLANTED
        )
        edit = message(
            harmful, 1, "tool", f"Edit file_path: {PLANTED}\nold_string: {PLANTED}\nnew_string: {MARKDOWN}"
        )
        spoken = [
            message(harmful, 0, "user", PLANTED, speaker=PLANTED),
            message(harmful, 1, "assistant", f"{MARKDOWN}\n\n{PLANTED}"),
        ]
        store.conversations.add(harmful, [*spoken, edit], [Trace(edit.id, "written", PLANTED)])
        memory = Memory(
            "harm", f"{PLANTED} {MARKDOWN}", SHOP, PLANTED, DAWN, DAWN, summary=PLANTED, key=PLANTED,
            category=PLANTED, channel=PLANTED, tags=(PLANTED,), metadata={PLANTED: PLANTED},
        )  # fmt: skip
        store.memories.put([memory])


def _fill_main(core: Core) -> None:
    store = core.engine.store
    main = conversation(MAIN, "Choosing a queue", branch="main", model="gpt-5")
    wrote = message(
        main, 3, "tool", "Edit file_path: src/queue.py\nold_string: import redis\nnew_string: import pika"
    )
    said = [
        message(main, 0, "user", "Which queue do we take for the orders?"),
        message(main, 1, "assistant", "RabbitMQ: the **broker** keeps orders when a worker dies."),
        message(main, 2, "user", "Then change the worker."),
        message(main, 3, "assistant", "Done.\n\n```python\nimport pika\n```"),
        message(main, 3, "thinking", "The worker imports redis in one place."),
        message(main, 4, "user", "Thank you."),
    ]
    store.conversations.add(main, [*said, wrote], [Trace(wrote.id, "written", "src/queue.py")])
    helper = conversation(SUBAGENT, "Look for users of redis", kind="subagent", parent=MAIN)
    store.conversations.add(
        helper,
        [
            message(helper, 0, "user", "Who imports redis?"),
            message(helper, 1, "assistant", "Only the worker."),
        ],
        [],
    )
    other = conversation("claude-code:blog", "A theme for the blog", project=BLOG)
    store.conversations.add(
        other,
        [
            message(other, 0, "user", "Make the blog dark."),
            message(other, 1, "assistant", "The theme is dark now."),
        ],
        [],
    )
    decision = Memory(
        "decision", "We take RabbitMQ for orders, since it keeps them when a worker dies.", SHOP, "memory-keeper", DAWN, DAWN,
        key="queue", category="decision", priority=Priority.HIGH,
    )  # fmt: skip
    plain = Memory("plain", "The staging server restarts at night.", BLOG, "projectmemory", DAWN, DAWN)
    store.memories.put([decision, plain])


def fill_long(core: Core) -> None:
    """A conversation of many thousand messages."""
    long = conversation(LONG, "A very long session", project=BLOG)
    roles = ("user", "assistant", "assistant", "assistant", "assistant")
    messages = [
        message(long, seq, roles[seq % len(roles)], f"Message {seq + 1} about step {seq // 5}: it **works**.")
        for seq in range(LONG_LENGTH)
    ]
    core.engine.store.conversations.add(long, messages, [])


def fill_traced(core: Core) -> None:
    """A conversation with results of tools, tasks, a subagent, usage, and a secret that was stored as it is."""
    store = core.engine.store
    traced = conversation(TRACED, "Repairing the tests", model="claude-sonnet-4-5")
    failing = message(traced, 1, "tool", f"Bash command: pytest -q\nRead file_path: {SHOP}/pytest.log")
    passing = message(traced, 3, "tool", "Bash command: pytest -q tests")
    spoken = [
        message(traced, 0, "user", "Why do the tests fail?"),
        message(traced, 1, "assistant", "I run them."),
        message(traced, 2, "user", "Repair them."),
        message(traced, 3, "assistant", f"They pass. The token was {SECRET} in /home/mira/shop."),
        message(traced, 4, "assistant", "Anything else?"),
    ]
    calls = [
        _call(
            failing, "Bash", "pytest -q", StoredResult("1 failed: Teapot is cold", 24, False, True, 1, 2_300)
        ),
        _call(
            failing, "Read", f"{SHOP}/pytest.log", StoredResult(LONG_RESULT, len(LONG_RESULT), False, False)
        ),
        _call(
            passing, "Bash", "pytest -q tests", StoredResult(f"1 passed {PLANTED}", 50, False, False, 0, 900)
        ),
    ]
    tasks = [
        _task(failing, "Find the cause", "open"),
        _task(failing, "Repair the teapot", "open"),
        _task(passing, "Find the cause", "done"),
        _task(passing, "Repair the teapot", "open"),
    ]
    store.conversations.add(traced, [*spoken, failing, passing], [], tasks, calls)
    helper = conversation(
        TRACED_SUBAGENT, "Look at the teapot", kind="subagent", parent=TRACED,
        created_at=DAWN + timedelta(minutes=1, seconds=30),
    )  # fmt: skip
    answers = [
        message(helper, 0, "user", "Is the teapot cold?"),
        message(helper, 1, "assistant", "Stone cold."),
    ]
    store.conversations.add(helper, answers, [])
    call = ModelCall("1", "claude-sonnet-4-5", to_ms(DAWN), input=1_000, output=2_000, cache_read=3_000_000)
    store.usage.put(TRACED, "claude-code", [call], {})
    _fill_edited(core)


def _fill_edited(core: Core) -> None:
    """A conversation that edits one line twice, under two spellings of the file."""
    edited = conversation(EDITED, "Heating the teapot")
    paths = (f"{SHOP}/src/teapot.py", "src/teapot.py")
    sides = (("HEAT = 0  # cold", "HEAT = 50"), ("HEAT = 50", 'HEAT = 100  # hot\nSTATE = "boiling"'))
    edits = [
        message(edited, seq, "tool", f"Edit file_path: {path}\nold_string: {old}\nnew_string: {new}")
        for seq, (path, (old, new)) in enumerate(zip(paths, sides, strict=True), 1)
    ]
    calls = [
        _call(edit, "Edit", edit.text.partition(" ")[2], StoredResult("ok", 2, False, False))
        for edit in edits
    ]
    written = [Trace(edit.id, "written", path) for edit, path in zip(edits, paths, strict=True)]
    asked = message(edited, 0, "user", "Heat the teapot.")
    core.engine.store.conversations.add(edited, [asked, *edits], written, [], calls)


def _call(of: Message, name: str, arguments: str, result: StoredResult) -> StoredCall:
    place = TextRange(of.text.index(arguments), len(arguments))
    command = place if name == "Bash" else TextRange()
    return StoredCall(of.id, f"{of.id}:{arguments}", name, place, command, result)


def _task(of: Message, text: str, outcome: str) -> MessageSaying:
    return MessageSaying(
        of.id, Saying(StatementKind.TODO, text, Speaker.LOG, subject="list", outcome=outcome)
    )
