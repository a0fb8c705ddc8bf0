"""What can be said of a tool server before anybody asks it."""

from typing import Any

import pytest

from backend.domains.commands import Commands
from backend.domains.tool_servers import check_servers
from backend.schemas.domains.templates import DomainTemplate


def faults_of(name: str = "s", **fields: Any) -> list[list[str | int]]:
    transport = "stdio" if "command" in fields else "streamable_http"
    server = {"transport": transport, **fields}
    template = DomainTemplate(name="d", mcp_servers={name: server})
    return [fault.path for fault in check_servers(template.mcp_servers, Commands((("c",),)))]


@pytest.mark.parametrize(
    "url",
    [
        "", " ", "x", "not a url", "ftp://x", "http://", "http:///mcp", "http://h:port/", "//h/mcp",
        "http://h:99999/", "http://[x/", "http://h h/", "http://h/\n", "mailto:${NAME}", "file:///x",
    ],
)  # fmt: skip
def test_an_address_that_nothing_can_answer_under_is_a_fault(url: str) -> None:
    assert faults_of(url=url) == [["mcp_servers", "s", "url"]]


@pytest.mark.parametrize(
    "url",
    [
        "http://h", "https://h.example:8443/mcp?x=1", "HTTP://H/", "http://[::1]:9000/mcp",
        "http://${HOST}:${PORT}/${PATH}", "${URL}", "${URL}/mcp", "http://u:${PASSWORD}@h/",
        "http://münchen.example/mcp",
    ],
)  # fmt: skip
def test_an_address_may_name_secrets_anywhere(url: str) -> None:
    assert faults_of(url=url) == []


@pytest.mark.parametrize("name", ["", " ", "\u200b", "a\nb", "a\x00b", "n" * 81])
def test_a_server_has_a_name_that_can_be_read(name: str) -> None:
    assert faults_of(name, command="c") == [["mcp_servers", name]]


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("command", {"command": ""}),
        ("command", {"command": "  "}),
        ("env", {"command": "c", "env": {"": "x"}}),
        ("env", {"command": "c", "env": {"A=B": "x"}}),
        ("headers", {"url": "http://h", "headers": {"": "x"}}),
        ("headers", {"url": "http://h", "headers": {"A B": "x"}}),
        ("headers", {"url": "http://h", "headers": {"A": "x\r\nB: y"}}),
        ("headers", {"url": "http://h", "headers": {"A": "é"}}),
    ],
)
def test_what_no_process_or_request_can_have_is_a_fault(field: str, fields: dict) -> None:
    assert faults_of(**fields) == [["mcp_servers", "s", field]]


def test_a_server_as_it_should_be_has_no_fault() -> None:
    assert faults_of("My ledger", command="c", args=[""], env={"A_B": "${X}=é"}) == []
    assert faults_of("s", url="http://h", headers={"Authorization": "Bearer ${X}"}) == []
