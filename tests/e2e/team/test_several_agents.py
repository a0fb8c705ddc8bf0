"""Several agents in one chat: whose each answer is, and the names that @ completes."""

import json
import re
from threading import Event

import pytest
from playwright.sync_api import Locator, expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.stack import Stack

TEAM: JSON = {
    "manager": {
        "description": "Answers and delegates.",
        "system_prompt": "You are Sage.",
        "continuity_seconds": 60,  # a busy machine is slow to ask
    },
    "agents": [
        {"name": "Reconciler", "description": "Compares ledgers."},
        {"name": "Report-writer", "description": "Writes reports."},
        {"name": "Auditor", "roles": ["auditor"]},
    ],
}


@pytest.fixture
def session(desk: Desk, stack: Stack) -> str:
    """An empty session with several agents, open on the page."""
    session_id = make_session(stack, make_domain(stack, **TEAM)["name"])
    desk.open(f"?session={session_id}")
    return session_id


def agents(desk: Desk) -> Locator:
    return desk.page.get_by_role("listbox", name="Agents")


def offered(desk: Desk, *names: str) -> None:
    """Wait until the list offers just these agents."""
    options = agents(desk).get_by_role("option")
    expect(options).to_have_text([re.compile(name) for name in names])


def answers(desk: Desk) -> Locator:
    """The lines above the answers that say whose they are."""
    said = re.compile("^(Sage|Reconciler|Report-writer)( · .*)?$")
    return desk.speakers.filter(has_text=said)


def test_keys_and_mouse_complete_the_name_of_an_agent(desk: Desk, session: str) -> None:
    desk.composer.press_sequentially("Hello a@b and `@ and ")
    expect(agents(desk)).to_have_count(0)
    desk.composer.press_sequentially("` @")
    offered(desk, "Sage", "Reconciler", "Report-writer")
    desk.composer.press("ArrowUp")
    chosen = agents(desk).get_by_role("option", name="Report-writer", selected=True)
    active = chosen.get_attribute("id")
    expect(desk.composer).to_have_attribute("aria-activedescendant", str(active))
    desk.composer.press_sequentially("Re")
    offered(desk, "Reconciler", "Report-writer")
    desk.composer.press("Tab")
    expect(agents(desk)).to_have_count(0)
    expect(desk.composer).to_have_value("Hello a@b and `@ and ` @Report-writer ")

    desk.composer.fill("")
    desk.composer.press_sequentially("Compare, @rec")
    desk.composer.press("Enter")
    expect(desk.composer).to_have_value("Compare, @Reconciler ")
    desk.composer.fill("")
    desk.composer.press_sequentially("@")
    agents(desk).get_by_text("Writes reports.").click()
    expect(desk.composer).to_have_value("@Report-writer ")
    desk.composer.press_sequentially("go on")
    expect(desk.composer).to_have_value("@Report-writer go on")

    desk.composer.fill("请看一下")  # text that has no spaces
    desk.composer.press("Home")
    desk.composer.press("ArrowRight")
    desk.composer.press_sequentially("@rec")
    offered(desk, "Reconciler")
    desk.composer.press("Enter")
    expect(desk.composer).to_have_value("请@Reconciler 看一下")


def test_escape_closes_the_list_and_then_stops_the_turn(
    desk: Desk, session: str, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": "What was said so far.", "until": Event()}
    desk.ask("@Reconciler tell me")
    desk.sees("What was said so far.")
    whose = re.compile("Reconciler · mentioned.*What was said so far", re.DOTALL)
    expect(desk.drafts).to_have_text(whose)
    stop = desk.page.get_by_role("button", name="Stop", exact=True)
    expect(stop).to_be_visible()

    desk.composer.press_sequentially("@S")
    offered(desk, "Sage")
    desk.composer.press("Escape")
    expect(agents(desk)).to_have_count(0)
    desk.composer.press_sequentially("a")
    expect(agents(desk)).to_have_count(0)
    expect(stop).to_be_visible()
    desk.composer.press("Escape")

    desk.sees("Stopped here")


@pytest.mark.journey
def test_each_answer_says_whose_it_is_and_why_also_after_a_reload(
    desk: Desk, session: str, model: ScriptedModel
) -> None:
    model.steps = _team
    desk.ask("@Reconciler compare FI and BPC")
    desk.sees("They differ by 12.")
    desk.is_idle()
    desk.ask("and only above 5,000?")
    desk.sees("Only one is above.")
    desk.is_idle()
    desk.ask("Good morning")
    desk.sees("Good morning to you.")
    desk.is_idle()

    lines = ["Reconciler · mentioned", "Reconciler · continues", "Sage · manager"]
    expect(answers(desk)).to_have_text(lines)
    desk.page.reload()
    expect(answers(desk)).to_have_text(lines)
    desk.tells(answers(desk).last.get_by_role("button"), "does not continue with Reconciler")


def test_a_wrong_mention_is_told_and_stays_and_a_new_chat_completes_those_of_its_domain(
    desk: Desk, session: str, stack: Stack
) -> None:
    desk.ask("@Auditor look at this")
    desk.sees("There is no agent 'Auditor' here. The agents are Sage, Reconciler, Report-writer.")
    expect(desk.composer).to_have_value("@Auditor look at this")
    desk.ask("@Sage and @Reconciler, look at this")
    desk.sees("Write to one agent at a time")
    expect(desk.composer).to_have_value("@Sage and @Reconciler, look at this")
    assert stack.messages(session) == []

    domain = stack.client.get(f"/sessions/{session}").json()["domain"]
    desk.new_chat()
    desk.composer.press_sequentially("@")
    expect(agents(desk)).to_have_count(0)
    desk.composer.fill("")
    desk.choose_domain(domain)
    desk.is_at_rest()
    desk.composer.press_sequentially("@")
    offered(desk, "Sage", "Reconciler", "Report-writer")


def _team(messages: list[JSON], body: JSON) -> JSON:
    """Speak for the manager, the reconciler, and whoever is asked whether a message continues."""
    system, said = str(messages[0]["content"]), str(messages[-1]["content"])
    if system.startswith("# Continuity"):
        answer = "YES" if said.rstrip().endswith("5,000?") else "NO"
        return {"text": json.dumps({"answer": answer, "reason": "It is another matter."})}
    if system.startswith("You are Sage."):
        return {"text": json.dumps({"taskComplete": True, "message": "Good morning to you."})}
    return {"text": "Only one is above." if "5,000" in said else "They differ by 12."}
