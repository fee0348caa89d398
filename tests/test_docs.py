"""The documentation says what the code does."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

import backstory
from backstory.cli.commands import parser_of
from backstory.clients.catalogue import CLIENTS
from backstory.domain.tokens import count_tokens
from backstory.importers import load_importers
from backstory.readers import load_readers

from .processes import serving

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")] + [
    *ROOT.glob("docs/**/*.md")
]


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "write_docs.py"), "--check"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, f"out of date, run scripts/write_docs.py:\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_named_files_lead_somewhere(page: Path) -> None:
    text = page.read_text("utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text)
    named = re.findall(r"`((?:src|tests|docs|scripts|bench)/[\w./-]+)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    missing += [name for name in named if not (ROOT / name).exists()]
    assert missing == []


def test_every_test_that_a_page_names_exists() -> None:
    names = [
        name for page in PAGES for name in re.findall(r"`(tests/[\w/]+\.py::\w+)`", page.read_text("utf-8"))
    ]
    assert len(names) > 20  # docs/evidence.md
    for name in names:
        file, _, function = name.partition("::")
        assert f"def {function}(" in (ROOT / file).read_text("utf-8"), name


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_to_headings_lead_to_one(page: Path) -> None:
    for file, anchor in re.findall(r"\]\(([^)#:]*)#([^)]+)\)", page.read_text("utf-8")):
        assert anchor in anchors(page.parent / file if file else page), f"{file}#{anchor}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "bench" / "RESULTS.md"], ids=lambda page: page.name)
def test_every_row_of_a_table_has_as_many_cells_as_its_head(page: Path) -> None:
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, *rows = ([*re.finditer(r"(?<!\\)\|", row)] for row in table.splitlines())
        assert [len(row) for row in rows] == [len(head)] * len(rows), table
    assert "\\\\|" not in text  # shown with a backslash


def test_the_index_lists_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text("utf-8")
    names = {page.name for page in ROOT.glob("docs/*.md")} - {"README.md"}
    assert {name for name in names if f"({name})" not in index} == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_that_a_page_shows_are_understood(page: Path) -> None:
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    for line in re.findall(r"^backstory ([a-z].*)", "".join(blocks), re.MULTILINE):
        command, *arguments = shlex.split(line, comments=True)
        if command != "serve":  # its flags are settings, which are taken before
            parser_of(command).read(arguments)


def test_links_of_the_readme_lead_to_the_repository_on_a_package_index(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    interface = ModuleType("hatchling.metadata.plugin.interface")
    interface.__dict__["MetadataHookInterface"] = object
    monkeypatch.setitem(sys.modules, "hatchling.metadata.plugin.interface", interface)
    text = runpy.run_path(str(ROOT / "hatch_build.py"))["with_absolute_links"](
        (ROOT / "README.md").read_text("utf-8")
    )
    links = re.findall(r"\]\(([^)]+)\)", text)
    assert [link for link in links if not link.startswith("https://")] == []
    pages = [link for link in links if "/blob/main/" in link]
    pictures = [link for link in links if link.startswith("https://raw.githubusercontent.com/")]
    assert len(pages) > 10
    assert len(pictures) == 3
    for link in [*pages, *pictures]:
        assert (ROOT / link.partition("/main/")[2]).exists()


def test_the_readme_tells_the_tokens_of_the_tool_list(tmp_path: Path) -> None:
    with serving(tmp_path, "serve", "--surfaces", "backstory") as server:
        server.greet()
        tools = server.ask("tools/list", {})["tools"]
    sent = [{field: tool[field] for field in ("name", "description", "inputSchema")} for tool in tools]
    tokens = count_tokens(json.dumps(sent, ensure_ascii=False, separators=(",", ":")))
    row = re.search(
        r"^\| tokens of the tool list \| about ([\d,]+) \|$",
        (ROOT / "README.md").read_text("utf-8"),
        re.MULTILINE,
    )
    assert row is not None
    assert tokens == pytest.approx(int(row[1].replace(",", "")), rel=0.05)


def test_the_counts_of_clients_and_importers_are_right() -> None:
    """Pages name both in words."""
    assert (len(CLIENTS), len(load_importers())) == (
        17,
        14,
    )  # two importers are archives of ChatGPT and Claude.ai
    readme, index = ((ROOT / name).read_text("utf-8") for name in ("README.md", "docs/README.md"))
    assert "twelve other memory programs" in readme
    assert "twelve memory programs" in index
    assert "seventeen assistants" in index
    clients = readme.partition("`backstory install` supports ")[2].partition(". Any other")[0]
    names = re.split(r",\s+|\s+and\s+", clients)
    assert sorted(names) == sorted(client.title for client in CLIENTS.values())


def test_every_extra_is_described() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    section = (
        (ROOT / "docs" / "install.md").read_text("utf-8").partition("## Extras")[2].partition("\n## ")[0]
    )
    assert re.findall(r"^\| `(\w+)`", section, re.MULTILINE) == sorted(project["optional-dependencies"])


def test_the_number_of_assistants_whose_conversations_are_read_is_right() -> None:
    others = {"specstory", "entire"}  # they keep conversations of the assistants
    names = {reader.name for reader in load_readers().values() if not reader.is_export} - others
    readme = (ROOT / "README.md").read_text("utf-8")
    assert f"Claude Code, Codex, Cursor, Gemini CLI and {len(names) - 4} other assistants" in readme
    assert f"stored conversations of {len(names)} assistants" in readme


def test_the_page_of_the_library_names_every_field_and_method() -> None:
    page = (ROOT / "docs" / "library.md").read_text("utf-8")
    records = (backstory.Memory, backstory.Session, backstory.Message, backstory.Hit)
    names = {field for record in records for field in record._fields}
    names |= {name for name in vars(backstory.Backstory) if not name.startswith("_")}
    assert {name for name in names if not re.search(rf"`{name}\b", page)} == set()
