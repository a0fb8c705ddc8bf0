"""Which secrets a domain may name, where, and what is said of those that are missing."""

import pytest

from backend.domains.secrets import STDIO, Destination, Secrets, check_secrets, expand_secrets
from backend.errors.domains import SecretForbidden, SecretMissing
from backend.schemas.domains.templates import DomainTemplate, StreamableHttpServer
from backend.settings import Settings

HERE = Destination(STDIO)
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

    assert rules.expand("Bearer ${GITHUB_TOKEN}/${JIRA_KEY}", HERE) == "Bearer g/j"
    assert rules.refusal("GITHUB_TOKEN_2", None) and rules.refusal("HOME", None)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "DATABASE_URL", "REDIS_URL", "openai_api_key"])
def test_settings_of_colloquy_are_never_handed_out(name: str) -> None:
    with pytest.raises(SecretForbidden, match=name):
        secrets(name, "OPENAI*", "DATA*", "R*").expand(f"${{{name}}}", HERE)


def test_a_missing_or_an_empty_secret_is_named() -> None:
    for name in ("JIRA_GONE", "EMPTY"):
        with pytest.raises(SecretMissing, match=name):
            secrets("JIRA_*", "EMPTY").expand(f"${{{name}}}", HERE)


def test_what_is_no_name_stays_as_it_is() -> None:
    assert secrets().expand("$HOME ${} $(x) {{y}}", HERE) == "$HOME ${} $(x) {{y}}"


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("url", "http://localhost/${HOME", "`${HOME`"),
        ("url", "http://localhost/${}/mcp", "`${}`"),
        ("headers", {"A": "Bearer ${GITHUB-TOKEN} x"}, "`${GITHUB-TOKEN}`"),
        ("headers", {"A": "${ JIRA_KEY }"}, "`${`"),
    ],
)
def test_a_name_that_is_badly_written_is_a_fault(field: str, value: object, named: str) -> None:
    server = {"transport": "streamable_http", "url": "http://localhost/mcp", field: value}

    faults, _ = checked(server, "*")

    assert [fault.path for fault in faults] == [["mcp_servers", "s", field]]
    assert faults[0].message.startswith(f"{named} names no secret")


def test_an_argument_of_a_command_may_be_for_a_shell() -> None:
    stdio = {"transport": "stdio", "command": "sh", "args": ["-c", "echo ${x:-1}"]}

    assert checked(stdio) == ([], [])


def test_each_place_is_checked() -> None:
    http = {
        "transport": "streamable_http",
        "url": "http://localhost/${JIRA_KEY}",
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
    for wrong in ("*", "A B", "A*B", "${X}", "A@", "A@h:x", "A@h/p", "A@h h", "A@ftp://h", "@h"):
        with pytest.raises(ValueError, match="GITHUB_TOKEN"):
            Settings(_env_file=None, domain_secrets=wrong)


@pytest.mark.parametrize(
    ("entry", "url"),
    [
        ("JIRA_KEY", "http://127.0.0.1:9000/mcp"),
        ("JIRA_KEY", "http://localhost/mcp"),
        ("JIRA_KEY", "http://[::1]:9000/mcp"),
        ("JIRA_*@jira.example.org", "https://jira.example.org/mcp"),
        ("JIRA_KEY@JIRA.example.ORG", "https://Jira.Example.org:8443/mcp"),
        ("JIRA_KEY@jira.example.org:8443", "https://jira.example.org:8443/mcp"),
        ("JIRA_KEY@jira.example.org:443", "https://jira.example.org/mcp"),
        ("JIRA_KEY@http://jira.intern:8080", "http://jira.intern:8080/mcp"),
        ("JIRA_KEY@127.0.0.1", "http://127.0.0.1:9000/mcp"),
        ("JIRA_KEY@[::1]:9000", "http://[::1]:9000/mcp"),
    ],
)
def test_a_secret_goes_where_its_entry_says(entry: str, url: str) -> None:
    assert sent(url, entry) == "j"


@pytest.mark.parametrize(
    ("entries", "url", "mend"),
    [
        (["JIRA_*"], "https://jira.example.org/mcp", "JIRA_KEY@jira.example.org"),
        (["JIRA_KEY"], "https://127.0.0.1.example.org/", "JIRA_KEY@127.0.0.1.example.org"),
        (["JIRA_KEY"], "https://localhost.example.org/", "JIRA_KEY@localhost.example.org"),
        (["JIRA_KEY@a.org"], "https://b.org:8443/", "JIRA_KEY@b.org:8443"),
        (["JIRA_KEY@a.org"], "https://sub.a.org/", "JIRA_KEY@sub.a.org"),
        (["JIRA_KEY@a.org"], "https://a.org@b.org/", "JIRA_KEY@b.org"),
        (["JIRA_KEY@a.org"], "https://b.org/?a.org", "JIRA_KEY@b.org"),
        (["JIRA_KEY@a.org:8443"], "https://a.org/", "JIRA_KEY@a.org"),
        (["JIRA_KEY@a.org"], "http://a.org/", "JIRA_KEY@http://a.org"),
        (["JIRA_KEY@http://a.org"], "https://a.org/", "JIRA_KEY@a.org"),
        (["JIRA_KEY@a.org", "JIRA_*"], "http://127.0.0.1/", "JIRA_KEY@127.0.0.1"),
        (["JIRA_KEY@stdio"], "http://127.0.0.1/", "JIRA_KEY@127.0.0.1"),
    ],
)
def test_a_secret_goes_nowhere_else_and_the_way_to_mend_that_is_said(
    entries: list[str], url: str, mend: str
) -> None:
    server = {"transport": "streamable_http", "url": url, "headers": {"A": "${JIRA_KEY}"}}

    faults, _ = checked(server, *entries)

    assert [fault.path for fault in faults] == [["mcp_servers", "s", "headers"]]
    assert f"add {mend} to DOMAIN_SECRETS" in faults[0].message
    with pytest.raises(SecretForbidden, match="DOMAIN_SECRETS"):
        sent(url, *entries)


def test_a_bound_secret_is_handed_to_a_child_process_only_where_an_entry_says_so() -> None:
    stdio = {"transport": "stdio", "command": "c", "env": {"T": "${JIRA_KEY}"}}

    refused, _ = checked(stdio, "JIRA_KEY@jira.example.org")

    assert "JIRA_KEY@stdio" in refused[0].message
    assert checked(stdio, "JIRA_KEY@jira.example.org", "JIRA_KEY@stdio") == ([], [])
    assert checked(stdio, "JIRA_KEY") == ([], [])


def test_where_a_url_leads_is_judged_once_its_own_secrets_are_in_it() -> None:
    hosts = {"JIRA_KEY": "evil.example/", "JIRA_URL": "https://evil.example"}
    rules = Secrets(("JIRA_*@good.example",), lambda: hosts)
    for url in ("https://${JIRA_KEY}@good.example/mcp", "${JIRA_URL}/mcp"):
        template = DomainTemplate(
            name="d", mcp_servers={"s": {"transport": "streamable_http", "url": url}}
        )

        assert check_secrets(template.mcp_servers, rules)[0] == []
        with pytest.raises(SecretForbidden, match=r"evil\.example"):
            expand_secrets(template.mcp_servers["s"], rules)


def sent(url: str, *entries: str) -> str:
    """What is sent as a header to a server whose template names JIRA_KEY."""
    server = {"transport": "streamable_http", "url": url, "headers": {"A": "${JIRA_KEY}"}}
    template = DomainTemplate(name="d", mcp_servers={"s": server})
    return expand_secrets(template.mcp_servers["s"], secrets(*entries)).headers["A"]


def test_more_secrets_than_can_be_judged_at_once_are_one_fault():
    named = "".join(f"${{A{number}}}" for number in range(1_001))
    server = StreamableHttpServer(
        transport="streamable_http", url="https://h/mcp", headers={"X": named}
    )

    faults, _ = check_secrets({"s": server}, Secrets())

    assert [fault.message for fault in faults] == [
        "Tool servers of one domain name 1,000 secrets at most."
    ]


HTTP = {"transport": "streamable_http", "url": "http://localhost/mcp"}
PROCESS = {"transport": "stdio", "command": "c"}


@pytest.mark.parametrize(
    ("server", "field", "name"),
    [
        (HTTP, "headers", "Host"),
        (HTTP, "headers", "X-Forwarded-Host"),
        (HTTP, "headers", "FORWARDED"),
        (HTTP, "headers", "Proxy-Authorization"),
        (HTTP, "headers", "x-original-url"),
        (PROCESS, "env", "HTTPS_PROXY"),
        (PROCESS, "env", "all_proxy"),
        (PROCESS, "env", "SSL_CERT_FILE"),
        (PROCESS, "env", "NODE_TLS_REJECT_UNAUTHORIZED"),
    ],
)
def test_what_could_take_a_secret_elsewhere_is_refused_beside_one(server, field, name) -> None:
    alone = server | {field: {name: "evil.example"}}
    beside = server | {field: {name: "evil.example", "TOKEN": "${JIRA_KEY}"}}
    template = DomainTemplate(name="d", mcp_servers={"s": beside}).mcp_servers["s"]

    faults, _ = checked(beside, "JIRA_KEY")

    assert checked(alone, "JIRA_KEY") == ([], [])
    assert [fault.path for fault in faults] == [["mcp_servers", "s", field]]
    assert f"Leave {name} out" in faults[0].message
    with pytest.raises(SecretForbidden, match=f"Leave {name} out"):
        expand_secrets(template, secrets("JIRA_KEY"))
