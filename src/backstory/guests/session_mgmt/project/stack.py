"""The technologies of a project: languages, frameworks, package managers and lock files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from ....core.projects.effort import Effort
from .manifests import DEEPEST, Manifest, manifests
from .survey import VENDORED, Survey

MIXED, UNKNOWN = "mixed", "unknown"

LANGUAGES = {
    "py": "Python", "pyi": "Python", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "cjs": "JavaScript",
    "ts": "TypeScript", "tsx": "TypeScript", "mts": "TypeScript", "vue": "Vue", "svelte": "Svelte", "rs": "Rust",
    "go": "Go", "java": "Java", "kt": "Kotlin", "kts": "Kotlin", "scala": "Scala", "rb": "Ruby", "php": "PHP",
    "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "cs": "C#", "swift": "Swift", "sh": "Shell",
    "sql": "SQL", "lua": "Lua", "ex": "Elixir", "exs": "Elixir", "hs": "Haskell", "dart": "Dart",
}  # fmt: skip
"""Languages by file extension. Files with other extensions are not sources."""

_ECOSYSTEMS = {
    "Python": "python", "JavaScript": "node", "TypeScript": "node", "Vue": "node", "Svelte": "node", "Rust": "rust",
    "Go": "go", "Java": "java", "Kotlin": "java", "Scala": "java",
}  # fmt: skip
LOCKS = {
    "uv.lock": ("python", "uv"), "poetry.lock": ("python", "poetry"), "pdm.lock": ("python", "pdm"),
    "Pipfile.lock": ("python", "pipenv"), "package-lock.json": ("node", "npm"), "npm-shrinkwrap.json": ("node", "npm"),
    "yarn.lock": ("node", "yarn"), "pnpm-lock.yaml": ("node", "pnpm"), "bun.lock": ("node", "bun"),
    "bun.lockb": ("node", "bun"), "Cargo.lock": ("rust", "cargo"), "go.sum": ("go", "go"),
    "gradle.lockfile": ("java", "gradle"),
}  # fmt: skip
"""Lock file → ecosystem, and the package manager that writes it."""

_MANAGERS = {
    "pom.xml": "maven", "build.gradle": "gradle", "build.gradle.kts": "gradle", "Cargo.toml": "cargo", "go.mod": "go",
    "package.json": "npm", "Pipfile": "pipenv",
}  # fmt: skip
_FRAMEWORKS = {
    "django": "Django", "flask": "Flask", "fastapi": "FastAPI", "starlette": "Starlette", "pytest": "pytest",
    "numpy": "NumPy", "pandas": "pandas", "torch": "PyTorch", "tensorflow": "TensorFlow", "sqlalchemy": "SQLAlchemy",
    "pydantic": "Pydantic", "celery": "Celery", "mcp": "MCP SDK", "react": "React", "next": "Next.js", "vue": "Vue",
    "nuxt": "Nuxt", "svelte": "Svelte", "@angular/core": "Angular", "express": "Express", "fastify": "Fastify",
    "@nestjs/core": "NestJS", "vite": "Vite", "jest": "Jest", "vitest": "Vitest", "mocha": "Mocha",
    "@modelcontextprotocol/sdk": "MCP SDK", "electron": "Electron", "actix-web": "Actix Web", "axum": "Axum",
    "rocket": "Rocket", "tokio": "Tokio", "serde": "Serde", "github.com/gin-gonic/gin": "Gin",
    "github.com/labstack/echo/v4": "Echo", "github.com/gofiber/fiber/v2": "Fiber", "github.com/spf13/cobra": "Cobra",
    "github.com/stretchr/testify": "Testify", "spring-boot-starter": "Spring Boot", "spring-boot-starter-web": "Spring Boot",
    "spring-boot-starter-parent": "Spring Boot", "org.springframework.boot": "Spring Boot", "quarkus-core": "Quarkus",
    "junit": "JUnit", "junit-jupiter": "JUnit", "junit-jupiter-api": "JUnit", "hibernate-core": "Hibernate",
}  # fmt: skip


class Stack(NamedTuple):
    type: str
    """python, node, rust, go or java; mixed for several, unknown for none."""
    ecosystems: tuple[str, ...]
    languages: tuple[tuple[str, int], ...]
    """Languages with their number of files, most files first."""
    sources: tuple[str, ...]
    frameworks: tuple[str, ...]
    package_managers: tuple[str, ...]
    locks: tuple[str, ...]
    manifests: tuple[Manifest, ...]


def stack(survey: Survey, effort: Effort) -> Stack:
    sources = [path for path in survey.paths if _language(path) and VENDORED.isdisjoint(path.split("/")[:-1])]
    languages = Counter(filter(None, map(_language, sources)))
    ranked = sorted(languages.items(), key=lambda pair: (-pair[1], pair[0]))
    declared = manifests(survey, effort)
    locks = [path for path in survey.at_most(DEEPEST) if _name(path) in LOCKS and _is_beside(path, declared)]
    ecosystems = _ecosystems(declared, ranked)
    named = {dependency for manifest in declared for dependency in manifest.dependencies}
    return Stack(
        type=UNKNOWN if not ecosystems else ecosystems[0] if len(ecosystems) == 1 else MIXED,
        ecosystems=tuple(ecosystems),
        languages=tuple(ranked),
        sources=tuple(sources),
        frameworks=tuple(sorted({_FRAMEWORKS[name] for name in named if name in _FRAMEWORKS})),
        package_managers=tuple(sorted(_package_managers(declared, locks))),
        locks=tuple(locks),
        manifests=tuple(declared),
    )


def _ecosystems(declared: Iterable[Manifest], languages: Iterable[tuple[str, int]]) -> list[str]:
    """Return the ecosystems of the manifests; without manifests, that of the most common language."""
    names = list(dict.fromkeys(sorted(manifest.ecosystem for manifest in declared)))
    return names or [_ECOSYSTEMS[name] for name, _ in languages if name in _ECOSYSTEMS][:1]


def _package_managers(declared: Iterable[Manifest], locks: Iterable[str]) -> set[str]:
    by_lock = {LOCKS[_name(path)] for path in locks}
    locked = {ecosystem for ecosystem, _ in by_lock}
    names = {manager for _, manager in by_lock}
    for manifest in declared:
        if manifest.ecosystem not in locked:
            names.add(_MANAGERS.get(_name(manifest.path), "pip"))
    return names


def _is_beside(lock: str, declared: Iterable[Manifest]) -> bool:
    folder, ecosystem = lock.rpartition("/")[0], LOCKS[_name(lock)][0]
    return any(m.path.rpartition("/")[0] == folder and m.ecosystem == ecosystem for m in declared)


def _language(path: str) -> str | None:
    _, dot, end = _name(path).rpartition(".")
    return LANGUAGES.get(end.lower()) if dot else None


def _name(path: str) -> str:
    return path.rpartition("/")[2]
