"""The component's store, in Node: what it asks of the API, and what it makes of the answers."""

import shutil

import pytest

from tests.unit.ui.test_conversation_rules import in_node, modules

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
HISTORY = """
  globalThis.document = { hidden: false };
  const asked = [];
  let count = given.count, isClosed = false;
  const rows = () => Array.from({ length: count }, (_, n) => (
    { id: String(n + 1), position: n + 1, message_type: n % 2 ? "assistant" : "user" }));
  const ask = async (path, params = {}, how = {}) => {
    asked.push([path, params, how.isUnattended ?? false]);
    if (isClosed) throw new api.Problem("Link revoked", "Ask for another.", 410);
    if (!path.endsWith("/messages")) return { title: "A", message_count: count, updated_at: count };
    const all = rows(), { limit, before, after } = params;
    const end = before ? before - 1 : after !== undefined ? Math.min(after + limit, count) : count;
    const first = after ?? Math.max(0, end - limit);
    const next_before = first ? first + 1 : null, next_after = end < count ? end : null;
    return { items: all.slice(first, end), next_before, next_after };
  };
  const one = new store.Conversation("shared/t", {}, ask);
  const shown = () => [0, -1].map((place) => one.page.value.items.at(place).position);
"""


def test_a_history_is_opened_at_its_end_and_read_back_and_forth():
    script = modules("api", "store", "windows") + HISTORY + """
      await one.open();
      const seen = [shown()];
      for (let n = 0; n < 3; n += 1) {
        await one.move(windows.earlier(one.window.value, one.page.value));
        seen.push(shown());
      }
      await one.move(windows.later(one.page.value));
      seen.push([...shown(), one.isAtEnd]);
      await one.move(windows.FIRST);
      seen.push([...shown(), one.isAtEnd]);
      console.log(JSON.stringify(seen));
    """  # fmt: skip

    seen = in_node(script, {"count": 200})

    assert seen == [[151, 200], [101, 200], [51, 200], [1, 150], [51, 200, True], [1, 50, False]]


def test_an_open_page_reads_messages_again_only_if_something_was_said():
    script = modules("api", "store") + HISTORY + """
      await one.open();
      asked.length = 0;
      await one.look();
      const quiet = asked.splice(0);
      count += 2;
      await one.look();
      const { length } = asked;
      document.hidden = true;
      await one.look();
      console.log(JSON.stringify([quiet, length, asked.length, shown()]));
    """  # fmt: skip

    quiet, after, hidden, shown = in_node(script, {"count": 10})

    assert quiet == [["shared/t", {}, True]]
    assert (after, hidden, shown) == (2, 2, [1, 12])


def test_a_link_that_has_ended_says_so_and_is_not_asked_again():
    script = modules("api", "store") + HISTORY + """
      await one.open();
      isClosed = true;
      await one.look();
      const { length } = asked;
      await one.look();
      console.log(JSON.stringify([one.closed.value.title, asked.length - length]));
    """  # fmt: skip

    assert in_node(script, {"count": 4}) == ["Link revoked", 0]
