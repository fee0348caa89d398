"""Whose words a file holds: this user's, or those of whoever committed it to the repository it lies in.

Git tells: a file that it tracks is this user's when every commit that touched it names one of the addresses in
`git config --get-all user.email` as its author. Where that cannot be known (a shallow clone, no git, a repository
of another user) it is the repository's. A file that git does not track was made here.
"""

from __future__ import annotations

from pathlib import Path

from ...domain.records import Trust
from . import work_tree
from .git import ask, git, names


def trust_of(file: Path) -> Trust:
    """`own` or `project`. Asks git, so not for a hot path."""
    try:
        is_in_repository = (work_tree(file.parent) / ".git").exists()
    except (OSError, ValueError):  # a ring of links, a name with a NUL
        return Trust.PROJECT
    if not is_in_repository:
        return Trust.OWN
    tracked = ask(file.parent, "ls-files", "-z", "--", file.name)
    if tracked.is_ok and not tracked.text:
        return Trust.OWN
    return Trust.OWN if tracked.is_ok and _is_by_this_user(file) else Trust.PROJECT


def _is_by_this_user(file: Path) -> bool:
    authors = ask(file.parent, "log", "-z", "--format=%ae", "--", file.name)
    if not authors.is_ok or git(file.parent, "rev-parse", "--is-shallow-repository") != "false\n":
        return False  # the oldest commit of a shallow clone seems to have written everything
    ours = names(git(file.parent, "config", "-z", "--get-all", "user.email"))
    return {each.lower() for each in names(authors.text)} <= {each.lower() for each in ours}
