"""The official conformance suite against the real HTTP server, in both eras; docs/conformance.md says what applies."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ..missing import NPM_PACKAGES, skip_without
from ..patience import PATIENCE_S
from ..server.team import fixture, listening

MODULES = Path(__file__).parent / "node_modules"
PACKAGE = MODULES / "@modelcontextprotocol" / "conformance"
PAGE = Path(__file__).parents[2] / "docs" / "conformance.md"
OLDEST_NODE = 22

LEGACY, MODERN = "2025-11-25", "2026-07-28"
GREEN = {
    LEGACY: {
        "server-initialize",
        "server-session-lifecycle",
        "logging-set-level",
        "ping",
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "tools-call-with-progress",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "prompts-list",
        "resources-list",
    },
    MODERN: {
        "tools-list",
        "tools-call-simple-text",
        "tools-call-error",
        "tools-call-with-progress",
        "server-sse-multiple-streams",
        "dns-rebinding-protection",
        "http-header-validation",
        "input-required-result-unsupported-methods",
        "input-required-result-validate-input",
        "prompts-list",
        "resources-list",
        "sep-2164-resource-not-found",
        "caching",
    },
}
PARTLY = {
    "server-stateless": {
        "sep-2575-server-rejects-undeclared-capability",
        "sep-2575-missing-capability-http-400",
        "sep-2575-http-server-no-independent-requests-on-stream",
    },
}
"""Scenarios of which only these checks do not apply."""
NEED_FIXTURE = {"tools-call-simple-text", "tools-call-error", "tools-call-with-progress"}
NEED_PRODUCT = {
    "prompts-list",
    "resources-list",
    "sep-2164-resource-not-found",
    "caching",
}
"""The server with the suite's tools has neither resources nor prompts."""
NO_LOG = "sep-2575-server-no-log-without-loglevel"
"""A check that needs a tool of the suite."""
INAPPLICABLE = re.compile(
    r"completion-complete|prompts-get-.*|resources-(read|templates|subscribe|unsubscribe).*"
    r"|tools-call-(image|audio|embedded-resource|mixed-content|with-logging|sampling|elicitation)"
    r"|elicitation-sep.*|input-required-result-(?!unsupported-methods|validate-input).*"
    r"|json-schema-2020-12|server-sse-polling|http-custom-header-server-validation"
)


class Ran(NamedTuple):
    """What the suite found, by scenario: the checks that succeeded, and those that failed or warned."""

    passed: dict[str, set[str]]
    failed: dict[str, set[str]]


@pytest.fixture
def suite() -> list[str]:
    node = _node()
    if node is None or not PACKAGE.exists():
        skip_without(f"conformance suite or no Node {OLDEST_NODE}", NPM_PACKAGES)
    (script,) = json.loads((PACKAGE / "package.json").read_text("utf-8"))["bin"].values()
    return [node, str(PACKAGE / script), "server", "--suite", "all"]


def _node() -> str | None:
    """The first Node that is new enough: the machine's own, or one that npm brought."""
    brought = map(str, MODULES.glob("node-*/bin/node"))
    for node in filter(None, (shutil.which("node"), *brought)):
        version = subprocess.run([node, "--version"], capture_output=True, encoding="utf-8").stdout
        if int(version.removeprefix("v").partition(".")[0]) >= OLDEST_NODE:
            return node
    return None


def _run(suite: list[str], url: str, version: str, results: Path) -> Ran:
    command = [*suite, "--url", url, "--spec-version", version, "--output-dir", str(results)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PATIENCE_S)
    ran = Ran({}, {})
    for file in results.glob("*/checks.json"):
        found = re.fullmatch(r"server-(.+?)-\d{4}-\d\d-\d\dT.*", file.parent.name)
        assert found, file
        checks = [each for each in json.loads(file.read_text("utf-8")) if not _is_given_up(each)]
        for kept, statuses in ((ran.passed, ("SUCCESS",)), (ran.failed, ("FAILURE", "WARNING"))):
            kept[found[1]] = {check["id"] for check in checks if check["status"] in statuses}
    assert ran.passed, done.stdout + done.stderr
    return ran


def _is_given_up(check: dict[str, Any]) -> bool:
    """The suite waits half a second for its answer; a busy machine may take longer."""
    return check["id"] == NO_LOG and "dropped or failed to yield" in check.get("errorMessage", "")


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_exactly_the_scenarios_that_apply_pass(tmp_path: Path, suite: list[str], version: str) -> None:
    with fixture(tmp_path / "home") as web:
        ran = _run(suite, web.url, version, tmp_path / "results")
    page = PAGE.read_text("utf-8")
    for scenario, failed in ran.failed.items():
        assert f"`{scenario}`" in page
        if scenario in NEED_PRODUCT:
            continue
        if scenario in GREEN[version]:
            assert not failed, scenario
            assert ran.passed[scenario]
        elif scenario in PARTLY:
            assert failed == PARTLY[scenario]
        else:
            assert INAPPLICABLE.fullmatch(scenario), f"{scenario} is new"
            assert "wire-schema-valid" not in failed
    assert GREEN[version] <= ran.passed.keys()


@pytest.mark.parametrize("version", [LEGACY, MODERN])
def test_the_product_passes_what_needs_no_tools_of_the_suite(
    tmp_path: Path, suite: list[str], version: str
) -> None:
    with listening(tmp_path / "home") as web:
        ran = _run(suite, web.url, version, tmp_path / "results")
    for scenario in GREEN[version] - NEED_FIXTURE:
        assert not ran.failed[scenario], scenario
        assert ran.passed[scenario]
    for scenario in PARTLY.keys() & ran.failed.keys():
        assert ran.failed[scenario] - {NO_LOG} == PARTLY[scenario]
