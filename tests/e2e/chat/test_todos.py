"""An agent's plan on the page: one list, whose todos tick off as it works."""

import pytest
from playwright.sync_api import expect

from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import Gate, make_session, tool_domain
from tests.stack import Stack


def writing(*statuses: str) -> JSON:
    named = zip(("Look into the ledger", "Tell the result"), statuses, strict=True)
    todos = [{"content": content, "status": status} for content, status in named]
    return {"tools": [{"name": "write_todos", "args": {"todos": todos}}]}


@pytest.mark.journey
def test_todos_tick_off_in_one_list_while_the_agent_works(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    gate = Gate()
    with tool_domain(stack, gate.answer, "look") as (domain, _):
        stack.client.patch(f"/domains/{domain['id']}", json={"middleware": ["todos"]})
        desk.open(f"?session={make_session(stack, domain['name'])}")
        model.steps = [
            writing("in_progress", "pending"),
            {"tools": [{"name": "look"}]},
            writing("completed", "in_progress"),
            {"tools": [{"name": "look"}]},
            writing("completed", "completed"),
            {"text": "The result is 5."},
        ]
        desk.ask("What is the result?")
        desk.sees("0 of 2 done", "Look into the ledger", "Tell the result")
        gate.is_open = True
        desk.sees("2 of 2 done", "The result is 5.")
        desk.is_idle()

    desk.sees_once("Tell the result")
    desk.sees_not("0 of 2 done")
    desk.page.reload()
    desk.sees("2 of 2 done")
    expect(desk.step("write_todos")).to_have_count(0)
    expect(desk.step("look")).to_have_count(2)


def test_the_demo_model_plans_a_comparison(demo_desk: Desk) -> None:
    demo_desk.ask("Compare FI and BPC for period 9 of 2026 and reconcile them")

    demo_desk.sees("3 of 3 done", "Compare FI with BPC", "Likely causes")
    demo_desk.is_idle()
    demo_desk.sees_once("Look for postings entered late")
