"""A text means the same in pages, downloads and documents: what the examples say."""

import re
from html import escape

import pytest

from backend.artifacts.documents.typst_blocks import Blocks
from backend.markdown.dialect import reader
from backend.markdown.html import html_reader
from tests.samples_of_markdown import Example, examples, structure_of, words_of
from ui.shared.text.markdown import split_pieces

EXAMPLES = pytest.mark.parametrize("example", examples(), ids=lambda example: example.claim)
STYLES = {"strong": "strong", "emph": "em", "strike": "s", "super": "sup", "link": "a"}


@EXAMPLES
def test_downloads_of_html_read_it_so(example: Example) -> None:
    assert structure_of(html_reader().render(example.text)) == structure_of(example.html)


@EXAMPLES
def test_stored_answers_read_it_so(example: Example) -> None:
    pieces = split_pieces(example.text)

    drawn = [piece.html or f"<pre><code>{escape(piece.text)}</code></pre>" for piece in pieces]
    assert structure_of("".join(drawn)) == structure_of(example.html)


@EXAMPLES
def test_documents_read_it_so(example: Example) -> None:
    written = Blocks(reader().parse(example.text), {}).write()

    literals = re.findall(r'(link\()?"((?:[^"\\]|\\.)*)"', written)
    text = "".join(said for link, said in literals if not link).replace("\\n", " ")
    text = re.sub(r"\\(.)", r"\1", text).replace("\u200b", "")
    assert "".join(text.split()) == words_of(example.html).replace(" ", "")
    bold_heads = example.html.count("<th") - example.html.count("<thead")
    for name, tag in STYLES.items():
        count = len(re.findall(rf"\b{name}\(", written)) - (bold_heads if name == "strong" else 0)
        assert count == len(re.findall(rf"<{tag}[ >]", example.html)), name
