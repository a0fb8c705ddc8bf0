"""What a link's reader sees of texts, code, tables and charts."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from backend.types import JSON
from tests.e2e.accessibility import axe
from tests.e2e.desk import Desk
from tests.integration.scenes import make_session
from tests.stack import Stack

SQL = "select cost_centre, sum(amount) as spent from fi.documents where year = 2026 group by 1"
COLUMNS = [
    {"name": "centre", "type": "VARCHAR"}, {"name": "kind", "type": "VARCHAR"},
    {"name": "spent", "type": "DOUBLE"}, {"name": "share", "type": "DOUBLE", "format": "0.0%"},
    {"name": "booked", "type": "DATE"},
]  # fmt: skip
ROWS = [
    ["A", "travel", 1234.5, 0.125, "2026-03-01"],
    ["B", "travel", 99.0, 0.01, "2026-02-28"],
    ["C", "hotel", None, 0.9, "2026-01-31"],
]
LONG = "One more line of a long report.\n" * 1_000
OVERLOADED = "*" * 2_500
REDRAW = """async () => {
  const address = performance.getEntriesByType("resource").map(({ name }) => name)
    .find((name) => name.endsWith("/conversation/host.js"));
  const { host } = await import(address);
  const app = document.querySelector("[data-test-script-state]");
  const ran = new Promise((done) =>
    new MutationObserver(() => app.dataset.testScriptState === "running" && done(true))
      .observe(app, { attributes: true, attributeFilter: ["data-test-script-state"] }));
  host.redraw();
  return ran;
}"""
# A script that mounts the component again, as Streamlit does: it gives up a mount that a later one
# has followed, and ends the last one.
MOUNTS = """async () => {
  const address = performance.getEntriesByType("resource").map(({ name }) => name)
    .find((name) => name.endsWith("/conversation/index.js"));
  const { mount } = await import(address);
  const place = document.createElement("div");
  place.innerHTML = '<div class="cq-root"></div>';
  const root = place.firstElementChild;
  const data = { view: "link", path: "shared/none", person: "" };
  const again = () => mount({ data, parentElement: place, setTriggerValue() {} });
  const first = again();
  await new Promise((done) => setTimeout(done, 300));
  const drawn = root.firstElementChild;
  const second = again();
  first();
  const stays = root.firstElementChild === drawn && drawn !== null;
  second();
  return [stays, root.childElementCount];
}"""


Row = tuple[str, str, JSON, JSON]


def session_of(stack: Stack, *rows: Row) -> str:
    """Store a session of these rows: who, what, content, metadata."""
    session_id = make_session(stack, title="What was spent")
    stack.query_and_commit(
        """INSERT INTO display_messages
             (conversation_id, position, message_type, content_type, status, agent, content,
              metadata)
           SELECT CAST(:id AS uuid), n, one->>0, one->>1, 'completed',
             CASE one->>0 WHEN 'user' THEN NULL ELSE 'assistant' END, one->2, one->3
           FROM jsonb_array_elements(CAST(:rows AS jsonb)) WITH ORDINALITY AS given (one, n)""",
        id=session_id, rows=json.dumps(rows),
    )  # fmt: skip
    stack.query_and_commit(
        "UPDATE conversations SET message_count = :count WHERE id = CAST(:id AS uuid)",
        id=session_id, count=len(rows),
    )  # fmt: skip
    return session_id


def link_to(stack: Stack, session_id: str) -> str:
    """Return the address of a link to a session."""
    return f"shared?link={stack.client.post(f'/sessions/{session_id}/links').json()['token']}"


def link_of(stack: Stack, *rows: Row) -> str:
    return link_to(stack, session_of(stack, *rows))


def queried(*, chart: bool = False) -> tuple[Row, ...]:
    """A person's question, and a query with its table."""
    table: JSON = {"title": "Spent", "columns": COLUMNS, "rows": ROWS, "row_count": 3}
    if chart:
        table["chart"] = {"mark": "bar", "encoding": {"x": {"field": "centre", "type": "nominal"},
                          "y": {"field": "spent", "type": "quantitative"}}}  # fmt: skip
    arguments = {"source": "fi", "sql": SQL, "limit": 10}
    call = {"call_id": "1", "name": "query_source", "arguments": arguments}
    result = {"tool_call_id": "1", "name": "query_source", "content": "rows", "is_error": False}
    return (
        ("user", "text", {"text": "What was spent?"}, {}),
        ("assistant", "tool_call", call, {}),
        ("tool", "tool_result", result, {"table": table}),
        ("assistant", "text", {"text": "That was all."}, {}),
    )


def saved(page: Page, button: Locator) -> tuple[str, str]:
    """Return the name and the content of the file that a button saves."""
    with page.expect_download() as download:
        button.click()
    content = Path(download.value.path()).read_bytes().decode("utf-8", "replace")
    return download.value.suggested_filename, content


def test_a_script_that_runs_again_draws_nothing_anew(desk: Desk, stack: Stack) -> None:
    page = desk.open(link_of(stack, *queried()))
    desk.sees("That was all.")
    article = desk.main.get_by_role("article").last
    article.evaluate("one => (one.isTheSame = true)")
    desk.is_at_rest()
    requests = len(desk.requests)

    for _ in range(2):
        assert page.evaluate(REDRAW)
        desk.is_at_rest()
    desk.lies_still()
    assert article.evaluate("one => one.isTheSame")
    assert not [url for url in desk.requests[requests:] if "/messages" in url]
    assert page.evaluate(MOUNTS) == [True, 0]


def test_cells_are_written_as_their_columns_say_and_queries_and_json_are_laid_out(
    desk: Desk, stack: Stack
) -> None:
    result = {"tool_call_id": "9", "name": "ids", "content": '{"id":12345678901234567890,"of":1.0}'}
    page = desk.open(link_of(stack, *queried(), ("tool", "tool_result", result, {})))
    desk.main.get_by_text("query_source").click()

    rows = desk.main.get_by_role("region", name="Spent").get_by_role("row")
    expect(rows).to_have_text(
        [re.compile("centre"), re.compile(r"A\s*travel\s*1,234\.50\s*12\.5%\s*03/01/2026"),
         re.compile(r"B\s*travel\s*99\.00\s*1\.0%\s*02/28/2026"),
         re.compile("C\\s*hotel\\s*\u2013\\s*90.0%\\s*01/31/2026")]
    )  # fmt: skip
    code = desk.main.locator(".cq-code").filter(has_text="spent").locator("code")
    expect(code).to_contain_text("SELECT\n  cost_centre,")
    expect(code.locator(".hljs-keyword").first).to_have_text("SELECT")
    desk.sees('"limit": 10')
    for theme in ("light", "dark"):
        axe.choose_theme(page, theme)
        desk.is_at_rest()
        assert list(axe.faults(page)) == []

    desk.main.get_by_role("searchbox", name="Filter rows").fill("1,234.5")
    desk.sees("1 of 3 rows match")
    desk.sees_not("99.00")
    desk.main.get_by_text("ids", exact=True).click()
    as_it_is = '{\n  "id": 12345678901234567890,\n  "of": 1.0\n}'
    expect(desk.main.locator(".cq-code code").filter(has_text="1.0")).to_have_text(as_it_is)


def test_a_chart_is_drawn_as_its_reader_chooses_and_is_kept_as_a_picture(
    desk: Desk, stack: Stack
) -> None:
    page = desk.open(link_of(stack, *queried(chart=True)))
    chart = desk.main.locator(".cq-chart")
    expect(chart.locator("svg.marks")).to_contain_text("spent")

    desk.main.get_by_role("combobox", name="X axis", exact=True).select_option("kind")
    desk.main.get_by_role("combobox", name="Chart", exact=True).select_option("Lines")
    expect(chart.locator("svg.marks")).to_contain_text("travel")
    expect(chart.locator(".mark-line")).not_to_have_count(0)
    desk.main.get_by_role("searchbox", name="Filter rows").fill("hotel")
    expect(chart.locator("svg.marks")).not_to_contain_text("travel")

    name, picture = saved(page, desk.main.get_by_role("button", name="Download as SVG"))
    assert (name, picture[:4]) == ("Spent.svg", "<svg")
    name, picture = saved(page, desk.main.get_by_role("button", name="Download as PNG"))
    assert name == "Spent.png"
    assert "PNG" in picture[:8]


def test_a_long_text_is_also_a_file_and_markup_does_nothing(desk: Desk, stack: Stack) -> None:
    answer = f"Before.\n\n{OVERLOADED}\n\n```python\nx = 1\n```\n\n**After.**"
    markup = "<img src=https://evil.example/a onerror=alert(1)><script>alert(1)</script>"
    picture = "![Seen](https://evil.example/b.png)"
    call = {"call_id": "1", "name": markup, "arguments": {"a": markup}}
    page = desk.open(link_of(
        stack, ("user", "text", {"text": LONG}, {}), ("assistant", "text", {"text": answer}, {}),
        ("user", "text", {"text": markup}, {}),
        ("assistant", "text", {"text": f"{markup}\n\n{picture}\n\n```html\n{markup}\n```"}, {}),
        ("assistant", "tool_call", call, {}),
    ))  # fmt: skip
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    desk.sees("After.", "it has more markup than a browser can lay out")
    expect(desk.main.get_by_text(OVERLOADED)).to_be_visible()
    expect(desk.main.locator("strong", has_text="After.")).to_be_visible()
    expect(desk.main.locator(".cq-code .hljs-number").first).to_have_text("1")
    desk.sees("of 32,000 characters")

    name, content = saved(page, desk.main.get_by_role("button", name="Download (32,000"))
    desk.press("Show all")

    assert (name, content) == ("message.txt", LONG)
    desk.sees_not("The first")
    desk.main.locator("summary").click()
    expect(desk.main.get_by_text("onerror")).to_have_count(5)
    expect(desk.main.locator(".cq-code .hljs-tag")).not_to_have_count(0)
    assert desk.main.locator(".cq :is(img, script)").count() == 0
    assert not [url for url in desk.requests if "evil.example" in url]
