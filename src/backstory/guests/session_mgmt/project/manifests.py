"""Manifests: the names of declared dependencies. Manifests are read, never executed."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from configparser import ConfigParser
from configparser import Error as Broken
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from ....core.projects.effort import Effort
from ....domain.lazy import lazy_pattern
from .survey import Survey

MOST_MANIFESTS = 200
DEEPEST = 2
"""Maximum depth of directories in which a manifest counts as the project's own."""
_NOT_OWN = frozenset(("test", "tests", "testdata", "fixtures", "examples", "example", "samples", "templates"))

BROKEN = (ValueError, TypeError, AttributeError, KeyError, RecursionError)
"""Errors raised for files with unexpected content. TOML's and JSON's own errors are ValueErrors."""

_REQUIREMENT = lazy_pattern(r"\s*([A-Za-z0-9][\w.-]*)")
_ARTIFACT = lazy_pattern(r"<artifactId>\s*([^<\s]+)")
_GRADLE = lazy_pattern(r"""["'][\w.-]+:([\w.-]+)(?::[^"']*)?["']""")
_GRADLE_PLUGIN = lazy_pattern(r"""\bid\s*\(?\s*["']([\w.-]+)["']""")


class Manifest(NamedTuple):
    path: str
    ecosystem: str
    needed: frozenset[str]
    """Required dependencies."""
    also: frozenset[str] = frozenset()
    """Dependencies for development, optional ones, and those for some platforms."""
    settings: frozenset[str] = frozenset()
    """Tools that it configures: the tables below `tool`, scripts and the like."""

    @property
    def dependencies(self) -> frozenset[str]:
        return self.needed | self.also


def manifests(survey: Survey, effort: Effort) -> list[Manifest]:
    """Return the project's own manifests, outermost first. A broken one declares nothing."""
    present: list[Manifest] = []
    for path in sorted(survey.at_most(DEEPEST), key=lambda path: (path.count("/"), path)):
        name = path.rpartition("/")[2]
        kind = "requirements.txt" if re.fullmatch(r"requirements[\w.-]*\.txt", name) else name
        if kind in READERS and not _NOT_OWN & set(PurePosixPath(path).parent.parts):
            ecosystem, read = READERS[kind]
            if len(present) == MOST_MANIFESTS or effort.is_over():
                effort.leave_out(f"Only the first {len(present)} manifests were read.")
                break
            try:
                present.append(Manifest(path, ecosystem, *read(survey.text(path))))
            except BROKEN:
                present.append(Manifest(path, ecosystem, frozenset()))
    return present


Names = frozenset[str]
Read = tuple[Names, Names, Names]


def python_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _requirements(lines: Iterable[str]) -> tuple[Names, Names]:
    """Parse lines such as `httpx[http2]>=0.27; python_version < "3.13"`."""
    needed: set[str] = set()
    also: set[str] = set()
    for line in lines:
        if match := _REQUIREMENT.match(line):
            (also if ";" in line else needed).add(python_name(match[1]))
    return frozenset(needed), frozenset(also)


def _pyproject(text: str) -> Read:
    whole = tomllib.loads(text)
    project, tools = whole.get("project", {}), whole.get("tool", {})
    needed, some = _requirements(project.get("dependencies", ()))
    groups: Mapping[str, Any] = whole.get("dependency-groups", {})
    # groups that `uv sync` installs by default
    installed = tools.get("uv", {}).get("default-groups", ["dev"])
    if installed == "all":
        installed = list(groups)
    default, more = _requirements(line for name in installed for line in _group(groups, name))
    optional = [line for extra in project.get("optional-dependencies", {}).values() for line in extra]
    optional += [line for name in groups for line in _group(groups, name)]
    needed |= default
    some |= more
    poetry = tools.get("poetry", {})
    by_poetry = {python_name(name) for name in poetry.get("dependencies", {}) if name != "python"}
    also = {
        python_name(name)
        for group in poetry.get("group", {}).values()
        for name in group.get("dependencies", {})
    }
    every = some.union(also, *_requirements(optional))
    return needed | by_poetry, every - needed, frozenset(tools)


def _group(groups: Mapping[str, Any], name: str, within: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the requirements of a group, including those of included groups. Cycles are cut."""
    for line in groups.get(name, ()):
        if isinstance(line, str):
            yield line
        elif isinstance(line, dict) and line.get("include-group") not in (within | {name}):
            yield from _group(groups, str(line.get("include-group")), within | {name})


def _pipfile(text: str) -> Read:
    whole = tomllib.loads(text)
    return (
        frozenset(map(python_name, whole.get("packages", ()))),
        frozenset(map(python_name, whole.get("dev-packages", ()))),
        frozenset(),
    )


def _setup_cfg(text: str) -> Read:
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(text)
    except Broken as error:
        raise ValueError(str(error)) from None
    needed, also = _requirements(parser.get("options", "install_requires", fallback="").splitlines())
    return needed, also, frozenset(parser.sections())


def _requirements_txt(text: str) -> Read:
    lines = (line for line in text.splitlines() if not line.lstrip().startswith(("#", "-")))
    return (*_requirements(lines), frozenset())


def _setup_py(text: str) -> Read:
    return frozenset(), frozenset(), frozenset()  # setup.py is a program and would have to be executed


def _package_json(text: str) -> Read:
    whole = json.loads(text)
    also = [
        name
        for kind in ("devDependencies", "optionalDependencies", "peerDependencies")
        for name in _object(whole, kind)
    ]
    settings = {
        *_object(whole, "scripts"),
        *(name for name in ("eslintConfig", "jest", "prettier") if name in whole),
    }
    return frozenset(_object(whole, "dependencies")), frozenset(also), frozenset(settings)


def _object(whole: Any, name: str) -> Mapping[str, Any]:
    value = whole.get(name, {})
    return value if isinstance(value, dict) else {}


def _cargo(text: str) -> Read:
    whole = tomllib.loads(text)
    tables = [whole, whole.get("workspace", {}), *_object(whole, "target").values()]
    needed = {
        _crate(name, value)
        for table in tables
        for name, value in _object(table, "dependencies").items()
        if not _is_optional(value)
    }
    also = {
        _crate(name, value)
        for table in tables
        for kind in ("dependencies", "dev-dependencies", "build-dependencies")
        for name, value in _object(table, kind).items()
    }
    return frozenset(needed), frozenset(also - needed), frozenset()  # fmt: skip


def _crate(name: str, value: Any) -> str:
    return str(value.get("package", name)) if isinstance(value, dict) else name


def _is_optional(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("optional"))


def _go_mod(text: str) -> Read:
    modules = go_modules(text)
    direct = frozenset(name for name, _, indirect in modules if not indirect)
    return direct, frozenset(name for name, _, indirect in modules if indirect), frozenset()


def go_modules(text: str) -> list[tuple[str, str, bool]]:
    """Return module, version, and whether it is an indirect dependency."""
    modules, block = [], ""
    for line in text.splitlines():
        words = line.split()
        if words[1:] == ["("]:
            block = words[0]
        elif words == [")"]:
            block = ""
        elif words and (block or words[0]) == "require":
            name, version, *rest = [*(words if block else words[1:]), "", ""]
            if version.startswith("v"):
                modules.append((name, version, "indirect" in rest))
    return modules


def _pom(text: str) -> Read:
    return frozenset(_artifacts(text, "dependency")), frozenset(_artifacts(text, "parent")), frozenset()


def _artifacts(text: str, element: str) -> Iterator[str]:
    """Yield the first name in each element. Exclusions come after it."""
    for part in text.split(f"<{element}>")[1:]:
        if match := _ARTIFACT.search(part.partition(f"</{element}>")[0]):
            yield match[1]


def _gradle(text: str) -> Read:
    return frozenset(_GRADLE.findall(text)), frozenset(_GRADLE_PLUGIN.findall(text)), frozenset()


READERS: dict[str, tuple[str, Callable[[str], Read]]] = {
    "pyproject.toml": ("python", _pyproject),
    "setup.cfg": ("python", _setup_cfg),
    "setup.py": ("python", _setup_py),
    "requirements.txt": ("python", _requirements_txt),
    "Pipfile": ("python", _pipfile),
    "package.json": ("node", _package_json),
    "Cargo.toml": ("rust", _cargo),
    "go.mod": ("go", _go_mod),
    "pom.xml": ("java", _pom),
    "build.gradle": ("java", _gradle),
    "build.gradle.kts": ("java", _gradle),
}
