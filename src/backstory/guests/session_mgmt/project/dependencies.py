"""Check whether manifest, lock file and environment agree, by reading them. Nothing is installed or executed."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .manifests import BROKEN, Manifest, go_modules, python_name
from .stack import LOCKS, Stack
from .survey import read_text

MOST_NAMED = 3

Versions = Mapping[str, set[str]]


class Agreement(NamedTuple):
    ecosystem: str
    folder: str
    """The folder of its manifest; "" for the project's root."""
    is_synced: bool
    how: str
    """An explanation of the result."""


def agreements(root: Path, stack: Stack) -> list[Agreement]:
    """Return one result per folder and ecosystem with a manifest."""
    grouped: dict[tuple[str, str], list[Manifest]] = {}
    for manifest in stack.manifests:
        grouped.setdefault((manifest.path.rpartition("/")[0], manifest.ecosystem), []).append(manifest)
    return [
        Agreement(ecosystem, folder, *_decided(root, folder, ecosystem, declared))
        for (folder, ecosystem), declared in grouped.items()
    ]


def _decided(root: Path, folder: str, ecosystem: str, declared: list[Manifest]) -> tuple[bool, str]:
    needed = frozenset[str]().union(*(manifest.needed for manifest in declared))
    if not needed:
        return True, f"{declared[0].path} declares no dependencies."
    try:
        return _WAYS[ecosystem](root, root / folder, needed, declared[0].path)
    except (*BROKEN, OSError):
        return False, f"The lock file beside {declared[0].path}, or the environment, cannot be understood."


def _python(root: Path, folder: Path, needed: frozenset[str], manifest: str) -> tuple[bool, str]:
    lock, locked = _lock(folder, "python")
    if lock is not None and (unlocked := needed - set(locked)):
        return False, f"{lock} does not know {_some(unlocked)} of {manifest}."
    environment = next(filter(None, (_environment(place) for place in (folder, root))), None)
    if environment is None:
        return False, f"There is no virtual environment in .venv or venv to compare with {lock or manifest}."
    installed = _installed(environment)
    if absent := needed - set(installed):
        return False, f"{environment.name} lacks {_some(absent)} of {manifest}."
    if other := {name for name in locked if name in installed and not installed[name] & locked[name]}:
        return False, f"{environment.name} has other versions than {lock} of {_some(other)}."
    if lock is None:
        return (
            True,
            f"There is no lock file; {environment.name} has all {len(needed)} dependencies of {manifest}.",
        )
    return True, f"{environment.name} has the versions of {lock}, compared by the metadata of its packages."


def _environment(folder: Path) -> Path | None:
    return next((folder / n for n in (".venv", "venv") if (folder / n / "pyvenv.cfg").is_file()), None)


def _installed(environment: Path) -> Versions:
    versions: dict[str, set[str]] = {}
    for pattern in ("lib/python*/site-packages/*.dist-info", "Lib/site-packages/*.dist-info"):
        for path in environment.glob(pattern):
            name, _, version = path.name.removesuffix(".dist-info").partition("-")
            versions.setdefault(python_name(name), set()).add(version)
    return versions


def _node(root: Path, folder: Path, needed: frozenset[str], manifest: str) -> tuple[bool, str]:
    lock = _lock_name(folder, "node")
    if lock is None:
        return False, f"There is no lock file beside {manifest}."
    modules = folder / "node_modules"
    if lock == "pnpm-lock.yaml":
        lock_file = read_text(modules / ".pnpm" / "lock.yaml")
        same = bool(lock_file) and lock_file == read_text(folder / lock)
        return same, f"node_modules/.pnpm/lock.yaml is {'the same as' if same else 'not'} {lock}."
    if lock in ("package-lock.json", "npm-shrinkwrap.json"):
        return _npm(folder, lock, needed, manifest)
    if absent := {name for name in needed if not (modules / name / "package.json").is_file()}:
        return False, f"node_modules lacks {_some(absent)} of {manifest}."
    is_newer = modules.stat().st_mtime >= (folder / lock).stat().st_mtime
    return (
        is_newer,
        f"node_modules was written {'after' if is_newer else 'before'} {lock}: only their times can be compared.",
    )


def _npm(folder: Path, lock: str, needed: frozenset[str], manifest: str) -> tuple[bool, str]:
    locked = _object(read_text(folder / lock)).get("packages", {})
    if unlocked := {name for name in needed if f"node_modules/{name}" not in locked}:
        return False, f"{lock} does not know {_some(unlocked)} of {manifest}."
    hidden = read_text(folder / "node_modules" / ".package-lock.json")
    if not hidden:
        return False, f"There is no node_modules/.package-lock.json to compare with {lock}."
    installed = _object(hidden).get("packages", {})
    differing = {
        path.removeprefix("node_modules/")
        for path, package in locked.items()
        if path and not package.get("optional") and not package.get("link")
        and package.get("version") != installed.get(path, {}).get("version")
    }  # fmt: skip
    if differing:
        return False, f"node_modules differs from {lock} in {_some(differing)}."
    return True, f"node_modules/.package-lock.json has the versions of {lock}."


def _cargo(root: Path, folder: Path, needed: frozenset[str], manifest: str) -> tuple[bool, str]:
    at, lock = (
        (folder, _lock_name(folder, "rust"))
        if _lock_name(folder, "rust")
        else (root, _lock_name(root, "rust"))
    )
    if lock is None:
        return False, f"There is no Cargo.lock for {manifest}."
    if unlocked := needed - set(_packages(read_text(at / lock))):
        return False, f"{lock} does not know {_some(unlocked)} of {manifest}."
    return True, f"{lock} knows all {len(needed)} crates of {manifest}; cargo fetches them by it."


def _go(root: Path, folder: Path, needed: frozenset[str], manifest: str) -> tuple[bool, str]:
    sums = {tuple(line.split()[:2]) for line in read_text(folder / "go.sum").splitlines()}
    wanted = {(name, version) for name, version, _ in go_modules(read_text(folder / "go.mod"))}
    absent = {name for name, version in wanted if not {(name, version), (name, f"{version}/go.mod")} & sums}
    if absent:
        return False, f"go.sum does not know {_some(absent)} of {manifest}."
    return True, f"go.sum knows all {len(wanted)} modules of {manifest}; go fetches them by it."


def _java(root: Path, folder: Path, needed: frozenset[str], manifest: str) -> tuple[bool, str]:
    return True, f"{manifest} has no lock file to compare; the build fetches what it declares."


_WAYS: dict[str, Callable[[Path, Path, frozenset[str], str], tuple[bool, str]]] = {
    "python": _python,
    "node": _node,
    "rust": _cargo,
    "go": _go,
    "java": _java,
}


def _lock_name(folder: Path, ecosystem: str) -> str | None:
    return next(
        (name for name, (kind, _) in LOCKS.items() if kind == ecosystem and (folder / name).is_file()), None
    )


def _lock(folder: Path, ecosystem: str) -> tuple[str | None, Versions]:
    name = _lock_name(folder, ecosystem)
    if name is None:
        return None, {}
    text = read_text(folder / name)
    if name == "Pipfile.lock":
        whole = _object(text)
        pinned = {**whole.get("develop", {}), **whole.get("default", {})}
        return name, {python_name(n): {str(p.get("version", "")).lstrip("=")} for n, p in pinned.items()}
    return name, _packages(text)


def _packages(text: str) -> Versions:
    """Parse uv.lock, poetry.lock, pdm.lock and Cargo.lock, which share a format."""
    versions: dict[str, set[str]] = {}
    try:
        for package in tomllib.loads(text).get("package", ()):
            for name in (package["name"], python_name(package["name"])):
                versions.setdefault(name, set()).add(str(package.get("version", "")))
    except BROKEN:
        return {}  # a broken lock file locks nothing
    return versions


def _object(text: str) -> dict[str, Any]:
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return whole if isinstance(whole, dict) else {}


def _some(names: Iterable[str]) -> str:
    """Return the first names, and the number of others."""
    ranked = sorted(names)
    more = len(ranked) - MOST_NAMED
    return ", ".join(ranked[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")
