"""Exports without user names and home directories."""

from __future__ import annotations

import pytest

from backstory.core.secrets.user_names import without_user_names

LISTING = """total 16
drwxr-xr-x@  5 mirabel  staff   160 Jun  7 06:53 .
-rw-r--r--   1 mirabel  staff  1204 Jun  7 06:53 README.md
-rw-r--r--   1 root     wheel    12 Jun  7 06:53 hosts
lrwxr-xr-x   1 501      20        9 Jun  7 06:53 link -> README.md"""

SHARED = """total 16
drwxr-xr-x@  5 user     group   160 Jun  7 06:53 .
-rw-r--r--   1 user     group  1204 Jun  7 06:53 README.md
-rw-r--r--   1 root     group    12 Jun  7 06:53 hosts
lrwxr-xr-x   1 501      20        9 Jun  7 06:53 link -> README.md"""


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("cd /Users/mirabel/app && ls", "cd ~/app && ls"),
        (r"C:\Users\mirabel\app and C:\\Users\\mirabel", r"~\app and ~"),
        ("/home/mirabel: mirabel@laptop, github.com/mirabel/app", "~: user@laptop, github.com/user/app"),
        ("/home/anna.b/x ~/.claude/projects/-home-anna-b-x/1.jsonl", "~/x ~/.claude/projects/-~-x/1.jsonl"),
        ("~/.claude/projects/-Users-jo-app/1.jsonl", "~/.claude/projects/-~-app/1.jsonl"),
        (LISTING, SHARED),
        ("/home/mirabel/x mirabelle Mirabel9 xmirabel", "~/x mirabelle Mirabel9 xmirabel"),
    ],
)
def test_user_names_and_home_directories_are_replaced(text: str, shared: str) -> None:
    assert without_user_names([text]) == [shared]


@pytest.mark.parametrize("name", ["jo", "app", "claude", "will", "Root"])
def test_a_name_that_is_also_a_word_is_replaced_in_paths_only(name: str) -> None:
    text = f"/home/{name}/x: the {name} of claude-code will run in staff"
    assert without_user_names([text]) == [f"~/x: the {name} of claude-code will run in staff"]


def test_a_name_that_one_text_tells_is_replaced_in_all() -> None:
    texts = ["whoami\nmirabel", LISTING, "the wheel and the staff stay"]
    assert without_user_names(texts) == ["whoami\nuser", SHARED, "the wheel and the staff stay"]
    assert without_user_names(["whoami\nmirabel"]) == ["whoami\nmirabel"]


@pytest.mark.parametrize(
    "text", ["drwxr-xr-x mirabel staff 12", "the mode drwxr-xr-x  5 mirabel  staff  160"]
)
def test_a_line_without_the_columns_of_a_listing_stays(text: str) -> None:
    assert without_user_names([text]) == [text]
