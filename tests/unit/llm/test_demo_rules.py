"""What the demo model understands, calls and says."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.demo_model import wire
from backend.demo_model.conversation import Call, InvalidMessages, read_conversation
from backend.demo_model.intents import choose_intent
from backend.demo_model.plans.calls import LEDGER_KEYS
from backend.demo_model.questions.catalogue import CALLS, Catalogue, Entry
from backend.demo_model.questions.parsing import parse
from backend.demo_model.questions.request import Filter, Threshold
from backend.demo_model.reading import number, read_rows
from backend.demo_model.rules import reply
from backend.tools.sources.presenting import markdown_table
from tests.patience import ends_within

ALL_TOOLS = (
    "list_sources", "describe_source", "query_source", "get_budget", "compare_sources",
    "make_chart",
)  # fmt: skip
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


PLACES = [
    ("company_code", "1000", "Halden Instruments GmbH", "DE"),
    ("company_code", "2000", "Halden Instruments Inc.", "US"),
    ("company_code", "3000", "Halden Instruments Ltd", "GB"),
    ("cost_centre", "CC-1001", "Marketing", "1000"),
    ("cost_centre", "CC-1003", "Information Technology", "1000"),
    ("cost_centre", "CC-2001", "Sales North America", "2000"),
    ("cost_centre", "CC-2002", "Marketing North America", "2000"),
    ("fiscal_year", "2025", "12", ""),
    ("fiscal_year", "2026", "10", ""),
]
ACCOUNTS = [
    ("gl_account", "630000", "Travel", "52000"),
    ("gl_account", "640000", "Consulting", "53000"),
    ("group_account", "52000", "Travel", ""),
    ("group_account", "53000", "Consulting and legal", ""),
    ("group_account", "56000", "Marketing", ""),
]
CATALOGUE = Catalogue(tuple(Entry(*row) for row in (*PLACES, *ACCOUNTS)))
COLUMNS = ["kind", "code", "name", "belongs_to"]
TABLES_OF = {
    call.arguments["sql"]: "Rows.\n\n" + markdown_table(COLUMNS, rows)
    for call, rows in zip(CALLS, (PLACES, ACCOUNTS), strict=True)
}
LOOKED_UP = [
    called(*((call.name, dict(call.arguments)) for call in CALLS)),
    *(result(n, TABLES_OF[call.arguments["sql"]]) for n, call in enumerate(CALLS)),
]
WORD_LIST = (
    "compare fi bpc budget spend travel marketing company companies cost centre centres 1000 2000 "
    "3000 9999 CC-1001 CC-2002 2025 2026 march q2 period 3 to and or , . not except without only "
    "by month per account top 5 above below 5,000 between all the for in which over left total most"
)
WORDS = WORD_LIST.split()


def conversation(*messages, tools=ALL_TOOLS, **extra):
    offered = [{"type": "function", "function": {"name": name}} for name in tools]
    return read_conversation({"messages": list(messages), "tools": offered, **extra})


def intent(text):
    asked = conversation(user(text))
    if choose_intent(asked).name == "catalogue":
        asked = conversation(user(text), *LOOKED_UP)
    return choose_intent(asked).name


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("What's the budget for CC-1001?", "budget"),
        ("How much has cc 2002 spent in 2025?", "budget"),
        ("Compare CC-1001 and CC-2002", "budget"),
        ("What is the marketing budget?", "budget"),
        ("Compare FI and BPC for period 3", "compare"),
        ("Explain the differences between BPC and FI", "compare"),
        ("What are the top 5 cost centres by spend?", "figures"),
        ("total for travel in March 2026", "figures"),
        ("What was posted on account 630000?", "figures"),
        ("the largest postings in March", "documents"),
        ("Which companies are there?", "list"),
        ("What data do you have?", "list sources"),
        ("List the sources", "list sources"),
        ("Describe fi.documents", "describe source"),
        ("SELECT 1 FROM documents", "sql"),
        ("chart SELECT 1 FROM documents", "chart"),
        ("Draw a chart of the spend by cost centre in 2026", "chart"),
        ("plot travel by month", "chart"),
        ("chart hello", "anything else"),
        ("chart", "anything else"),
        ("hello", "anything else"),
        ("Write a poem about the sea", "anything else"),
        ("", "anything else"),
        ("spend for Atlantis", "refused"),
        ("spend in 2031", "refused"),
    ],
)
def test_plain_questions_are_recognised(question, name):
    assert intent(question) == name


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


def filters_of(question):
    request = parse(question, CATALOGUE)
    assert not request.unread
    assert not request.problems
    return {name: (f.values, f.excluded) for name, f in request.filters.items()}


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("in March", ["3"]), ("period 12", ["12"]), ("P03", ["3"]), ("Q2", ["4", "5", "6"]),
        ("for May", ["5"]), ("january and june", ["1", "6"]),
        ("periods 1, 2 and 4", ["1", "2", "4"]),
        ("from March to May", ["3", "4", "5"]), ("periods 1 to 3", ["1", "2", "3"]),
        ("until February", ["1", "2"]), ("the first quarter", ["1", "2", "3"]),
        ("after October", ["11", "12"]), ("h2", ["7", "8", "9", "10", "11", "12"]),
    ],
)  # fmt: skip
def test_periods_are_found_by_number_month_and_quarter(question, found):
    assert filters_of(question) == {"fiscal_period": (tuple(found), ())}


def test_may_is_no_month_where_somebody_asks_for_leave():
    assert filters_of("may I see it") == {}


def test_a_period_that_no_year_has_is_refused():
    assert "There is no period 13" in parse("period 13", CATALOGUE).problems[0]


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("March 2025 and April 2026", ("202503", "202604")),
        ("from November 2025 to January 2026", ("202511", "202512", "202601")),
        ("since September 2026", ("202609", "202610")),
    ],
)
def test_months_with_years_of_their_own_are_not_crossed(question, found):
    request = parse(question, CATALOGUE)
    months = {
        f"{year}{period:0>2}"
        for year in request.filters.get("fiscal_year", Filter()).values
        for period in request.filters.get("fiscal_period", Filter()).values
    }

    paired = request.filters.get("months", Filter()).values
    assert (paired or tuple(sorted(months))) == found


def test_a_cost_centre_s_number_is_no_year():
    assert filters_of("compare CC-2001 and CC-2002") == {
        "cost_centre": (("CC-2001", "CC-2002"), ())
    }
    assert filters_of("cc1001, CC-1001 and Cc 2001 in 2025") == {
        "cost_centre": (("CC-1001", "CC-2001"), ()),
        "fiscal_year": (("2025",), ()),
    }


@pytest.mark.parametrize(
    ("question", "values", "excluded"),
    [
        ("company 1000", ["1000"], []),
        ("companies 1000 and 3000", ["1000", "3000"], []),
        ("except company 1000", [], ["1000"]),
        ("without company 1000 and 2000", [], ["1000", "2000"]),
        ("company 1000 but not 2000", ["1000"], ["2000"]),
        ("without company 1000 show company 2000", ["2000"], ["1000"]),
        ("the UK", ["3000"], []),
        ("companies 1000 to 3000", ["1000", "2000", "3000"], []),
    ],
)
def test_companies_are_wanted_or_left_out(question, values, excluded):
    assert filters_of(question) == {"company_code": (tuple(values), tuple(excluded))}


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("5,000", "5000"), ("5.000", "5000"), ("5k", "5000"), ("5 000", "5000"), ("5000", "5000"),
        ("EUR 5,000", "5000"), ("5.5k", "5500"), ("1.234.567,89", "1234567.89"),
        ("1,234,567.89", "1234567.89"), ("2 million", "2000000"), ("€1m", "1000000"),
        ("12,5", "12.5"),
    ],
)  # fmt: skip
def test_amounts_are_read_however_they_are_written(written, value):
    request = parse(f"spend above {written}", CATALOGUE)

    assert request.threshold == Threshold(">", Decimal(value))
    assert not request.unread


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_a_word_that_is_known_to_nobody_is_always_said(words):
    said = parse(" ".join([*words, "zyxomma"]), CATALOGUE)

    assert "zyxomma" in " ".join((*said.unread, *said.problems))


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_no_plan_leaves_out_a_part_of_the_request(words):
    """Each value that was understood as a filter is in the calls, or nothing is called."""
    messages = [user("spend"), *LOOKED_UP, {"role": "assistant", "content": "…"},
                user(" ".join(words))]  # fmt: skip
    request = parse(" ".join(words), CATALOGUE)

    calls = reply(conversation(*messages)).calls

    asked = json.dumps([dict(call.arguments) for call in calls])
    filters = {n: f for n, f in request.filters.items() if n != "fiscal_period"}
    wanted = [value for found in filters.values() for value in found.values]
    left_out = [v for f in request.filters.values() for v in f.excluded]
    for value in wanted:
        assert not calls or value in asked or value in left_out
    assert not calls or not request.threshold or str(request.threshold.amount) in asked


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
    st.just([*NAMES, *LEDGER_KEYS, "class"]),
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
    "names": "marketing north america sales " * 3_000,
    "numbers": "1 000 000 " * 10_000,
    "a number": "9" * 100_000,
    "dots": "1.000" * 20_000,
    "ranges": "from march to april between 5 and 2025 - " * 3_000,
    "periods": "period " + "1 and " * 20_000,
    "the": "from " + "the " * 30_000 + "march",
    "nots": "not except without " * 6_000,
    "apostrophes": "a'" * 50_000,
    "a source and blanks": "select a from b in a" + " " * 100_000,
    "cost centres": "cc " * 30_000,
    "empty lines": "\n" * 100_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_question_holds_the_model_up_that_answers_all(text):
    with ends_within(20):
        reply(conversation(user(text)))
        reply(conversation(user("spend"), *LOOKED_UP, user(text[:1_900])))
        reply(conversation(*(user(text[:1_900]) for _ in range(200)), user("by month"), *LOOKED_UP))


def test_a_question_too_long_to_be_read_is_refused_whole():
    answer = reply(conversation(user("spend by month " + "please " * 400 + "only company 1000")))

    assert not answer.calls
    assert "I read at most 2,000" in answer.text


def test_words_before_a_select_are_not_dropped():
    question = "Only for company 1000: SELECT count(*) FROM documents"
    answer = reply(conversation(user(question)))
    plain = reply(conversation(user("please run this query in bpc: SELECT count(*) FROM figures")))

    assert not answer.calls
    assert "company 1000" in answer.text
    assert plain.calls[0].arguments == {"source": "bpc", "sql": "SELECT count(*) FROM figures"}


def test_a_result_of_one_long_line_does_not_hold_the_model_up():
    call = called(("get_budget", {"cost_centre": "1001"}))
    line = result(0, "Budget of a " * 80_000)

    with ends_within(10):
        reply(conversation(user("What is the budget for CC-1001?"), call, line))


def test_a_long_select_is_run_as_a_whole():
    statement = "SELECT " + ", ".join(f"{n} AS a{n}" for n in range(1_000)) + "\nFROM documents"

    (call,) = reply(conversation(user(statement))).calls

    assert call.arguments["sql"] == statement
