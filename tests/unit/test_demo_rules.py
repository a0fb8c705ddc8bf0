"""What the demo model understands, calls and says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.llm.demo import plans, wire
from backend.llm.demo.conversation import Call, InvalidMessages, read_conversation
from backend.llm.demo.question import find_centres, find_periods, find_topic, find_year
from backend.llm.demo.reading import number, read_rows
from backend.llm.demo.rules import choose_intent, reply
from backend.tools.presenting import markdown_table
from tests.patience import ends_within

ALL_TOOLS = ("list_sources", "describe_source", "query_source", "get_budget", "compare_sources")
BUDGET = """Budget of CC-1001 Marketing, fiscal year 2031, by year: 1 row.
Company code 1000. Fiscal periods 1 to 12; posted up to period 4. All amounts in EUR.

| fiscal_year | budget | actual | remaining | used_percent | forecast |
| --- | --- | --- | --- | --- | --- |
| 2031 | 1000.00 | 1250.50 | -250.50 | 125.1 | 900.00 |
"""


def user(text):
    return {"role": "user", "content": text}


def called(*calls):
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": f"c{i}", "type": "function",
             "function": {"name": name, "arguments": json.dumps(arguments)}}
            for i, (name, arguments) in enumerate(calls)
        ],
    }  # fmt: skip


def result(index, content):
    return {"role": "tool", "tool_call_id": f"c{index}", "content": content}


def conversation(*messages, tools=ALL_TOOLS, **extra):
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return read_conversation({"messages": list(messages), "tools": offered, **extra})


def intent(text, *before):
    return choose_intent(conversation(*before, user(text))).name


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What's the budget for CC-1001?", "budget"),
        ("How much has cc 2002 spent in 2025?", "budget"),
        ("Compare CC-1001 and CC-2002", "compare cost centres"),
        ("Compare FI and BPC for period 3", "compare sources"),
        ("Explain the differences between BPC and FI", "compare sources"),
        ("What are the top 5 cost centres by spend?", "top cost centres"),
        ("What data do you have?", "list sources"),
        ("List the sources", "list sources"),
        ("Describe fi.documents", "describe source"),
        ("total for travel in March 2026", "total"),
        ("What was posted on account 630000?", "account"),
        ("SELECT 1 FROM documents", "sql"),
        ("What is the marketing budget?", "budget by name"),
        ("hello", "anything else"),
        ("Write a poem about the sea", "anything else"),
        ("", "anything else"),
    ],
)
def test_plain_questions_are_recognised(question, name):
    assert intent(question) == name


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("in March 2026", [3]), ("period 12", [12]), ("P03", [3]), ("Q2 of 2025", [4, 5, 6]),
        ("may I see it", []), ("for May", [5]), ("january and june", [1, 6]), ("period 13", []),
    ],
)  # fmt: skip
def test_periods_are_found_by_number_month_and_quarter(question, found):
    assert find_periods(question) == found


def test_a_cost_centre_s_number_is_no_year():
    assert find_year("compare CC-2001 and CC-2002") is None
    assert find_year("CC-2001 in 2025") == 2025
    assert find_centres("cc1001, CC-1001 and Cc 3002") == ["CC-1001", "CC-3002"]


def test_a_topic_is_the_words_before_the_time():
    assert find_topic("how much did we spend on consulting in Q1 2026?") == "consulting"
    assert find_topic("the total for office supplies") == "office supplies"


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


@given(st.text(max_size=300))
def test_any_question_gets_calls_or_words(text):
    answer = reply(conversation(user(text)))

    assert bool(answer.calls) != bool(answer.text)


NAMES = ["cost_centre", "spend", "budget", "actual", "remaining", "amount", "hint", "difference"]
CELLS = st.text(alphabet="ab1-|\\\n .", max_size=6)
TABLES = st.builds(
    lambda names, rows: "1 keys: x\n" + markdown_table(names, rows),
    st.just([*NAMES, *plans.LEDGER_KEYS, "class"]),
    st.lists(st.lists(CELLS, max_size=14), max_size=3),
)


QUESTIONS = [
    "budget of CC-1001", "top 5 cost centres", "total for travel", "what data do you have",
    "describe fi", "compare FI and BPC", "select 1 from t", "compare CC-1001 and CC-1002",
]  # fmt: skip


@given(st.one_of(st.text(max_size=200), TABLES), st.sampled_from(QUESTIONS))
def test_any_tool_result_can_be_put_into_words(content, question):
    messages = [user(question)]
    for _ in range(4):
        answer = reply(conversation(*messages))
        if not answer.calls:
            break
        messages.append(called(*((c.name, dict(c.arguments)) for c in answer.calls)))
        messages += [result(i, content) for i in range(len(answer.calls))]

    assert answer.text


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [user("hi"), called(("a", {}))],
        [user("hi"), called(("a", {})), user("there")],
        [user("hi"), called(("a", {}), ("b", {})), result(0, "x")],
        [user("hi"), result(0, "x")],
        [user("hi"), called(("a", {})), result(0, "x"), result(0, "y")],
        [{"role": "wizard", "content": "x"}],
        ["text"],
    ],
)
def test_messages_out_of_order_are_refused_as_openai_does(messages):
    with pytest.raises(InvalidMessages):
        read_conversation({"messages": messages})


def test_a_call_id_may_be_used_again_in_a_later_batch():
    call = ("get_budget", {"cost_centre": "CC-1001"})
    messages = [user("a"), called(call), result(0, BUDGET), user("budget of CC-1001"),
                called(call), result(0, BUDGET.replace("1000.00", "5.00"))]  # fmt: skip

    assert "EUR 5.00" in reply(conversation(*messages)).text


def test_content_in_parts_and_system_messages_are_read():
    parts = {"role": "user", "content": [{"type": "text", "text": "budget of CC-1001"}]}
    system = {"role": "system", "content": "You are Sage."}

    assert reply(conversation(system, parts)).calls


def test_tables_are_read_with_their_escapes():
    text = "T: 1 row.\n\n| a | b |\n| --- | --- |\n| x \\| y | 1.50 |\n"

    assert read_rows(text) == [{"a": "x | y", "b": "1.50"}]
    assert number("") == 0


def test_chunks_add_up_to_the_completion():
    request = {"model": "m", "messages": [user("compare CC-1001 and CC-1002")]}
    whole = wire.make_answer(request, reply(conversation(*request["messages"])), "id", 1)
    arguments: dict[int, str] = {}
    thinking = ""
    for chunk in wire.chunks(whole, include_usage=True):
        delta = chunk["choices"][0]["delta"] if chunk["choices"] else {}
        thinking += delta.get("reasoning_content", "")
        for call in delta.get("tool_calls", []):
            text = arguments.get(call["index"], "") + call["function"]["arguments"]
            arguments[call["index"]] = text

    message = wire.completion(whole)["choices"][0]["message"]
    assert thinking == message["reasoning_content"]
    assert list(arguments.values()) == [
        call["function"]["arguments"] for call in message["tool_calls"]
    ]
    assert chunk["usage"]["total_tokens"] == sum(
        chunk["usage"][name] for name in ("prompt_tokens", "completion_tokens")
    )


COMPARE = "Compare FI and BPC for period 9 of 2026 and reconcile them"
DIFFERENCE = """3 keys: 2 match, 1 major.

| fiscal_year | fiscal_period | company_code | cost_centre | group_account | left | right | difference | class | hint |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
| 2026 | 9 | 1000 | CC-1001 | G100 | 50.00 | 0.00 | -50.00 | major |  |
"""  # noqa: E501


def play(question, *tools):
    """The calls that the model makes until it answers, batch by batch, and its answer."""
    messages, batches = [user(question)], []
    while (answer := reply(conversation(*messages, tools=(*ALL_TOOLS, *tools)))).calls:
        batches.append(answer.calls)
        messages.append(called(*((call.name, call.arguments) for call in answer.calls)))
        messages += [
            result(n, DIFFERENCE if call.name == "compare_sources" else "Done: 0 rows.")
            for n, call in enumerate(answer.calls)
        ]
    return batches, answer.text


def test_a_question_of_several_steps_is_planned_and_ticked_off():
    batches, text = play(COMPARE, "write_todos")

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
        ("hi", "Hi"),
    ],
)
def test_a_title_is_the_question_in_a_few_words(question, title):
    asked = f"Give the conversation below a title of 8 words.\n\nPerson: {question}\n\nAgent: Yes."

    assert reply(conversation(user(asked))).text == title


HOSTILE = {
    "selects": "select " * 14_000,
    "comparisons": "compare " * 12_000,
    "rankings": "top " * 25_000,
    "totals": "total " * 16_000,
    "lists": "what " * 20_000,
    "articles before a budget": "budget " + "the " * 25_000,
    "an article, a name and blanks": "budget for a" + " " * 100_000 + "-",
    "articles and blanks": "budget " + "the a  " * 14_000,
    "a source and blanks": "select a from b in a" + " " * 100_000,
    "cost centres": "cc " * 30_000,
    "empty lines": "\n" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_question_holds_the_model_up_that_answers_all(text):
    with ends_within(10):
        reply(conversation(user(text)))


def test_a_result_of_one_long_line_does_not_hold_the_model_up():
    call = called(("get_budget", {"cost_centre": "1001"}))
    line = result(0, "Budget of a " * 80_000)

    with ends_within(10):
        reply(conversation(user("What is the budget for CC-1001?"), call, line))


def test_a_long_select_is_run_as_a_whole():
    statement = "SELECT " + ", ".join(f"{n} AS a{n}" for n in range(1_000)) + "\nFROM documents"

    (call,) = reply(conversation(user(statement))).calls

    assert call.arguments["sql"] == statement
