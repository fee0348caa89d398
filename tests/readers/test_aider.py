"""Aider."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backstory.readers import Cursor, Form, Role, Source, Turn, load_readers

from .golden import check_golden, merged, read, sources

HOME = Path(__file__).with_name("aider") / "home"
REAL = Path(__file__).resolve().parents[3] / "shared/data/histories/aider"
HEADER = "# aider chat started at 2026-01-02 03:04:05\n\n"

reader = load_readers(["aider"])["aider"]


@pytest.fixture(autouse=True)
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An hour east of Greenwich: aider writes the time of the machine."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC-1")
        time.tzset()
        yield
    time.tzset()


def test_a_home_reads_as_expected(request: pytest.FixtureRequest) -> None:
    check_golden("aider", request, projects=(HOME / "project",))


def history(directory: Path, text: str) -> Source:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / ".aider.chat.history.md"
    path.write_text(text, "utf-8")
    return Source(path, Form.LOG, str(directory))


def read_turns(source: Source) -> list[Turn]:
    return [turn for each in read(reader, source).values() for turn in each.turns.values()]


def said(source: Source) -> list[tuple[str, str]]:
    return [(turn.role.value, turn.text) for turn in read_turns(source)]


def test_histories_are_found_in_projects_two_levels_down(tmp_path: Path) -> None:
    for below in ("", "a", "a/b", "a/b/c", ".hidden", "node_modules"):
        history(tmp_path / "project" / below, HEADER)
    found = {source.directory for source in sources(reader, tmp_path, projects=(tmp_path / "project",))}
    assert found == {str(tmp_path / "project" / below) for below in ("", "a", "a/b")}


def test_the_named_file_is_found_in_each_project_or_where_it_is(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "logs").mkdir(parents=True)
    (project / "logs" / "chat.md").write_text(HEADER)
    beside = {"AIDER_CHAT_HISTORY_FILE": "logs/chat.md"}
    assert sources(reader, tmp_path, projects=(project,), environment=beside) == [
        Source(project / "logs" / "chat.md", Form.LOG, str(project))
    ]
    alone = {"AIDER_CHAT_HISTORY_FILE": str(project / "logs" / "chat.md")}
    assert sources(reader, tmp_path, environment=alone) == [Source(project / "logs" / "chat.md", Form.LOG)]


def test_a_project_that_is_gone_is_no_error(tmp_path: Path) -> None:
    assert sources(reader, tmp_path, projects=(tmp_path / "gone",)) == []


def test_without_marked_prompts_every_heading_of_that_level_is_one(tmp_path: Path) -> None:
    source = history(tmp_path, HEADER + "#### one\n\nfirst\n\n#### two\n\nsecond\n")
    assert said(source) == [("user", "one"), ("assistant", "first"), ("user", "two"), ("assistant", "second")]


def test_blocks_in_blocks_are_one_block(tmp_path: Path) -> None:
    answer = "```markdown\n```bash\n#### not typed  \n```\n#### nor this  \n```"
    source = history(tmp_path, f"{HEADER}#### write a readme  \n\n{answer}\n\n#### thanks  \n")
    assert said(source) == [("user", "write a readme"), ("assistant", answer), ("user", "thanks")]


def test_a_fence_that_is_never_closed_hides_nothing(tmp_path: Path) -> None:
    source = history(
        tmp_path, f"{HEADER}#### go  \n\n```python\nx = \n> ^C KeyboardInterrupt  \n\n#### again  \n"
    )
    assert said(source) == [("user", "go"), ("assistant", "```python\nx ="), ("user", "again")]


def test_pasted_prompts_keep_their_lines(tmp_path: Path) -> None:
    source = history(tmp_path, HEADER + "#### fix this:  \n####   \n####     indented()  \n\nDone.\n")
    assert said(source)[0] == ("user", "fix this:\n\n    indented()")


def test_windows_line_ends_and_broken_bytes_are_read(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_bytes(HEADER.replace("\n", "\r\n").encode() + b"#### caf\xe9  \r\n\r\nOui.\r\n")
    assert said(Source(path, Form.LOG)) == [("user", "caf�"), ("assistant", "Oui.")]


def test_a_chat_that_goes_on_is_read_from_its_start_and_others_are_not(tmp_path: Path) -> None:
    earlier = HEADER + "#### one  \n\nfirst\n\n"
    later = HEADER.replace("03:04", "04:05") + "#### two  \n\nsec"
    source = history(tmp_path, earlier + later)
    before = merged(reader.read(source, Cursor()))
    cursor = [piece.cursor for piece in reader.read(source, Cursor())][-1]
    assert cursor is not None
    assert cursor.offset == len(earlier)
    history(
        tmp_path,
        earlier + later + "ond\n\n#### three  \n\n" + HEADER.replace("03:04", "05:06") + "#### four  \n",
    )
    pieces = list(reader.read(source, cursor))
    assert [piece.header.source.rpartition("#")[2] for piece in pieces] == ["1", "2"]
    assert merged(pieces, before) == merged(reader.read(source, Cursor()))


def test_a_file_of_any_project_takes_the_directory_that_aider_tells(tmp_path: Path) -> None:
    text = HEADER + "> Git working dir: C:\\w\\shop  \n\n#### hello  \n"
    [conversation] = read(reader, history(tmp_path, text)._replace(directory="")).values()
    assert conversation.header.directory == "C:\\w\\shop"


def test_chats_in_which_nobody_speaks_are_none(tmp_path: Path) -> None:
    assert read(reader, history(tmp_path, HEADER + "> Aider v0.86.1  \n> ^C KeyboardInterrupt  \n")) == {}
    assert read(reader, history(tmp_path, "")) == {}


def test_what_aider_asks_and_tells_is_nobodys_words(tmp_path: Path) -> None:
    chat = (
        "#### Fix the cart  \n\nI need `cart.py`.\n\n"
        "> Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: y  \n"
        "#### Add file to the chat? (Y)es/(N)o/(A)ll/(S)kip all/(D)on't ask again [Yes]: all  \n"
        "> Added 50 lines of output to the chat.  \n> Added cart.py to the chat  \n\nDone.\n\n"
        '#### Find the "AI" comments below (marked with █) in the code files I\'ve shared with you.  \n'
        "#### They contain my questions that I need you to answer and other instructions for you.  \n"
        "####   \n#### cart.py:  \n#### ⋮  \n#### █# AI? Is this thread safe?  \n\nNo.\n"
    )
    asked, answer, comment, last = read_turns(history(tmp_path, HEADER + chat))
    assert [asked.text, comment.text, last.text] == ["Fix the cart", "# AI? Is this thread safe?", "No."]
    assert answer.text.split() == ["I", "need", "`cart.py`.", "Done."]
    assert [call.reads for call in answer.calls] == [("cart.py",)]


@pytest.mark.parametrize(
    "thought",
    [
        "<thinking-content-7bbe>\n\nLocks are missing.\n\n</thinking-content-7bbe>",
        "--------------\n► **THINKING**\n\nLocks are missing.\n\n------------\n► **ANSWER**",
    ],
)
def test_what_a_model_thought_is_not_what_it_said(tmp_path: Path, thought: str) -> None:
    _, answer = read_turns(history(tmp_path, HEADER + f"#### Is it safe?  \n\n{thought}\n\nNo.\n"))
    assert (answer.thinking, answer.text) == ("Locks are missing.", "No.")


def test_a_chat_of_commands_that_say_nothing_is_none(tmp_path: Path) -> None:
    assert read(reader, history(tmp_path, HEADER + "#### /add **  \n\n#### /exit  \n")) == {}


def test_a_history_that_vanishes_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"):
        read(reader, Source(tmp_path / "gone.md", Form.LOG))


@pytest.mark.skipif(not REAL.is_dir(), reason="real histories are not here")
def test_real_histories_have_every_prompt_that_aider_marked() -> None:
    for path in REAL.glob("*.md"):
        text = path.read_text("utf-8")
        prompts = re.findall(r"(?:^#### (?!Add file to the chat\?|/add \*\*  ).*  \n)+", text, re.MULTILINE)
        turns = read_turns(Source(path, Form.LOG))
        assert sum(turn.role is Role.USER for turn in turns) == len(prompts)


def test_fences_within_a_longer_fence_are_part_of_it(tmp_path: Path) -> None:
    block = "````markdown\n```\n#### no prompt\n> no words of aider\n```\n````"
    turns = said(history(tmp_path, HEADER + f"#### Write a README\n\n{block}\n\n#### Thanks\n"))
    assert [text for _, text in turns] == ["Write a README", block, "Thanks"]


def test_an_answer_that_was_interrupted_hides_no_prompt_after_it(tmp_path: Path) -> None:
    chat = "#### One  \n\n```python\nx = 1\n\n#### Two  \n\n```\ncode\n```\nDone.\n"
    turns = said(history(tmp_path, HEADER + chat))
    assert [text for role, text in turns if role == "user"] == ["One", "Two"]


def test_a_prompt_that_is_quoted_in_a_block_is_none(tmp_path: Path) -> None:
    turns = said(history(tmp_path, HEADER + "#### One  \n\n```\n#### quoted  \n\nanswer\n```\n"))
    assert [text for role, text in turns if role == "user"] == ["One"]


def test_a_chat_is_the_same_when_the_home_it_lies_in_is_moved(tmp_path: Path) -> None:
    ids: list[str] = []
    for home in ("old", "new/deeper"):
        project = tmp_path / home / "app"
        ids += read(reader, history(project, HEADER + "#### Why is it slow?\n\nBecause.\n"))
    assert ids[0] == ids[1]
    other = tmp_path / "old" / "other"
    assert ids[0] not in read(reader, history(other, HEADER + "#### Why is it slow?\n")), "another project's"
