"""Download pip itself: `python scripts/pip_wheel.py FOLDER` prints the path of its wheel.

For a Python without ensurepip and pip, such as Debian's without the package python3-venv. It uses the standard library
only, and asks the index that pip is configured to use.
"""

from __future__ import annotations

import hashlib
import html
import os
import re
import ssl
import sys
from configparser import Error, RawConfigParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urldefrag, urljoin
from urllib.request import urlopen

TIMEOUT_S = 60
_LINK = re.compile(r"<a\s[^>]*>", re.IGNORECASE)
_ADDRESS = re.compile(r"""href=["']([^"']+)""", re.IGNORECASE)
_WHEEL = re.compile(r"/(pip-(\d+(?:\.\d+)*)-py3-none-any\.whl)$")  # a pre-release has letters in its version
_OLDEST_PYTHON = re.compile(r">=\s*3\.(\d+)")


class Wheel(NamedTuple):
    version: tuple[int, ...]
    name: str
    url: str
    sha256: str
    """Empty if the index does not tell it."""


def main(folder: Path) -> None:
    index = _setting("index-url")
    if index is None:
        sys.exit(
            "pip_wheel.py: pip is missing, and no package index is configured to fetch it from.\n"
            "Set PIP_INDEX_URL, or install it: on Debian and Ubuntu, sudo apt install python3-venv"
        )
    page = f"{index.rstrip('/')}/pip/"
    wheels = find_wheels(page, _fetch(f"{page}index.html" if page.startswith("file:") else page).decode())
    if not wheels:
        sys.exit(f"pip_wheel.py: {page} lists no pip for this Python.")
    newest = max(wheels)
    content = _fetch(newest.url)
    if newest.sha256 and hashlib.sha256(content).hexdigest() != newest.sha256:
        sys.exit(f"pip_wheel.py: {newest.name} is not the file that {page} lists.")
    path = folder / newest.name
    path.write_bytes(content)
    print(path)


def find_wheels(page: str, text: str) -> list[Wheel]:
    """The released wheels of pip for this Python that a page of the index links to."""
    wheels = []
    for tag in map(html.unescape, _LINK.findall(text)):
        address = _ADDRESS.search(tag)
        url, fragment = urldefrag(urljoin(page, address[1])) if address else ("", "")
        wheel, oldest = _WHEEL.search(url), _OLDEST_PYTHON.search(tag)
        if wheel is None or "data-yanked" in tag or (oldest and sys.version_info[1] < int(oldest[1])):
            continue
        version = tuple(map(int, wheel[2].split(".")))
        sha256 = fragment.removeprefix("sha256=") if fragment.startswith("sha256=") else ""
        wheels.append(Wheel(version, wheel[1], url, sha256))
    return wheels


def _fetch(url: str) -> bytes:
    context = ssl.create_default_context(cafile=_setting("cert"))
    with urlopen(url, timeout=TIMEOUT_S, context=context) as response:
        content: bytes = response.read()
        return content


def _setting(name: str) -> str | None:
    """An option of pip, from the environment or its configuration files."""
    config = RawConfigParser()
    directories = os.environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    own = os.environ.get("XDG_CONFIG_HOME") or str(Path.home() / ".config")
    files = [*(f"{folder}/pip/pip.conf" for folder in directories.split(":")), "/etc/pip.conf"]
    files += [str(Path.home() / ".pip" / "pip.conf"), f"{own}/pip/pip.conf"]
    config.read([*files, os.environ.get("PIP_CONFIG_FILE", "")])
    values = [config.get(section, name, fallback=None) for section in ("install", "global")]
    return os.environ.get(f"PIP_{name.upper().replace('-', '_')}") or next(filter(None, values), None)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (OSError, Error) as error:  # a failed download is an OSError too
        sys.exit(f"pip_wheel.py: pip could not be downloaded: {error}")
