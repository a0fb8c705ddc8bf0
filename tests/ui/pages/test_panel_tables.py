"""Tables in the panel: how they are written, filtered, drawn, kept, and asked by oneself."""

from uuid import uuid4

import pandas as pd
import pytest

from backend.schemas.data.queries import QueryTable
from backend.tabular.locales import NOTHING, write_day, write_moment, write_number
from backend.tabular.sql_text import lay_out
from tests.ui.seen import downloads, words
from ui.features.artifacts.state import QUERY, TABLE
from ui.features.results.view import counted
from ui.shared import tables

SQL = "SELECT company_code, SUM(amount) AS spend FROM documents GROUP BY 1"
SPEND = {
    "title": "Spend",
    "columns": [
        {"name": "company", "type": "VARCHAR"},
        {"name": "spend", "type": "DECIMAL(18,2)"},
        {"name": "year", "type": "INTEGER"},
        {"name": "posted", "type": "DATE"},
    ],
    "rows": [["1000", 1234567.5, 2026, "2026-01-31"], ["2000", None, None, None]],
    "row_count": 2,
    "complete": True,
    "notes": [],
}
COMPANY = {**SPEND, "rows": [["3000", 1.0, 2026, None]], "row_count": 1}


@pytest.fixture
def open_table(open_panel, store):
    """Open a message's table in the panel."""

    def open_it(table=SPEND):
        session, message = store.add_session(), uuid4()
        store.tables[message, 1] = QueryTable(**table)
        return open_panel(kind=TABLE, session=str(session.id), message=str(message), number=1)

    return open_it


@pytest.fixture
def editor(open_panel, store):
    """The panel with a person's own query in it."""
    session = store.add_session()
    asked = {"session": str(session.id), "message": str(uuid4()), "source": "fi", "sql": SQL}
    return open_panel(kind=QUERY, **asked)


def press(page, label):
    page.button(key=next(one.key for one in page.button if label in one.label)).click().run()


def shown(locale):
    frame = tables.to_frame(SPEND)
    return [
        [write(value) if pd.notna(value) else NOTHING for value in frame[name]]
        for name, write in zip(frame.columns, tables.writers(SPEND, locale), strict=True)
    ]


@pytest.mark.parametrize(
    ("locale", "money", "day"),
    [
        ("en-US", "1,234,567.50", "01/31/2026"),
        ("de-DE", "1.234.567,50", "31.01.2026"),
        ("de-CH", "1\u2019234\u2019567.50", "31.01.2026"),
        ("xx", "1,234,567.50", "2026-01-31"),
        (None, "1,234,567.50", "2026-01-31"),
    ],
)
def test_cells_are_written_as_people_of_the_locale_do(locale, money, day):
    _, spend, year, posted = shown(locale)

    assert spend == [money, NOTHING]
    assert year == ["2026", NOTHING]
    assert posted == [day, NOTHING]


@pytest.mark.parametrize(("locale", "amount"), [("de-DE", "1234,5"), ("en-US", "1234.5")])
def test_copied_numbers_are_numbers_in_a_spreadsheet_of_the_locale(locale, amount):
    table = {
        "columns": [{"name": "Year"}, {"name": "Amount"}, {"name": "Note"}],
        "rows": [[2026, 1234.5, "two\nlines"], [2025, None, "1.5"]],
    }

    copied = tables.as_tabbed(table, locale)

    assert copied == f"Year\tAmount\tNote\n2026\t{amount}\ttwo lines\n2025\t\t1.5"


def test_numbers_and_times_keep_all_that_they_have():
    assert write_number(0.12345, "de") == "0,12345"
    assert write_number(1e-9, "en") == "1e-09"
    assert write_moment("2026-01-31T10:00:00+01:00", "de") == "31.01.2026 10:00:00+01:00"
    assert write_day("infinity", "de") == "infinity"


@pytest.mark.parametrize(
    ("table", "count", "matching", "said"),
    [
        ({"row_count": 13}, 10, None, "10 of 13 rows"),
        ({"row_count": 1}, 1, None, "1 row"),
        ({"row_count": 13}, 4, 4, "4 of 13 rows match"),
        ({"row_count": 5, "complete": False}, 5, None,
         "5 rows · cut at the tool's limit; there are more"),
    ],
)  # fmt: skip
def test_what_is_cut_is_said(table, count, matching, said):
    assert counted(table, count, matching) == said


def test_rows_are_filtered_and_files_have_them_all(open_table):
    page = open_table()

    (box,) = [one for one in page.text_input if one.label == "Filter rows"]
    box.set_value("100").run()

    assert not page.exception
    assert list(page.dataframe[0].value["company"]) == ["1000"]
    assert "1 of 2 rows match" in words(page)
    assert page.dataframe[0].proto.placeholder == NOTHING  # for no value, the browser draws this
    assert {name: path.split("?")[1] for name, path in downloads(page).items()} == {
        "CSV": "format=csv",
        "Excel": "format=xlsx",
    }


def test_a_table_becomes_a_chart(open_table):
    page = open_table()

    page.button_group[0].set_value("Chart").run()

    assert not page.exception
    assert not page.dataframe
    assert [box.value for box in page.selectbox] == ["line", "posted", "spend", "company"]


def test_what_is_to_be_known_of_figures_stands_below_them(open_table):
    notes = [f"Times are in UTC {n}" for n in range(6)]

    page = open_table({**SPEND, "notes": notes})

    said = " ".join(caption.value for caption in page.caption)
    assert [note for note in notes if note in said] == notes
    assert "3 more notes" in [box.label for box in page.expander]


def test_ones_own_query_is_run_shown_below_and_kept(editor, store):
    store.own_table = QueryTable(**COMPANY)
    assert editor.text_area[0].value == lay_out(SQL) != SQL

    editor.text_area[0].set_value("SELECT 3000").run()
    press(editor, "Run")

    assert store.bodies[-1] == {"source": "fi", "sql": "SELECT 3000"}
    assert list(editor.dataframe[-1].value["company"]) == ["3000"]
    assert not store.turns

    next(one for one in editor.text_input if one.label == "Title").set_value("Company 3000").run()
    press(editor, "Keep as")

    assert store.bodies[-1] == {"source": "fi", "sql": "SELECT 3000", "title": "Company 3000"}
    assert [one.value for one in editor.success] == [
        "Kept among this session's artifacts: Company 3000"
    ]


def test_an_empty_query_is_not_run(editor, store):
    editor.text_area[0].set_value(" ").run()
    press(editor, "Run")

    assert [one.value for one in editor.error] == ["Enter a query and the name of its source."]
    assert not store.bodies


@pytest.mark.parametrize(
    "sql",
    ["SELEC 1", "(" * 200 + "1" + ")" * 200, "SELECT 1 -- " + "x" * 9_000, "", "\x00", "SELECT '"],
)
def test_sql_that_is_not_surely_read_stays_as_it_is(sql):
    assert lay_out(sql) == sql
