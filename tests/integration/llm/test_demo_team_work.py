"""The bundled team at work with the demo model, on real workers: as after `make run`."""

import pytest

from backend.domains.catalog import FINANCE
from backend.domains.finance_team import FINANCE_TEAM
from backend.types import JSON
from tests.integration.scenes import make_session
from tests.stack import Stack

# In one conversation: what the single agent is asked, and which agent of the team answers it.
QUESTIONS = [
    ("Compare FI with BPC and explain the differences", "Reconciler", "handed_over"),
    ("and only above 5,000?", "Reconciler", "continues"),
    ("What's the budget for CC-1001?", "BudgetAnalyst", "handed_over"),
    ("and for 1003?", "BudgetAnalyst", "continues"),
    ("Which cost centres spent the most this year?", "BudgetAnalyst", "handed_over"),
    ("What data do you have?", "BudgetAnalyst", "handed_over"),
]


def ask(stack: Stack, session_id: str, message: str) -> tuple[JSON, str]:
    """Ask; give the turn, and the text that it ended with."""
    turn = stack.finished(stack.submit(message, session_id)["turn_id"], 180)
    assert turn["status"] == "succeeded", turn
    rows = [row for row in stack.messages(session_id) if row["turn_id"] == turn["id"]]
    return turn, [row["content"]["text"] for row in rows if row["content_type"] == "text"][-1]


@pytest.mark.chaos  # long: the single agent's questions are asked in test_demo_questions.py
def test_the_questions_of_the_single_agent_are_answered_the_same_in_the_team(
    demo_stack: Stack,
) -> None:
    alone = make_session(demo_stack, FINANCE.name)
    team = make_session(demo_stack, FINANCE_TEAM.name)

    for question, agent, reason in QUESTIONS:
        turn, answer = ask(demo_stack, team, question)

        assert (turn["agent"], turn["route"]["reason"]) == (agent, reason)
        assert answer == ask(demo_stack, alone, question)[1]


def test_a_mentioned_agent_answers_as_if_it_were_not_mentioned(demo_stack: Stack) -> None:
    alone = make_session(demo_stack, FINANCE.name)
    team = make_session(demo_stack, FINANCE_TEAM.name)

    turn, answer = ask(demo_stack, team, "@budgetanalyst which cost centres are over budget?")

    assert (turn["agent"], turn["route"]["reason"]) == ("BudgetAnalyst", "mention")
    assert answer == ask(demo_stack, alone, "which cost centres are over budget?")[1]


def test_the_manager_speaks_for_itself(demo_stack: Stack) -> None:
    turn, answer = ask(demo_stack, make_session(demo_stack, FINANCE_TEAM.name), "What can you do?")

    assert (turn["agent"], turn["route"]["reason"]) == ("Sage", "manager")
    assert answer.startswith("I lead this team.")
