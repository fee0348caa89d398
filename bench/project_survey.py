"""The cost of the first `init` of a large repository: CPU of our process and of git.

python bench/project_survey.py [FILES]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from backstory.app import open_core
from backstory.core import Core
from backstory.settings import build_settings
from backstory.surfaces import load_surfaces

FILES = 20_000
IN_A_FOLDER = 100
SOURCE = "".join(f"def function_{n}(value: int) -> int:\n    return value * {n}\n\n\n" for n in range(25))


def build(root: Path, files: int) -> None:
    """A repository of Python and TypeScript with tests, all committed, and some changes."""
    for number in range(files):
        folder = root / f"package_{number // IN_A_FOLDER}"
        if number % IN_A_FOLDER == 0:
            folder.mkdir(parents=True)
        name = (
            f"test_{number}.py" if number % 5 == 0 else f"module_{number}.{'ts' if number % 3 == 0 else 'py'}"
        )
        debt = "# TODO: speed up\n" if number % 50 == 0 else ""
        (folder / name).write_text(debt + SOURCE)
    (root / "pyproject.toml").write_text('[project]\nname = "large"\ndependencies = ["fastapi"]\n')
    identity = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "all"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    for number in range(0, files, files // 20):
        path = next((root / f"package_{number // IN_A_FOLDER}").glob(f"*_{number}.*"))
        path.write_text(SOURCE + SOURCE)


def cpu_s() -> float:
    return sum(os.times()[:4])


def main(files: int) -> None:
    with tempfile.TemporaryDirectory(prefix="bench-") as place:
        root = Path(place) / "large"
        root.mkdir()
        build(root, files)
        core = _core(Path(place) / "home", root)
        init, status = (load_surfaces()["session-mgmt"].tools[name] for name in ("init", "status"))
        for name, tool in (("init, the first time", init), ("status, after it", status)):
            before = cpu_s()
            reply = tool.call(core, {"working_directory": str(root)})
            assert not reply.is_error, reply.text
            print(f"{name}: {cpu_s() - before:.2f} s CPU for {files:,} files, {len(reply.text):,} characters")
        core.engine.close()


def _core(home: Path, project: Path) -> Core:
    return open_core(build_settings({"embeddings": "off"}, defaults={"home": home, "project": project}))


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else FILES)
