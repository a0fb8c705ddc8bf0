"""The page of usage, what a session's head says of it, and what is offered at a budget's end."""

import csv
import io
import json

import pytest

from backend.schemas.conversations.turns import Usage
from backend.schemas.usage import (
    Budget,
    BudgetKind,
    DayBudget,
    DayBudgetInput,
    DomainBudgets,
    ModelUsage,
    Named,
    UsageBy,
    UsageReport,
    UsageRow,
)
from tests.ui.fakes.usage import RENEWS, TODAY
from tests.ui.seen import words
from ui.features.usage.report import as_csv
from ui.features.usage.words import cost, usage

FINANCE = UsageRow(
    key="finance", name="finance", turns=2, model_calls=5, input_tokens=1000, cached_tokens=400,
    output_tokens=200, cost=1.5,
)  # fmt: skip

LOW = DayBudget(
    kind=BudgetKind.DAY_TOKENS, limit=5_000, used=4_100, left=900, principal_type="team",
    principal_id="t-1", name="Finance", is_low=True, renews_at=RENEWS,
)  # fmt: skip


@pytest.fixture
def open_usage(open_page):
    def open_it():
        return open_page().switch_page("app_pages/administration/usage.py").run()

    return open_it


def test_a_desk_that_nobody_has_used_says_so(open_usage):
    page = open_usage()

    assert not page.exception
    assert "No usage in this period." in words(page)


def test_what_was_used_stands_in_a_table_with_its_total(open_usage, store):
    store.usage.rows = [FINANCE]

    page = open_usage()

    assert {metric.label: metric.value for metric in page.metric} == {
        "Turns": "2", "Tokens in": "1,000", "Tokens out": "200", "Cost": "1.50",
    }  # fmt: skip
    (table,) = page.dataframe
    assert list(table.value["Domain"]) == ["finance"]
    assert store.usage.asked == [(30, UsageBy.DOMAIN)]


def test_the_page_says_when_a_day_begins_wherever_its_reader_is(open_usage):
    assert "midnight UTC" in words(open_usage())


@pytest.mark.parametrize(
    ("amount", "written"),
    [(0, "0.00"), (0.00003, "0.000030"), (0.0031, "0.0031"), (0.5, "0.50"), (1234.5, "1,234.50")],
)
def test_a_cost_is_written_as_money_however_small(amount, written):
    assert cost(amount) == written


def test_the_chart_and_costs_are_written_as_the_reader_writes_numbers(open_usage, store):
    store.usage.rows = [FINANCE]

    page = open_usage()

    (chart,) = page.get("vega_lite_chart")
    assert "number" in json.loads(chart.proto.spec)["config"]["locale"]
    columns = json.loads(page.dataframe[0].proto.columns)
    assert columns["Cost"]["type_config"]["format"] == "localized"


def test_another_choice_asks_for_another_report(open_usage, store):
    store.usage.rows = [FINANCE]
    page = open_usage()

    page.segmented_control(key="usage-by").set_value(UsageBy.MODEL).run()
    page.segmented_control(key="usage-days").set_value(7).run()

    assert store.usage.asked[-1] == (7, UsageBy.MODEL)
    assert "Model" in page.dataframe[0].value


def test_a_filter_that_is_chosen_is_asked_for_with_the_report(open_usage, store):
    store.usage.rows = [FINANCE]
    store.usage.choices = [Named(key="u-1", name="Ada"), Named(key="u-2", name="Bo")]
    page = open_usage()

    page.selectbox(key="usage-of-owner").set_value("u-2").run()

    nothing_else = {"team": None, "domain": None, "model": None}
    assert store.usage.wanted[-1] == {"person": "u-2", **nothing_else}
    assert page.selectbox(key="usage-of-owner").options == ["Ada", "Bo"]


def test_one_person_alone_has_no_teams_and_no_budgets(open_usage):
    page = open_usage()

    assert "Daily budgets" not in words(page)
    assert "Team" not in page.segmented_control(key="usage-by").options
    assert "usage-of-team" not in [one.key for one in page.selectbox]


def test_a_teams_budget_is_set_and_removed(open_usage, store):
    store.server.has_accounts = True
    store.people.add_team("Finance")
    page = open_usage()
    assert "People without a budget here are not limited" in words(page)

    page.selectbox(key="budget-of-team").set_value("finance").run()
    page.number_input(key="budget-tokens-team-finance").set_value(5_000)
    page.button(key="save-budget").click().run()  # before the number is drawn
    saved = dict(store.usage.set)
    page.button(key="remove-budget").click().run()

    assert not page.exception
    assert saved == {"finance": DayBudgetInput(tokens=5_000)}
    assert store.usage.set == {}


def test_ones_own_day_says_what_is_left(open_usage, store):
    store.server.has_accounts, store.server.permissions = True, []
    store.usage.own = [LOW]

    page = open_usage()

    (bar,) = page.get("progress")
    assert bar.proto.text == "Team Finance, today: 4,100 of 5,000 tokens"
    assert "Daily budgets\n" not in words(page)


def test_a_price_is_set_and_removed_on_the_page_of_models(open_page, store):
    page = open_page().switch_page("app_pages/administration/models.py").run()

    page.selectbox(key="price-model").set_value("demo").run()
    page.number_input(key="price-Output-demo").set_value(2.5)
    page.button(key="save-price").click().run()  # before the number is drawn
    (table,) = page.dataframe
    price = store.usage.prices["demo"]
    page.button(key="remove-price").click().run()

    assert not page.exception
    assert (price.input, price.cached, price.output) == (0, None, 2.5)
    assert list(table.value["Set"]) == ["here by ada"]
    assert store.usage.prices == {}


def test_models_without_a_price_are_named(open_usage, store):
    store.usage.rows, store.usage.unpriced = [FINANCE], ["demo"]

    assert "no price for demo" in words(open_usage())


def test_a_model_that_had_a_price_is_not_said_to_cost_nothing(open_usage, store):
    had_a_price = FINANCE.model_copy(update={"key": "old", "cost": 12.5})
    store.usage.rows, store.usage.unpriced = [had_a_price], ["old"]

    said = words(open_usage())

    assert "no price for old. Usage without a price counts as cost 0." in said


def test_models_whose_endpoint_reports_no_tokens_are_named(open_usage, store):
    store.usage.rows, store.usage.unreported = [FINANCE], ["quiet"]

    assert "The endpoint of quiet reports no tokens" in words(open_usage())


def test_tokens_that_nobody_reported_are_not_said_to_be_none():
    assert usage(Usage(model_calls=2)) == "Tokens not reported · 2 model calls"


def test_a_domains_month_stands_beside_its_budget(open_usage, store):
    budget = Budget(kind=BudgetKind.DOMAIN_TOKENS, limit=5000, used=1250, left=3750)
    store.usage.domains = [DomainBudgets(domain="finance", budgets=[budget])]

    page = open_usage()

    (bar,) = page.get("progress")
    assert bar.proto.text == "finance: 1,250 of 5,000 tokens"
    assert bar.proto.value == 25


def test_members_see_their_own_and_cannot_ask_for_persons(open_usage, store):
    store.server.permissions = []
    store.usage.rows = [FINANCE]

    page = open_usage()

    assert "Your usage" in words(page)
    assert "Person" not in page.segmented_control(key="usage-by").options


def test_a_name_that_a_spreadsheet_would_run_is_made_harmless():
    rows = [FINANCE.model_copy(update={"name": "=cmd()"}), FINANCE]

    written = list(csv.DictReader(io.StringIO(as_csv(report_of(rows)))))

    assert [row["Domain"] for row in written] == ["'=cmd()", "finance"]
    assert written[1]["Tokens in"] == "1000"


def test_a_sessions_use_is_asked_for_only_when_it_is_opened(open_page, store):
    session = store.add_session()
    budget = Budget(kind=BudgetKind.SESSION_TOKENS, limit=100, used=100, left=0)
    figures = {"input_tokens": 80, "output_tokens": 20, "model_calls": 1}
    store.usage.models = [ModelUsage(model="demo", has_price=False, **figures)]
    store.usage.budgets = [budget]

    page = open_page(session=session.id)

    assert not page.exception
    assert not [call for call in store.calls if call.endswith("/usage?")]


def report_of(rows):
    return UsageReport(
        since=TODAY, until=TODAY, by=UsageBy.DOMAIN, items=rows, total=FINANCE, days=[],
        unpriced=[], unreported=[], domains=[],
    )  # fmt: skip
