"""The health of a project: signals that anyone can verify, and the points for each (docs/project-health.md)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ....core.projects.effort import Effort
from ....domain.lazy import lazy_pattern
from .changes import Changes, changes
from .dependencies import Agreement, agreements
from .stack import Stack, stack
from .survey import Survey, read_beginning, survey

LARGE_CHANGE = 400
"""Number of uncommitted lines above which a reviewer no longer sees everything."""
LONG_WAIT = timedelta(days=2)

_TEST = lazy_pattern(
    r"(?:^|/)(?:tests?|__tests__|spec)/|(?:^|/)test_[^/]*$|[._-](?:test|spec)s?\.\w+$|Tests?\.(?:java|kt|cs)$"
)
_README = lazy_pattern(r"readme(?:\.\w+)?", re.IGNORECASE)
_LICENCE = lazy_pattern(r"(?:licen[cs]e|copying)(?:[.-][\w.-]+)?", re.IGNORECASE)
_CI = lazy_pattern(
    r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|\.circleci/config\.yml|azure-pipelines\.yml|Jenkinsfile|\.travis\.yml"
    r"|bitbucket-pipelines\.yml|\.drone\.yml|\.woodpecker(?:/[^/]+)?\.ya?ml|\.buildkite/.*|\.ci/.*|\.forgejo/workflows/.*"
)
_LINT = lazy_pattern(
    r"\.?ruff\.toml|\.flake8|\.?pylintrc|\.eslintrc(?:\.\w+)?|eslint\.config\.\w+|biome\.jsonc?|\.?clippy\.toml|rustfmt\.toml"
    r"|\.rustfmt\.toml|\.golangci\.ya?ml|checkstyle\.xml|\.pre-commit-config\.yaml|\.prettierrc(?:\.\w+)?|detekt\.yml"
)
_TYPES = lazy_pattern(r"\.?mypy\.ini|pyrightconfig\.json|(?:.*/)?tsconfig(?:\.\w+)?\.json|(?:.*/)?py\.typed")
_LINTING, _TYPING = (
    frozenset(("ruff", "flake8", "pylint", "black", "eslintConfig", "lint", "prettier")),
    frozenset(("mypy", "pyright", "basedpyright", "ty")),
)
_TYPED = ("rust", "go", "java")
MOST_READ = 10_000
"""Maximum number of files to read. If there are more, they are sampled evenly."""
LARGEST_READ = 200_000
MOST_NAMED = 5
_MARKS = (b"TODO", b"FIXME", b"HACK", b"XXX")
_MARK = lazy_pattern(rb"\b(?:TODO|FIXME|HACK|XXX)\b")


class Signal(NamedTuple):
    name: str
    points: int
    of: int
    """Maximum points; 0 if the signal does not apply."""
    why: str
    """The evidence."""
    advice: str = ""
    """Advice that would earn the missing points; "" if none are missing."""


class Project(NamedTuple):
    """The result of analysing a project once."""

    root: Path
    survey: Survey
    stack: Stack
    debt: Debt
    changes: Changes | None
    agreements: tuple[Agreement, ...]
    signals: tuple[Signal, ...]
    left_out: tuple[str, ...] = ()
    """Sentences about what was not examined."""

    @property
    def name(self) -> str:
        return self.root.name or str(self.root)

    @property
    def health(self) -> int:
        """The share of attainable points, from 0 to 100."""
        of = sum(signal.of for signal in self.signals)
        return round(100 * sum(signal.points for signal in self.signals) / of)

    @property
    def is_synced(self) -> bool:
        return all(agreement.is_synced for agreement in self.agreements)

    @property
    def tests(self) -> list[str]:
        return [path for path in self.stack.sources if is_test(path)]


def is_test(path: str) -> bool:
    return _TEST.search(path) is not None


def look_at(root: Path, now: datetime, effort: Effort) -> Project:
    changed = changes(root, effort)  # first, because surveying a large tree may use up all the time
    surveyed = survey(root, effort)
    made_of = stack(surveyed, effort)
    project = Project(
        root=root,
        survey=surveyed,
        stack=made_of,
        debt=debt(root, made_of.sources, effort),
        changes=changed,
        agreements=tuple(agreements(root, made_of)),
        signals=(),
        left_out=effort.left_out,
    )
    return project._replace(signals=tuple(signal(project, now) for signal in _SIGNALS))


def _build(project: Project, now: datetime) -> Signal:
    names = [manifest.path for manifest in project.stack.manifests]
    return _either(
        "build file",
        10,
        names,
        f"Add the manifest of a {project.stack.type} project."
        if project.stack.ecosystems
        else "Add a manifest that says how the project is built.",
    )


def _readme(project: Project, now: datetime) -> Signal:
    return _either(
        "readme", 10, _matching(project.survey.at_most(0), _README), f"Write a README for {project.name}."
    )


def _control(project: Project, now: datetime) -> Signal:
    if project.changes is None:
        return Signal(
            "version control",
            0,
            10,
            f"{project.root} is no checkout of a git repository.",
            "Put the project under version control: git init.",
        )
    if project.changes.committed_at is None:
        return Signal(
            "version control", 5, 10, "The repository has no commits yet.", "Make the first commit."
        )
    return Signal(
        "version control", 10, 10, f"The last commit is of {project.changes.committed_at:%Y-%m-%d}."
    )


def _licence(project: Project, now: datetime) -> Signal:
    return _either(
        "licence",
        5,
        _matching(project.survey.at_most(0), _LICENCE),
        "Add a LICENSE file, so that others know what they may do.",
    )


def _tests(project: Project, now: datetime) -> Signal:
    tests, sources = len(project.tests), len(project.stack.sources)
    if not sources:
        return Signal("tests", 0, 0, "There is no source code to test.")
    code = sources - tests
    points = 15 if tests * 5 >= code else round(15 * tests * 5 / code) or (1 if tests else 0)
    why = f"{tests} of {sources} source files are tests."
    return Signal(
        "tests",
        points,
        15,
        why,
        ""
        if points == 15
        else f"Write tests: there are {tests} test files for {code} other source files, where one for five would do.",
    )


def _ci(project: Project, now: datetime) -> Signal:
    return _either(
        "continuous integration",
        10,
        _matching(project.survey.at_most(2), _CI),
        "Let a CI service run the tests on each push.",
    )


def _docs(project: Project, now: datetime) -> Signal:
    folders = ("docs/", "doc/", "documentation/")
    pages = [p for p in project.survey.paths if p.lower().startswith(folders)]
    pages += _matching(
        project.survey.at_most(0),
        re.compile(r"(?:CONTRIBUTING|CHANGELOG|ARCHITECTURE)(?:\.\w+)?", re.IGNORECASE),
    )
    return _either("documentation", 5, pages, "Write down how the project works, in docs/.")


def _lock(project: Project, now: datetime) -> Signal:
    lockable = [m.path for m in project.stack.manifests if m.dependencies and m.ecosystem != "java"]
    if not lockable:
        return Signal("lock file", 0, 0, "No dependencies are declared that a lock file would pin.")
    return _either("lock file", 10, project.stack.locks, f"Commit a lock file for {lockable[0]}.")


def _lint(project: Project, now: datetime) -> Signal:
    tools = _matching(project.survey.at_most(1), _LINT) + _configured(project.stack, _LINTING)
    return _either(
        "lint configuration",
        5,
        tools,
        "Configure a linter or formatter, so that style is no matter of taste.",
    )


def _types(project: Project, now: datetime) -> Signal:
    tools = _matching(project.survey.at_most(2), _TYPES) + _configured(project.stack, _TYPING)
    tools += [f"the {name} compiler" for name in project.stack.ecosystems if name in _TYPED]
    return _either("type checking", 5, tools, "Configure a type checker.")


def _pending(project: Project, now: datetime) -> Signal:
    """Rate uncommitted changes. Small, recent changes are easy to review and to undo."""
    pending = project.changes
    if pending is None:
        return Signal("uncommitted changes", 0, 0, "Nothing says what was changed.")
    if not pending.files:
        return Signal("uncommitted changes", 5, 5, "No tracked file differs from the last commit.")
    waits = now - pending.since if pending.since else timedelta()
    why = f"Tracked files that differ from the last commit: {len(pending.files)}, by {pending.lines} lines; one waits for {_ago(waits)}."
    is_large, is_old = pending.lines > LARGE_CHANGE, waits > LONG_WAIT
    points = 5 - 2 * is_large - 2 * is_old
    return Signal(
        "uncommitted changes",
        points,
        5,
        why,
        f"Commit or set aside what is done: {why}" if points < 5 else "",
    )


def _owed(project: Project, now: datetime) -> Signal:
    owed = project.debt
    if not owed.read:
        return Signal("admitted debt", 0, 0, "There is no source code to read.")
    looked = "" if owed.read == owed.of else f" (in {owed.read} of {owed.of} source files)"
    why = f"{owed.marks} TODO, FIXME, HACK or XXX in {owed.lines} lines{looked}."
    points = max(0, 10 - round(owed.per_thousand))
    worst = f"{owed.worst[0][0]} has {owed.worst[0][1]}" if owed.worst else ""
    return Signal(
        "admitted debt", points, 10, why, f"Pay some of the admitted debt: {worst}." if points < 10 else ""
    )


_SIGNALS: Sequence[Callable[[Project, datetime], Signal]] = (
    _build, _readme, _control, _licence, _tests, _ci, _docs, _lock, _lint, _types, _pending, _owed,
)  # fmt: skip


def _either(name: str, of: int, tools: Sequence[str], advice: str) -> Signal:
    """Return all points if there is at least one match, otherwise none."""
    if not tools:
        return Signal(name, 0, of, "None was found.", advice)
    more = f" and {len(tools) - 1} more" if len(tools) > 1 else ""
    return Signal(name, of, of, f"{tools[0]}{more}.")


def _matching(paths: Iterable[str], pattern: re.Pattern[str]) -> list[str]:
    return [path for path in paths if pattern.fullmatch(path)]


def _configured(made_of: Stack, tools: frozenset[str]) -> list[str]:
    return [f"{tool} in {m.path}" for m in made_of.manifests for tool in sorted(m.settings & tools)]


def _ago(waits: timedelta) -> str:
    hours = int(waits.total_seconds() // 3600)
    return f"{hours // 24} days" if hours >= 48 else f"{hours} hours" if hours > 1 else "less than two hours"


class Debt(NamedTuple):
    marks: int
    lines: int
    """Number of lines that were read."""
    read: int
    of: int
    """Number of source files that were read, and their total number."""
    worst: tuple[tuple[str, int], ...]
    """The files with the most marks."""

    @property
    def per_thousand(self) -> float:
        return 1000 * self.marks / self.lines if self.lines else 0.0


def debt(root: Path, sources: Sequence[str], effort: Effort) -> Debt:
    step = -(-len(sources) // MOST_READ) or 1
    read = lines = 0
    counts: Counter[str] = Counter()
    for path in sources[::step]:
        if effort.is_over():
            break
        data = read_beginning(f"{root}/{path}", LARGEST_READ)
        if data is None:
            continue
        read += 1
        lines += data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        if any(mark in data for mark in _MARKS):  # a plain search is ten times as fast as the pattern
            counts[path] = len(_MARK.findall(data))
    worst = sorted(
        ((path, count) for path, count in counts.items() if count), key=lambda pair: (-pair[1], pair[0])
    )
    return Debt(counts.total(), lines, read, len(sources), tuple(worst[:MOST_NAMED]))
