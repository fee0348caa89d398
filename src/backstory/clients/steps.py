"""One step per file: add the wanted entries, or remove those of the receipt.

A step never raises for the state of its file: it reports the problem, and the next step runs regardless.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from ..domain.errors import BackstoryError
from . import files
from .edits import apply, undo
from .formats import FORMATS, MISSING, Change, Entry, equal, make, present, unmake
from .receipts import FileReceipt, copy, copy_path

Action = Literal["added", "updated", "unchanged", "removed", "left", "failed"]


class StepOutcome(NamedTuple):
    client: str
    target: str
    """The file, or the command that was asked."""
    action: Action
    message: str = ""
    diff: str = ""

    @property
    def is_done(self) -> bool:
        return self.action not in ("left", "failed")


class FileTarget(NamedTuple):
    path: Path
    format: str
    changes: tuple[Change, ...]
    has_hooks: bool = False
    """True if the entries need our hook script."""


class Consent(NamedTuple):
    """The changes that the user agreed to."""

    is_dry: bool = False
    """Show, and write nothing."""
    is_forced: bool = False
    """True if manual changes may be overwritten as well."""
    replace: Callable[[str], bool] = lambda question: False
    """Returns whether an entry of our name that is not ours may be replaced."""


def install_file(
    client: str,
    target: FileTarget,
    known: FileReceipt | None,
    consent: Consent,
    data: Path,
    save: Callable[[FileReceipt], None],
) -> StepOutcome:
    """Make every change that is not there yet. The receipt is saved before the file: a crash leaves nothing unknown."""
    try:
        text = files.read(target.path)
        before = _without_ours(text or "", known)
        after, entries, refused = _with_changes(before, target, consent)
        if refused:
            return StepOutcome(client, str(target.path), "left", refused, _diff(target.path, text, after))
        if after == text or not entries:
            return StepOutcome(client, str(target.path), "unchanged")
        action: Action = "updated" if known or any(e.replaced is not MISSING for e in entries) else "added"
        outcome = StepOutcome(client, str(target.path), action, diff=_diff(target.path, text, after))
        if consent.is_dry:
            return outcome
        if text:
            copy(data, client, target.path, text)
        save(
            FileReceipt(
                target.path,
                target.format,
                known.existed if known else text is not None,
                known.folders if known else files.missing_folders(target.path),
                files.fingerprint(before),
                files.fingerprint(after),
                tuple(entries),
            )
        )
        files.write(target.path, after, text)
    except BackstoryError as error:
        return StepOutcome(client, str(target.path), "failed", str(error))
    return outcome


def uninstall_file(client: str, known: FileReceipt, consent: Consent, data: Path) -> tuple[StepOutcome, bool]:
    """Remove the receipt's entries from a file. The second value is True if the receipt can be deleted."""
    path = str(known.path)
    try:
        text = files.read(known.path)
        if text is None:
            return StepOutcome(client, path, "unchanged", "the file is gone"), True
        after, changed = _restored(text, known, is_forced=consent.is_forced)
        is_ours = not known.existed and not after.strip("\ufeff \t\r\n")
        diff = _diff(known.path, text, None if is_ours else after)
        if not consent.is_dry:
            if is_ours:
                files.remove(known.path.resolve(), known.folders)
            elif after != text:
                files.write(known.path, after, text)
            if not changed:
                copy_path(data, client, known.path).unlink(missing_ok=True)
    except BackstoryError as error:
        return StepOutcome(client, path, "failed", str(error)), False
    if changed:
        message = f"{changed} was changed since the installation; --force removes it"
        return StepOutcome(client, path, "left", message, diff), False
    return StepOutcome(client, path, "unchanged" if after == text else "removed", diff=diff), True


def _without_ours(text: str, known: FileReceipt | None) -> str:
    """The text as it would be without us; an entry that was changed by hand is no longer ours."""
    return _restored(text, known, is_forced=False)[0] if known else text


def _restored(text: str, known: FileReceipt, *, is_forced: bool) -> tuple[str, str]:
    """The text without the receipt's entries, and the name of an entry that stays because another program changed it."""
    if files.fingerprint(text) == known.after:
        return undo(text, [splice for entry in known.entries for splice in entry.splices]), ""
    format, changed = FORMATS[known.format], ""
    for entry in reversed(known.entries):
        value = present(format, text, entry.change)
        if value is MISSING:
            continue
        if equal(value, entry.change.value) or is_forced:
            text = unmake(format, text, entry)
        else:
            changed = ".".join(entry.change.path) or "the file"
    if not known.existed:
        text = apply(text, format.prune(text, ()))
    return text, changed


def _with_changes(text: str, target: FileTarget, consent: Consent) -> tuple[str, list[Entry], str]:
    format = FORMATS[target.format]
    entries: list[Entry] = []
    refused = ""
    for change in target.changes:
        value = present(format, text, change)
        if value is not MISSING and equal(value, change.value):
            continue
        name = ".".join(change.path) or "the file"
        if value is not MISSING and not consent.is_forced:
            question = f"{target.path} has another {name}. Replace it?"
            if not consent.replace(question):
                refused = f"{name} is there already and differs; --yes replaces it"
        text, entry = make(format, text, change)
        entries.append(entry)
    return text, entries, refused


def _diff(path: Path, before: str | None, after: str | None) -> str:
    return unified_diff(str(path), (before or "").splitlines(), (after or "").splitlines())


def unified_diff(name: str, before: Sequence[str], after: Sequence[str]) -> str:
    return "\n".join(difflib.unified_diff(before, after, name, name, lineterm="", n=2))
