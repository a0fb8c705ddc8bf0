"""What can be said of a tool server before anybody asks it."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from backend.domains.allowed import Allowed
from backend.domains.commands import Commands
from backend.domains.tool_servers import check_servers
from backend.errors.outgoing import AddressRefused
from backend.outgoing.policy import Outgoing, read_entries
from backend.schemas.domains.templates import DomainTemplate
from backend.tools.mcp.servers import open_mcp_tools

ALLOWED = Allowed(commands=Commands((("c",),)), outgoing=Outgoing(permits_inside=True))


def faults_of(name: str = "s", **fields: Any) -> list[list[str | int]]:
    transport = "stdio" if "command" in fields else "streamable_http"
    server = {"transport": transport, **fields}
    template = DomainTemplate(name="d", mcp_servers={name: server})
    return [fault.path for fault in check_servers(template.mcp_servers, ALLOWED)]


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


def servers_at(url: str) -> Any:
    server = {"transport": "streamable_http", "url": url}
    return DomainTemplate(name="d", mcp_servers={"s": server}).mcp_servers


@pytest.mark.parametrize("url", ["http://127.1:8080/mcp", "https://[::ffff:10.0.0.5]/${NAME}"])
def test_an_address_inside_is_a_fault_unless_the_operator_lists_it(url: str) -> None:
    (fault,) = check_servers(servers_at(url), Allowed())
    listed = Allowed(outgoing=Outgoing(read_entries("127.0.0.1:8080, 10.0.0.0/8")))

    assert fault.path == ["mcp_servers", "s", "url"] and "OUTGOING_ALLOWED" in fault.message
    assert check_servers(servers_at(url), listed) == []
    assert check_servers(servers_at("https://${NAME}/mcp"), Allowed()) == []  # known when it is set


@pytest.mark.parametrize("addresses", [["10.0.0.5"], ["169.254.169.254"], []])
def test_a_server_whose_name_leads_inside_is_missing_as_one_that_does_not_exist(
    addresses: list[str],
) -> None:
    def resolve(*_: object) -> list[str]:
        if not addresses:
            raise OSError
        return addresses

    async def warned() -> Sequence[str]:
        allowed = Allowed(outgoing=Outgoing(resolve=resolve))
        async with open_mcp_tools(servers_at("http://vault.example"), allowed=allowed) as served:
            return served.warnings

    (said,) = asyncio.run(warned())
    assert AddressRefused().reason in said
