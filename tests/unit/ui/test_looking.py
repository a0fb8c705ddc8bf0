"""When a page looks again whether something has changed, in Node, with a clock of the test's."""

import shutil

import pytest

from tests.unit.ui.test_conversation_rules import in_node, modules

pytestmark = pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed")
PAGE = """
  let at = 0, due = null;
  performance.now = () => at;
  const heard = {};
  const listen = (name, does) => (heard[name] = does);
  globalThis.document = { hidden: false, addEventListener: listen, removeEventListener() {} };
  globalThis.window = {
    addEventListener: listen, removeEventListener() {},
    setTimeout: (does, ms) => { due = { does, at: at + ms }; return 1; },
  };
  globalThis.clearTimeout = () => (due = null);
  const looks = [];
  const until = async (end) => {
    while (due && due.at <= end) { at = due.at; await due.does(); }
    at = end;
  };
"""


def seconds(script: str, every: str = "") -> list[float]:
    """When a page has looked, in seconds."""
    begin = f"const end = looking.keepLooking(() => looks.push(at / 1000){every});"
    told = "console.log(JSON.stringify(looks));"
    return in_node(PAGE + modules("looking") + begin + script + told, {})


def test_a_page_that_nobody_touches_looks_less_often_and_at_once_when_somebody_is_back() -> None:
    looks = seconds("await until(150_000); await heard.pointermove(); await until(160_000);")

    busy = [4.0 * number for number in range(1, 17)]
    assert looks == [*busy, 94.0, 124.0, 150.0, 154.0, 158.0]


def test_a_hidden_page_does_not_look_and_does_at_once_when_it_is_seen() -> None:
    looks = seconds(
        "document.hidden = true; await until(30_000); document.hidden = false;"
        " await heard.visibilitychange(); await until(34_000); end(); await until(60_000);"
    )

    assert looks == [30.0, 34.0]


def test_what_is_awaited_is_looked_for_all_the_time() -> None:
    looks = seconds("await until(90_000);", ", () => 3_000")

    assert looks == [3.0 * number for number in range(1, 31)]
