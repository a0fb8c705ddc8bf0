"""Files and cells that are dropped on the composer or pasted into it."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.e2e.chat.test_double_clicks import held, is_waited
from tests.e2e.desk import Desk
from tests.e2e.files import formats
from tests.e2e.files.handing import drop, have_arrived, paste, paste_cells
from tests.e2e.slow_wire import SlowWire
from tests.fakes import ScriptedModel
from tests.stack import Stack

CELLS = "region\tamount\nNorth\t1,5\nSouth\t2,5"


@pytest.mark.journey
def test_dropped_and_pasted_files_go_with_one_message(
    desk: Desk, stack: Stack, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "I see three."}
    paths = formats.write(tmp_path, orders_xlsx=formats.workbook(), sales_parquet=formats.parquet())

    drop(desk, desk.page.get_by_test_id("stChatInput"), *paths)
    have_arrived(desk, "orders.xlsx", "sales.parquet")
    paste(desk.composer, {"stock.jsonl": formats.JSON_LINES})
    have_arrived(desk, "orders.xlsx", "sales.parquet", "stock.jsonl")
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
    own_desk: Desk, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "I see two."}
    paths = formats.write(tmp_path, orders_xlsx=formats.workbook(), sales_parquet=formats.parquet())
    desk = own_desk
    wire = SlowWire(desk)
    desk.open()
    desk.sends_by_itself()
    drop(desk, desk.page.get_by_test_id("stChatInput"), *paths)
    have_arrived(desk, "orders.xlsx", "sales.parquet")
    asked: list[str] = []
    desk.page.on("dialog", lambda dialog: (asked.append(dialog.type), dialog.dismiss()))
    wire.hold_answers()

    desk.ask("What is in them?")
    sent = desk.main.locator(".colloquy-sent")
    expect(sent).to_have_text("What is in them?\n\nSending 2 files…")
    with desk.page.expect_event("dialog"):
        desk.page.evaluate("location.reload()")
    expect(sent).to_be_visible()
    wire.release()

    desk.sees("I see two.")
    expect(sent).to_have_count(0)
    desk.sees_once("Attached file: orders.xlsx")
    desk.page.reload()
    assert asked == ["beforeunload"]


def test_why_a_message_was_not_sent_is_in_sight_beside_its_many_files(
    desk: Desk, tmp_path: Path
) -> None:
    paths = [tmp_path / f"part {number}.csv" for number in range(8)]
    for number, path in enumerate(paths):
        path.write_text(f"a,b\n1,{number}\n" if number else "")
    expect(desk.composer).to_be_visible()
    desk.is_at_rest()
    desk.page.set_viewport_size({"width": 1280, "height": 500})
    drop(desk, desk.page.get_by_test_id("stChatInput"), *paths)

    desk.ask("What is in them?")

    expect(desk.main.get_by_text("part 0.csv: The file is empty.")).to_be_in_viewport(ratio=1)
    expect(desk.main.get_by_role("link", name="Inspector")).to_be_in_viewport(ratio=1)
    remove = desk.main.get_by_role("button", name="Remove")
    expect(remove).to_have_count(7)
    remove.last.scroll_into_view_if_needed()
    expect(remove.last).to_be_in_viewport(ratio=1)
    expect(desk.composer).to_be_in_viewport(ratio=1)


def test_a_file_dropped_beside_the_composer_goes_into_it(
    desk: Desk, model: ScriptedModel, tmp_path: Path
) -> None:
    model.steps = lambda messages, body: {"text": "I see two."}
    orders, sales = formats.write(
        tmp_path, orders_xlsx=formats.workbook(), sales_parquet=formats.parquet()
    )

    expect(desk.composer).to_be_visible()  # it is drawn after the words above it
    desk.is_at_rest()
    drop(desk, desk.main.get_by_text("What would you like to know?"), orders)
    have_arrived(desk, "orders.xlsx")
    drop(desk, desk.sidebar, sales)
    have_arrived(desk, "orders.xlsx", "sales.parquet")
    desk.ask("What is in them?")

    desk.sees("I see two.", "Attached file: orders.xlsx", "Attached file: sales.parquet")


def test_a_folder_dropped_beside_the_composer_gives_it_the_files_within(
    desk: Desk, tmp_path: Path
) -> None:
    folder = tmp_path / "ledgers"
    (folder / "older").mkdir(parents=True)
    formats.write(folder, orders_xlsx=formats.workbook())
    formats.write(folder / "older", sales_parquet=formats.parquet())

    expect(desk.composer).to_be_visible()
    desk.is_at_rest()
    drop(desk, desk.main.get_by_text("What would you like to know?"), folder)

    have_arrived(desk, "orders.xlsx", "sales.parquet")


def test_a_click_while_the_files_of_a_message_are_uploaded_does_not_lose_it(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": "I see one."}
    paste(desk.composer, {"stock.jsonl": formats.JSON_LINES})
    have_arrived(desk, "stock.jsonl")

    with held(stack, "files"):
        desk.ask("What is in it?")
        stack.wait_for(lambda: is_waited(stack), "the upload does not arrive")
        desk.press("Archived")

    desk.sees("I see one.", "Attached file: stock.jsonl")
    expect(desk.page.get_by_role("button", name="Back to sessions")).to_be_visible()
    desk.is_idle()
    desk.is_at_rest()
    expect(desk.composer).to_have_value("")
    assert len(model.requests) == 1


def test_pasted_cells_are_text_and_their_picture_is_left_out(desk: Desk) -> None:
    desk.composer.fill("Which is more?\n")

    paste_cells(desk, desk.composer, CELLS)

    expect(desk.composer).to_have_value(f"Which is more?\n{CELLS}")
    expect(desk.page.get_by_test_id("stFileChip")).to_have_count(0)


def test_a_file_that_cannot_be_read_is_not_left_out_in_silence(
    desk: Desk, model: ScriptedModel, tmp_path: Path
) -> None:
    (picture,) = formats.write(tmp_path, chart_png=formats.PICTURE)
    drop(desk, desk.page.get_by_test_id("stChatInput"), picture)
    have_arrived(desk, "chart.png")

    desk.ask("What does it show?")

    expect(desk.page.get_by_text("This is an image, which cannot be read.")).to_be_visible()
    expect(desk.composer).to_have_value("What does it show?")
    assert model.requests == []


def test_a_message_is_not_sent_without_a_file_that_has_not_arrived(
    desk: Desk, model: ScriptedModel
) -> None:
    model.steps = lambda messages, body: {"text": "Without it."}
    desk.page.route("**/_stcore/upload_file/**", lambda route: route.abort())
    paste(desk.composer, {"stock.jsonl": formats.JSON_LINES})
    expect(desk.page.get_by_test_id("stFileChipIconError")).to_be_visible()
    desk.sends_by_itself()

    desk.ask("How many are there?")

    desk.sees("stock.jsonl was not uploaded")
    expect(desk.composer).to_have_value("How many are there?")
    assert model.requests == []
    desk.page.get_by_test_id("stFileChipDeleteBtn").click()
    desk.composer.press("Enter")
    desk.sees("Without it.")
    desk.sees_not("stock.jsonl was not uploaded")
