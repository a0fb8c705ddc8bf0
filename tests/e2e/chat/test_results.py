"""A person works with what tools gave: charts, tables, queries of one's own, and takes it away."""

import io
import re

import openpyxl
import pytest
from playwright.sync_api import Download, Locator, expect

from tests.e2e.desk import Desk

CHART = "Chart spend by cost centre in 2026"


@pytest.fixture
def charted(demo_desk: Desk) -> Desk:
    demo_desk.ask(CHART)
    demo_desk.sees("The total is")
    demo_desk.is_idle()
    demo_desk.is_at_rest()
    return demo_desk


def button(desk: Desk, name: str) -> Locator:
    return desk.main.get_by_role("button", name=name, exact=True).filter(visible=True).first


def download(desk: Desk, name: str) -> Download:
    link = desk.main.get_by_role("link", name=name, exact=True)
    with desk.page.expect_download() as found:
        button(desk, name).or_(link.filter(visible=True)).first.click()
    return found.value


@pytest.mark.journey
def test_a_chart_is_drawn_changed_and_taken_away_and_the_query_run_by_oneself(
    charted: Desk,
) -> None:
    desk = charted
    desk.sees(re.compile(r"tokens in, [\d,]+ out"))  # type: ignore[arg-type]  # get_by_text takes it
    expect(desk.charts).to_be_visible()
    assert "<svg" in download(desk, "Download as SVG").path().read_text()
    assert download(desk, "CSV").path().read_text().startswith('"cost_centre",')

    desk.shown_as("Table").click()
    expect(desk.tables).to_be_visible()
    desk.sees("16 rows")

    desk.main.get_by_text("Query", exact=True).filter(visible=True).click()
    desk.sees("Query of fi")
    button(desk, "Run your own").click()
    desk.main.get_by_role("textbox", name="Your query").fill("SELECT 41 + 1 AS answer")
    button(desk, "Run").click()
    desk.sees("Query of fi", "1 row")
    desk.page.reload()
    desk.sees(CHART)
    expect(desk.main.get_by_text("Worked ")).to_have_count(1)
    is_exported(desk)


def is_exported(desk: Desk) -> None:
    """Export the session, in the browser's zone and format."""
    desk.is_at_rest()
    desk.press("Export")
    offered = desk.opened("Export")

    with desk.page.expect_download() as found:
        offered.get_by_role("button", name="Web page").click()
    with desk.page.expect_download() as tables:
        offered.get_by_role("button", name="Tables of answers and tools").click()

    page = found.value.path().read_text()
    assert "The total is" in page
    assert re.search(r"\d\d/\d\d/20\d\d \d\d:\d\d CES?T<", page), (
        "not the browser's zone and format"
    )
    book = openpyxl.load_workbook(io.BytesIO(tables.value.path().read_bytes()))
    assert {"Spend by cost centre, 2026", "Answer", "Contents"} <= set(book.sheetnames)
