"""While a page opens, what is on it already stays where it is."""

import pytest

from tests.e2e.desk import Desk
from tests.integration.scenes import make_session
from tests.stack import Stack

# The sum of what people have not caused themselves: https://web.dev/articles/cls
WATCH = """
window.shifted = 0;
new PerformanceObserver(list => {
  for (const shift of list.getEntries()) if (!shift.hadRecentInput) window.shifted += shift.value;
}).observe({type: 'layout-shift', buffered: true});
"""
GOOD = 0.1


@pytest.mark.parametrize("path", ["", "?session={0}", "inbox", "domains"])
def test_nothing_jumps_while_a_page_opens(desk: Desk, stack: Stack, path: str) -> None:
    session_id = make_session(stack)
    page = desk.context.new_page()
    page.add_init_script(WATCH)

    page.goto(f"{desk.url}/{path.format(session_id)}")
    desk.page = page
    desk.is_at_rest()

    assert page.evaluate("window.shifted") <= GOOD


def test_a_page_has_its_name_and_styles_before_any_script_runs(desk: Desk) -> None:
    html = desk.context.request.get(f"{desk.url}/inbox").text()

    assert "<title>Colloquy</title>" in html
    assert html.index("</head>") < html.index("/styles/frame.css") < html.index('id="root"')
