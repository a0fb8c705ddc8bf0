"""What of a history is on the page, and how it is put together: the component's rules, in Node."""

import shutil
from itertools import count, pairwise
from typing import Any

import pytest

from tests.unit.ui.test_conversation_rules import in_node, modules

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
numbers = count(1)
# The rows of turns of so many rows each, a person's message first; and what the page shows of them.
HISTORY = """
  const history = (turns) => turns.flatMap((rows) => Array.from({ length: rows }, (_, row) => row))
    .map((row, place) => ({ position: place + 1, message_type: row ? "assistant" : "user" }));
  const pageOf = (rows, first, last) => ({ items: rows.slice(first, last),
    next_before: first > 0 ? rows[first].position : null,
    next_after: last < rows.length ? rows[last - 1].position : null });
  const load = (rows, window) => {
    const { before, after } = window;
    const limit = windows.rowsOf(window, rows.length) + (after === undefined ? 0 : 1);
    const last = before === undefined ? rows.length : before - 1;
    const page = after === undefined ? pageOf(rows, Math.max(last - limit, 0), last)
      : pageOf(rows, after, Math.min(after + limit, rows.length));
    return windows.cutToTurns(page, window);
  };
  const told = ({ items, next_after }) =>
    ({ shown: items.map(({ position }) => position), first: items[0].message_type, next_after });
"""


@pytest.mark.parametrize("turn", [1, 2, 7, 20])
def test_the_way_up_and_down_again_shows_all_in_whole_turns(turn: int) -> None:
    script = f"""{modules("windows")}{HISTORY}
      const rows = history(given);
      let window = {{ ...windows.LATEST }}, page = load(rows, window);
      const up = [told(page)], down = [];
      while (page.next_before !== null) {{
        window = windows.earlier(window, page);
        up.push(told(page = load(rows, window)));
      }}
      for (let look = 0; look < 100; look += 1) {{
        down.push(told(page));
        if (page.next_after === null) break;
        page = load(rows, window = windows.later(page));
      }}
      const isLatest = windows.isLatest(windows.latest(page.items.length, rows.length));
      console.log(JSON.stringify([up, down, isLatest]));
    """

    up, down, is_latest = in_node(script, [turn] * (700 // turn))

    assert is_latest
    assert all(page["first"] == "user" for page in (*up[:-1], *down))
    for before, page in pairwise(up):
        # What was at the top is still there, so that it can keep its place.
        assert before["shown"][0] in page["shown"] and page["shown"][0] < before["shown"][0]
    for before, page in pairwise(down):
        assert before["shown"][-1] in page["shown"] and page["shown"][-1] > before["shown"][-1]
        assert before["next_after"] % turn == 0
    assert max(len(page["shown"]) for page in down) <= 200
    assert {place for page in down for place in page["shown"]} == set(
        range(1, 700 // turn * turn + 1)
    )


def test_a_turn_longer_than_a_page_is_shown_in_parts() -> None:
    script = f"""{modules("windows")}{HISTORY}
      const rows = history(given);
      let window = {{ ...windows.LATEST }}, page = load(rows, window);
      const reached = [page.items[0].position];
      while (page.next_before !== null) {{
        page = load(rows, window = windows.earlier(window, page));
        reached.push(page.items[0].position);
      }}
      console.log(JSON.stringify(reached));
    """

    reached = in_node(script, [3, 400, 3])

    assert reached == sorted(reached, reverse=True) and reached[-1] == 1


def test_a_window_around_a_position_has_it_and_ends_between_turns() -> None:
    positions = [1, 2, 100, 151, 299, 300]
    script = f"""{modules("windows")}{HISTORY}
      const rows = history(Array(75).fill(4));
      console.log(JSON.stringify(given.map((position) => {{
        const first = Math.min(Math.max(position - 26, 0), rows.length - windows.PAGE_ROWS);
        const page = windows.cutToTurns(
          pageOf(rows, first, first + windows.PAGE_ROWS), windows.LATEST, position);
        const window = windows.around(page, rows.length);
        return [told(load(rows, window)), windows.isLatest(window)];
      }})));
    """

    for position, (page, is_latest) in zip(positions, in_node(script, positions), strict=True):
        assert position in page["shown"] and page["first"] == "user"
        assert page["shown"][-1] % 4 == 0
        assert is_latest == (page["shown"][-1] == 300)


def row(kind: str, content: dict[str, Any], turn: str = "a turn", **fields: Any) -> dict[str, Any]:
    return {
        "id": str(next(numbers)), "message_type": "assistant", "content_type": kind,
        "content": content, "status": "completed", "agent": "Analyst", "turn_id": turn,
        "metadata": {}, **fields,
    }  # fmt: skip


def thinking(turn: str = "a turn") -> dict[str, Any]:
    return row("thinking", {"text": "…"}, turn)


def text(by: str = "assistant") -> dict[str, Any]:
    return row("text", {"text": "So it is."}, message_type=by)


def call(call_id: str, name: str = "look", **fields: Any) -> dict[str, Any]:
    content = {"call_id": call_id, "name": name, "arguments": {}}
    return row("tool_call", content, metadata={"seconds": 2.5}, **fields)


def result(
    call_id: str, said: str = "x", *, is_error: bool = False, **known: Any
) -> dict[str, Any]:
    content = {"tool_call_id": call_id, "name": "look", "content": said, "is_error": is_error}
    return row("tool_result", content, metadata=known)


def question(call_id: str, name: str = "look") -> dict[str, Any]:
    return row("interrupt", {"call_id": call_id, "name": name}, message_type="system")


def step(name: str = "look", status: str = "completed", **known: Any) -> list[dict[str, Any]]:
    call_id = f"call {next(numbers)}"
    return [call(call_id, name, status=status), result(call_id, **known)]


def blocks_of(*rows: dict[str, Any]) -> Any:
    """Return of each block the result's text and the question's name."""
    script = f"""{modules("blocks")}
      console.log(JSON.stringify(blocks.toBlocks(given).map(({{ result, asked }}) =>
        [result?.content.content ?? null, asked?.content.name ?? null])));
    """
    return in_node(script, rows)


def folded(*rows: dict[str, Any]) -> Any:
    script = f"""{modules("blocks")}
      const [group] = blocks.toGroups(given);
      console.log(JSON.stringify(blocks.fold(group.blocks).map((part) => Array.isArray(part)
        ? blocks.foldLabel(part, (seconds) => `${{seconds}} s`) : part.row.content_type)));
    """
    return in_node(script, rows)


def test_a_call_its_question_and_its_result_are_one_card_also_where_call_ids_come_again() -> None:
    crossed = [call("a"), call("b"), result("b", "2"), result("a", "1")]
    again = [
        one
        for said in ("first", "second")
        for one in (call("same"), question("same", said), result("same", said))
    ]

    assert blocks_of(*crossed) == [["1", None], ["2", None]]
    assert blocks_of(*again) == [["first", "first"], ["second", "second"]]
    assert len(blocks_of(result("gone"))) == 1, "a result without its call"


def test_groups_follow_the_speaker() -> None:
    rows = [text("user"), call("a"), result("a"), text(), text("user")]
    script = f"""{modules("blocks")}
      const told = ({{ isUser, blocks: all }}) => [isUser, all.length];
      console.log(JSON.stringify(blocks.toGroups(given).map(told)));
    """

    assert in_node(script, rows) == [[True, 1], [False, 2], [True, 1]]


def test_finished_steps_are_one_line_before_the_answer() -> None:
    rows = [thinking(), *step("look"), thinking(), *step("get"), *step("look"), text()]

    assert folded(*rows) == ["Worked 7.5 s · 3 tools: look, get", "text"]
    assert folded(thinking(), thinking(), text()) == ["Thinking", "text"]
    assert folded(*step(), text()) == ["tool_call", "text"]
    assert folded(thinking(), thinking(), thinking("b"), thinking("b")) == ["Thinking", "Thinking"]


@pytest.mark.parametrize(
    "shown",
    [step(is_error=True), step(status="stopped"), step(status="failed"),
     step(status="executing")[:1], step(table={"columns": [], "chart": {}})],
)  # fmt: skip
def test_failures_charts_and_what_runs_stay_in_sight(shown: list[dict[str, Any]]) -> None:
    parts = folded(thinking(), *step(), *shown, text())

    assert parts == ["Worked 2.5 s · 1 tool: look", "tool_call", "text"]


def test_what_a_person_decided_stays_in_sight() -> None:
    rows = [call("a"), question("a"), result("a"), call("b"), question("b"), result("b")]

    assert folded(*rows) == ["tool_call", "tool_call"]
