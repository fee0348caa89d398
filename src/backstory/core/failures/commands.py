"""The family of a shell command: its program and task, without directory, wrappers, arguments and pipes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from ...domain.lazy import lazy_pattern

MAX_FAMILY_CHARS = 60
MAX_COMMAND_CHARS = 4_000
"""The part of a command to look at. A longer command is a script, whose first lines show its purpose."""

_HEREDOC = lazy_pattern(r"<<-?\s*['\"]?(\w+)['\"]?.*?^\s*\1\s*$", re.DOTALL | re.MULTILINE)
_HIDDEN = lazy_pattern(
    r"\$\((?:[^()]|\([^()]*\))*\)"
    r"|'[^']*'"
    r"|\"(?:\\.|[^\"\\])*\"",
    re.DOTALL | re.MULTILINE,
)
_MARK = "_"
"""Replaces a quoted text: a commit message may contain anything."""
_MAX_KEPT_QUOTE = 40
_COMMENT = lazy_pattern(r"^\s*#.*$", re.MULTILINE)
_PART = lazy_pattern(r"\s*(?:&&|\|\||;|\n)\s*")
_PIPE = lazy_pattern(r"\s*\|&?\s*")
_REDIRECTION = lazy_pattern(r"\s*(?:\d|&)?>{1,2}\s*(?:&\d|\S+)|\s<\s*\S+|\s+&\s*$")
_VARIABLE = lazy_pattern(r"^\w+=(?:\"[^\"]*\"|'[^']*'|\S*)(?:\s+|$)")
_UNRELIABLE_EXIT = lazy_pattern(r"[|;\n]|&\s*$")
_SHELL_WORDS = frozenset((
    "cd", "pushd", "popd", "export", "source", ".", "set", "unset", "echo", "printf", "sleep", "pwd", "true", "false", "clear",
    "mkdir", "for", "while", "until", "do", "done", "if", "then", "else", "elif", "fi", "case", "esac", "{", "}", "(", ")",
    "[", "[[", "!", "wait", "exit", "return", "trap", "alias", "local", "read", "test", "eval",
))  # fmt: skip
"""Prepare a command or print; the command itself is another part of the line."""
_WRAPPERS = {"sudo": 0, "time": 0, "env": 0, "command": 0, "exec": 0, "nohup": 0, "nice": 0, "timeout": 1, "gtimeout": 1, "xargs": 0}  # fmt: skip
"""Programs that run another one, and the number of their own arguments before it."""
_LOOKING = frozenset((
    "ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "fd", "find", "wc", "which", "type", "nl", "sed", "awk",
    "cut", "sort", "uniq", "tr", "jq", "yq", "tree", "stat", "file", "diff", "less", "more", "xxd", "od", "hexdump", "strings",
    "ps", "lsof", "top", "df", "du", "date", "whoami", "id", "env", "history", "man", "bat", "tee", "column", "basename",
    "dirname", "realpath", "readlink",
))  # fmt: skip
"""Programs that only print: errors in their output are quotations, and they exit with 1 for "nothing found"."""
_LOOKING_TASKS = {
    "git": frozenset(("status", "log", "diff", "show", "branch", "blame", "ls-files", "grep", "rev-parse", "remote", "reflog", "shortlog", "describe", "config")),
    "gh": frozenset(("pr", "run", "issue", "api", "search", "repo", "release", "workflow")),
    "docker": frozenset(("logs", "ps", "images", "inspect")),
    "kubectl": frozenset(("logs", "get", "describe")),
    "npm": frozenset(("ls", "view", "outdated")),
}  # fmt: skip
_INTERPRETERS = frozenset((
    "python", "python2", "python3", "py", "node", "bash", "sh", "zsh", "ruby", "perl", "php", "deno", "bun", "tsx", "ts-node",
    "pwsh",
))  # fmt: skip
_RUNNERS = {
    "npx": "", "bunx": "", "uvx": "", "pnpx": "", "pipx": "run",
    "uv": "run", "poetry": "run", "pipenv": "run", "hatch": "run", "pdm": "run", "rye": "run", "mise": "exec", "bundle": "exec",
    "dotenv": "", "direnv": "exec", "asdf": "exec",
}  # fmt: skip
"""Programs that run the one named after them, and the word that comes between."""
_PACKAGE_MANAGERS = frozenset((
    "npm", "pnpm", "yarn", "bun",
))  # fmt: skip
_WITH_TASKS = frozenset((
    "npm", "pnpm", "yarn", "bun", "make", "just", "task", "mise", "nx", "turbo", "rake", "gradle", "gradlew", "mvn", "mvnw",
    "ant", "bazel", "git", "go", "cargo", "rustup", "docker", "docker-compose", "podman", "gh", "glab", "kubectl", "helm",
    "terraform", "tofu", "pulumi", "ansible", "poetry", "uv", "pip", "pip3", "pipenv", "hatch", "pdm", "conda", "brew", "apt",
    "apt-get", "dnf", "yum", "apk", "mix", "dotnet", "bundle", "gem", "rails", "swift", "xcodebuild", "zig", "deno", "flutter",
    "dart", "aws", "gcloud", "az", "systemctl", "service", "launchctl", "composer", "artisan", "cabal", "stack", "sbt", "lein",
    "ruff", "prisma", "alembic", "django-admin", "manage.py", "vercel", "netlify", "wrangler", "fly", "flyctl", "heroku",
    "supabase", "firebase",
))  # fmt: skip
"""Programs whose first argument is the task: `git push` and `git commit` are different commands."""
_HELP = frozenset(("--help", "--version", "help"))
_VALUED_OPTION = lazy_pattern(r"^(?:-C|-c|-f|-p|-w|--git-dir|--work-tree|--prefix|--cwd|--dir|--file|--filter|--project|--directory|--manifest-path|--namespace|-n)$")  # fmt: skip
_CHECK = lazy_pattern(
    r"test|spec\b|lint|build|check|compile|\btsc\b|\bjest\b|\bmypy\b|pyright|\bruff\b|\bflake8\b|pylint|\bblack\b|prettier|biome|\bvet\b|clippy|cargo"
    r"|^go |^make|\bmix\b|install|\bg?cc\b|clang|javac|^mvn|^gradle|dotnet|playwright|cypress|\btox\b|\bnox\b|docker|commit|push|rebase|merge|verify|\bci\b|fmt"
    r"|pre-commit|shellcheck|mocha|phpunit|migrate|deploy"
)
_NAME = lazy_pattern(r"[\w.@+:-]+")
_PROGRAM = lazy_pattern(r"[A-Za-z_][\w.@+:-]*")


@lru_cache(maxsize=512)
def families(command: str) -> tuple[str, ...]:
    """The family of each part of a command line, in order. Parts that only prepare, print or look have none."""
    return tuple(dict.fromkeys(_families(command)))


def _families(command: str) -> Iterator[str]:
    for part in _PART.split(_bare(command)):
        # the first program of a pipe does the work, unless it only feeds the next one
        for program in _PIPE.split(part):
            if family := _family(program):
                yield family
                break


def is_check(family: str) -> bool:
    """True for tests, builds, linters and the like: their output contains a verdict."""
    return _CHECK.search(family) is not None


def has_reliable_exit(command: str) -> bool:
    """True if the exit code of the line is that of its command: a pipe or a further command replaces it."""
    # `make | tail` exits with the status of tail, and `make; echo done` with that of echo.
    return "pipefail" in command or _UNRELIABLE_EXIT.search(_bare(command).strip()) is None


def normalized(command: str) -> str:
    """A command line without parts that only limit its output."""
    # A quoted pipe is part of an argument: without its signs it cannot be taken for a pipe below.
    quoted = _HIDDEN.sub(lambda match: re.sub(r"[|;&]", "", match[0]), command)
    unpiped = re.sub(r"\s*\|&?\s*(?:tail|head|grep|egrep|rg|cat|less|tee|sed|awk)\b[^|;&\n]*", "", quoted)
    unpiped = re.sub(r"\s*(?:2>&1|\d?>\s*/dev/null|;\s*echo\b[^;&|\n]*)", "", unpiped)
    return " ".join(unpiped.split())


def without_values(command: str) -> str:
    """A command line that two runs share which differ in numbers, quoted texts and the part of the output that is shown."""
    return re.sub(r"\d+", "0", _HIDDEN.sub(_MARK, _HEREDOC.sub(_MARK, normalized(command))))


@lru_cache(maxsize=256)
def _bare(command: str) -> str:
    """The command without here-documents, substitutions, long quoted texts and comments."""
    text = command[:MAX_COMMAND_CHARS]
    # Most commands have no quotes, and these patterns are the slowest of all.
    if any(mark in text for mark in ("'", '"', "$(", "<<")):
        text = _HIDDEN.sub(_shortened, _HEREDOC.sub(_MARK, text))
    return (_COMMENT.sub("", text) if "#" in text else text).replace("\\\n", " ")


def _shortened(match: re.Match[str]) -> str:
    text = match[0]
    # `npm run "test:unit"` names its task in quotes; a commit message in quotes is no name.
    is_name = text[0] in "'\"" and len(text) < _MAX_KEPT_QUOTE and _NAME.fullmatch(text[1:-1]) is not None
    return text[1:-1] if is_name else _MARK


def _family(program: str) -> str:
    words = _without_wrappers(_REDIRECTION.sub(" ", f" {program}").strip())
    if not words or words[0] in _SHELL_WORDS:
        return ""
    head, rest = _base(words[0]), words[1:]
    # Runners nest: `uv run python -m pytest` is a run of pytest.
    while head in _RUNNERS and _RUNNERS[head] in ("", *rest[:1]):
        rest = _without_options(rest[1:] if _RUNNERS[head] else rest)
        if not rest:
            break
        head, rest = _base(rest[0]), rest[1:]
    if head not in _WITH_TASKS and rest and rest[0] in _WITH_TASKS and head not in _LOOKING:
        head, rest = rest[0], rest[1:]  # a wrapper: its first argument is a program
    if head in _INTERPRETERS and rest:
        head, rest = _script(head, rest)
    rest = _without_options(rest)
    if head in _PACKAGE_MANAGERS:
        while rest and rest[0] in ("run", "exec", "run-script", "dlx", "x"):
            rest = _without_options(rest[1:])
    if head in _LOOKING or (rest and rest[0] in _LOOKING_TASKS.get(head, ()) and not _changes(head, rest)):
        return ""
    if head == _MARK or not _PROGRAM.fullmatch(head) or not _HELP.isdisjoint(words):
        return ""
    # A word that is a path or a pattern is an argument and no task.
    task = rest[0] if rest and head in _WITH_TASKS and _NAME.fullmatch(rest[0]) else ""
    return f"{head} {task}".strip()[:MAX_FAMILY_CHARS]


def _changes(head: str, rest: list[str]) -> bool:
    """True if a gh command changes something; the others print data of the server."""
    return head == "gh" and rest[1:2] != [] and rest[1] in ("create", "merge", "edit", "close", "checkout", "upload", "delete", "ready")  # fmt: skip


def _without_wrappers(text: str) -> list[str]:
    text = text.lstrip("({ ").rstrip(")} ")
    while match := _VARIABLE.match(text):
        text = text[match.end() :]
    words = text.split()
    while words and words[0] in _WRAPPERS:
        own = _WRAPPERS[words[0]]
        words = _without_options(words[1:])[own:]
        while words and _VARIABLE.match(words[0]):
            words = words[1:]
    return words


def _without_options(words: list[str]) -> list[str]:
    """The words without leading options and their values."""
    place = 0
    while place < len(words) and words[place].startswith("-"):
        place += 2 if _VALUED_OPTION.match(words[place]) else 1
    return words[place:]


def _script(head: str, rest: list[str]) -> tuple[str, list[str]]:
    """The module or script that an interpreter runs; the interpreter itself for code on the command line."""
    if "-m" in rest:
        named = rest[rest.index("-m") + 1 :]
        return (named[0], named[1:]) if named else (head, [])
    if rest[0] in ("-c", "-e", "-lc", "-", _MARK) or head in ("deno", "bun"):
        return head, rest if head in ("deno", "bun") else []
    named = _without_options(rest)
    return (_base(named[0]), named[1:]) if named else (head, [])


def _base(word: str) -> str:
    return word.replace("\\", "/").rstrip("/").rpartition("/")[2]
