"""The story that the desk is for, with the real stack and the demo model."""

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel

QUESTION = "What's the budget for CC-1001?"


@pytest.mark.journey
def test_a_question_is_answered_with_its_steps_and_the_next_one_understood(demo_desk: Desk):
    demo_desk.sees("Demo model", "OPENAI_API_KEY")

    demo_desk.ask(QUESTION)
    demo_desk.sees("get_budget", "is left")
    demo_desk.is_idle()
    expect(demo_desk.row(demo_desk.session_id)).to_contain_text("Budget for CC-1001")
    demo_desk.step("get_budget").click()
    demo_desk.sees("Input", "1 row")
    demo_desk.page.reload()
    demo_desk.open_steps()
    demo_desk.step("get_budget").click()
    demo_desk.sees("Input", "1 row")
    expect(demo_desk.tables).to_be_visible()

    demo_desk.ask("And how much of it is left?")
    expect(demo_desk.step("get_budget")).to_have_count(2)
    demo_desk.is_idle()

    # The pages have asked nobody but their own server.
    foreign = [url for url in demo_desk.requests if not url.startswith(demo_desk.url)]
    assert [url for url in foreign if url.startswith("http")] == []


@pytest.mark.journey
def test_a_tab_closed_in_the_middle_loses_nothing(demo_desk: Desk):
    demo_desk.ask(QUESTION)
    demo_desk.is_in_a_session()
    query = demo_desk.query
    demo_desk.page.close()

    demo_desk.open(query)

    demo_desk.sees(QUESTION, "is left")
    demo_desk.is_idle()


@pytest.mark.journey
def test_formulas_and_diagrams_of_an_answer_are_drawn_and_it_is_copied_as_it_was_written(
    desk: Desk, model: ScriptedModel
):
    formula, diagram = r"$$\sum_{i=1}^{n} x_i$$", "flowchart LR\n  a[General ledger] --> b[Report]"
    answer = f"The **sum**:\n\n{formula}\n\n```mermaid\n{diagram}\n```"
    model.steps = lambda messages, body: {"text": answer}
    desk.context.grant_permissions(["clipboard-read", "clipboard-write"])

    desk.ask("Draw it")

    desk.sees("sum", "Diagram's code")
    expect(desk.formulas).to_have_count(1)
    expect(desk.diagrams).to_be_visible()
    desk.is_idle()
    desk.main.get_by_role("button", name="Copy this answer as Markdown").click()
    expect(desk.main.get_by_role("button", name="Copied")).to_be_visible()
    assert desk.page.evaluate("navigator.clipboard.readText()") == answer
