"""No question and no tool result is without an answer, or holds the demo model up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.demo_model.plans.calls import LEDGER_KEYS
from backend.demo_model.rules import reply
from backend.tools.sources.presenting import markdown_table
from tests.patience import ends_within
from tests.unit.llm.demo_conversations import LOOKED_UP, called, conversation, result, user


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
    "charts": "please show me a bar chart of it " * 30_000,
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
