"""What a session changed: its edits of each file as one difference."""

from __future__ import annotations

from backstory.core import Core
from backstory.core.browsing.session_changes import ChangedFile, session_changes
from backstory.domain.tool_results import StoredCall, StoredResult, TextRange
from backstory.readers import LONGEST_ARGUMENTS

from ..doubles import make_conversation, make_messages

TALK = make_conversation("codex:edits", project="/w/shop", directory="/w/shop")


def changed(core: Core, *calls: str, failed: tuple[int, ...] = ()) -> list[ChangedFile]:
    """The changes of a session that made these calls, each in a message of its own."""
    messages = [each._replace(role="tool") for each in make_messages(TALK.id, *calls, project="/w/shop")]
    stored = [
        StoredCall(
            each.id,
            each.id,
            "Edit",
            TextRange(0, len(each.text)),
            TextRange(),
            StoredResult("", 0, False, place in failed),
        )
        for place, each in enumerate(messages)
    ]
    core.engine.store.conversations.add(TALK, messages, [], [], stored)
    return session_changes(core.engine, TALK)


def replace(old: str, new: str, path: str = "a.py") -> str:
    return f"file_path: {path}\nold_string: {old}\nnew_string: {new}"


def shown(change: ChangedFile) -> list[str]:
    marks = {"new": "+", "gone": "-", "plain": " ", "place": "@"}
    return [f"{marks[line.kind]}{line.text}" for line in change.lines]


def test_edits_of_one_file_are_one_difference(core: Core) -> None:
    (change,) = changed(
        core,
        replace("one\ntwo", "one\nTWO"),
        replace("TWO", "zwei", path="/w/shop/a.py"),
        replace("nine", "ten"),
    )
    assert (change.path, change.edits, change.messages) == ("a.py", 3, [1, 2, 3])
    assert shown(change) == [" one", "-two", "+zwei", "@⋯", "-nine", "+ten"]
    assert (change.added, change.removed, change.is_cut) == (2, 2, False)


def test_an_edit_that_was_taken_back_changed_nothing(core: Core) -> None:
    assert changed(core, replace("one", "two"), replace("two", "one")) == []


def test_a_file_that_was_written_and_then_edited_is_new_in_its_last_form(core: Core) -> None:
    (change,) = changed(
        core, "file_path: b.py\ncontent: first\npath: second", replace("first", "1st", "b.py")
    )
    assert shown(change) == ["+1st", "+path: second"]


def test_patches_and_lists_of_edits_count_and_failed_calls_do_not(core: Core) -> None:
    patch = "*** Begin Patch\n*** Update File: c.py\n@@\n keep\n-old\n+new\n*** End Patch"
    several = 'file_path: d.py\nedits: [{"old_string": "x", "new_string": "y"}, {"old_string": "p", "new_string": "q"}]'
    first, second = changed(core, patch, several, replace("never", "done"), failed=(2,))
    assert (first.path, shown(first)) == ("c.py", [" keep", "-old", "+new"])
    assert (second.path, second.edits, second.added) == ("d.py", 2, 2)


def test_a_call_that_was_stored_in_part_is_said_to_be_cut(core: Core) -> None:
    text = "file_path: e.py\ncontent: " + "line\n" * LONGEST_ARGUMENTS
    (change,) = changed(core, text[:LONGEST_ARGUMENTS])
    assert change.is_cut
