"""What the demo model calls for a question, and says of what its tools gave."""

import pytest

from backend.demo_model.conversation import Call
from backend.demo_model.questions.catalogue import CALLS
from backend.demo_model.rules import reply
from backend.tools.sources.presenting import markdown_table
from tests.unit.llm.demo_conversations import (
    ALL_TOOLS,
    BUDGET,
    LOOKED_UP,
    TABLES_OF,
    called,
    conversation,
    result,
    user,
)


def test_nothing_is_planned_with_a_name_or_code_before_it_was_looked_up():
    answer = reply(conversation(user("Compare FI and BPC for company 1000")))

    assert answer.calls == CALLS


def test_what_was_looked_up_before_is_not_looked_up_again():
    before = [user("spend by company"), *LOOKED_UP, {"role": "assistant", "content": "It is …"}]

    answer = reply(conversation(*before, user("Compare FI and BPC for company 1000")))

    assert [call.name for call in answer.calls] == ["compare_sources"]
    assert answer.calls[0].arguments["filters"] == {"company_code": "1000"}


def test_a_chart_is_drawn_of_the_figures_that_would_have_been_looked_up():
    asked = user("spend by company in 2026")
    (looked_up,) = reply(conversation(asked, *LOOKED_UP)).calls
    drawn = user("Chart the spend by company in 2026")
    (chart,) = reply(conversation(drawn, *LOOKED_UP)).calls

    rows = "Figures: 1 row.\n\n" + markdown_table(["company_code", "spend"], [["1000", 5.0]])
    answer = reply(
        conversation(
            drawn, *LOOKED_UP, called((chart.name, dict(chart.arguments))), result(0, rows)
        )
    )

    assert chart == Call("make_chart", looked_up.arguments)
    assert not answer.calls
    assert answer.text


def test_a_budget_question_first_calls_the_tool_and_then_answers_from_its_result():
    question = user("What's the budget for CC-1001?")
    first = reply(conversation(question))
    call = ("get_budget", {"cost_centre": "CC-1001"})
    second = reply(conversation(question, called(call), result(0, BUDGET)))

    assert first.calls == (Call(*call),)
    assert not first.text
    assert first.thinking
    assert not second.calls
    assert "EUR 1,000.00" in second.text
    assert "overspent by EUR 250.50" in second.text
    assert "up to period 4" in second.text


def test_no_figure_is_said_that_no_tool_gave():
    other = (
        BUDGET.replace("1000.00", "77.00").replace("1250.50", "7.00").replace("-250.50", "70.00")
    )
    call = ("get_budget", {"cost_centre": "CC-1001"})

    text = reply(conversation(user("budget of CC-1001"), called(call), result(0, other))).text

    assert "EUR 77.00" in text
    assert "EUR 70.00" in text
    assert "1,000" not in text


def test_a_follow_up_asks_again_about_the_cost_centre_of_before():
    call = ("get_budget", {"cost_centre": "CC-1001", "fiscal_year": 2025})
    before = [user("budget of CC-1001 in 2025"), called(call), result(0, BUDGET),
              {"role": "assistant", "content": "It is …"}]  # fmt: skip

    again = reply(conversation(*before, user("How much of it is left?")))
    monthly = reply(conversation(*before, user("And by month in 2026?")))

    assert again.calls == (Call("get_budget", {"cost_centre": "CC-1001", "fiscal_year": 2025}),)
    assert monthly.calls == (
        Call("get_budget", {"cost_centre": "CC-1001", "fiscal_year": 2026, "by": "period"}),
    )


def test_two_cost_centres_are_looked_up_in_parallel_unless_that_is_not_wanted():
    asked = conversation(user("Compare CC-1001 and CC-2002"))

    assert [c.arguments["cost_centre"] for c in reply(asked).calls] == ["CC-1001", "CC-2002"]
    assert len(reply(asked, parallel=False).calls) == 1


def test_calls_made_one_by_one_end_in_the_same_answer():
    question = user("Compare CC-1001 and CC-2002")
    calls = [("get_budget", {"cost_centre": "CC-1001"}), ("get_budget", {"cost_centre": "CC-2002"})]
    second = BUDGET.replace("CC-1001 Marketing", "CC-2002 Sales").replace("-250.50", "700.00")
    at_once = [called(*calls), result(0, BUDGET), result(1, second)]
    in_turn = [called(calls[0]), result(0, BUDGET), called(calls[1]), result(0, second)]

    left = reply(conversation(question, *at_once))
    right = reply(conversation(question, *in_turn))

    assert left.text == right.text
    assert "CC-2002 Sales" in left.text


def test_an_error_of_a_tool_is_admitted():
    call = ("get_budget", {"cost_centre": "CC-9999"})
    error = result(0, "Error: There is no cost centre 'CC-9999'.")

    answer = reply(conversation(user("budget of CC-9999"), called(call), error))

    assert not answer.calls
    assert "There is no cost centre 'CC-9999'" in answer.text
    assert "could not" in answer.text


def test_a_source_that_cannot_be_read_is_listed_with_the_reason():
    columns = ["source", "kind", "tables", "description", "problem"]
    rows = [("bad", "file", "", "The uploaded file “bad.json”.", "The file is damaged.")]
    listed = result(0, f"1 source.\n\n{markdown_table(columns, rows)}")

    answer = reply(
        conversation(user("What data do you have?"), called(("list_sources", {})), listed)
    )

    assert answer.text.endswith("Tables: **cannot be read**: The file is damaged.")


def test_tools_that_are_not_offered_are_not_called():
    answer = reply(conversation(user("budget of CC-1001"), tools=("list_sources",)))
    forbidden = reply(conversation(user("budget of CC-1001"), tool_choice="none"))

    assert not answer.calls
    assert "`get_budget`" in answer.text
    assert not forbidden.calls


@pytest.mark.parametrize("question", ["hello", "What is love?", ""])
def test_an_unknown_question_is_answered_with_what_it_is_can_do_and_how_to_connect(question):
    text = reply(conversation(user(question))).text

    for word in ("demo model", "OPENAI_API_KEY", "OPENAI_BASE_URL", "MODEL", ".env", "CC-1001"):
        assert word in text


COMPARE = "Compare FI and BPC for period 9 of 2026 and reconcile them"
DIFFERENCE = """3 keys: 2 match, 1 major.

| fiscal_year | fiscal_period | company_code | cost_centre | group_account | left | right | difference | class | hint |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 2026 | 9 | 1000 | CC-1001 | G100 | 50.00 | 0.00 | -50.00 | major |  |
"""  # noqa: E501


def _answered(call):
    if call.name == "compare_sources":
        return DIFFERENCE
    return TABLES_OF.get(str(call.arguments.get("sql")), "Done: 0 rows.")


def play(question, *tools):
    """The calls that the model makes until it answers, batch by batch, and its answer."""
    messages, batches = [user(question)], []
    while (answer := reply(conversation(*messages, tools=(*ALL_TOOLS, *tools)))).calls:
        batches.append(answer.calls)
        messages.append(called(*((call.name, call.arguments) for call in answer.calls)))
        messages += [result(n, _answered(call)) for n, call in enumerate(answer.calls)]
    return batches, answer.text


def test_a_question_of_several_steps_is_planned_and_ticked_off():
    batches, text = play(COMPARE, "write_todos")

    assert batches.pop(0) == CALLS
    names = [batch[0].name for batch in batches]
    assert names == ["write_todos", "compare_sources", "write_todos", "query_source", "write_todos"]
    ticked = [batch[0].arguments["todos"] for batch in batches[::2]]
    assert [[todo["status"] for todo in todos] for todos in ticked] == [
        ["in_progress", "pending", "pending"],
        ["completed", "in_progress", "pending"],
        ["completed", "completed", "completed"],
    ]
    assert text == play(COMPARE)[1]


def test_a_question_of_one_step_needs_no_todos():
    batches, _ = play("What's the budget for CC-1001?", "write_todos")

    assert [call.name for batch in batches for call in batch] == ["get_budget"]


def test_a_summary_keeps_what_was_said_and_what_an_earlier_summary_kept():
    said = "\n".join(
        [
            "Extract context: Context Extraction Assistant",
            "[person] Here is a summary of the conversation to date:",
            "- person: What is the travel total?",
            "[person] What's the budget for CC-1001?",
            "[result of get_budget] Budget of CC-1001",
            "[agent] The budget is EUR 1,000.00.",
        ]
    )

    text = reply(conversation(user(said))).text

    assert "person: What is the travel total?" in text
    assert "person: What's the budget for CC-1001?" in text
    assert "agent: The budget is EUR 1,000.00." in text


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("What's the budget for CC-1001?", "Budget for CC-1001"),
        ("Please show me the travel costs of March", "Travel costs of March"),
        ("Compare FI and BPC by cost centre for 2026", "Compare FI and BPC by cost centre"),
        ("Reconcile FI and BPC for 2026 and write me a report", "Reconcile FI and BPC for 2026"),
        ("What is in this file?", "What is in this file"),
        ("hi", "Hi"),
    ],
)
def test_a_title_is_the_question_in_a_few_words(question, title):
    asked = f"Give the conversation below a title of 8 words.\n\nPerson: {question}\n\nAgent: Yes."

    assert reply(conversation(user(asked))).text == title
