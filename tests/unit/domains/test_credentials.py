"""Literal credentials in tool servers are found, and what only looks like one is not."""

from typing import Any

import pytest
from pydantic import ValidationError

from backend.domains.credentials import find_credentials
from backend.schemas.bounds import LONGEST_SETTING
from backend.schemas.domains.templates import DomainTemplate, McpServer
from backend.types import JSON
from tests.patience import ends_within

CANARY = "c4n4ry-v4lue"
TOKENS = [
    "ghp_c4n4ryc4n4ryc4n4ry", "sk-c4n4ryc4n4ryc4n4ry", "xoxb-c4n4ry-c4n4ry", "glpat-c4n4ryc4n4ry",
    "github_pat_c4n4ryc4n4ry", "AKIAC4N4RYC4N4RYC4N4", "eyJc4n4ry00.eyJc4n4ry00.c4n4ry",
]  # fmt: skip


def servers(**fields: Any) -> dict[str, McpServer]:
    if "command" in fields or "args" in fields or "env" in fields:
        given = {"transport": "stdio", "command": "c", **fields}
    else:
        given = {"transport": "streamable_http", "url": "https://h/mcp", **fields}
    return DomainTemplate(name="d", mcp_servers={"s": given}).mcp_servers


LITERAL = [
    *({"headers": {name: CANARY}} for name in (
        "Authorization", "authorization", "Cookie", "Proxy-Authorization", "X-Api-Key", "X-APIKEY",
        "X-Auth-Token", "X-Secret", "Password", "X-Custom-Key", "apikey", "X-My-token-2",
    )),
    *({"headers": {name: CANARY}} for name in (
        "X-Tokens", "X-Signature", "X-Hub-Signature-256", "X-Session", "X-Session-Id", "X-Api",
    )),
    *({"headers": {"Cookie": value}} for value in (
        f"id=${{X}}; sid={CANARY}", f"sid={CANARY}${{X}}",
    )),
    *({"headers": {"X-Api-Key": value}} for value in (
        f"{CANARY}-${{X}}", f"${{X}}{CANARY}", f"Bearer ${{X}} {CANARY}", f"${{X}}:{CANARY}:${{Y}}",
        f"${{}}{CANARY}",
    )),
    {"env": {"TOKEN": f"{CANARY}${{X}}"}}, {"args": ["--token", f"{CANARY}${{X}}"]},
    {"args": [f"--token={CANARY}${{X}}"]},
    {"url": f"https://me:{CANARY}${{X}}@h/mcp"}, {"url": f"https://h/mcp?api_key={CANARY}${{X}}"},
    {"headers": {"X-Harmless": f"Bearer {CANARY}"}},
    {"headers": {"X-Harmless": f"basic {CANARY}"}},
    *({"headers": {"X-Harmless": f"is {token}!"}} for token in TOKENS),
    *({"env": {name: CANARY}} for name in (
        "GITHUB_TOKEN", "API_KEY", "PGPASSWORD", "db_password", "CLIENT_SECRET", "AUTH", "MY_KEY",
    )),
    {"env": {"DATABASE_URL": f"postgresql://me:{CANARY}@db/x"}},
    *({"env": {"X": token}} for token in TOKENS),
    {"args": [f"--token={CANARY}"]}, {"args": ["--api-key", CANARY]},
    {"args": ["-v", "--password", CANARY]},
    {"args": [f"API_KEY={CANARY}"]}, {"args": ["-H", f"Authorization: Bearer {CANARY}"]},
    {"args": ["--db", f"mysql://u:{CANARY}@h/x"]}, *({"args": [token]} for token in TOKENS),
    {"url": f"https://me:{CANARY}@h/mcp"}, {"url": f"https://{CANARY}@h/mcp"},
    {"url": f"https://h/mcp?api_key={CANARY}&x=1"}, {"url": f"https://h/mcp?x=1&access_token={CANARY}"},
    {"url": f"https://h/{TOKENS[0]}/mcp"},
]  # fmt: skip


@pytest.mark.parametrize("fields", LITERAL, ids=str)
def test_a_literal_credential_is_found_and_not_repeated(fields: dict[str, Any]) -> None:
    (field,) = (name for name in fields if name != "command")

    faults = find_credentials(servers(**fields))

    assert [fault.path for fault in faults] == [["mcp_servers", "s", field]]
    assert "${COLLOQUY_SECRET_" in faults[0].message and "c4n4ry" not in faults[0].message.lower()


FINE = [
    {"headers": {"Authorization": "Bearer ${COLLOQUY_SECRET_X}", "X-Api-Key": "${X}"}},
    *({"headers": {"X-Api-Key": value}} for value in (
        "Token ${X}", "ApiKey ${X}", "basic ${X}:${Y}", "token=${X}",
        '"${X}", ${Y}; ', "${X}-${Y}_${Z}",
    )),
    {"headers": {"Cookie": "session_id=${X}; csrf-token=${Y}"}},
    {"headers": {"X-Api-Version": "2", "X-Session-Mode": "on", "X-Designature": "${X}"}},
    {"headers": {"Accept": "text/plain", "X-Author": "me", "X-Monkey": "m", "X-Tenant": "basic"}},
    {"env": {"MAX_TOKENS": "100", "TOKENIZERS_PARALLELISM": "false", "AUTH": "none", "LANG": "de"}},
    {"env": {"KEY_FILE": "/etc/key.pem", "TOKEN": "${X}", "KEYBOARD": "de", "KEY": ""}},
    {"env": {"DATABASE_URL": "postgresql://me:${X}@db/x"}},
    {"args": ["--token", "${X}", "--token=${X}", "--key-file=/x", "--max-tokens=9", "-m", "keys"]},
    {"args": ["--token", "--verbose", "--db-path", "/data/token.db", "a sentence with: a colon"]},
    {"url": "https://u:${PASSWORD}@h/mcp?token=${X}&page=2"},
    {"url": "${URL}/mcp"},
]  # fmt: skip


@pytest.mark.parametrize("fields", FINE, ids=str)
def test_what_is_named_or_harmless_is_no_credential(fields: dict[str, Any]) -> None:
    assert find_credentials(servers(**fields)) == []


HOSTILE = {
    "beginnings of web tokens": "-eyJ-" * 200_000,
    "longer beginnings of web tokens": "_eyJaaaaaa" * 100_000,
    "beginnings of parts": "SG.aaaaaaaa-" * 80_000,
    "beginnings of keys": "-----BEGIN " * 90_000,
    "schemes": "bearer " * 140_000,
    "blanks behind a scheme": "bearer" + " " * 1_000_000,
    "parameters": "?a" * 500_000,
    "addresses": "://" * 330_000,
    "names of secrets": "token=" + "${a}" * 250_000 + "x",
    "beginnings of names of secrets": "token=" + "${a" * 330_000,
    "an assignment of blanks": "token=" + " " * 1_000_000,
}


@pytest.mark.parametrize("field", ["headers", "args"])
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_stored_text_is_looked_through_in_time_whatever_it_is(text: str, field: str) -> None:
    http: JSON = {"transport": "streamable_http", "url": "https://h/mcp", "headers": {"X": text}}
    stdio: JSON = {"transport": "stdio", "command": "c", "args": [text]}
    server = http if field == "headers" else stdio
    template = DomainTemplate.read({"name": "d", "mcp_servers": {"s": server}})

    with ends_within(10):
        find_credentials(template.mcp_servers)


@pytest.mark.parametrize(
    "fields",
    [
        {"url": "https://h/" + "a" * LONGEST_SETTING},
        {"headers": {"X": "a" * LONGEST_SETTING + "a"}},
        {"args": ["a" * LONGEST_SETTING + "a"]},
        {"env": {"X": "a" * LONGEST_SETTING + "a"}},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_a_longer_text_than_is_looked_through_at_once_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError, match="at most 100000 characters"):
        servers(**fields)


def test_more_entries_than_are_looked_through_at_once_are_refused() -> None:
    with pytest.raises(ValidationError, match="at most 200"):
        servers(env={f"X{number}": "" for number in range(201)})


def test_what_was_stored_with_more_is_read_all_the_same() -> None:
    headers = {f"X-{number}": "a" * (LONGEST_SETTING + 1) for number in range(201)}
    server = {"transport": "streamable_http", "url": "https://h/mcp", "headers": headers}
    template = DomainTemplate.read({"name": "d", "mcp_servers": {"s": server}})

    assert template.mcp_servers["s"].model_dump()["headers"] == headers
