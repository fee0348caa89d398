"""The real assistants find what `backstory install` wrote, and their files are what they were after `uninstall`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .assistants import Person

ROOT = Path(__file__).parent.parent.parent

EDITED = {
    "gemini-cli": ("gemini", ".gemini/settings.json", ("mcp", "list"), "backstory: "),
    "copilot-cli": ("copilot", ".copilot/mcp-config.json", ("mcp", "list"), "backstory (local)"),
    "opencode": ("opencode", ".config/opencode/opencode.jsonc", ("mcp", "list"), "backstory connected"),
    "amp": ("amp", ".config/amp/settings.json", ("mcp", "list"), "backstory  command"),
    "cline": (
        "cline",
        ".cline/data/settings/cline_mcp_settings.json",
        ("config", "mcp", "--json"),
        '"backstory"',
    ),
    "qwen-code": ("qwen", ".qwen/settings.json", ("mcp", "list"), "Connected"),
}
"""Client → its program, the file that we edit, what lists its servers, and what that says of ours."""

TEXTS = {
    "gemini-cli": '{\r\n\t// mine\r\n\t"ui": {"theme": "Default"} /* kept */\r\n}\r\n',
    "copilot-cli": '{\n    // mine\n    "mcpServers": {}\n}',
    "opencode": '{\n   "$schema": "https://opencode.ai/config.json", // mine\n   "mcp": {},\n}\n',
    "amp": '{\n  // mine\n  "amp.url": "http://127.0.0.1:9/",\n}',
    "cline": '{"mcpServers":{}}',
    "qwen-code": '{\n  "$version": 4, // mine\n  "ui": {}\n}',
}


@pytest.mark.parametrize("client", EDITED)
def test_an_assistant_lists_the_server_and_its_file_is_what_it_was(tmp_path: Path, client: str) -> None:
    program, name, words, said = EDITED[client]
    person = Person(tmp_path, program)
    path = person.home / name
    path.parent.mkdir(parents=True)
    path.write_bytes(TEXTS[client].encode())
    person.backstory("install", client, "--no-hooks")
    assert said in person.ask(*words)
    person.backstory("uninstall", client)
    assert path.read_bytes() == TEXTS[client].encode()
    assert said not in person.ask(*words)


@pytest.mark.parametrize("form", [(), ("--plugin",)])
def test_claude_code_connects(tmp_path: Path, form: tuple[str, ...]) -> None:
    person = Person(tmp_path, "claude")
    settings = person.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text('{ "model": "opus" }')
    person.backstory("install", "claude-code", *form)
    name = "plugin:backstory:backstory" if form else "backstory"
    listed = person.ask("mcp", "list")
    assert f"{name}: " in listed
    assert "✔ Connected" in listed
    doctor = json.loads(person.backstory("doctor", "--json"))
    told = next(each for each in doctor["clients"] if each["client"] == "claude-code")
    assert told["is_answered"]
    assert told["version"]
    person.backstory("uninstall", "claude-code")
    assert "No MCP servers configured" in person.ask("mcp", "list")
    if not form:
        assert settings.read_text() == '{ "model": "opus" }'


@pytest.mark.parametrize("form", [(), ("--plugin",)])
def test_codex_lists_the_server(tmp_path: Path, form: tuple[str, ...]) -> None:
    person = Person(tmp_path, "codex")
    config = person.home / ".codex" / "config.toml"
    config.parent.mkdir()
    text = 'model = "x"  # mine\n\n[mcp_servers.other]\ncommand = "true"\n'
    config.write_text(text)
    person.backstory("install", "codex", *form)
    assert "backstory" in [each["name"] for each in _servers(person)]
    person.backstory("uninstall", "codex")
    assert [each["name"] for each in _servers(person)] == ["other"]
    if not form:
        assert config.read_text() == text


def _servers(person: Person) -> list[dict[str, str]]:
    said = person.ask("mcp", "list", "--json")
    servers: list[dict[str, str]] = json.loads(said[said.index("[\n") : said.rindex("]") + 1])
    return servers


def test_an_entry_that_claude_code_had_comes_back(tmp_path: Path) -> None:
    person = Person(tmp_path, "claude")
    mine = {"type": "stdio", "command": "true", "args": [], "env": {"KEY": "v"}}
    person.ask("mcp", "add-json", "-s", "user", "backstory", json.dumps(mine))
    person.backstory("install", "claude-code", "--yes")
    path = person.home / ".claude.json"
    assert "serve" in json.loads(path.read_text())["mcpServers"]["backstory"]["args"]
    person.backstory("uninstall", "claude-code")
    assert json.loads(path.read_text())["mcpServers"]["backstory"] == mine


def test_the_plugin_passes_the_check_of_claude_code(tmp_path: Path) -> None:
    person = Person(tmp_path, "claude")
    assert "Validation passed" in person.ask("plugin", "validate", str(ROOT / "marketplace"), "--strict")
    plugin = str(ROOT / "marketplace" / "plugins" / "backstory")
    assert "Validation passed" in person.ask("plugin", "validate", plugin, "--strict")


def test_the_extension_passes_the_check_of_gemini_cli(tmp_path: Path) -> None:
    person = Person(tmp_path, "gemini")
    said = person.ask("extensions", "validate", str(ROOT / "gemini-extension"))
    assert "successfully validated" in said
