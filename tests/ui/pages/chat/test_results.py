"""Table results on the page: how they are written, filtered, drawn, kept, and asked by oneself."""

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from backend.schemas.data.queries import QueryTable
from backend.tabular.locales import NOTHING, write_day, write_moment, write_number
from backend.tabular.sql_text import lay_out
from colloquy_kit.messages.kinds import ContentType, MessageStatus, MessageType
from tests.ui.seen import QUESTION, html, words
from ui.features.results.view import counted
from ui.shared import tables

SQL = "SELECT company_code, SUM(amount) AS spend FROM documents GROUP BY 1"
TABLE = {
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
}


def asked(store, table=TABLE, name="query_source"):
    session = store.add_session()
    turn = store.add_turn(session, QUESTION)
    store.start(turn)
    call = {"call_id": "c", "name": name, "arguments": {"source": "fi", "sql": SQL, "title": "S"}}
    store.add_row(session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn)
    content = {"tool_call_id": "c", "name": name, "content": "x", "is_error": False}
    store.add_row(
        session, MessageType.TOOL, ContentType.TOOL_RESULT, content, turn, metadata={"table": table}
    )
    store.finish(turn)
    return session


def shown(locale):
    frame = tables.to_frame(TABLE)
    return [
        [write(value) if pd.notna(value) else NOTHING for value in frame[name]]
        for name, write in zip(frame.columns, tables.writers(TABLE, locale), strict=True)
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


def test_a_card_shows_the_result_first_and_the_query_laid_out(open_page, store):
    page = open_page(session=asked(store).id)

    assert not page.exception
    assert page.code[0].value == lay_out(SQL)
    assert "\n" in page.code[0].value
    assert page.code[0].language == "sql"
    said = words(page)
    assert said.index("2 rows") < said.index("Query of fi")


def test_rows_are_filtered(open_page, store):
    page = open_page(session=asked(store).id)

    (box,) = [one for one in page.text_input if one.label == "Filter rows"]
    box.set_value("100").run()

    assert list(page.dataframe[0].value["company"]) == ["1000"]
    assert "1 of 2 rows match" in words(page)


def test_no_value_is_a_dash(open_page, store):
    page = open_page(session=asked(store).id)

    assert page.dataframe[0].proto.placeholder == NOTHING  # for no value, the browser draws this


def test_a_table_becomes_a_chart(open_page, store):
    page = open_page(session=asked(store).id)

    page.button_group[0].set_value("Chart").run()

    assert not page.exception
    assert not page.dataframe
    assert [box.value for box in page.selectbox] == ["line", "posted", "spend", "company"]


def test_what_is_to_be_known_of_figures_stands_below_them(open_page, store):
    notes = [f"Times are in UTC {n}" for n in range(6)]

    page = open_page(session=asked(store, {**TABLE, "notes": notes}).id)

    said = " ".join(caption.value for caption in page.caption)
    assert [note for note in notes if note in said] == notes
    assert "3 more notes" in [box.label for box in page.expander]


def test_ones_own_query_is_run_shown_below_and_kept(open_page, store):
    table = {**TABLE, "rows": [["3000", 1.0, 2026, None]], "row_count": 1, "notes": []}
    store.own_table = QueryTable(**table)
    page = open_page(session=asked(store).id)
    page.button(key=next(b.key for b in page.button if b.label == "Run your own")).click().run()
    written = page.text_area[0]
    assert written.value == lay_out(SQL)

    written.set_value("SELECT 3000").run()
    page.button(key=next(b.key for b in page.button if b.label == "Run")).click().run()

    assert store.bodies[-1] == {"source": "fi", "sql": "SELECT 3000"}
    assert list(page.dataframe[-1].value["company"]) == ["3000"]
    assert len(store.turns) == 1

    next(one for one in page.text_input if one.label == "Title").set_value("Company 3000").run()
    page.button(key=next(b.key for b in page.button if "Keep as" in b.label)).click().run()

    assert store.bodies[-1] == {"source": "fi", "sql": "SELECT 3000", "title": "Company 3000"}
    assert [one.value for one in page.success] == [
        "Kept among this session's artifacts: Company 3000"
    ]


def test_a_query_whose_run_was_broken_off_is_run_by_the_next_and_only_once(open_page, store):
    table = {**TABLE, "rows": [["3000", 1.0, 2026, None]], "row_count": 1, "notes": []}
    store.own_table = QueryTable(**table)
    page = open_page(session=asked(store).id)
    page.button(key=next(b.key for b in page.button if b.label == "Run your own")).click().run()
    (editor,) = page.session_state["memory"].own_queries.values()

    editor.asked = ("fi", "SELECT 3000")
    page.run()
    page.run()

    assert store.bodies == [{"source": "fi", "sql": "SELECT 3000"}]
    assert list(page.dataframe[-1].value["company"]) == ["3000"]


@pytest.mark.parametrize(
    "sql",
    ["SELEC 1", "(" * 200 + "1" + ")" * 200, "SELECT 1 -- " + "x" * 9_000, "", "\x00", "SELECT '"],
)
def test_sql_that_is_not_surely_read_stays_as_it_is(sql):
    assert lay_out(sql) == sql


def test_an_answers_diagram_formula_and_table_are_drawn(open_page, store):
    session = store.add_session()
    table = "| a | b |\n|---|---|\n| 1 | 2 |"
    text = f"It is $$x^2$$, of $5.\n\n```mermaid\ngraph TD; A-->B\n```\n\n{table}"
    store.add_row(session, MessageType.ASSISTANT, ContentType.TEXT, {"text": text})

    page = open_page(session=session.id)

    assert not page.exception
    assert '<code class="colloquy-formula">x^2</code>, of $5.' in html(page)[0]
    assert "Sort, filter or keep this table" in [box.label for box in page.expander]


def test_a_session_that_says_something_can_be_exported(open_page, store):
    page: AppTest = open_page(session=asked(store).id)

    labels = [button.label for button in page.get("download_button")]

    assert "Markdown" in labels
    assert "CSV" in labels
    assert "Excel" in labels


@pytest.mark.parametrize(
    ("outcome", "label", "sentence"),
    [
        ("denied", "not allowed", "Not run: the rules of this session forbid this tool."),
        ("limited", "over the limit", "Not run: the agent has used up its calls."),
        ("unavailable", "not available", "Not run: this tool is not available now."),
        ("unknown", "outcome unknown", "It is unknown whether this call has taken effect."),
    ],
)
def test_a_call_that_was_not_run_says_why_in_words_for_people(
    open_page, store, outcome, label, sentence
):
    session = store.add_session()
    turn = store.add_turn(session, "Wipe it")
    store.start(turn)
    call = {"call_id": "c1", "name": "wipe", "arguments": {}}
    store.add_row(
        session, MessageType.ASSISTANT, ContentType.TOOL_CALL, call, turn,
        status=MessageStatus.FAILED,
    )  # fmt: skip
    told = {"tool_call_id": "c1", "name": "wipe", "content": "Do not repeat it.", "is_error": True}
    row = store.add_row(session, MessageType.TOOL, ContentType.TOOL_RESULT, told, turn)
    row.metadata["outcome"] = outcome
    store.finish(turn)

    page = open_page(session=session.id)

    line, folded, *_ = page.expander
    assert label in line.label and "failed" not in line.label
    assert sentence in [one.value for one in line.markdown]
    assert folded.label == "What the agent was told"
    assert [one.value for one in folded.text] == ["Do not repeat it."]
