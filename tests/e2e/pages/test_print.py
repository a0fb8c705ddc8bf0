"""What a session looks like on paper."""

from io import BytesIO

import pytest
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
# How bright, of 255, the ink of each text is, and the ground that it stands on.
BRIGHTNESS = """all => {
  const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const brightness = (colour, under) => {
    canvas.fillStyle = under;
    canvas.fillRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [red, green, blue] = canvas.getImageData(0, 0, 1, 1).data;
    return Math.round(0.299 * red + 0.587 * green + 0.114 * blue);
  };
  const ink = (one) => brightness(getComputedStyle(one).color, "white");
  const grounds = (one) => {
    const found = [];
    for (let at = one; at; at = at.parentElement) found.push(getComputedStyle(at).backgroundColor);
    return Math.min(...found.map((colour) => brightness(colour, "white")));
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  return all
    .filter((one) => one.checkVisibility() && [...one.childNodes].some(isText))
    .map((one) => [one.textContent.slice(0, 40), ink(one), grounds(one)]);
}"""


def open_answered(desk: Desk, stack: Stack, model: ScriptedModel) -> None:
    model.steps = lambda messages, body: {"text": ANSWER}
    session_id = stack.chat("What was spent?")["session_id"]
    desk.open(f"?session={session_id}")
    desk.sees("That was all.")
    expect(desk.code).to_contain_text("name_59")
    desk.is_at_rest()


@pytest.mark.journey
def test_a_printed_session_is_whole_uncut_light_and_nothing_else(
    desk: Desk, stack: Stack, model: ScriptedModel
) -> None:
    open_answered(desk, stack, model)

    printed = PdfReader(BytesIO(desk.page.pdf(format="A4"))).pages
    text = "".join("".join(page.extract_text().split()) for page in printed)  # lines are wrapped
    for said in ("Whatwasspent?", "CC-0", "CC-79", "Column13", "name_59", "Thatwasall."):
        assert said in text
    for control in ("Askanything", "Searchbytitle", "Anotheranswer", "Edit", "Sort,filter"):
        assert control not in text

    desk.page.emulate_media(media="print")
    desk.page.set_viewport_size({"width": A4_WIDTH, "height": 1123})
    expect(desk.sidebar).to_be_hidden()
    wide = desk.main.locator("table, pre").filter(visible=True)
    assert [wide.nth(number).evaluate(IS_CUT) for number in range(3)] == [False] * 3

    desk.page.emulate_media(media="screen", color_scheme="dark")
    desk.page.reload()
    desk.sees("That was all.")
    desk.is_at_rest()
    (_, ink, ground), *_ = desk.main.get_by_text("That was all.").evaluate_all(BRIGHTNESS)
    assert ink > 200
    assert ground < 60
    desk.page.emulate_media(media="print")
    expect(desk.sidebar).to_be_hidden()
    texts = desk.main.locator("*").evaluate_all(BRIGHTNESS)
    assert {"That was all.", "What was spent?", "CC-79"} <= {text for text, _, _ in texts}
    assert [one for one in texts if one[1] > 130 or one[2] < 200] == []
