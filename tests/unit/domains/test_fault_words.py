"""What is wrong with a template is said in words that a person can act on."""

import pytest

from backend.agents.check import check_body
from backend.domains.allowed import Allowed
from backend.schemas.domains.templates import DomainTemplate


@pytest.mark.parametrize(
    ("wrong", "path", "said"),
    [
        ({"name": ""}, ["name"], "Give it a name."),
        ({"agents": [{}]}, ["agents", 0, "name"], "Give it a name."),
        ({"agents": [{"name": "1"}]}, ["agents", 0, "name"], "Begin the name with a letter"),
        ({"limits": {"steps": 0}}, ["limits", "steps"], "This must be at least 1."),
        ({"limits": {"steps": "x"}}, ["limits", "steps"], "Write a whole number here."),
        ({"agents": 1}, ["agents"], "Write a list here."),
        (
            {"tools": [], "agents": [{"name": "A", "tools": ["query_source"]}]},
            ["agents", 0, "tools"],
            "A names 'query_source', but the tools of its domain are none. Add that to the",
        ),
        (
            {"tools": ["list_sources"], "manager": {"tools": ["query_source"]}},
            ["manager", "tools"],
            "Sage names 'query_source', but the tools of its domain are list_sources.",
        ),
        ({"agents": [{"name": "A", "roles": []}]}, ["agents", 0, "roles"], "Add a role, or leave"),
        ({"stepz": 1}, ["stepz"], "There is no field of this name."),
        (
            {"mcp_servers": {"s": {"transport": "stdio"}}},
            ["mcp_servers", "s", "command"],
            "Say which command starts it.",
        ),
        ({"mcp_servers": {"s": {}}}, ["mcp_servers", "s"], "Say how it is reached"),
        (
            {"middleware": ["title", {"summarization": {"keep_tokens": 1}}]},
            ["middleware", 1, "summarization", "keep_tokens"],
            "This must be at least 50.",
        ),
        (
            {"middleware": [{"summarization": {"keep_tokens": 100, "trigger_tokens": 100}}]},
            ["middleware", 0, "summarization"],
            "Keep_tokens must not be more than half of trigger_tokens.",
        ),
        (
            {"middleware": [{"approvals": {"rules": [{"tools": "", "action": "x"}]}}]},
            ["middleware", 0, "approvals", "rules", 0, "tools"],
            "Say which tools this is about",
        ),
        ({"middleware": ["title", "title"]}, ["middleware", 1], "title is named twice"),
        ({"middleware": ["none"]}, ["middleware", 0], "There is no middleware 'none'"),
    ],
)
def test_a_fault_stands_at_its_place_in_words(wrong, path, said) -> None:
    check = check_body({"name": "d", **wrong}, Allowed())

    assert (check.faults[0].path, check.faults[0].message[: len(said)]) == (path, said)


def test_an_agent_may_name_tools_that_only_a_server_has_and_those_of_its_domain() -> None:
    server = {"s": {"transport": "streamable_http", "url": "http://127.0.0.1:9/mcp"}}
    agents = [{"name": "A", "tools": ["look"]}]
    served = {"name": "d", "tools": [], "mcp_servers": server, "agents": agents}
    own = {"name": "d", "agents": [{"name": "A", "tools": ["keep_file"]}]}

    assert check_body(served, Allowed()).faults == check_body(own, Allowed()).faults == []


def test_an_agent_that_was_stored_without_any_role_is_still_read() -> None:
    read = DomainTemplate.read({"name": "d", "agents": [{"name": "A", "roles": []}]})

    assert read.agents[0].roles == []


def test_middleware_is_looked_at_also_where_all_else_is_wrong() -> None:
    check = check_body({"middleware": [{"title": {"seconds": 0}}]}, Allowed())

    assert [fault.path for fault in check.faults] == [
        ["name"],
        ["middleware", 0, "title", "seconds"],
    ]
