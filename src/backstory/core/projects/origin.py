"""Whose words a file in a project holds: this user's, or those of whoever made the project.

Git tells: a file that it tracks is this user's when every commit that touched it names one of the addresses in
`git config --get-all user.email` as its author, and one in a repository that it does not track was made here. Where that cannot
be known (a shallow clone, no git, a repository of another user, a directory that may be an unpacked archive) it is the project's.
"""

from __future__ import annotations

from pathlib import Path

from ...domain.records import Trust
from . import is_repository, work_tree
from .git import ask, git, names


def trust_of(file: Path) -> Trust:
    """`own` or `project`. Asks git, so not for a hot path."""
    return Trust.OWN if is_by_others(file) is False else Trust.PROJECT


def is_by_others(file: Path) -> bool | None:
    """Whether somebody else committed to it; None where that cannot be known."""
    try:
        if not is_repository(work_tree(file.parent)):
            return None
    except (OSError, ValueError):  # a ring of links, a name with a NUL
        return None
    tracked = ask(file.parent, "ls-files", "-z", "--", file.name)
    if not tracked.is_ok:
        return None
    return _has_other_authors(file) if tracked.text else False


def _has_other_authors(file: Path) -> bool | None:
    authors = ask(file.parent, "log", "-z", "--format=%ae", "--", file.name)
    if not authors.is_ok:
        return None
    ours = names(git(file.parent, "config", "-z", "--get-all", "user.email"))
    if not {each.lower() for each in names(authors.text)} <= {each.lower() for each in ours}:
        return True
    # the oldest commit of a shallow clone seems to have written everything
    return False if git(file.parent, "rev-parse", "--is-shallow-repository") == "false\n" else None
