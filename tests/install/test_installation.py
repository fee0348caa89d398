"""Installing and uninstalling in throw-away homes: what is written where, and that nothing else is touched."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backstory.clients import receipts
from backstory.clients.catalogue import CLIENTS, is_there
from backstory.clients.formats import FORMATS, MISSING, lookup
from backstory.clients.hooks import SOURCE, cmd_line, hook_target, powershell_line, put_script
from backstory.clients.installation import PROJECT, USER, installation, installations, targets
from backstory.clients.machine import Machine
from backstory.clients.steps import Consent, FileTarget, StepOutcome
from backstory.domain.errors import Unreadable

from ..patience import PATIENCE_S
from .test_formats import CONFIGS
from .texts import json_texts

COMMAND = ("/opt/my tools/backstory", "serve", "--surfaces", "backstory")
YES = Consent(replace=lambda question: True)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A home without programs."""
    return on("linux", tmp_path)


def on(platform: str, folder: Path) -> Machine:
    home, project = folder / "home", folder / "project"
    for each in (home, project):
        each.mkdir(exist_ok=True)
    return Machine(home, {"PATH": ""}, platform, project, folder / "data", COMMAND, "/usr/bin/python3")


def install(machine: Machine, client: str, scope: str = USER, consent: Consent = YES) -> list[StepOutcome]:
    wanted = targets(machine, client, scope)
    return list(installation(machine, client, scope).install(wanted, consent))


def uninstall(
    machine: Machine, client: str, scope: str = USER, *, is_forced: bool = False
) -> list[StepOutcome]:
    return list(installation(machine, client, scope).uninstall(Consent(is_forced=is_forced)))


def file_of(machine: Machine, client: str, scope: str = USER) -> Path:
    target = targets(machine, client, scope)[0]
    assert isinstance(target, FileTarget)
    return target.path


def tree(*folders: Path) -> dict[str, bytes | None]:
    return {
        str(path): path.read_bytes() if path.is_file() else None
        for folder in folders
        for path in sorted(folder.rglob("*"))
    }


SCOPES = [(name, USER) for name in CLIENTS] + [
    (n, PROJECT) for n, client in CLIENTS.items() if client.project
]


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
@pytest.mark.parametrize(("client", "scope"), SCOPES)
def test_an_empty_home_gets_an_entry_and_is_empty_again(
    tmp_path: Path, client: str, scope: str, platform: str
) -> None:
    machine = on(platform, tmp_path)
    assert not is_there(CLIENTS[client], machine)
    assert {each.action for each in install(machine, client, scope)} == {"added"}
    path = file_of(machine, client, scope)
    assert path.is_relative_to(machine.home if scope == USER else machine.project)
    assert COMMAND[0] in path.read_text("utf-8")
    assert {each.action for each in install(machine, client, scope)} == {"unchanged"}
    assert {each.action for each in uninstall(machine, client, scope)} == {"removed"}
    assert tree(machine.home, machine.project) == {}
    assert installations(machine) == []


EXPECTED: dict[str, tuple[str, tuple[str, ...], Any]] = {
    "claude-code": (
        ".claude.json",
        ("mcpServers",),
        {"type": "stdio", "command": COMMAND[0], "args": [*COMMAND[1:]]},
    ),
    "codex": (".codex/config.toml", ("mcp_servers",), {"command": COMMAND[0], "args": [*COMMAND[1:]]}),
    "gemini-cli": (".gemini/settings.json", ("mcpServers",), {"command": COMMAND[0], "args": [*COMMAND[1:]]}),
    "vscode": (
        ".config/Code/User/mcp.json",
        ("servers",),
        {"type": "stdio", "command": COMMAND[0], "args": [*COMMAND[1:]]},
    ),
    "copilot-cli": (
        ".copilot/mcp-config.json",
        ("mcpServers",),
        {"type": "local", "command": COMMAND[0], "args": [*COMMAND[1:]], "tools": ["*"]},
    ),
    "zed": (
        ".config/zed/settings.json",
        ("context_servers",),
        {"command": COMMAND[0], "args": [*COMMAND[1:]]},
    ),
    "opencode": (
        ".config/opencode/opencode.json",
        ("mcp",),
        {"type": "local", "command": [*COMMAND], "enabled": True},
    ),
    "cline": (
        ".cline/data/settings/cline_mcp_settings.json",
        ("mcpServers",),
        {"transport": {"type": "stdio", "command": COMMAND[0], "args": [*COMMAND[1:]]}},
    ),
    "amp": (
        ".config/amp/settings.json",
        ("amp.mcpServers",),
        {"command": COMMAND[0], "args": [*COMMAND[1:]]},
    ),
    "goose": (
        ".config/goose/config.yaml",
        ("extensions",),
        {
            "type": "stdio",
            "name": "backstory",
            "cmd": COMMAND[0],
            "args": [*COMMAND[1:]],
            "envs": {},
            "enabled": True,
            "timeout": 300,
        },
    ),
}


@pytest.mark.parametrize("client", EXPECTED)
def test_an_entry_has_the_shape_that_its_client_reads(machine: Machine, client: str) -> None:
    name, section, value = EXPECTED[client]
    install(machine, client)
    path = machine.home / name
    format = FORMATS[CLIENTS[client].user[0].format]
    assert lookup(format.parse(path.read_text("utf-8")), (*section, "backstory")) == value


@given(text=json_texts(root=CONFIGS, comments=True, trailing=True), is_edited=st.booleans())
def test_any_file_is_what_it_was_after_uninstalling(
    tmp_path_factory: pytest.TempPathFactory, text: str, is_edited: bool
) -> None:
    machine = on("linux", tmp_path_factory.mktemp("machine"))
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    before = FORMATS["jsonc"].parse(text)
    install(machine, "kiro")
    if is_edited:
        path.write_bytes(path.read_bytes() + b"// edited\n")
    uninstall(machine, "kiro")
    if is_edited:
        assert FORMATS["jsonc"].parse(path.read_text("utf-8")) == before
        assert path.read_bytes().endswith(b"// edited\n")
    else:
        assert path.read_bytes() == text.encode()


def test_an_entry_that_was_replaced_comes_back(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    text = '{"mcpServers": {"backstory": {"command": "mine" /* note */}}}'
    path.write_text(text)
    refused = install(machine, "kiro", consent=Consent())
    assert [each.action for each in refused] == ["left"]
    assert "mcpServers.backstory is there already and differs" in refused[0].message
    assert '-{"mcpServers": {"backstory": {"command": "mine"' in refused[0].diff
    assert path.read_text() == text
    assert [each.action for each in install(machine, "kiro")] == ["updated"]
    uninstall(machine, "kiro")
    assert path.read_text() == text


def test_a_new_command_replaces_the_old_one_and_the_first_text_still_comes_back(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text('{ "mcpServers": {"other": {}} }')
    install(machine, "kiro")
    moved = machine._replace(command=("/new/backstory", "serve"))
    assert [each.action for each in install(moved, "kiro", consent=Consent())] == ["updated"]
    assert "/new/backstory" in path.read_text()
    assert COMMAND[0] not in path.read_text()
    uninstall(machine, "kiro")
    assert path.read_text() == '{ "mcpServers": {"other": {}} }'


def test_where_somebody_edited_since_only_our_entry_goes(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    install(machine, "kiro")
    document = json.loads(path.read_text())
    document["mcpServers"]["later"] = {"command": "x"}
    path.write_text(json.dumps(document, indent=4))
    assert [each.action for each in uninstall(machine, "kiro")] == ["removed"]
    assert path.read_text() == json.dumps({"mcpServers": {"later": {"command": "x"}}}, indent=4)


def test_an_entry_that_was_changed_by_hand_stays_unless_forced(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    install(machine, "kiro")
    path.write_text(path.read_text().replace('"serve"', '"serve", "--log-level", "debug"'))
    edited = path.read_text()
    outcome = uninstall(machine, "kiro")[0]
    assert (outcome.action, path.read_text()) == ("left", edited)
    assert "--force" in outcome.message
    assert [each.client for each in installations(machine)] == ["kiro"]
    assert [each.action for each in uninstall(machine, "kiro", is_forced=True)] == ["removed"]
    assert not path.exists()


def test_a_malformed_file_is_named_and_left_alone_and_the_others_are_done(machine: Machine) -> None:
    storage = machine.home / ".config" / "Code" / "User" / "globalStorage" / "saoudrizwan.claude-dev"
    broken = machine.home / ".cline" / "data" / "settings" / "cline_mcp_settings.json"
    for folder in (storage, broken.parent):
        folder.mkdir(parents=True)
    broken.write_text('{\n  "mcpServers": {,}\n}')
    outcomes = install(machine, "cline")
    assert [each.action for each in outcomes] == ["failed", "added"]
    assert outcomes[0].target == str(broken)
    assert outcomes[0].message.startswith("line 2, column 18: ")
    assert broken.read_text() == '{\n  "mcpServers": {,}\n}'
    assert (storage / "settings" / "cline_mcp_settings.json").exists()


def test_a_file_that_is_not_utf8_is_left_alone(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(b'{\n "a": "\xff"}')
    outcome = install(machine, "kiro")[0]
    assert (outcome.action, outcome.message) == ("failed", "line 2, column 8: it is not UTF-8")
    assert path.read_bytes() == b'{\n "a": "\xff"}'


def test_a_link_stays_a_link_and_its_file_keeps_its_mode(machine: Machine) -> None:
    dotfiles = machine.home / "dotfiles"
    dotfiles.mkdir()
    (dotfiles / "mcp.json").write_text("{}")
    (dotfiles / "mcp.json").chmod(0o640)
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.symlink_to(dotfiles / "mcp.json")
    install(machine, "kiro")
    assert path.is_symlink()
    assert "backstory" in (dotfiles / "mcp.json").read_text()
    assert stat.S_IMODE((dotfiles / "mcp.json").stat().st_mode) == 0o640
    uninstall(machine, "kiro")
    assert path.is_symlink()
    assert (dotfiles / "mcp.json").read_text() == "{}"


def test_an_empty_file_is_an_empty_configuration_and_stays_there(machine: Machine) -> None:
    path = machine.home / ".gemini" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text("\n")
    install(machine, "gemini-cli")
    assert json.loads(path.read_text())["mcpServers"]["backstory"]["command"] == COMMAND[0]
    uninstall(machine, "gemini-cli")
    assert path.read_text() == "\n"


def test_a_copy_and_a_receipt_are_kept_for_the_user_alone(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text('{"secret": "k"}')
    install(machine, "kiro")
    copy = receipts.copy_path(machine.data, "kiro", path)
    assert copy.read_text() == '{"secret": "k"}'
    kept = [each for each in machine.data.rglob("*") if each.is_file()]
    assert len(kept) == 2
    assert all(stat.S_IMODE(each.stat().st_mode) == 0o600 for each in kept)
    assert stat.S_IMODE(machine.data.stat().st_mode) == 0o700
    uninstall(machine, "kiro")
    assert [each for each in machine.data.rglob("*") if each.is_file()] == []


def test_a_dry_run_writes_nothing_and_shows_the_lines(machine: Machine) -> None:
    outcome = install(machine, "zed", consent=Consent(is_dry=True))[0]
    assert outcome.action == "added"
    assert f'+      "command": "{COMMAND[0]}",' in outcome.diff
    assert tree(machine.home, machine.project) == {}
    assert not machine.data.exists()


def test_an_entry_that_is_equal_is_the_users_own_and_stays(machine: Machine) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    entry = {"command": COMMAND[0], "args": [*COMMAND[1:]], "env": {}}
    path.write_text(json.dumps({"mcpServers": {"backstory": entry}}))
    assert [each.action for each in install(machine, "kiro")] == ["unchanged"]
    assert installations(machine) == []


def test_a_crash_between_receipt_and_file_leaves_nothing_to_undo(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = machine.home / ".kiro" / "settings" / "mcp.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", _crash_for(path, os.replace))
        with pytest.raises(KeyboardInterrupt):
            install(machine, "kiro")
    assert path.read_text() == "{}"
    assert list(path.parent.iterdir()) == [path]
    assert [each.action for each in uninstall(machine, "kiro")] == ["unchanged"]
    assert installations(machine) == []
    assert path.read_text() == "{}"


def _crash_for(path: Path, replace: Callable[[Path, Path], None]) -> Callable[[Path, Path], None]:
    def crash(draft: Path, target: Path) -> None:
        if Path(target) == path:
            raise KeyboardInterrupt
        replace(draft, target)

    return crash


def test_every_edition_of_an_editor_that_is_there_gets_its_entry(machine: Machine) -> None:
    for edition in ("Code - Insiders", "VSCodium"):
        (machine.home / ".config" / edition / "User").mkdir(parents=True)
    assert [Path(each.target).parts[-3] for each in install(machine, "vscode")] == [
        "Code - Insiders",
        "VSCodium",
    ]


def test_a_moved_configuration_is_found(machine: Machine) -> None:
    moved = machine._replace(
        environment={
            "PATH": "",
            "CLAUDE_CONFIG_DIR": str(machine.home / "c"),
            "CODEX_HOME": str(machine.home / "x"),
            "XDG_CONFIG_HOME": str(machine.home / "g"),
        }
    )
    assert file_of(moved, "claude-code") == machine.home / "c" / ".claude.json"
    assert file_of(moved, "codex") == machine.home / "x" / "config.toml"
    assert file_of(moved, "zed") == machine.home / "g" / "zed" / "settings.json"


def test_the_file_of_opencode_that_is_there_is_used(machine: Machine) -> None:
    path = machine.home / ".config" / "opencode" / "opencode.jsonc"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    assert file_of(machine, "opencode") == path


EVENTS = {
    "claude-code": (
        ".claude/settings.json",
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUseFailure", "PreCompact", "Stop"],
    ),
    "codex": (
        ".codex/hooks.json",
        ["SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PreCompact", "Stop"],
    ),
    "gemini-cli": (".gemini/settings.json", ["SessionStart"]),
    "qwen-code": (".qwen/settings.json", ["SessionStart", "UserPromptSubmit", "PostToolUseFailure"]),
    "cursor": (".cursor/hooks.json", ["sessionStart"]),
}


@pytest.mark.parametrize("client", EVENTS)
def test_hooks_stand_beside_those_of_others_and_go_alone(machine: Machine, client: str) -> None:
    name, events = EVENTS[client]
    path = machine.home / name
    path.parent.mkdir()
    theirs = {events[0]: [{"command": "theirs"}], "Other": []}
    text = json.dumps({"version": 1, "hooks": theirs}, indent=3)
    path.write_text(text)
    install(machine, client)
    hooks = json.loads(path.read_text())["hooks"]
    assert hooks[events[0]][0] == {"command": "theirs"}
    assert all(str(machine.data / "hook.py") in json.dumps(hooks[event][-1]) for event in events)
    for name in ("hook.py", "hook_means.py"):
        assert (machine.data / name).read_bytes() == SOURCE.with_name(name).read_bytes()
    assert {each.action for each in install(machine, client)} == {"unchanged"}
    uninstall(machine, client)
    assert path.read_text() == text
    assert not (machine.data / "hook.py").exists()


@pytest.mark.parametrize(
    "client", ["claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "cursor"]
)
@pytest.mark.parametrize("missing", ["python", "script", "data directory"])
@pytest.mark.skipif(os.name != "posix", reason="runs the commands for POSIX")
def test_a_hook_is_silent_and_succeeds_whatever_is_missing(
    machine: Machine, client: str, missing: str
) -> None:
    own = machine._replace(python=sys.executable)
    if missing == "python":
        own = own._replace(python=str(machine.home / "gone" / "bin" / "python"))
    install(own, client)
    if missing == "script":
        (machine.data / "hook.py").unlink()
    if missing == "data directory":
        (machine.data / "hook.py").unlink()
        own.data.rename(own.data.with_name("moved"))
    target = hook_target(own, client, USER)
    assert target is not None
    commands = list(_commands(json.loads(target.path.read_text())))
    assert commands
    for words in commands:
        done = subprocess.run(words, input=b'{"cwd": "/"}', capture_output=True, timeout=PATIENCE_S)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def _commands(value: Any) -> Iterator[list[str]]:
    """Every command in a file of hooks, as its client starts it."""
    if isinstance(value, list):
        for each in value:
            yield from _commands(each)
    elif isinstance(value, dict):
        line = value.get("command") or value.get("bash")
        if isinstance(line, str) and "timeout" in "".join(value):
            yield [line, *value["args"]] if "args" in value else ["/bin/sh", "-c", line]
        for each in value.values():
            yield from _commands(each)


def test_an_older_claude_code_gets_no_event_that_it_does_not_know(machine: Machine) -> None:
    program = machine.home / "claude"
    program.write_text('#!/bin/sh\necho "2.0.76 (Claude Code)"\n')
    program.chmod(0o755)
    older = machine._replace(environment={**machine.environment, "PATH": str(machine.home)})
    assert "PostToolUseFailure" in str(hook_target(machine, "claude-code", USER))
    assert "PostToolUseFailure" not in str(hook_target(older, "claude-code", USER))


def test_on_windows_a_launcher_beside_the_hook_is_called(machine: Machine) -> None:
    windows = machine._replace(platform="win32")
    put_script(windows)
    launcher = (machine.data / "hook.cmd").read_text()
    assert machine.python in launcher
    assert launcher.rstrip().endswith("exit /b 0")
    target = hook_target(windows, "claude-code", USER)
    assert target is not None
    command = target.changes[0].value["hooks"][0]
    assert command["command"] == "cmd.exe"
    assert str(machine.data / "hook.cmd") in command["args"]


def test_paths_with_operators_and_quotes_survive_the_shells_of_windows() -> None:
    words = ["cmd.exe", "/c", "call", r"C:\Users\R&D (x86)\O'Hara $HOME\hook.cmd", "codex"]
    assert cmd_line(words) == r"""cmd.exe /c call "C:\Users\R&D (x86)\O'Hara $HOME\hook.cmd" codex"""
    assert (
        powershell_line(words)
        == r"""& 'cmd.exe' '/c' 'call' 'C:\Users\R&D (x86)\O''Hara $HOME\hook.cmd' 'codex'"""
    )


def test_hooks_can_be_left_out_and_taken_out(machine: Machine) -> None:
    hooks = machine.home / ".cursor" / "hooks.json"
    install(machine, "cursor")
    assert hooks.exists()
    wanted = targets(machine, "cursor", USER, with_hooks=False)
    outcomes = list(installation(machine, "cursor", USER).install(wanted, YES))
    assert [(each.target, each.action) for each in outcomes] == [
        (str(hooks), "removed"),
        (str(machine.home / ".cursor" / "mcp.json"), "unchanged"),
    ]
    assert not hooks.exists()


def test_the_hook_stays_while_another_client_needs_it(machine: Machine) -> None:
    install(machine, "cursor")
    install(machine, "gemini-cli")
    uninstall(machine, "cursor")
    assert (machine.data / "hook.py").exists()
    uninstall(machine, "gemini-cli")
    assert not (machine.data / "hook.py").exists()


def test_vscode_has_hooks_in_projects_alone(machine: Machine) -> None:
    install(machine, "vscode")
    assert not list(machine.home.rglob("hooks"))
    install(machine, "vscode", PROJECT)
    body = json.loads((machine.project / ".github" / "hooks" / "backstory.json").read_text())
    assert list(body["hooks"]) == ["SessionStart"]


def test_a_plugin_whose_program_is_gone_is_named_and_stays_known(machine: Machine) -> None:
    known = receipts.ProgramReceipt("plugin", MISSING, {})
    receipts.save(machine.data, receipts.InstallReceipt("claude-code", USER, "", programs=(known,)))
    outcome = uninstall(machine, "claude-code")[0]
    assert (outcome.action, outcome.target) == ("failed", "its plugin")
    assert [each.client for each in installations(machine)] == ["claude-code"]


def test_a_damaged_receipt_is_named(machine: Machine) -> None:
    install(machine, "kiro")
    path = machine.data / "clients" / "kiro-user.json"
    path.write_text("{")
    with pytest.raises(Unreadable, match=re.escape(str(path))):
        installations(machine)
