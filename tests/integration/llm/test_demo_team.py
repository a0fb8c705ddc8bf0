"""The demo model in a team, over its server: it routes, manages, plans and sums up."""

import json
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from backend.agents.team.continuity import continuity_request
from backend.agents.team.prompt import manager_sections
from backend.demo_model.app import create_app
from backend.domains.finance_team import FINANCE_TEAM
from backend.schemas.domains.templates import AgentTemplate
from backend.tools.registry import check_tool_names

AGENTS = {agent.name: agent.description for agent in FINANCE_TEAM.agents}
MANAGER = "\n\n".join(
    ["You lead the team.", *manager_sections(FINANCE_TEAM.agents, uuid4(), "m1", is_first=True)]
)
REPORT = "Reconcile FI and BPC for 2026 and write me a report"


@pytest.fixture(scope="module")
def ask():
    """Asks the model; gives the text of its answer."""
    with TestClient(create_app(delay_ms=0)) as client:

        def run(system, *messages):
            first = {"role": "system", "content": system}
            body = {"model": "demo", "messages": [first, *messages]}
            reply = client.post("/v1/chat/completions", json=body)
            assert reply.status_code == 200, reply.text
            return reply.json()["choices"][0]["message"]["content"]

        yield run


@pytest.fixture
def manage(ask):
    """Asks the manager; gives its response."""
    return lambda *messages: json.loads(ask(MANAGER, *messages))


def user(text):
    return {"role": "user", "content": text}


def said(text, name="Sage"):
    return {"role": "assistant", "content": text, "name": name}


def elements_of(response):
    """What a response adds to the payload."""
    added = response.get("payloadChangeRequest", {}).get("newElements", [])
    return {element["key"]: element["value"] for element in added}


def test_the_tools_of_the_team_exist():
    for agent in FINANCE_TEAM.agents:
        check_tool_names(agent.tools)


@pytest.mark.parametrize(
    ("agent", "message", "answer"),
    [
        ("Reconciler", "and only above 5,000?", "YES"),
        ("Reconciler", "and for 1001?", "YES"),
        ("Reconciler", "only company 2000", "YES"),
        ("Reconciler", "by month", "YES"),
        ("Reconciler", "why?", "YES"),
        ("Reconciler", "what about Q1 2025?", "YES"),
        ("Reconciler", "no, 2025", "YES"),
        ("Reconciler", "Show me the top 3", "YES"),
        ("Reconciler", "explain that", "YES"),
        ("BudgetAnalyst", "and the budget?", "YES"),
        ("BudgetAnalyst", "and for travel?", "YES"),
        ("BudgetAnalyst", "What about CC-1001?", "YES"),
        ("Reconciler", "and the budget?", "NO"),
        ("Reconciler", "What's the budget for CC-1001?", "NO"),
        ("BudgetAnalyst", "Compare FI with BPC for company 1000", "NO"),
        ("BudgetAnalyst", REPORT, "NO"),
        ("Reconciler", "now write me a report", "NO"),
        ("Reconciler", "yes, proceed with that plan", "NO"),
        ("Reconciler", "thank you very much", "NO"),
        ("Reconciler", "What data do you have?", "NO"),
        ("Reconciler", "SELECT 1 FROM documents", "NO"),
        ("Reconciler", "What is the weather like in Halden today?", "UNSURE"),
        ("Reconciler", "purple", "UNSURE"),
    ],
)
def test_whether_a_message_continues(ask, agent, message, answer):
    candidate = next(each for each in FINANCE_TEAM.agents if each.name == agent)
    messages = [user("Compare FI with BPC"), said("So it is.", agent), user(message)]
    system, question = continuity_request(candidate, messages)

    given = json.loads(ask(system.text, user(question.text)))

    assert given["answer"] == answer
    assert given["reason"]


@pytest.mark.parametrize("message", ["Hello", "hi there!", "What can you do?", "Who are you?"])
def test_a_manager_answers_what_is_for_itself(manage, message):
    response = manage(user(message))

    assert response["nextStep"] == {"type": "Chat"}
    assert all(name in response["message"] for name in AGENTS)


@pytest.mark.parametrize(
    ("message", "agent"),
    [
        ("What's the budget for CC-1001?", "BudgetAnalyst"),
        ("Which cost centres spent the most this year?", "BudgetAnalyst"),
        ("What is the total for travel in March 2026?", "BudgetAnalyst"),
        ("Show me the largest postings in March 2026", "BudgetAnalyst"),
        ("Who is responsible for CC-1003?", "BudgetAnalyst"),
        ("chart of spend by month in 2026", "BudgetAnalyst"),
        ("What data do you have?", "BudgetAnalyst"),
        ("Describe fi.documents", "BudgetAnalyst"),
        ("SELECT count(*) FROM documents", "BudgetAnalyst"),
        ("what columns does sales.csv have?", "BudgetAnalyst"),
        ("Compare FI and BPC for company 1000", "Reconciler"),
        ("Compare FI with BPC and explain the differences", "Reconciler"),
        ("Show me the top differences", "Reconciler"),
    ],
)
def test_a_manager_delegates_a_question_to_the_agent_that_it_fits(manage, message, agent):
    response = manage(user(message))

    assert response["taskComplete"] is True
    assert elements_of(response) == {"invokeAgent": {"name": agent, "message": message}}


def test_what_has_no_subject_goes_to_the_agent_for_the_question_that_it_changes(manage):
    before = [user("Compare FI and BPC for company 1000"), said("Reconciler cannot be reached.")]

    response = manage(*before, user("and company 2000"))

    assert elements_of(response)["invokeAgent"]["name"] == "Reconciler"


def test_a_manager_says_what_it_does_not_understand(manage):
    response = manage(user("Write a poem about purple rain"))

    assert response["nextStep"] == {"type": "Chat"}
    assert "I do not understand “Write”, “poem about purple rain”" in response["message"]


def test_a_manager_without_an_agent_for_it_says_so(ask):
    poet = AgentTemplate(name="Poet", description="Writes poems.")
    system = "\n\n".join(manager_sections([poet], uuid4(), "m1", is_first=True))

    response = json.loads(ask(system, user("What's the budget for CC-1001?")))

    assert "I have no agent for that" in response["message"]
    assert "Poet" in response["message"]


def test_a_plan_is_proposed_and_only_begun_when_the_person_agrees(manage):
    proposal = manage(user(REPORT))
    asked = [user(REPORT), said(proposal["message"])]
    begun = manage(*asked, user("yes, proceed with that plan"))
    refused = manage(*asked, user("no, not now"))

    assert (proposal["nextStep"], proposal["proposesPlan"]) == ({"type": "Chat"}, True)
    assert elements_of(proposal) == elements_of(refused) == {}
    graph = elements_of(begun)["taskGraph"]
    assert begun["taskComplete"] is True
    assert [(task["tempId"], task["agentName"], task["dependsOn"]) for task in graph["tasks"]] == [
        ("t1", "Reconciler", []),
        ("t2", "Reconciler", ["t1"]),
        ("t3", "BudgetAnalyst", ["t2"]),
        ("t4", "ReportWriter", ["t1", "t2", "t3"]),
    ]
    assert all(task["name"] in proposal["message"] for task in graph["tasks"])
    assert graph["workflowName"] == "Reconcile FI and BPC for 2026"
    assert graph["tasks"][1]["input"]["differences"].startswith("@t1.output")


@pytest.mark.parametrize(
    "agreement", ["Yes", "go ahead!", "ok, please start", "Looks good, proceed", "sure, do it"]
)
def test_people_agree_in_several_ways(manage, agreement):
    asked = [user(REPORT), said(manage(user(REPORT))["message"])]

    assert "taskGraph" in elements_of(manage(*asked, user(agreement)))


def test_a_plan_is_talked_over_until_it_is_agreed(manage):
    messages = [user(REPORT), said(manage(user(REPORT))["message"])]
    messages.append(user("yes, but only company 2000"))
    messages.append(said(manage(*messages)["message"]))

    begun = manage(*messages, user("go ahead"))

    wanted = "Reconcile FI and BPC for 2026, only company 2000"
    assert f"“{wanted}”" in messages[-1]["content"]
    assert elements_of(begun)["taskGraph"]["tasks"][0]["input"] == {"question": wanted}


def test_a_plan_that_was_talked_over_since_is_not_begun(manage):
    proposal = manage(user(REPORT))["message"]

    later = [user(REPORT), said(proposal), user("hello"), said("Hello.")]

    assert "taskGraph" not in elements_of(manage(*later, user("yes, proceed with that plan")))


def test_a_report_without_a_plan_for_it_is_refused_in_words(manage):
    response = manage(user("write me a report on travel costs"))

    assert response["nextStep"] == {"type": "Chat"}
    assert "travel costs" in response["message"]


def ran(result):
    """A plan that was run, and what it gave."""
    call = {"id": "c1", "type": "function", "function": {"name": "run_plan", "arguments": "{}"}}
    return [
        {"role": "assistant", "content": "The plan runs.", "tool_calls": [call], "name": "Sage"},
        {"role": "tool", "tool_call_id": "c1", "content": result},
    ]


def test_a_plan_is_summed_up_with_its_numbers_and_its_artifacts(manage):
    chart, report = ({"id": str(uuid4()), "version": 1, "title": t} for t in ("Chart", "Report"))
    tasks = [
        {"name": "Compare", "agent": "Reconciler", "status": "succeeded",
         "output": {"text": "7 keys differ by EUR 12.34.\n\nMore.", "rows": []}},
        {"name": "Draw", "agent": "BudgetAnalyst", "status": "failed", "error": "No such column."},
        {"name": "Write", "agent": "ReportWriter", "status": "succeeded",
         "output": {"text": "Written.", "artifacts": [chart, report]}},
    ]  # fmt: skip
    result = json.dumps({"plan": "Reconcile", "status": "failed", "tasks": tasks})

    response = manage(user("yes, proceed with that plan"), *ran(result))

    assert response["taskComplete"] is True
    assert response["message"] == (
        "2 of 3 tasks succeeded.\n\n"
        "- **Compare** (Reconciler): 7 keys differ by EUR 12.34.\n"
        "- **Draw** (BudgetAnalyst): failed. No such column.\n"
        "- **Write** (ReportWriter): Written.\n\n"
        "What came of it:\n\n"
        f"- [Chart](artifact:{chart['id']}@1)\n- [Report](artifact:{report['id']}@1)"
    )


def test_a_plan_that_was_refused_is_told_with_its_reason(manage):
    response = manage(user("yes"), *ran("Error: a turn starts at most 20 plans."))

    assert response["message"] == "Error: a turn starts at most 20 plans."
