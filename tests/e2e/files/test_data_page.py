"""Files uploaded on the page Data: all of them, and what was understood of each."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.desk import Desk
from tests.e2e.files import formats
from tests.e2e.files.handing import drop
from tests.e2e.twice import held, is_waited
from tests.stack import Stack


def place(desk: Desk) -> Locator:
    """Where files are given to the page."""
    return desk.main.get_by_role("region", name="Upload files for all your sessions")


def uploaded(stack: Stack, *names: str) -> list[str]:
    """Those of the files of all sessions that have these names, the latest first."""
    items = stack.client.get("/files").json()["items"]
    return [item["name"] for item in items if item["name"] in names and not item["session_id"]]


@pytest.mark.journey
def test_each_format_is_read_and_what_is_refused_is_named(desk: Desk, tmp_path: Path) -> None:
    files = {
        "book_xlsx": formats.workbook(), "takings_parquet": formats.parquet(),
        "stock_jsonl": formats.JSON_LINES, "contract_pdf": formats.pdf(),
        "chart_png": formats.PICTURE,
    }  # fmt: skip
    paths = formats.write(tmp_path, **files)
    desk.open("data")
    desk.is_at_rest()

    drop(desk, place(desk), *paths)

    desk.sees("chart.png: This is an image, which cannot be read.")
    place(desk).get_by_role("button", name="Leave out").click()
    expect(place(desk).get_by_role("alert")).to_have_count(0)
    desk.sees("2 tables · 4 rows", "Read as Parquet.", "Read as JSON.", "A PDF of two pages")
    desk.press("takings.parquet")
    desk.sees("2 columns, 1 row")
    columns, rows = (desk.main.get_by_test_id("stDataFrame").nth(number) for number in (0, 1))
    expect(columns.locator("td")).to_have_text(["day", "Date", "", "amount", "Number", ""])
    expect(rows.locator("td")).to_have_text(["2026-07-01", "1234.5"])
    desk.press("All data")
    desk.press("contract.pdf")
    desk.sees("2 columns, 2 rows")
    expect(desk.main.locator("td").filter(has_text="Notice is three months.")).to_have_count(1)


def test_a_click_while_files_are_uploaded_loses_and_repeats_none(
    desk: Desk, stack: Stack, tmp_path: Path
) -> None:
    paths = formats.write(tmp_path, first_jsonl=formats.JSON_LINES, second_jsonl=formats.JSON_LINES)
    desk.open("data")
    desk.is_at_rest()

    with held(stack, "files"):
        drop(desk, place(desk), *paths)
        stack.wait_for(lambda: is_waited(stack), "the upload does not arrive")
        desk.press("Archived")
        expect(desk.page.get_by_role("button", name="Back to sessions")).to_be_visible()

    expect(place(desk).get_by_role("status")).to_have_text("first.jsonl, second.jsonl: uploaded.")
    expect(desk.main.get_by_role("button", name=re.compile(r"first|second"))).to_have_count(2)
    assert uploaded(stack, "first.jsonl", "second.jsonl") == ["second.jsonl", "first.jsonl"]


def test_a_file_dropped_anywhere_is_uploaded_or_leaves_the_page_as_it_is(
    desk: Desk, stack: Stack, tmp_path: Path
) -> None:
    (path,) = formats.write(tmp_path, returns_jsonl=formats.JSON_LINES)
    desk.open("search")
    desk.is_at_rest()
    heading = desk.main.get_by_role("heading", name="Search in messages")
    drop(desk, heading, path)
    expect(heading).to_be_visible()
    assert uploaded(stack, path.name) == []

    desk.open("data")
    desk.is_at_rest()
    drop(desk, desk.main.get_by_role("heading", name="Data", exact=True), path)

    stack.wait_for(lambda: uploaded(stack, path.name) == [path.name], "it is not uploaded")
    desk.sees("returns", "2 rows")


def test_a_file_whose_name_is_taken_is_kept_out_replaced_or_kept_beside(
    desk: Desk, stack: Stack, tmp_path: Path
) -> None:
    (path,) = formats.write(tmp_path, alike_jsonl=formats.JSON_LINES)
    desk.open("data")
    desk.is_at_rest()
    chosen = place(desk).locator("input[type=file]")
    question = place(desk).get_by_role("alert")
    chosen.set_input_files(path)
    stack.wait_for(lambda: uploaded(stack, path.name) == [path.name], "it is not uploaded")

    for answer, count in (("Leave out", 1), ("Replace", 1), ("Keep both", 2)):
        chosen.set_input_files(path)
        expect(question).to_be_visible()
        question.get_by_role("button", name=answer).click()
        expect(question).to_have_count(0)
        stack.wait_for(lambda: len(uploaded(stack, path.name)) == count, answer)  # noqa: B023

    expect(desk.main.get_by_role("button", name=path.name)).to_have_count(2)


def test_a_file_that_is_lost_on_its_way_is_sent_again(
    own_desk: Desk, stack: Stack, tmp_path: Path
) -> None:
    (path,) = formats.write(tmp_path, lost_jsonl=formats.JSON_LINES)
    own_desk.open("data")
    own_desk.is_at_rest()
    own_desk.page.route("**/colloquy/api/files", lambda route: route.abort())
    place(own_desk).locator("input[type=file]").set_input_files(path)
    said = "lost.jsonl was not uploaded. The connection was lost."
    expect(place(own_desk).get_by_role("alert")).to_contain_text(said)
    own_desk.page.unroute("**/colloquy/api/files")

    place(own_desk).get_by_role("button", name="Try again").press("Enter")
    expect(place(own_desk).get_by_role("button", name="Choose files")).to_be_focused()

    expect(own_desk.main.get_by_role("button", name="lost.jsonl")).to_have_count(1)
    assert uploaded(stack, path.name) == [path.name]
