"""A table of messages and the agents that they reach, one after the other in one conversation."""

import pytest

from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.integration.team.scenes import AGENTS, TeamModel, team_domain, team_session
from tests.stack import Stack

SAGE, RECONCILER, WRITER = "Sage", "Reconciler", "Writer"
MENTIONED = (
    ("@Reconciler compare FI and BPC", RECONCILER),
    ("compare FI and BPC, @Writer", WRITER),
    ("could @reconciler compare?", RECONCILER),
    ("@WRITER: go", WRITER),
    ("@Reconciler, go", RECONCILER),
    ("(@Writer)", WRITER),
    ("“@Reconciler”", RECONCILER),
    ("thanks @Writer.", WRITER),
    ("is it so, @Reconciler?", RECONCILER),
    ("**@Writer** go", WRITER),
    ("_@Reconciler_ go", RECONCILER),
    ("a line\n@Writer\na line", WRITER),
    ("@Reconciler- go", RECONCILER),
    ("@Writer's note", WRITER),
    ("`a` @Reconciler `b`", RECONCILER),
    ("`open @Writer", WRITER),
    ("```sql\nSELECT '@Writer'\n```\n@Reconciler go", RECONCILER),
    ("````\n```\n@Reconciler\n````\n@Writer", WRITER),
    ("@Reconciler and again @reconciler", RECONCILER),
    ("@sage what now?", SAGE),
    ("请@Writer看一下", WRITER),
    ("「@Reconciler」", RECONCILER),
)
# None of these names an agent.
CONTINUES = (
    "and for 1001?",
    "mail me at a@Reconciler.com",
    "see user@Reconciler",
    "path/@Reconciler",
    "@@Reconciler",
    "@ Reconciler",
    "@1000",
    "`@Reconciler` is how one asks",
    "``a ` @Reconciler`` is code",
    "```\n@Reconciler\n```",
    "~~~\n@Reconciler\n```\n@Writer\n~~~",
    "```\n@Reconciler never closed",
    "npm install @types/node",
    "mail me at me+@Reconciler.com",
    "请@张三看一下",
)


@pytest.fixture
def team(model: ScriptedModel) -> TeamModel:
    return TeamModel(model)


def reached(stack: Stack, message: str, session_id: str) -> tuple[str, str]:
    """Who has answered, and why that one."""
    said = stack.chat(message, session_id)
    return said["response"].removesuffix(" here"), stack.turn(said["turn_id"])["route"]["reason"]


def test_a_mention_reaches_its_agent_wherever_it_stands(stack: Stack, team: TeamModel) -> None:
    session_id = team_session(stack)

    found = {message: reached(stack, message, session_id) for message, _ in MENTIONED}

    assert found == {message: (agent, "mention") for message, agent in MENTIONED}
    assert team.bodies("continuity") == []


@pytest.mark.parametrize(("answer", "agent"), [("YES", WRITER), ("NO", SAGE)])
def test_what_is_no_mention_is_asked_for_its_continuity(
    stack: Stack, team: TeamModel, answer: str, agent: str
) -> None:
    session_id = team_session(stack)
    assert reached(stack, "@Writer begin", session_id) == (WRITER, "mention")
    team.continuity = {"text": f'{{"answer": "{answer}"}}'}

    found = {message: reached(stack, message, session_id) for message in CONTINUES}

    reason = "continues" if answer == "YES" else "manager"
    assert found == {message: (agent, reason) for message in CONTINUES}
    assert len(team.bodies("continuity")) == len(CONTINUES)


def test_agents_have_names_of_any_script(stack: Stack, team: TeamModel) -> None:
    names = ("分析师", "Аналитик", "R\u00e9viseur", "विश्लेषक")
    agents = [{"name": name, "system_prompt": f"I am {name}."} for name in names]
    domain = make_domain(stack, agents=agents, manager={"system_prompt": "I am Sage."})
    session_id = make_session(stack, domain["name"])
    team.continuity = {"text": '{"answer": "YES"}'}

    found = [
        reached(stack, message, session_id)
        for message in (
            "请@分析师看一下",
            "and more?",
            "@АНАЛИТИК, go",
            "@Re\u0301viseur go",
            "@विश्लेषक go",
        )
    ]
    asked = stack.chat("go", session_id, agent="аналитик")

    assert [agent for agent, _ in found] == ["分析师", "分析师", "Аналитик", "Réviseur", "विश्लेषक"]
    assert asked["agent"] == "Аналитик"
    unknown = {"message": "@Бухгалтер, go"}
    refused = stack.client.post(f"/sessions/{session_id}/chat", json=unknown)
    assert refused.status_code == 422
    assert "分析师, Аналитик, Réviseur" in refused.json()["detail"]


def test_an_agent_that_its_domain_has_no_more_neither_continues_nor_is_mentioned(
    stack: Stack, team: TeamModel
) -> None:
    domain = team_domain(stack)
    session_id = make_session(stack, domain["name"])
    assert reached(stack, "@Writer begin", session_id) == (WRITER, "mention")
    left = [
        {**agent, "system_prompt": f"I am {agent['name']}."}
        for agent in AGENTS
        if agent["name"] != WRITER
    ]
    stack.client.patch(f"/domains/{domain['id']}", json={"agents": left}).raise_for_status()
    assert reached(stack, "@Writer go on", session_id) == (WRITER, "mention")  # as it began

    made = stack.client.post(f"/sessions/{session_id}/continue").raise_for_status().json()

    team.continuity = {"text": '{"answer": "YES"}'}
    assert reached(stack, "and more?", made["id"]) == (SAGE, "manager")
    refused = stack.client.post(f"/sessions/{made['id']}/chat", json={"message": "@Writer, more"})
    assert refused.status_code == 422
    assert "Writer" in refused.json()["detail"]
