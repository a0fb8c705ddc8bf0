"""Which secrets a domain may name, where, and what is said of those that are missing."""

import pytest

from backend.domains.secrets import Secrets, check_secrets
from backend.errors import SecretForbidden, SecretMissing
from backend.schemas.domains import DomainTemplate
from backend.settings import Settings

ENVIRONMENT = {
    "GITHUB_TOKEN": "g",
    "JIRA_KEY": "j",
    "OPENAI_API_KEY": "never",
    "DATABASE_URL": "never",
    "EMPTY": "",
}


def secrets(*allowed: str) -> Secrets:
    return Secrets(allowed, lambda: ENVIRONMENT)


def checked(server: dict, *allowed: str):
    template = DomainTemplate(name="d", mcp_servers={"s": server})
    return check_secrets(template.mcp_servers, secrets(*allowed))


def test_names_and_beginnings_are_allowed() -> None:
    rules = secrets("GITHUB_TOKEN", "JIRA_*")

    assert rules.expand("Bearer ${GITHUB_TOKEN}/${JIRA_KEY}") == "Bearer g/j"
    assert not rules.allows("GITHUB_TOKEN_2")
    assert not rules.allows("HOME")


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "DATABASE_URL", "REDIS_URL", "openai_api_key"])
def test_settings_of_colloquy_are_never_handed_out(name: str) -> None:
    with pytest.raises(SecretForbidden, match=name):
        secrets(name, "OPENAI*", "DATA*", "R*").expand(f"${{{name}}}")


def test_a_missing_or_an_empty_secret_is_named() -> None:
    for name in ("JIRA_GONE", "EMPTY"):
        with pytest.raises(SecretMissing, match=name):
            secrets("JIRA_*", "EMPTY").expand(f"${{{name}}}")


def test_what_is_no_name_stays_as_it_is() -> None:
    assert secrets().expand("$HOME ${} $(x) {{y}}") == "$HOME ${} $(x) {{y}}"


def test_each_place_is_checked() -> None:
    http = {
        "transport": "streamable_http",
        "url": "http://h/${JIRA_KEY}",
        "headers": {"A": "${HOME}", "B": "${JIRA_GONE} ${JIRA_GONE}"},
    }

    faults, warnings = checked(http, "JIRA_*")

    assert [fault.path for fault in faults] == [["mcp_servers", "s", "headers"]]
    assert "DOMAIN_SECRETS" in faults[0].message
    assert [fault.path for fault in warnings] == [["mcp_servers", "s", "headers"]]
    assert "JIRA_GONE" in warnings[0].message


def test_no_secret_stands_in_a_command() -> None:
    stdio = {"transport": "stdio", "command": "${JIRA_KEY}", "args": ["${JIRA_KEY}"]}

    faults, warnings = checked(stdio, "JIRA_*")

    assert [fault.path[-1] for fault in faults] == ["command"]
    assert warnings == []


def test_the_settings_say_which_names_are_allowed() -> None:
    settings = Settings(_env_file=None, domain_secrets=" GITHUB_TOKEN, JIRA_* ,")

    assert settings.secret_names == ("GITHUB_TOKEN", "JIRA_*")
    assert Settings(_env_file=None).secret_names == ("COLLOQUY_SECRET_*",)
    for wrong in ("*", "A B", "A*B", "${X}"):
        with pytest.raises(ValueError, match="GITHUB_TOKEN"):
            Settings(_env_file=None, domain_secrets=wrong)
