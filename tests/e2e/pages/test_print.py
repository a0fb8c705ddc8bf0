"""What a session looks like on paper."""

from io import BytesIO

from playwright.sync_api import expect
from pypdf import PdfReader

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.stack import Stack

ROWS = "".join(f"| CC-{number} | 1 234,50 |\n" for number in range(80))
WIDE = " | ".join(f"Column{number}" for number in range(14))
ANSWER = f"""A long table.

| Cost centre | Spent |
|---|--:|
{ROWS}
| {WIDE} |
|{"---|" * 14}
| {WIDE} |

```python
total = {" + ".join(f"name_{number}" for number in range(60))}
```

That was all.
"""
A4_WIDTH = 794
IS_CUT = """one =>
  one.getBoundingClientRect().right > innerWidth || one.scrollWidth > one.clientWidth + 1"""


def open_answered(desk: Desk, stack: Stack, model: ScriptedModel) -> None:
    model.steps = lambda messages, body: {"text": ANSWER}
    session_id = stack.chat("What was spent?")["session_id"]
    desk.open(f"?session={session_id}")
    desk.sees("That was all.")
    expect(desk.main.get_by_test_id("stCode")).to_contain_text("name_59")
    desk.is_at_rest()


def test_a_printed_session_is_the_whole_conversation_and_nothing_else(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    open_answered(desk, stack, model)

    printed = PdfReader(BytesIO(desk.page.pdf(format="A4"))).pages
    text = "".join("".join(page.extract_text().split()) for page in printed)  # lines are wrapped

    for said in ("Whatwasspent?", "CC-0", "CC-79", "Column13", "name_59", "Thatwasall."):
        assert said in text
    for control in ("Askanything", "Searchbytitle", "Anotheranswer", "Edit", "Sort,filter"):
        assert control not in text


def test_nothing_that_would_have_to_be_scrolled_is_cut_on_paper(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    open_answered(desk, stack, model)

    desk.page.emulate_media(media="print")
    desk.page.set_viewport_size({"width": A4_WIDTH, "height": 1123})
    expect(desk.sidebar).to_be_hidden()

    wide = desk.main.locator("table, pre").filter(visible=True)
    assert [wide.nth(number).evaluate(IS_CUT) for number in range(3)] == [False] * 3
