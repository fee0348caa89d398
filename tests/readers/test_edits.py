"""Text that tool calls wrote to files, for the tools of all assistants."""

from __future__ import annotations

from typing import Any

import pytest

from backstory.readers.formats.edits import Edit, edits_of
from backstory.readers.formats.touched import tool_call

PATCH = """\
*** Begin Patch
*** Update File: src/a.py
@@ def f():
 kept
-gone
+new
*** Add File: b.py
+first
+
+third
*** End Patch"""
PATCHED = [Edit("src/a.py", "kept\ngone", "kept\nnew"), Edit("b.py", "", "first\n\nthird", is_whole=True)]
SEARCH = "------- SEARCH\nold\n=======\nnew\nlines\n+++++++ REPLACE\n"


@pytest.mark.parametrize(
    ("name", "arguments", "edits"),
    [
        ("Write", {"file_path": "a", "content": "x\n"}, [Edit("a", "", "x\n", is_whole=True)]),
        ("Edit", {"file_path": "a", "old_string": "x", "new_string": "y"}, [Edit("a", "x", "y")]),
        (
            "MultiEdit",
            {
                "file_path": "a",
                "edits": [{"old_string": "x", "new_string": "y"}, {"old_string": "1", "new_string": ""}],
            },
            [Edit("a", "x", "y"), Edit("a", "1", "")],
        ),
        ("edit", {"filePath": "a", "oldString": "x", "newString": "y"}, [Edit("a", "x", "y")]),
        ("create_file", {"path": "a", "file_text": "x"}, [Edit("a", "", "x", is_whole=True)]),
        ("insert", {"path": "a", "insert_line": 3, "insert_text": "x"}, [Edit("a", "", "x")]),
        ("replace_in_file", {"path": "a", "diff": SEARCH * 2}, [Edit("a", "old", "new\nlines")] * 2),
        ("apply_patch", PATCH, PATCHED),
        ("apply_patch", {"input": PATCH}, PATCHED),
        ("shell", {"command": ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF"]}, PATCHED),
        (
            "Bash",
            {"command": "cat > a.py <<'EOF'\nx = 1\n\ny = 2\nEOF"},
            [Edit("a.py", "", "x = 1\n\ny = 2", is_whole=True)],
        ),
        ("Bash", {"command": "cat <<END > 'b c.py'\nx\nEND\nls"}, [Edit("b c.py", "", "x", is_whole=True)]),
        ("Bash", {"command": "python3 - <<EOF\nprint()\nEOF"}, []),
        ("Bash", {"command": "ls > a"}, []),
        ("Read", {"file_path": "a"}, []),
        ("Write", {"file_path": "a", "content": None, "edits": "x", "old_string": 3}, []),
        ("Write", None, []),
    ],
)
def test_the_texts_of_edits(name: str, arguments: Any, edits: list[Edit]) -> None:
    assert list(edits_of(tool_call(name, arguments))) == edits


def test_a_call_that_failed_wrote_nothing() -> None:
    call = tool_call("Write", {"file_path": "a", "content": "x"}, "permission denied")
    assert list(edits_of(call)) == []
