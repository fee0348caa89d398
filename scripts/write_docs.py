"""Write the files that are made from registries: docs/settings.md, docs/tools.md, the list of commands in
docs/command-line.md, the prepared answers of a server (src/backstory/front.py), and the packages for clients.

`python scripts/write_docs.py` writes them; with `--check` it lists the files that are out of date and exits with status 1.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from other_packages import gemini_extension, registry_entry

from backstory.cli.commands import COMMANDS, GROUPS, MAINTENANCE
from backstory.cli.flags import flag
from backstory.clients.packages import marketplace
from backstory.front import ALL, AS_BEFORE, PREPARED
from backstory.server.message import HANDSHAKE_VERSIONS, MODERN_VERSIONS, PREFIX
from backstory.server.offer import Offer
from backstory.server.rpc import RpcPeer
from backstory.settings import COMPUTED, TABLE, Setting, variable
from backstory.surfaces import DECLARATIONS, load_surfaces
from backstory.tools import Effect, Surface, Tool
from backstory.tools.params import Json

ROOT = Path(__file__).resolve().parent.parent
COMMAND_PAGE = ROOT / "docs" / "command-line.md"
TABLE_START, TABLE_END = "<!-- commands: written by scripts/write_docs.py -->", "<!-- end of commands -->"


def main(words: list[str]) -> int:
    pages = {
        ROOT / "docs" / "settings.md": settings_page(),
        ROOT / "docs" / "tools.md": tools_page(),
        **prepared_answers(),
        Path(DECLARATIONS): declarations(),
        COMMAND_PAGE: command_page(COMMAND_PAGE.read_text("utf-8")),
        **packages(),
    }
    stale = [path for path, page in pages.items() if not path.exists() or path.read_text("utf-8") != page]
    for path in stale:
        print(path.relative_to(ROOT))
        if words != ["--check"]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(pages[path], "utf-8")
    return 1 if stale and words == ["--check"] else 0


def packages() -> dict[Path, str]:
    """Backstory as plugin, extension and registry entry."""
    plugin = {ROOT / "marketplace" / name: text for name, text in marketplace().items()}
    extension = {ROOT / "gemini-extension" / name: text for name, text in gemini_extension().items()}
    return {**plugin, **extension, ROOT / "server.json": registry_entry()}


def settings_page() -> str:
    rows = [f"| `{setting.name}` | {_default(setting)} | {_meaning(setting)} |" for setting in TABLE]
    return "\n".join(
        [
            "# Settings",
            "",
            "A setting has one name and three spellings. For `busy_timeout_s`:",
            "",
            f"- flag of any command: `{flag('busy_timeout_s')} 5`",
            f"- environment: `{variable('busy_timeout_s')}=5`",
            "- `config.toml` in the data directory: `busy_timeout_s = 5`",
            "",
            "A flag wins over the environment, which wins over the file, which wins over the default.",
            "`backstory settings` shows the values in force; keys are never shown.",
            "",
            "The data directory is `~/.local/share/backstory` on Linux (or under `$XDG_DATA_HOME`),",
            "`~/Library/Application Support/backstory` on macOS and `%LOCALAPPDATA%\\backstory` on Windows.",
            "",
            "| setting | default | meaning |",
            "| --- | --- | --- |",
            *rows,
            "",
        ]
    )


def _default(setting: Setting) -> str:
    if setting.default is COMPUTED or setting.default in ("", (), None):
        return ""
    return f"`{setting.default}`"


def _meaning(setting: Setting) -> str:
    meaning, choices = setting.meaning, setting.choices
    return f"{meaning} One of {', '.join(f'`{choice}`' for choice in choices)}." if choices else f"{meaning}"


def prepared_answers() -> dict[Path, str]:
    """The server's own answers, for all surfaces and for each one."""
    names = tuple(load_surfaces())
    chosen = {ALL: names, **{name: (name,) for name in names}}
    return {Path(PREPARED) / f"{name}.tsv": _answers(surfaces) for name, surfaces in chosen.items()}


def declarations() -> str:
    """The module that declares each tool, so that the first call of a server imports no other."""
    return "".join(
        f"{tool.name}\t{name}\t{tool.fn.__module__}\n"
        for name, surface in load_surfaces().items()
        for tool in (surface.tools | surface.unlisted).values()
    )


def _answers(surfaces: tuple[str, ...]) -> str:
    answers: dict[str, str] = {}
    for version in HANDSHAKE_VERSIONS:
        answers[f"initialize {version}"] = _result(surfaces, "initialize", {"protocolVersion": version})
    answers["tools/list"] = older = _result(surfaces, "tools/list", {})
    for version in MODERN_VERSIONS:
        meta = {"_meta": {PREFIX + "protocolVersion": version, PREFIX + "clientCapabilities": {}}}
        answers[f"server/discover {version}"] = _result(surfaces, "server/discover", meta)
        newer = _result(surfaces, "tools/list", meta)
        assert newer.startswith(older[:-1])
        answers[f"tools/list {version}"] = AS_BEFORE + newer[len(older) - 1 :]
    return "".join(f"{key}\t{answer}\n" for key, answer in answers.items())


def _result(surfaces: tuple[str, ...], method: str, params: Json) -> str:
    conversation = RpcPeer(Offer(load_surfaces(surfaces)), lambda level: None)
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    (line,) = conversation.receive(json.dumps(request).encode())
    assert isinstance(line, bytes)
    return line.decode().removeprefix('{"jsonrpc":"2.0","id":1,"result":').removesuffix("}\n")


def tools_page() -> str:
    sections = [
        "# Tools",
        "",
        "Tools come in families, called surfaces. `backstory install` enables the seven tools of the surface `backstory`, which return",
        "compact text. The other surfaces have the names and answers of other memory servers, for people whose prompts and rules already",
        "use them. Every surface finds the memories that any other saved.",
        "",
        "`--surfaces backstory,memory-keeper` serves several surfaces; `backstory serve` without a choice serves all six, whose list of",
        "tools takes about ten times the tokens. `backstory tools --json` prints the complete schemas.",
        "",
        *_surface_table(load_surfaces().values()),
    ]
    for surface in load_surfaces().values():
        sections += ["", f"## {surface.name}", "", surface.about]
        for tool in surface.tools.values():
            sections += ["", *_tool_section(tool)]
    return "\n".join([*sections, ""])


def _tool_section(tool: Tool) -> list[str]:
    described = tool.describe()
    lines = [f"### `{tool.name}`", "", described["description"], "", f"It {_effect(tool.effect)}."]
    if tool.params:
        lines += ["", "| parameter | type | | meaning |", "| --- | --- | --- | --- |"]
        lines += [_parameter_row(p.wire, p.schema, p.required) for p in tool.params]
    answer = "lean text" if "outputSchema" not in described else _fields(described["outputSchema"])
    return [*lines, "", f"Answers with {answer}."]


def _parameter_row(name: str, schema: Json, required: bool) -> str:
    need = "required" if required else f"default `{schema['default']}`" if "default" in schema else "optional"
    meaning = schema.get("description", "").replace("|", "\\|")  # it would end the cell
    return f"| `{name}` | {_type(schema)} | {need} | {meaning} |"


def _type(schema: Json) -> str:
    if "anyOf" in schema:
        return " or ".join(_type(each) for each in schema["anyOf"])
    return str(schema.get("type", "any"))


def _fields(schema: Json) -> str:
    # an answer that may come in chunks has its own fields in the first alternative
    required = schema.get("anyOf", [schema])[0].get("required", ())
    return ", ".join(
        f"`{name}`" + ("" if name in required else " (at times)") for name in schema["properties"]
    )


def _effect(effect: Effect) -> str:
    if effect.read_only:
        return "changes nothing"
    return "changes or deletes what is there" if effect.destructive else "only adds"


def command_page(text: str) -> str:
    before, start, rest = text.partition(TABLE_START)
    _, end, after = rest.partition(TABLE_END)
    if not (start and end):
        sys.exit("docs/command-line.md has lost the markers around its list of commands.")
    return f"{before}{start}\n{_command_tables()}\n{end}{after}"


def _command_tables() -> str:
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {**GROUPS, MAINTENANCE: tuple(name for name in COMMANDS if name not in grouped)}
    sections = []
    for title, names in groups.items():
        rows = [f"| `backstory {name}` | {COMMANDS[name]} |" for name in names]
        sections.append("\n".join([f"**{title}**", "", "| command | |", "| --- | --- |", *rows]))
    return "\n\n".join(sections)


def _surface_table(surfaces: Iterable[Surface]) -> list[str]:
    rows = ["| surface | purpose | tools |", "| --- | --- | --- |"]
    for surface in surfaces:
        tools = ", ".join(f"`{name}`" for name in surface.tools)
        rows.append(f"| `{surface.name}` | {surface.about} | {tools} |")
    return rows


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
