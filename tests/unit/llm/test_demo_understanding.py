"""What the demo model understands of a question, and that it leaves out no part of it."""

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.demo_model.intents import choose_intent
from backend.demo_model.questions.parsing import parse
from backend.demo_model.questions.request import Filter, Threshold
from backend.demo_model.rules import reply
from tests.unit.llm.demo_conversations import CATALOGUE, LOOKED_UP, conversation, user

WORD_LIST = (
    "compare fi bpc budget spend travel marketing company companies cost centre centres 1000 2000 "
    "3000 9999 CC-1001 CC-2002 2025 2026 march q2 period 3 to and or , . not except without only "
    "by month per account top 5 above below 5,000 between all the for in which over left total most"
)
WORDS = WORD_LIST.split()


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
        ("Show the spend by cost centre in 2026 as a bar chart, please.", "chart"),
        ("Spend by cost centre in 2026, as a chart.", "chart"),
        ("What did travel cost by month, in a graph?", "chart"),
        ("What is in a chart?", "anything else"),
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
