"""What is downloaded is whole: a chart's picture and rows, and a session in each format."""

import csv
import io
import re
import xml.etree.ElementTree as ElementTree
from typing import Literal

import openpyxl
import pytest
from PIL import Image
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

MEDIA: tuple[Literal["screen", "print"], ...] = ("screen", "print")
SQL = "SELECT 'Zürich' AS city, 1234.5 AS amount UNION ALL SELECT 'Köln; \"A\"', -2.25"
ROWS = [("Zürich", 1234.5), ('Köln; "A"', -2.25)]
CALL = {"source": "fi", "sql": SQL, "title": "Amounts by city"}
LONG = "https://desk.example.com/" + "w" * 400
ANSWER = "**Two** cities.\n\n| place | share |\n|---|---|\n| Zürich | 99 % |"


@pytest.fixture
def charted(desk: Desk, stack: Stack, model: ScriptedModel) -> Desk:
    """A chat with a chart and an answer that has a table."""
    call = {"tools": [{"name": "make_chart", "args": CALL}]}
    model.steps = [call, {"text": ANSWER}]
    desk.open(f"?session={stack.chat('Chart the cities')['session_id']}")
    expect(desk.charts).to_be_visible()
    desk.is_at_rest()
    return desk


def button(desk: Desk, name: str) -> Locator:
    """Return the button, or the link, whose name begins like this."""
    named = re.compile(f"^{re.escape(name)}")
    buttons = desk.page.get_by_role("button", name=named)
    return buttons.or_(desk.page.get_by_role("link", name=named)).filter(visible=True).first


def taken(desk: Desk, name: str) -> tuple[str, bytes]:
    """Click a download; give the file's name and content."""
    with desk.page.expect_download() as download:
        button(desk, name).click()
    return download.value.suggested_filename, download.value.path().read_bytes()


def test_a_chart_is_downloaded_as_pictures_and_rows_and_stays_as_it_is_looked_at(
    charted: Desk,
) -> None:
    desk = charted

    name, content = taken(desk, "Download as PNG")
    assert name.endswith(".png")
    assert len(Image.open(io.BytesIO(content)).convert("RGB").getcolors(1 << 24) or ()) > 2
    name, content = taken(desk, "Download as SVG")
    assert name == "Amounts by city.svg"
    picture = ElementTree.fromstring(content)
    assert {"Zürich", 'Köln; "A"'} <= {text.text for text in picture.iter() if text.text}
    name, content = taken(desk, "CSV")
    assert name == "Amounts by city.csv"
    read = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    assert read == [["city", "amount"], *([city, str(amount)] for city, amount in ROWS)]
    name, content = taken(desk, "Excel")
    assert name == "Amounts by city.xlsx"
    assert rows(content)["Amounts by city"][-2:] == ROWS

    desk.shown_as("Table").first.click()
    expect(desk.tables).to_have_count(1)
    desk.press("Archived")
    expect(button(desk, "Back to sessions")).to_be_visible()
    expect(desk.tables).to_have_count(1)
    expect(desk.charts).to_have_count(0)


@pytest.mark.journey
def test_a_session_is_whole_in_each_format(charted: Desk) -> None:
    desk = charted
    desk.press("Export")

    name, markdown = taken(desk, "Markdown")
    assert name.endswith(".md")
    page = taken(desk, "Web page")[1].decode()
    tables = rows(taken(desk, "Tables of answers and tools")[1])

    for text in (markdown.decode(), page):
        assert "Chart the cities" in text
        assert "Amounts by city" in text
        assert "Zürich" in text
    assert ANSWER in markdown.decode()
    assert "<strong>Two</strong> cities." in page
    assert page.rstrip().endswith("</html>")
    assert tables["Amounts by city"][-2:] == ROWS
    assert ("Zürich", 99) in tables["Answer"]  # its format shows the percent sign


def test_the_longest_word_of_a_session_stays_within_its_page_and_its_print(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = [{"text": f"## {LONG}\n\n{LONG}\n\n- `{LONG}`"}]
    session_id = stack.chat(LONG)["session_id"]
    path = f"/sessions/{session_id}/export"
    exported = stack.client.get(path, params={"format": "html"}).text
    page = desk.context.new_page()
    page.set_content(exported)

    for media in MEDIA:
        page.emulate_media(media=media)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), media


def rows(content: bytes) -> dict[str, list[tuple[object, ...]]]:
    """The rows of each sheet."""
    book = openpyxl.load_workbook(io.BytesIO(content))
    return {sheet.title: list(sheet.values) for sheet in book.worksheets}
