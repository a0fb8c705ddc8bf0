"""Files and cells that are dropped on the composer or pasted into it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.e2e.files import formats
from tests.e2e.files.handing import drop, paste, paste_cells
from tests.e2e.twice import held, is_waited
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_session, texts
from tests.stack import Stack

CELLS = "region\tamount\nNorth\t1,5\nSouth\t2,5"


@pytest.mark.journey
def test_dropped_and_pasted_files_go_with_one_message(
    desk: Desk, stack: Stack, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "I see three."}
    paths = formats.write(tmp_path, orders_xlsx=formats.workbook(), sales_parquet=formats.parquet())

    drop(desk, desk.composer, *paths)
    desk.has_files("orders.xlsx", "sales.parquet")
    paste(desk.composer, {"stock.jsonl": formats.JSON_LINES})
    desk.has_files("orders.xlsx", "sales.parquet", "stock.jsonl")
    desk.ask("What is in them?")

    desk.sees("I see three.")
    desk.is_idle()
    files = stack.client.get("/files", params={"session_id": desk.session_id}).json()["items"]
    assert {file["name"]: file["rows"] for file in files} == {
        "orders.xlsx": 4, "sales.parquet": 1, "stock.jsonl": 2,
    }  # fmt: skip
    asked = str(model.messages[-1][-1])
    assert all(f"{file['name']} (source {file['source']})" in asked for file in files)


def test_a_message_is_in_sight_while_its_files_are_sent_and_is_not_left_without_a_question(
    desk: Desk, stack: Stack, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "An answer."}
    paths = formats.write(tmp_path, orders_xlsx=formats.workbook(), sales_parquet=formats.parquet())
    session_id, other = (stack.chat(f"Number {number}")["session_id"] for number in range(2))
    desk.open(f"?session={session_id}")
    desk.sees("Number 0")
    asked: list[str] = []
    desk.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))

    with held(stack, "files"):
        drop(desk, desk.composer, *paths)
        desk.ask("What is in them?")
        expect(desk.waits).to_be_visible()
        expect(desk.composer).to_have_value("What is in them?")
        stack.wait_for(lambda: is_waited(stack), "the upload does not arrive")
        with desk.page.expect_event("dialog"):
            desk.page.evaluate("location.reload()")
        expect(desk.waits).to_be_visible()
        desk.press("Archived")
        desk.press("Back to sessions")
        expect(desk.waits).to_be_visible()
        desk.row(other).click()  # what waits goes on without its page
        desk.sees("Number 1")
    desk.row(session_id).click()

    desk.sees_once("Attached file: orders.xlsx")
    desk.sees_once("Attached file: sales.parquet")
    expect(desk.main.get_by_text("An answer.")).to_have_count(2)
    desk.is_idle()
    expect(desk.composer).to_have_value("")
    assert texts(stack.messages(other), "user") == ["Number 1"]
    assert len(model.requests) == 3
    desk.page.reload()
    desk.sees("What is in them?")
    assert asked == ["beforeunload"]


def test_why_a_message_was_not_sent_is_in_sight_beside_its_many_files(
    desk: Desk, stack: Stack, tmp_path: Path
) -> None:
    desk.open(f"?session={make_session(stack)}")
    paths = [tmp_path / f"part {number}.csv" for number in range(8)]
    for number, path in enumerate(paths):
        path.write_text(f"a,b\n1,{number}\n" if number else "")
    expect(desk.composer).to_be_visible()
    desk.is_at_rest()
    desk.page.set_viewport_size({"width": 1280, "height": 500})
    drop(desk, desk.composer, *paths)

    desk.ask("What is in them?")

    expect(desk.main.get_by_text("part 0.csv: The file is empty.")).to_be_in_viewport(ratio=1)
    expect(desk.main.get_by_role("link", name="Inspector")).to_be_in_viewport(ratio=1)
    expect(desk.files).to_have_count(7)
    desk.files.last.scroll_into_view_if_needed()
    expect(desk.files.last).to_be_in_viewport(ratio=1)
    expect(desk.composer).to_be_in_viewport(ratio=1)


def test_a_file_or_folder_dropped_beside_the_composer_goes_into_it(
    desk: Desk, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "I see four."}
    folder = tmp_path / "ledgers"
    (folder / "older").mkdir(parents=True)
    orders, sales = formats.write(
        tmp_path, orders_xlsx=formats.workbook(), sales_parquet=formats.parquet()
    )
    formats.write(folder, stock_jsonl=formats.JSON_LINES)
    formats.write(folder / "older", returns_jsonl=formats.JSON_LINES)

    expect(desk.composer).to_be_visible()  # it is drawn after the words above it
    desk.is_at_rest()
    drop(desk, desk.main.get_by_text("What would you like to know?"), orders)
    desk.has_files("orders.xlsx")
    drop(desk, desk.sidebar, sales)
    desk.has_files("orders.xlsx", "sales.parquet")
    drop(desk, desk.main.get_by_text("What would you like to know?"), folder)
    desk.has_files("orders.xlsx", "sales.parquet", "stock.jsonl", "returns.jsonl")
    desk.ask("What is in them?")

    desk.sees("I see four.")
    desk.sees(*(f"Attached file: {name}" for name in ("orders.xlsx", "sales.parquet")))
    desk.sees(*(f"Attached file: {name}.jsonl" for name in ("stock", "returns")))


def test_the_picture_of_pasted_cells_is_left_out_and_one_that_is_dropped_is_not_in_silence(
    desk: Desk, model: ScriptedModel, tmp_path: Path
) -> None:
    desk.composer.fill("Which is more?\n")
    paste_cells(desk, desk.composer, CELLS)
    expect(desk.composer).to_have_value(f"Which is more?\n{CELLS}")
    expect(desk.files).to_have_count(0)

    (picture,) = formats.write(tmp_path, chart_png=formats.PICTURE)
    drop(desk, desk.composer, picture)
    desk.sees("chart.png: This is an image, which cannot be read.")
    desk.composer.press("Enter")

    desk.sees("chart.png was not uploaded")
    expect(desk.composer).to_have_value(f"Which is more?\n{CELLS}")
    assert model.requests == []
