"""Dockerfile, compose file and Helm chart: read as far as Python can, their scripts checked by sh, and their services started by hand.

No image is built here and no cluster is asked; docs/team-server.md says so."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import subprocess
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from backstory.settings import TABLE, Settings, variable

from .. import pgbouncer, postgres_server
from ..patience import PATIENCE_S
from ..processes import BACKSTORY
from .go_templates import render
from .team import bearer, listening, token

ROOT = Path(__file__).parents[2]
DOCKER = ROOT / "deploy" / "docker"
CHART = ROOT / "deploy" / "helm" / "backstory"
PORT = "8765"
_REFERENCE = re.compile(r"\$\{(\w+)(?::[?-][^}]*)?\}")


def parsed(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def instructions(file: Path) -> list[tuple[str, str]]:
    lines = file.read_text("utf-8").replace("\\\n", " ").splitlines()
    words = [line.split(maxsplit=1) for line in lines if line.strip() and not line.startswith("#")]
    return [(name, rest) for name, rest in words]


def compose() -> Any:
    return parsed((ROOT / "deploy" / "compose.yaml").read_text("utf-8"))


def manifests(**changes: Any) -> dict[str, Any]:
    values = parsed((CHART / "values.yaml").read_text("utf-8")) | changes
    context = {"Release": {"Name": "memory"}, "Values": values}
    texts = {path.stem: render(path.read_text("utf-8"), context) for path in CHART.glob("templates/*.yaml")}
    return {name: parsed(text) for name, text in texts.items() if text.strip()}


def known_variables() -> set[str]:
    return {variable(setting.name) for setting in TABLE}


@pytest.mark.parametrize("name", ["Dockerfile", "pgbouncer.Dockerfile"])
def test_dockerfiles_copy_files_that_are_there_and_run_as_no_root(name: str) -> None:
    steps = instructions(DOCKER / name)
    assert {step for step, _ in steps} <= {
        "FROM", "RUN", "COPY", "ENV", "USER", "WORKDIR", "VOLUME", "EXPOSE", "STOPSIGNAL", "ENTRYPOINT", "CMD",
    }  # fmt: skip
    context = ROOT if name == "Dockerfile" else DOCKER
    sources = [rest.split()[0] for step, rest in steps if step == "COPY" and "--from" not in rest]
    assert sources
    assert all((context / source).exists() for source in sources)
    users = [rest for step, rest in steps if step == "USER"]
    assert users[-1] not in ("root", "0")
    assert [step for step, _ in steps][-1] in ("CMD", "ENTRYPOINT")


def test_the_image_installs_extras_and_files_that_exist() -> None:
    (install,) = [rest for step, rest in instructions(DOCKER / "Dockerfile") if "pip install" in rest]
    words = shlex.split(install)
    extras = re.search(r"\.\[(.+)\]", install)
    assert extras
    import tomllib

    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert set(extras[1].split(",")) <= set(declared)
    assert (ROOT / words[words.index("--constraint") + 1]).is_file()
    assert (ROOT / "packages" / "minilm" / "pyproject.toml").is_file()


@pytest.mark.parametrize("name", ["start-pgbouncer.sh", "make-database.sh"])
def test_scripts_are_read_by_sh(name: str) -> None:
    subprocess.run(["sh", "-n", str(DOCKER / name)], check=True, timeout=PATIENCE_S)


def test_compose_has_server_pooler_and_database_and_shows_only_the_server_to_this_machine() -> None:
    services = compose()["services"]
    assert set(services) == {"database", "pooler", "server"}
    for service in services.values():
        for network in service["networks"]:
            assert network in compose()["networks"]
        build = service.get("build")
        if build:
            context = ROOT / "deploy" / build["context"]
            assert (context / build["dockerfile"]).is_file()
        for mount in service.get("volumes", ()):
            source = mount.split(":")[0]
            assert source in compose()["volumes"] or (ROOT / "deploy" / source).is_file()
    assert {name for name, each in services.items() if "ports" in each} == {"server"}
    assert services["server"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert compose()["networks"]["inside"]["internal"] is True
    settings = services["server"]["environment"]
    assert set(settings) <= known_variables()
    assert "@pooler:6432/" in settings["BACKSTORY_DATABASE_URL"]
    grace_s = Settings(home=ROOT, project=ROOT).grace_s
    assert int(services["server"]["stop_grace_period"].removesuffix("s")) > grace_s


def test_no_password_is_in_the_files() -> None:
    text = (ROOT / "deploy" / "compose.yaml").read_text("utf-8")
    assert {match[1] for match in _REFERENCE.finditer(text)} == {
        "DATABASE_PASSWORD",
        "SUPERUSER_PASSWORD",
        "HTTP_HOSTS",
    }
    assert not re.search(r"PASSWORD: (?!\$\{)", text)


def test_the_command_of_the_image_serves_behind_the_pooler_of_the_compose_file(tmp_path: Path) -> None:
    ini = configparser.ConfigParser()
    ini.read_string((DOCKER / "pgbouncer.ini").read_text("utf-8"))
    assert ini["pgbouncer"]["pool_mode"] == "transaction"
    server = Path(str(postgres_server.server().pgdata))
    (command,) = [rest for step, rest in instructions(DOCKER / "Dockerfile") if step == "CMD"]
    words = json.loads(command)
    words[words.index("--http") + 1] = "127.0.0.1:0"
    with (
        postgres_server.own_database("compose"),
        pgbouncer.pooler(
            server, database="compose", user=postgres_server.MEMBER, settings=dict(ini["pgbouncer"])
        ) as pooled,
    ):
        (tmp_path / "config.toml").write_text(f"database_url = {json.dumps(pooled)}\n", "utf-8")
        made = token(tmp_path, "alice", "--scope", "write")
        with listening(tmp_path, command=[*BACKSTORY, *words, "--embeddings", "off"]) as web:
            saved = web.call("remember", {"text": "Poolers lend connections."}, **bearer(made))
            assert not saved["isError"], saved
            with urllib.request.urlopen(
                web.url.removesuffix("/mcp") + "/readyz", timeout=PATIENCE_S
            ) as ready:
                assert ready.status == 200


def test_the_chart_renders_to_a_deployment_and_a_service_that_fit_together() -> None:
    rendered = manifests(environment={"BACKSTORY_AUDIT_DAYS": 90})
    assert set(rendered) == {"deployment", "service"}
    deployment, service = rendered["deployment"], rendered["service"]
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert deployment["spec"]["selector"]["matchLabels"] == labels == service["spec"]["selector"]
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    assert container["ports"] == [{"name": "http", "containerPort": int(PORT)}]
    assert service["spec"]["ports"][0]["targetPort"] == "http"
    variables = {each["name"]: each.get("value") for each in container["env"]}
    assert set(variables) <= known_variables()
    assert variables["BACKSTORY_HTTP_HOSTS"] == "memory.example.com"
    assert variables["BACKSTORY_AUDIT_DAYS"] == "90"
    for probe in ("livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["httpHeaders"] == [{"name": "Host", "value": "memory.example.com"}]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    mounts = {each["name"] for each in container["volumeMounts"]}
    assert mounts == {each["name"] for each in deployment["spec"]["template"]["spec"]["volumes"]}


def test_the_ingress_is_made_when_it_is_asked_for() -> None:
    ingress = {"enabled": True, "className": "nginx", "tlsSecret": "tls"}
    http = {"hosts": ["a.example", "b.example"], "proxies": "", "auth": "oauth"}
    rendered = manifests(ingress=ingress, http=http)
    assert [rule["host"] for rule in rendered["ingress"]["spec"]["rules"]] == ["a.example", "b.example"]
    assert rendered["ingress"]["spec"]["tls"] == [{"secretName": "tls", "hosts": ["a.example", "b.example"]}]
    (container,) = rendered["deployment"]["spec"]["template"]["spec"]["containers"]
    assert container["args"][-1] == "oauth"


def test_chart_and_image_have_the_version_of_the_product() -> None:
    import tomllib

    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"].get("version", "0.1.0")
    chart = parsed((CHART / "Chart.yaml").read_text("utf-8"))
    values = parsed((CHART / "values.yaml").read_text("utf-8"))
    assert (chart["appVersion"], values["image"]["tag"]) == (version, version)
