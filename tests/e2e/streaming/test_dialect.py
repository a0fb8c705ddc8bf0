"""A text means the same while it streams, and as it is stored: what the examples say."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.samples_of_markdown import examples, structure_of
from ui.shared.assets import PATH
from ui.shared.text.markdown import split_pieces

STREAMED = """async ([script, texts]) => {
  const { StreamingText } = await import(script);
  const formulas = window.colloquyFormulas;
  window.colloquyFormulas = undefined; // their source is compared
  const drawn = texts.map((text) => {
    const streaming = new StreamingText();
    for (let place = 0; place < text.length; place += 7) {
      streaming.add(text.slice(place, place + 7));
      streaming.draw();
    }
    return streaming.element.innerHTML;
  });
  window.colloquyFormulas = formulas;
  return drawn;
}"""
# What a formula and a block of code become on the page is left out.
STORED = """(prose) => {
  const copy = prose.cloneNode(true);
  const drawn = "[data-is-drawn], pre, div:has(> .cq-code, > .cq-diagram)";
  copy.querySelectorAll(drawn).forEach((one) => one.remove());
  return copy.innerHTML;
}"""
CODE = re.compile("<pre>.*?</pre>", re.DOTALL)
FORMULA = re.compile(r'<(code|pre) class="colloquy-formula">.*?</\1>', re.DOTALL)


@pytest.mark.journey
def test_what_streams_means_what_the_examples_say(desk: Desk) -> None:
    texts = [example.text for example in examples()]

    drawn = desk.page.evaluate(STREAMED, [PATH + "/markdown.js", texts])

    for example, html in zip(examples(), drawn, strict=True):
        assert structure_of(html) == structure_of(example.html), example.claim


@pytest.mark.journey
def test_a_stored_answer_means_on_the_page_what_it_means_in_a_download(
    desk: Desk, model: ScriptedModel
) -> None:
    text = "\n\n***\n\n".join(example.text for example in examples())
    pieces = split_pieces(text)
    written = "".join(piece.html for piece in pieces if piece.kind == "text")
    model.steps = lambda messages, body: {"text": text}

    desk.ask("Tell me")

    desk.is_idle()
    expect(desk.prose).to_have_count(1)
    formulas = len(FORMULA.findall(written))
    expect(desk.prose.locator("[data-is-drawn] math")).to_have_count(formulas)
    expected = CODE.sub("", FORMULA.sub("", written))
    assert structure_of(desk.prose.evaluate(STORED)) == structure_of(expected)
    assert not [url for url in desk.requests if "example.com" in url]
