"""Texts that would break a page, or call out of it."""

import time

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel

MEGABYTE = 1_000_000
LIKE_MARKUP = (
    "Array:items[2] is 7",
    ":smile: a:b{c} at 10:30",
    ":material/home: says",
    "::note and :red[x]",
)


def test_a_pasted_megabyte_is_taken_and_the_page_stays_quick(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "Read it."}
    desk.composer.fill("x" * MEGABYTE)
    desk.composer.press("Enter")
    desk.sees("Read it.")
    desk.is_idle()

    started = time.monotonic()
    desk.page.reload()
    desk.sees("Read it.")

    assert time.monotonic() - started < 60  # the whole of it takes minutes to draw
    assert len(desk.main.inner_text()) < 30_000


@pytest.mark.journey
def test_images_and_markup_do_nothing_and_what_only_looks_like_it_is_read_as_it_was_written(
    desk: Desk, model: ScriptedModel
):
    called = (
        "![t](https://evil.invalid/t.png) :material/home: **b**\n\n"
        "![tracker](https://evil.invalid/a.png) "
        "<img src=https://evil.invalid/b.png onerror=alert(1)> "
        "![ref][r] <script>alert(2)</script> $5 and $6 :material/home:\n\n"
        "```\n![code](https://evil.invalid/c.png)\n```\n\n[r]: https://evil.invalid/d.png\n\n"
    )
    text = called + "\n\n".join(LIKE_MARKUP) + "\n\nIn code: `Array:items[2] ![a](b)`. Done."
    alerts = []
    desk.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    model.steps = lambda messages, body: {"text": text}

    desk.ask(text)

    desk.sees("Done.", "$5 and $6")
    expect(desk.messages).to_have_count(2)
    desk.is_idle()
    assert not alerts
    assert ":material/home: **b**" in desk.row(desk.session_id).inner_text()
    assert not [url for url in desk.requests if "evil" in url]
    expect(desk.main.locator("img")).to_have_count(0)
    question, answer = desk.messages.all_inner_texts()
    for line in (*LIKE_MARKUP, "Array:items[2] ![a](b)"):
        assert line in question
        assert line in answer


@pytest.mark.journey
def test_a_narrow_window_has_all_that_is_needed(desk: Desk, model: ScriptedModel):
    model.steps = lambda messages, body: {"text": "A narrow answer."}
    desk.page.set_viewport_size({"width": 380, "height": 720})
    desk.page.reload()

    desk.ask("Tell me")

    desk.sees("A narrow answer.")
    width = desk.page.evaluate("document.documentElement.scrollWidth")
    assert width <= 380


BUSY = {
    "a fence line": "```" + "a" * 19_900 + "`",
    "emphasis": "*_" * 9_900,
    "quotes in quotes": "> " * 9_900,
    "rows of many columns": "|" + "a|" * 500 + "\n|" + "-|" * 500 + "\n" + "|x\n" * 5_000,
    "headings": "# a\n" * 4_900,
    "coloured code": "```markdown\n" + "*a **b " * 2_800 + "\n```",
}


@pytest.mark.parametrize("text", BUSY.values(), ids=BUSY.keys())
def test_no_answer_keeps_the_browser_busy(desk: Desk, model: ScriptedModel, text: str):
    model.steps = lambda messages, body: {"text": f"It begins.\n\n{text}\n\nIt ends."}

    desk.ask("Tell me")

    desk.sees("It begins.", "It ends.")
    desk.is_idle()
    desk.page.reload()
    desk.sees("It begins.", "It ends.")
    expect(desk.main).to_contain_text(text.removesuffix("\n```").strip()[-6:].split("\n")[-1])
