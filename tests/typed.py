"""The command line in this process: what a person types, and what is printed. Real processes are in processes.py."""

from __future__ import annotations

import io
import json
import os
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from unittest import mock

import pytest

from backstory.__main__ import main

from .processes import Json, environment


def typed(*words: str, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """What `processes.run` does, for a tenth of the time."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with (
        mock.patch.dict(os.environ, environment(home, **variables), clear=True),
        mock.patch("sys.argv", ["backstory", *words]),
        mock.patch("sys.stdin", io.StringIO()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            status = main()
        except SystemExit as done:  # argparse, after --help
            status = int(done.code or 0)
    said, complained = (each.buffer.getvalue().decode() for each in (out, err))
    return subprocess.CompletedProcess(words, status, said, complained)


class Typing:
    def __init__(self, home: Path, patch: pytest.MonkeyPatch, capture: pytest.CaptureFixture[str]) -> None:
        self.home = home
        self._patch = patch
        self._capture = capture

    def run(self, *words: str) -> tuple[int, str, str]:
        """The exit status, and what went to standard output and standard error."""
        flags = [f"--home={self.home}", "--embeddings=off", "--histories=off"]
        self._patch.setenv("BACKSTORY_BACKUPS", "off")  # some commands have a flag of that name
        self._patch.setattr("sys.argv", ["backstory", *flags, *words])
        self._capture.readouterr()
        try:
            status = main()
        except SystemExit as done:  # argparse, after --help
            status = int(done.code or 0)
        out, err = self._capture.readouterr()
        return status, out, err

    def text(self, *words: str) -> str:
        status, out, err = self.run(*words)
        assert status == 0, err
        return out

    def json(self, *words: str) -> Json:
        body: Json = json.loads(self.text(*words, "--json"))
        return body

    def refusal(self, *words: str, status: int = 2) -> str:
        done, out, err = self.run(*words)
        assert (done, out) == (status, ""), (out, err)
        return err
