"""Side effects of a tool call: files read and written, commands run."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.readers import LONGEST_ARGUMENTS
from backstory.readers.formats.touched import tool_call, touched_by


@pytest.mark.parametrize(
    ("name", "arguments", "reads", "writes"),
    [
        ("Read", {"file_path": "/w/a.py"}, ("/w/a.py",), ()),
        ("Edit", {"file_path": "/w/a.py", "old_string": "x"}, (), ("/w/a.py",)),
        ("MultiEdit", {"file_path": "/w/a.py", "edits": []}, (), ("/w/a.py",)),
        ("NotebookEdit", {"notebook_path": "/w/a.ipynb"}, (), ("/w/a.ipynb",)),
        ("Grep", {"pattern": "x", "path": "src"}, ("src",), ()),
        ("read_file", {"absolute_path": "/w/a.py"}, ("/w/a.py",), ()),
        ("write_file", {"file_path": "a.py", "content": "x"}, (), ("a.py",)),
        ("edit", {"filePath": "C:\\w\\a.py"}, (), ("C:\\w\\a.py",)),
        ("search_replace", {"targetFile": "a.py"}, (), ("a.py",)),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n"},
            (),
            ("a.py", "b.py"),
        ),
        (
            "apply_patch",
            "*** Begin Patch\n*** Add File: a b.py\n*** Delete File: c.py\n",
            (),
            ("a b.py", "c.py"),
        ),
        ("Task", {"prompt": "look"}, (), ()),
        ("Odd", {"path": 7}, (), ()),
        ("Odd", None, (), ()),
    ],
)
def test_a_call_tells_the_files_it_read_and_wrote(
    name: str, arguments: Any, reads: tuple[str, ...], writes: tuple[str, ...]
) -> None:
    call = tool_call(name, arguments)
    assert (call.reads, call.writes) == (reads, writes)


@pytest.mark.parametrize(
    ("command", "reads", "writes"),
    [
        ("cat a.py", ("a.py",), ()),
        ("cd src && head -n 20 a.py | grep -n 'x y' b.py", ("a.py", "b.py"), ()),
        ("sed -n '1,20p' src/a.py", ("src/a.py",), ()),
        ("sed -i 's/a/b/' a.py", (), ("a.py",)),
        ("echo hi > out.txt 2>&1", (), ("out.txt",)),
        ("make 2> /dev/null >> build.log; rm -rf dist", (), ("build.log", "dist")),
        ("cat > 'my file.py' <<'EOF'\ncat not-a-file\nEOF", (), ("my file.py",)),
        ("A=1 sudo touch a b", (), ("a", "b")),
        ("git status", (), ()),
        ("unbalanced 'quote", (), ()),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\nEOF", (), ("a.py",)),
    ],
)
def test_a_command_tells_the_files_it_plainly_names(
    command: str, reads: tuple[str, ...], writes: tuple[str, ...]
) -> None:
    assert touched_by(command) == (reads, writes)


def test_a_command_given_as_words_is_told_as_a_person_would_type_it() -> None:
    assert tool_call("shell", {"command": ["bash", "-lc", "ls -l"]}).command == "ls -l"
    assert tool_call("shell", {"command": ["git", "log"]}).command == "git log"


def test_arguments_are_words_and_cut() -> None:
    call = tool_call(
        "Write", {"file_path": "a", "content": "line one\nline two" + "x y " * 5_000, "more": [1]}
    )
    assert call.arguments.startswith("file_path: a\ncontent: line one\nline two")
    assert len(call.arguments) == LONGEST_ARGUMENTS
