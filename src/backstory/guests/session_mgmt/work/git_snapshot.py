"""A git checkpoint: the tracked changes of a checkout as a commit under a private ref.

HEAD, the index, the files and the reflogs do not change, untracked files are left out, and no hook or filter runs: the
tree is built in a copy of the index outside the repository."""

from __future__ import annotations

import shutil
import tempfile
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from ....core.projects.git import GitOutput, ask, git, names, printable

REFS = "refs/backstory/checkpoints"
TIMEOUT_S = 60

_PROGRAMS = r"^filter\..*\.(clean|process)$"
_OPTIONS = (
    "-c", "core.splitIndex=false",  # a split index would write a file next to the real index
    "-c", "core.untrackedCache=false",
    "-c", "core.safecrlf=false",  # unfinished work may have mixed line endings
    "-c", "core.logAllRefUpdates=false",
    "-c", "user.name=Backstory",
    "-c", "user.email=backstory@localhost",
)  # fmt: skip


class GitSnapshot(NamedTuple):
    ref: str | None
    """None if no snapshot was created."""
    why: str
    left_out: tuple[str, ...] = ()
    """Changed files that need a clean filter. Their raw content may be what the filter hides."""


class _Refused(Exception):
    """A sentence that explains why there is no checkpoint."""


def take_git_snapshot(root: Path, session: str, now: datetime) -> GitSnapshot:
    """Save the tracked changes, staged or not, under the session's refs. Without changes, no snapshot is created."""
    top = git(root, "rev-parse", "--show-toplevel")
    if top is None:
        return GitSnapshot(None, f"{root} is no checkout of a git repository.")
    with tempfile.TemporaryDirectory(prefix="backstory-") as place:
        try:
            return _Attempt(Path(top.removesuffix("\n")), Path(place) / "index", session, now).made()
        except _Refused as refused:
            return GitSnapshot(None, str(refused))


class _Attempt(NamedTuple):
    root: Path
    own_index: Path
    session: str
    now: datetime

    def made(self) -> GitSnapshot:
        self._copy_index()
        changed = self._changed()
        filtered = self._filtered(changed)
        paths = [path for path in changed if path not in filtered]
        self._must("update-index", "-z", "--remove", "--stdin", stdin="".join(f"{path}\0" for path in paths))
        tree = self._must("write-tree", "--missing-ok").strip()  # objects of a partial clone are not fetched
        head = self._run("rev-parse", "--verify", "--quiet", "HEAD^{commit}").text.strip()
        base = self._tree(head) or self._must("mktree").strip()
        number, last = self._last()
        if tree == base:
            return GitSnapshot(
                None, "No tracked file was changed since the last commit.", _sorted_names(filtered)
            )
        if tree == self._tree(last):
            return GitSnapshot(
                None, "No tracked file was changed since the last checkpoint.", _sorted_names(filtered)
            )
        commit = self._commit(tree, head, number + 1)
        ref = f"{REFS}/{self.session}/{number + 1}"
        self._must("update-ref", "--no-deref", ref, commit, "0" * len(commit))
        return GitSnapshot(ref, f"The tracked changes are in {ref}.", _sorted_names(filtered))

    def _copy_index(self) -> None:
        output = git(self.root, "rev-parse", "--git-path", "index")
        if output is None:
            raise _Refused("git does not say where the index is.")
        try:
            # with its modification time, by which git recognizes files that may have changed despite equal size and time
            shutil.copy2(self.root / output.removesuffix("\n"), self.own_index)
        except FileNotFoundError:
            pass  # there is none before the first `git add`
        except OSError as error:
            raise _Refused(f"The index cannot be read: {error.strerror}.") from None

    def _changed(self) -> list[str]:
        """Return tracked files that differ from the index, including unmerged ones, without reading their content."""
        output = self._must("diff-files", "-z", "--name-only", "--ignore-submodules=dirty")
        return list(dict.fromkeys(names(output)))

    def _filtered(self, paths: list[str]) -> set[str]:
        drivers = {
            name.split(".", 1)[1].rpartition(".")[0]
            for name in names(self._run("config", "-z", "--name-only", "--get-regexp", _PROGRAMS).text)
        }
        if not drivers or not paths:
            return set()
        attributes = names(
            self._must("check-attr", "-z", "--stdin", "filter", stdin="".join(f"{path}\0" for path in paths))
        )
        return {
            path for path, driver in zip(attributes[::3], attributes[2::3], strict=True) if driver in drivers
        }

    def _commit(self, tree: str, head: str, number: int) -> str:
        parents = ("-p", head) if head else ()
        words = f"Checkpoint {number} of session {self.session}"
        return self._must("commit-tree", *parents, "-m", words, tree).strip()

    def _last(self) -> tuple[int, str]:
        """Return the number and commit of the session's last checkpoint; 0 and "" before the first."""
        form = "--format=%(refname:lstrip=-1) %(objectname)"
        output = self._must(
            "for-each-ref", "--sort=-version:refname", "--count=1", form, f"{REFS}/{self.session}/"
        )
        number, _, commit = output.strip().partition(" ")
        return (int(number), commit) if number.isdigit() else (0, "")

    def _tree(self, commit: str) -> str | None:
        return self._run("rev-parse", "--verify", f"{commit}^{{tree}}").text.strip() if commit else None

    def _must(self, *arguments: str, stdin: str = "") -> str:
        answer = self._run(*arguments, stdin=stdin)
        if not answer.is_ok:
            raise _Refused(f"git {arguments[0]} failed; nothing was changed.")
        return answer.text

    def _run(self, *arguments: str, stdin: str = "") -> GitOutput:
        moment = f"{int(self.now.timestamp())} +0000"
        variables = {
            "GIT_INDEX_FILE": str(self.own_index),
            "GIT_AUTHOR_DATE": moment,
            "GIT_COMMITTER_DATE": moment,
        }
        return ask(self.root, *_OPTIONS, *arguments, stdin=stdin, variables=variables, timeout_s=TIMEOUT_S)


def _sorted_names(paths: set[str]) -> tuple[str, ...]:
    return tuple(sorted(map(printable, paths)))
