"""The trust level of files in a project: written by this user, or by the authors of the project.

A file that git tracks is this user's if the author of every commit that touched it has one of the addresses in `git
config --get-all user.email`. An untracked file in a repository was created here. Where this cannot be determined (a
shallow clone, no git, a repository of another user, a directory that may be an unpacked archive), the file is the
project's.
"""

from __future__ import annotations

from pathlib import Path

from ...domain.records import Trust
from . import is_repository, work_tree
from .git import ask, git, names


def trust_of(file: Path) -> Trust:
    """`own` or `project`. Calls git, so not for hot paths."""
    return Trust.OWN if is_by_others(file) is False else Trust.PROJECT


def is_by_others(file: Path) -> bool | None:
    """True if another person committed to the file; None if that cannot be determined."""
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
