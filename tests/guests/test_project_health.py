"""The technologies of a project, the agreement of its dependencies, and the points for its signals."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from backstory.core.projects.effort import Effort
from backstory.guests.session_mgmt.project.health import Project, Signal, look_at
from backstory.guests.session_mgmt.project.survey import survey

from ..repositories import commit, git, write

NOW = datetime.now(UTC)

PYTHON = {
    "pyproject.toml": '[project]\nname = "shop"\ndependencies = ["FastAPI>=0.1", "uvicorn; sys_platform != \'win32\'"]\n'
    '[dependency-groups]\ndev = ["pytest"]\n[tool.ruff]\n[tool.mypy]\n',
    "src/shop/api.py": "def pay() -> None: ...\n",
    "tests/test_api.py": "def test_pay() -> None: ...\n",
    "uv.lock": '[[package]]\nname = "fastapi"\nversion = "0.115.0"\n[[package]]\nname = "pytest"\nversion = "9.0"\n',
}
NODE = {
    "package.json": '{"dependencies": {"react": "^19"}, "devDependencies": {"vitest": "1"}, "scripts": {"lint": "eslint"}}',
    "package-lock.json": '{"lockfileVersion": 3, "packages": {"": {}, "node_modules/react": {"version": "19.0.0"}}}',
    "tsconfig.json": "{}",
    "src/app.tsx": "export {}\n",
    "src/app.test.tsx": "export {}\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "tool"\n[dependencies]\naxum = "0.7"\ntokio = { version = "1" }\n',
    "Cargo.lock": '[[package]]\nname = "axum"\nversion = "0.7.1"\n[[package]]\nname = "tokio"\nversion = "1.40.0"\n',
    "src/main.rs": "fn main() {}\n",
}
GO = {
    "go.mod": "module example.org/tool\n\ngo 1.22\n\nrequire (\n\tgithub.com/gin-gonic/gin v1.10.0\n\tgolang.org/x/net v0.1.0 // indirect\n)\n",
    "go.sum": "github.com/gin-gonic/gin v1.10.0 h1:x=\ngolang.org/x/net v0.1.0/go.mod h1:y=\n",
    "main.go": "package main\n",
    "main_test.go": "package main\n",
}
JAVA = {
    "pom.xml": "<project><dependencies><dependency><groupId>g</groupId><artifactId>spring-boot-starter-web</artifactId>"
    "</dependency></dependencies></project>",
    "src/main/java/App.java": "class App {}\n",
    "src/test/java/AppTest.java": "class AppTest {}\n",
}


def signal(project: Project, name: str) -> Signal:
    return next(signal for signal in project.signals if signal.name == name)


@pytest.mark.parametrize(
    ("files", "type", "language", "framework", "manager"),
    [
        (PYTHON, "python", "Python", "FastAPI", "uv"),
        (NODE, "node", "TypeScript", "React", "npm"),
        (RUST, "rust", "Rust", "Axum", "cargo"),
        (GO, "go", "Go", "Gin", "go"),
        (JAVA, "java", "Java", "Spring Boot", "maven"),
    ],
)
def test_a_project_is_known_by_its_files(
    tmp_path: Path, files: dict[str, str], type: str, language: str, framework: str, manager: str
) -> None:
    project = look_at(commit(tmp_path, files), NOW, Effort())
    assert project.stack.type == type
    assert project.stack.languages[0][0] == language
    assert framework in project.stack.frameworks
    assert project.stack.package_managers == (manager,)


def test_a_repository_of_several_is_mixed_and_each_is_named(tmp_path: Path) -> None:
    files = {f"server/{name}": text for name, text in PYTHON.items()}
    files |= {f"client/{name}": text for name, text in NODE.items()}
    stack = look_at(commit(tmp_path, files), NOW, Effort()).stack
    assert (stack.type, stack.ecosystems) == ("mixed", ("node", "python"))
    assert set(stack.frameworks) >= {"FastAPI", "React"}
    assert stack.locks == ("client/package-lock.json", "server/uv.lock")


def test_what_is_ignored_or_vendored_does_not_count(tmp_path: Path) -> None:
    foreign = {"node_modules/x/package.json": "{}", "generated/big.py": "# TODO\n"}
    commit(tmp_path, {**PYTHON, ".gitignore": "generated/\nnode_modules/\n"})
    project = look_at(write(tmp_path, foreign), NOW, Effort())
    assert project.stack.type == "python"
    assert (project.debt.marks, len(project.stack.sources)) == (0, 2)


def test_without_git_the_usual_vendored_directories_are_skipped(tmp_path: Path) -> None:
    files = {"a.py": "", "node_modules/x/b.js": "", ".venv/lib/c.py": "", ".github/workflows/ci.yml": ""}
    assert survey(write(tmp_path, files), Effort()).paths == (".github/workflows/ci.yml", "a.py")


def test_a_project_that_has_everything_has_all_points(tmp_path: Path) -> None:
    whole = {"README.md": "", "LICENSE": "", ".github/workflows/ci.yml": "", "docs/index.md": "", **PYTHON}
    project = look_at(commit(tmp_path, whole), NOW, Effort())
    assert {signal.name: signal.points for signal in project.signals if signal.points < signal.of} == {}
    assert project.health == 100
    assert sum(signal.of for signal in project.signals) == 100


def test_an_empty_directory_has_none(tmp_path: Path) -> None:
    project = look_at(tmp_path, NOW, Effort())
    assert (project.health, project.stack.type, project.is_synced) == (0, "unknown", True)


@pytest.mark.parametrize(
    ("missing", "name", "points"),
    [
        ("README.md", "readme", 10),
        ("LICENSE", "licence", 5),
        (".github/workflows/ci.yml", "continuous integration", 10),
        ("docs/index.md", "documentation", 5),
        ("uv.lock", "lock file", 10),
        ("tests/test_api.py", "tests", 15),
    ],
)
def test_what_is_missing_costs_its_points_and_is_advised(
    tmp_path: Path, missing: str, name: str, points: int
) -> None:
    whole = {"README.md": "", "LICENSE": "", ".github/workflows/ci.yml": "", "docs/index.md": "", **PYTHON}
    project = look_at(
        commit(tmp_path, {path: whole[path] for path in whole if path != missing}), NOW, Effort()
    )
    found = signal(project, name)
    assert (found.points, found.of) == (0, points)
    assert found.advice
    assert project.health == 100 - points


def test_the_same_repository_has_the_same_score(tmp_path: Path) -> None:
    commit(tmp_path, PYTHON)
    assert look_at(tmp_path, NOW, Effort()) == look_at(tmp_path, NOW, Effort())


def test_large_and_old_changes_cost_points(tmp_path: Path) -> None:
    commit(tmp_path, PYTHON)
    write(tmp_path, {"src/shop/api.py": "pass\n" * 500})
    assert signal(look_at(tmp_path, NOW, Effort()), "uncommitted changes").points == 3
    old = (NOW - timedelta(days=5)).timestamp()
    os.utime(tmp_path / "src/shop/api.py", (old, old))
    found = signal(look_at(tmp_path, NOW, Effort()), "uncommitted changes")
    assert found.points == 1
    assert "1, by 501 lines; one waits for 5 days" in found.why


def test_admitted_debt_costs_points_and_names_the_worst_file(tmp_path: Path) -> None:
    commit(
        tmp_path,
        {"a.py": "x = 1\n" * 900, "b.py": "# TODO: one\n# FIXME two\n# XXX\n# TODOS is no mark\n" * 2},
    )
    project = look_at(tmp_path, NOW, Effort())
    found = signal(project, "admitted debt")
    assert (project.debt.marks, project.debt.worst) == (6, (("b.py", 6),))
    assert found.points == 3
    assert "b.py has 6" in found.advice


def test_a_repository_in_the_middle_of_a_merge_says_so(tmp_path: Path) -> None:
    commit(tmp_path, {"a.txt": "one\n"})
    git(tmp_path, "checkout", "-q", "-b", "side")
    commit(tmp_path, {"a.txt": "two\n"})
    git(tmp_path, "checkout", "-q", "main")
    commit(tmp_path, {"a.txt": "three\n"})
    git(tmp_path, "merge", "side", fails=True)
    changes = look_at(tmp_path, NOW, Effort()).changes
    assert changes is not None
    assert (changes.underway, changes.branch) == ("merge", "main")


def test_looking_runs_no_filter_of_the_repository(tmp_path: Path) -> None:
    root = commit(tmp_path / "repo", {".gitattributes": "*.py filter=spy\n", "a.py": "one\n"})
    git(root, "config", "filter.spy.clean", f"touch {tmp_path}/ran; cat")
    git(root, "config", "filter.spy.required", "true")
    write(root, {"a.py": "two\n"})
    changes = look_at(root, NOW, Effort()).changes
    assert changes is not None
    assert [file.path for file in changes.files] == ["a.py"]
    assert not (tmp_path / "ran").exists()


def synced(root: Path) -> tuple[bool, str]:
    (agreement,) = look_at(root, NOW, Effort()).agreements
    return agreement.is_synced, agreement.how


def test_a_virtual_environment_is_compared_with_the_lock_file(tmp_path: Path) -> None:
    commit(tmp_path, {**PYTHON, ".gitignore": ".venv/\n"})
    assert synced(tmp_path) == (
        False, "There is no virtual environment in .venv or venv to compare with uv.lock."
    )  # fmt: skip
    packages = tmp_path / ".venv" / "lib" / "python3.12" / "site-packages"
    write(tmp_path, {".venv/pyvenv.cfg": ""})
    (packages / "pytest-9.0.dist-info").mkdir(parents=True)
    assert synced(tmp_path) == (False, ".venv lacks fastapi of pyproject.toml.")
    (packages / "fastapi-0.114.0.dist-info").mkdir(parents=True)
    assert synced(tmp_path) == (False, ".venv has other versions than uv.lock of fastapi.")
    (packages / "fastapi-0.114.0.dist-info").rename(packages / "fastapi-0.115.0.dist-info")
    is_synced, how = synced(tmp_path)
    assert is_synced
    assert "metadata" in how


def test_a_dependency_that_the_lock_file_does_not_know_is_named(tmp_path: Path) -> None:
    commit(tmp_path, PYTHON | {"uv.lock": '[[package]]\nname = "other"\nversion = "1"\n'})
    assert synced(tmp_path) == (False, "uv.lock does not know fastapi, pytest of pyproject.toml.")


def test_node_modules_are_compared_with_the_lock_file(tmp_path: Path) -> None:
    commit(tmp_path, {**NODE, ".gitignore": "node_modules/\n"})
    assert not synced(tmp_path)[0]
    hidden = "node_modules/.package-lock.json"
    write(tmp_path, {hidden: '{"packages": {"node_modules/react": {"version": "18.0.0"}}}'})
    assert synced(tmp_path) == (False, "node_modules differs from package-lock.json in react.")
    write(tmp_path, {hidden: '{"packages": {"node_modules/react": {"version": "19.0.0"}}}'})
    assert synced(tmp_path)[0]


@pytest.mark.parametrize(
    ("files", "lock", "absent"),
    [(RUST, "Cargo.lock", "axum, tokio"), (GO, "go.sum", "github.com/gin-gonic/gin, golang.org/x/net")],
)
def test_manifests_are_compared_with_lock_files(
    tmp_path: Path, files: dict[str, str], lock: str, absent: str
) -> None:
    commit(tmp_path, files)
    assert synced(tmp_path)[0]
    write(tmp_path, {lock: ""})
    is_synced, how = synced(tmp_path)
    assert (is_synced, how.startswith(f"{lock} does not know {absent} of ")) == (False, True)


@pytest.mark.parametrize(
    "name", ["pyproject.toml", "package.json", "Cargo.toml", "setup.cfg", "Pipfile", "go.mod"]
)
def test_a_broken_manifest_is_no_reason_to_fail(tmp_path: Path, name: str) -> None:
    write(tmp_path, {name: '[[[ {"dependencies": 3'})
    assert [manifest.needed for manifest in look_at(tmp_path, NOW, Effort()).stack.manifests] == [frozenset()]


@pytest.mark.parametrize(
    "lock", ['{"packages": [1]}', '{"packages": {"node_modules/react": 3}}', "[" * 100_000, ""]
)
def test_a_broken_lock_file_agrees_with_nothing(tmp_path: Path, lock: str) -> None:
    write(tmp_path, {**NODE, "package-lock.json": lock, "node_modules/.package-lock.json": lock})
    assert not synced(tmp_path)[0]


def test_only_what_a_go_module_requires_counts(tmp_path: Path) -> None:
    text = (
        "module example.org/tool\nrequire example.org/one v1.0.0\nexclude example.org/two v1.0.0\n"
        "replace (\n\texample.org/three v1.0.0 => example.org/four v1.0.0\n)\nrequire (\n\texample.org/five v0.0.0-2 // indirect\n)\n"
    )
    (manifest,) = look_at(write(tmp_path, {"go.mod": text}), NOW, Effort()).stack.manifests
    assert (sorted(manifest.needed), sorted(manifest.also)) == (["example.org/one"], ["example.org/five"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_is_named_like_a_file_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    os.mkfifo(tmp_path / "package.json")
    assert look_at(tmp_path, NOW, Effort()).debt.lines == 0
