"""What a session looks like on paper."""

from io import BytesIO

import pytest
from playwright.sync_api import expect
from pypdf import PdfReader

from tests.e2e.desk import Desk
from tests.e2e.pages.test_link_page import Row, link_to, queried, session_of
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
CONTROLS = (
    "Askanything", "Searchbytitle", "Anotheranswer", "Edit", "Copy", "Sort,filter", "Download",
)  # fmt: skip
INKS = "all => all.map((one) => getComputedStyle(one).fill)"
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


@pytest.mark.journey
def test_what_is_printed_is_whole_uncut_light_and_nothing_else_in_the_chat_and_by_a_link(
    desk: Desk, stack: Stack
) -> None:
    answer: Row = ("assistant", "text", {"text": ANSWER}, {})
    session_id = session_of(stack, *queried(chart=True)[:3], answer)
    for place in (f"?session={session_id}", link_to(stack, session_id)):
        desk.open(place)
        _is_drawn(desk)
        _is_whole(desk)
        _is_light(desk)


def _is_drawn(desk: Desk) -> None:
    desk.sees("That was all.")
    expect(desk.code.filter(has_text="name_59")).to_be_visible()
    expect(desk.charts).to_be_visible()
    desk.is_at_rest()


def _is_whole(desk: Desk) -> None:
    printed = PdfReader(BytesIO(desk.page.pdf(format="A4"))).pages
    text = "".join("".join(page.extract_text().split()) for page in printed)  # lines are wrapped
    for said in ("Whatwasspent?", "CC-0", "CC-79", "Column13", "name_59", "Thatwasall."):
        assert said in text
    for control in CONTROLS:
        assert control not in text

    desk.page.emulate_media(media="print")
    desk.page.set_viewport_size({"width": A4_WIDTH, "height": 1123})
    expect(desk.sidebar).to_be_hidden()
    wide = desk.main.locator("table, pre").filter(visible=True)
    assert [wide.nth(number).evaluate(IS_CUT) for number in range(3)] == [False] * 3


def _is_light(desk: Desk) -> None:
    desk.page.emulate_media(media="screen", color_scheme="dark")
    desk.page.reload()
    _is_drawn(desk)
    (_, ink, ground), *_ = desk.main.get_by_text("That was all.").evaluate_all(BRIGHTNESS)
    assert ink > 200
    assert ground < 60
    desk.page.emulate_media(media="print")
    expect(desk.sidebar).to_be_hidden()
    texts = desk.main.locator("*").evaluate_all(BRIGHTNESS)
    assert {"That was all.", "What was spent?", "CC-79"} <= {text for text, _, _ in texts}
    assert [one for one in texts if one[1] > 130 or one[2] < 200] == []
    inks = desk.charts.locator("text").evaluate_all(INKS)
    assert set(inks) == {"rgb(34, 48, 53)"}
