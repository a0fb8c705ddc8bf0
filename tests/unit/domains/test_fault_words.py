"""What is wrong with a template is said in words that a person can act on."""

import pytest

from backend.agents.check import check_body
from backend.agents.middleware.registry import find_settings
from backend.domains.allowed import Allowed
from backend.domains.prices import Prices
from backend.schemas.domains.templates import DomainTemplate

SERVER = {"s": {"transport": "streamable_http", "url": "https://tools.example/mcp"}}


def limit(tool: str) -> dict:
    """A policy about one tool."""
    return {"tool_call_limit": {"tool": tool, "turn": 1}}


@pytest.mark.parametrize(
    ("wrong", "path", "said"),
    [
        ({"name": ""}, ["name"], "Give it a name."),
        ({"name": "n" * 81}, ["name"], "This is too long: at most 80 characters are allowed."),
        ({"agents": [{}]}, ["agents", 0, "name"], "Give it a name."),
        ({"agents": [{"name": "1"}]}, ["agents", 0, "name"], "Begin the name with a letter"),
        ({"limits": {"steps": 0}}, ["limits", "steps"], "This must be at least 1."),
        ({"limits": {"cost": 0}}, ["limits", "cost"], "This must be more than 0."),
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
        ({"model": ""}, ["model"], "This must not be empty."),
        ({"model": " "}, ["model"], "This must not be empty."),
        ({"model": "\u200b"}, ["model"], "A model's name has no line breaks or other invisible"),
        ({"model": "a\nb"}, ["model"], "A model's name has no line breaks or other invisible"),
        ({"models": ["a", " "]}, ["models", 1], "This must not be empty."),
        ({"agents": [{"name": "A", "model": " "}]}, ["agents", 0, "model"], "This must not be"),
        ({"manager": {"continuity_model": ""}}, ["manager", "continuity_model"], "This must not"),
        (
            {"middleware": [{"title": {"model": ""}}]},
            ["middleware", 0, "title", "model"],
            "This must not be empty.",
        ),
        (
            {"middleware": [{"model_fallback": {"models": [""]}}]},
            ["middleware", 0, "model_fallback", "models", 0],
            "This must not be empty.",
        ),
        (
            {"middleware": [{"summarization": {"model": " "}}]},
            ["middleware", 0, "summarization", "model"],
            "This must not be empty.",
        ),
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
        (
            {"tools": ["list_sources"], "middleware": [limit("list_source")]},
            ["middleware", 0, "tool_call_limit", "tool"],
            "There is no tool 'list_source' here. Name one of these, or remove it: list_sources.",
        ),
        (
            {"middleware": ["todos", {"context_editing": {"never": ["write_todos", "nope"]}}]},
            ["middleware", 1, "context_editing", "never", 1],
            "There is no tool 'nope' here.",
        ),
        (
            {"tools": [], "middleware": [{"tool_retry": {"tools": ["query_source"]}}]},
            ["middleware", 0, "tool_retry", "tools", 0],
            "There is no tool 'query_source' here. Name one of these, or remove it: none.",
        ),
        (
            {"middleware": [{"approvals": {"rules": [{"tools": "nope", "action": "deny"}]}}]},
            ["middleware", 0, "approvals", "rules", 0, "tools"],
            "There is no tool 'nope' here.",
        ),
        (
            {"agents": [{"name": "A", "tools": [], "middleware": [limit("query_source")]}]},
            ["agents", 0, "middleware", 0, "tool_call_limit", "tool"],
            "There is no tool 'query_source' here.",
        ),
        (
            {"middleware": [limit("make_artifact")]},
            ["middleware", 0, "tool_call_limit", "tool"],
            "",
        ),
        ({"middleware": ["title", "title"]}, ["middleware", 1], "title is named twice"),
        ({"middleware": ["none"]}, ["middleware", 0], "There is no middleware 'none'"),
    ],
)
def test_a_fault_stands_at_its_place_in_words(wrong, path, said) -> None:
    check = check_body({"name": "d", **wrong}, Allowed())

    assert (check.faults[0].path, check.faults[0].message[: len(said)]) == (path, said)


def test_an_agent_may_name_tools_that_only_a_server_has_and_those_of_its_domain() -> None:
    agents = [{"name": "A", "tools": ["look"]}]
    served = {"name": "d", "tools": [], "mcp_servers": SERVER, "agents": agents}
    own = {"name": "d", "agents": [{"name": "A", "tools": ["keep_file"]}]}

    assert check_body(served, Allowed()).faults == check_body(own, Allowed()).faults == []


@pytest.mark.parametrize(
    "right",
    [
        {"middleware": [limit("look")], "mcp_servers": SERVER},
        {"middleware": [limit("write_file"), "filesystem"]},
        {"middleware": [limit("run_plan")], "manager": {}},
        {"middleware": [limit("make_artifact")], "manager": {}},
        {"manager": {"middleware": [limit("call_agent")]}},
        {"middleware": [limit("keep_file")], "agents": [{"name": "A", "tools": ["keep_file"]}]},
        {"middleware": [{"approvals": {"rules": [{"tools": "mail_*", "action": "ask"}]}}]},
    ],
)
def test_a_policy_may_name_any_tool_that_its_agents_can_have(right) -> None:
    assert check_body({"name": "d", **right}, Allowed()).faults == []


def test_an_agent_that_was_stored_without_any_role_is_still_read() -> None:
    read = DomainTemplate.read({"name": "d", "agents": [{"name": "A", "roles": []}]})

    assert read.agents[0].roles == []


def test_middleware_is_looked_at_also_where_all_else_is_wrong() -> None:
    check = check_body({"middleware": [{"title": {"seconds": 0}}]}, Allowed())

    assert [fault.path for fault in check.faults] == [
        ["name"],
        ["middleware", 0, "title", "seconds"],
    ]


def test_blanks_around_a_models_name_are_left_out_also_where_they_were_stored() -> None:
    check = check_body(
        {
            "name": "d",
            "model": " m\n",
        },
        Allowed(),
    )
    read = DomainTemplate.read({"name": "d", "model": " ", "models": ["a\nb", " m"]})

    assert check.image is not None and check.image["model"] == "m"
    assert (read.model, read.models) == (None, ["a\nb", "m"])
    assert find_settings([{"title": {"model": " m "}}], "title").model == "m"


@pytest.mark.parametrize(
    ("domain", "unpriced"),
    [
        ({}, "default"),
        ({"model": "dear"}, None),
        ({"model": "dear", "models": ["free", "dear"]}, "free"),
        ({"agents": [{"name": "A", "model": "dear"}, {"name": "B", "model": "free"}]}, "free"),
        ({"model": "dear", "middleware": ["todos", {"title": {"model": "free"}}]}, "free"),
        ({"model": "dear", "manager": {"continuity_model": "free"}}, "free"),
    ],
)
def test_a_limit_on_the_cost_of_a_model_without_a_price_is_warned_of(domain, unpriced) -> None:
    limits = {"cost": 1, "tokens": 1, "domain_cost_per_month": 1}
    prices = Prices("default", {"dear"})

    check = check_body({"name": "d", "limits": limits, **domain}, Allowed(), prices)

    assert check.faults == []
    paths = [["limits", "cost"], ["limits", "domain_cost_per_month"]]
    assert [warning.path for warning in check.warnings] == (paths if unpriced else [])
    said = f"No price is set for {unpriced}, so that cost never counts"
    assert all(said in warning.message for warning in check.warnings)
    assert check_body({"name": "d", **domain}, Allowed(), prices).warnings == []
