"""Related projects: declared as related, or clones of one repository."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath

from ...domain.errors import InvalidInput
from ...domain.lazy import lazy_pattern
from . import project_root

EVERY_PROJECT = "*"
MOST_LISTED = 10

_URL = lazy_pattern(r"^\s*url\s*=\s*(\S+)", re.MULTILINE)
_LARGEST_CONFIG = 1_000_000


def projects_named(wanted: str, known: Iterable[str]) -> list[str]:
    """The projects that a caller means by a path or a name. A path inside a project means the project."""
    exact = {wanted}
    path = Path(os.path.expanduser(wanted))  # unlike pathlib's, no error for `~` and a name that no user has
    if path.is_absolute():
        exact.add(str(project_root(path)))
    name = wanted.casefold()
    return [each for each in known if each in exact or PurePath(each).name.casefold() == name]


def project_named(wanted: str, known: Iterable[str]) -> str | None:
    """The project with this path or name; None if it is unknown. Raises InvalidInput if several match."""
    named = projects_named(wanted, known)
    if len(named) > 1 and wanted not in named:
        listed = ", ".join(named[:MOST_LISTED])
        raise InvalidInput(
            f"{len(named)} projects are called {wanted!r}: {listed}.",
            hint="Give the path of one.",
            field="project",
        )
    return wanted if wanted in named else next(iter(named), None)


def new_project_named(wanted: str, known: Iterable[str], *, is_local: bool) -> str:
    """The project that a caller names. A path may be new. Raises InvalidInput for an unknown or ambiguous name."""
    if (named := project_named(wanted, known)) is not None:
        return named
    path = Path(os.path.expanduser(wanted))
    if not path.is_absolute():
        raise InvalidInput(
            f"There is no project {wanted!r}.", hint="Give the path of a new one.", field="project"
        )
    return str(project_root(path)) if is_local else wanted


def chosen_projects(
    wanted: str | None, own: str, known: Callable[[], Iterable[str]]
) -> tuple[str, ...] | None:
    """The projects a caller selects: its own, another by name or path, or () for EVERY_PROJECT. None if there is no match.

    Raises InvalidInput for a name that several projects have."""
    if wanted is None:
        return (own,)
    if wanted == EVERY_PROJECT:
        return ()
    named = project_named(wanted, known())
    return None if named is None else (named,)


def related_projects(projects: Sequence[str], declared: Iterable[str], known: Iterable[str]) -> list[str]:
    """Known projects that are related to the given ones: all declared related projects, if one of the given is
    declared or is the caller's own, and projects with a common remote."""
    remotes = set[str]().union(*map(remotes_of, projects))
    named = {str(project_root(Path(os.path.expanduser(each)))) for each in declared}
    together = named if named & set(projects) else set()
    return [
        each
        for each in known
        if each not in projects
        and (each in together or (remotes and not remotes.isdisjoint(remotes_of(each))))
    ]


def remotes_of(project: str) -> set[str]:
    """The addresses a checkout was cloned from, written alike however they are spelled."""
    config = Path(project) / ".git" / "config"
    try:
        if config.stat().st_size > _LARGEST_CONFIG:
            return set()
        return {_plain(url) for url in _URL.findall(config.read_text("utf-8", errors="replace"))}
    except OSError:
        return set()


def _plain(url: str) -> str:
    """`git@host:team/app.git` and `https://user@host/team/app` are one."""
    rest = url.split("://", 1)[-1].rpartition("@")[2]
    return rest.replace(":", "/", 1).removesuffix("/").removesuffix(".git").casefold()
