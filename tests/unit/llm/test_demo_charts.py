"""Questions to the demo model that ask for a chart, in the words that people use for it."""

import pytest

from backend.demo_model.intents import choose_intent
from backend.demo_model.plans import charts
from backend.demo_model.rules import reply
from backend.schemas.data.files import attached_line
from tests.unit.llm.demo_conversations import BUDGET, LOOKED_UP, called, conversation, result, user

SPEND = "Spend by cost centre in 2026"
SAID = {"role": "assistant", "content": "It is …"}


def calls_of(*messages):
    return reply(conversation(*messages)).calls


@pytest.mark.parametrize(
    ("question", "mark"),
    [
        (f"{SPEND}? Show a chart.", None),
        (f"{SPEND}. Then please show me a bar chart of it", "bar"),
        (f"{SPEND} and plot it", None),
        (f"{SPEND}, and then draw that, please!", None),
        (f"{SPEND} as a column chart", "bar"),
        (f"{SPEND} in a line graph", "line"),
        (f"Draw a pie chart of the {SPEND}", "arc"),
        (f"Show me a bar chart of {SPEND}", "bar"),
        (f"Can you visualise {SPEND}?", None),
        (f"I'd like to see a scatter plot of {SPEND}", "point"),
        (f"Please make an area diagram showing {SPEND}", "area"),
        (f"donut chart for {SPEND}", "arc"),
    ],
)
def test_the_figures_are_drawn_in_the_form_that_is_asked_for(question, mark):
    (looked_up,) = calls_of(user(SPEND), *LOOKED_UP)

    (drawn,) = calls_of(user(question), *LOOKED_UP)

    spec = {"spec": {"mark": mark}} if mark else {}
    assert drawn.name == "make_chart"
    assert drawn.arguments == {**looked_up.arguments, **spec}


@pytest.mark.parametrize(
    "follow_up", ["as a chart", "Show it as a bar chart.", "plot that", "Chart"]
)
def test_a_question_for_a_chart_alone_draws_what_was_asked_before(follow_up):
    before = [user(SPEND), *LOOKED_UP, SAID]
    (looked_up,) = calls_of(user(SPEND), *LOOKED_UP)

    (drawn,) = calls_of(*before, user(follow_up))

    assert (drawn.name, drawn.arguments["sql"]) == ("make_chart", looked_up.arguments["sql"])


def test_a_statement_asked_before_is_drawn_too():
    (drawn,) = calls_of(user("SELECT 1 AS a FROM totals"), SAID, user("now as a line chart please"))

    assert drawn.arguments["sql"] == "SELECT 1 AS a FROM totals"
    assert drawn.arguments["spec"] == {"mark": "line"}


def test_what_follows_a_chart_changes_its_question():
    before = [user(f"{SPEND} as a chart"), *LOOKED_UP, SAID]

    (looked_up,) = calls_of(*before, user("and by company?"))

    assert looked_up.name == "query_source"
    assert "company_code" in looked_up.arguments["sql"]


def test_the_file_of_a_chart_stays_attached():
    attached = attached_line("spend.csv", "file_spend")

    asked = choose_intent(conversation(user(f"Totals by month as a chart\n\n{attached}")))

    assert asked.name == "chart"
    assert charts.without_words(
        conversation(user(f"Totals by month as a chart\n\n{attached}"))
    ).question == (f"Totals by month\n\n{attached}")


def test_where_nothing_can_be_drawn_the_answer_says_so():
    asked = user("What's the budget for CC-1001? Draw it.")
    call = ("get_budget", {"cost_centre": "CC-1001"})

    answer = reply(conversation(asked, called(call), result(0, BUDGET)))

    assert "1,000.00" in answer.text
    assert answer.text.endswith(charts.NO_CHART)


@pytest.mark.parametrize(
    "question", ["List the chart of accounts", "Show me the chart of accounts", "chart of accounts"]
)
def test_the_chart_of_accounts_is_no_chart(question):
    (listed,) = calls_of(user(question), *LOOKED_UP)

    assert listed.name == "query_source"
    assert "gl_accounts" in listed.arguments["sql"]
