import pytest
from langchain_core.tools import StructuredTool

from backend.agents.factory import choose_agent, select_tools
from backend.domains.template import DEFAULT_AGENT
from backend.errors.base import ConfigurationError, InvalidInput
from backend.schemas.domains.templates import AgentTemplate, DomainTemplate
from backend.tools.mcp.servers import Served


def a_tool(name, says="own"):
    return StructuredTool.from_function(lambda: says, name=name, description=says)


def names(tools):
    return [f"{tool.name} {tool.description}" for tool in tools]


def test_a_domain_without_agents_has_one():
    agent = choose_agent(DomainTemplate(name="d"), None)

    assert agent.name == DEFAULT_AGENT
    assert agent.tools is None
    assert choose_agent(DomainTemplate(name="d"), DEFAULT_AGENT) == agent


def test_the_first_agent_answers_unless_another_is_named():
    image = DomainTemplate(name="d", agents=[AgentTemplate(name="a"), AgentTemplate(name="b")])

    assert choose_agent(image, None).name == "a"
    assert choose_agent(image, "b").name == "b"
    with pytest.raises(InvalidInput, match="a, b"):
        choose_agent(image, DEFAULT_AGENT)


def test_a_servers_tool_stands_in_for_an_own_one_of_the_same_name():
    own = [a_tool("x"), a_tool("y")]
    served = Served([a_tool("y", "served"), a_tool("z", "served")])

    everything = select_tools(AgentTemplate(name="a"), own, served)
    chosen = select_tools(AgentTemplate(name="a", tools=["z", "y", "z"]), own, served)
    assert names(everything) == ["x own", "y served", "z served"]
    assert names(chosen) == ["z served", "y served"]
    assert select_tools(AgentTemplate(name="a", tools=[]), own, served) == []


def test_a_tool_that_is_not_there_is_named():
    with pytest.raises(ConfigurationError, match=r"'q'.*It has: x"):
        select_tools(AgentTemplate(name="a", tools=["q"]), [a_tool("x")], Served([]))


def test_what_a_server_that_is_away_would_have_is_left_out():
    own, wanted = [a_tool("x"), a_tool("y")], AgentTemplate(name="a", tools=["x", "y", "q"])
    away = Served([], {"y": "its server is away"}, is_whole=False)

    assert names(select_tools(wanted, own, away)) == ["x own"]
    assert names(select_tools(AgentTemplate(name="a"), own, away)) == ["x own"]
