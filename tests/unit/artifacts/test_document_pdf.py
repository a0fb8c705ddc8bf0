"""A document's Markdown as Typst: every word means itself, whatever it says."""

import io
from dataclasses import replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from uuid import UUID

import pypdf
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backend.artifacts.documents.charts import Figure, clean_svg
from backend.artifacts.documents.glyphs import TYPST_VERSION, find_missing, say_missing
from backend.artifacts.documents.pdf import compile_typst, write_pdf
from backend.artifacts.documents.service import LAYING_OUT
from backend.artifacts.documents.typst_blocks import Blocks
from backend.artifacts.documents.typst_page import VERBATIM, Subject, write_typst
from backend.artifacts.documents.typst_text import literal
from backend.markdown.cells import FromElsewhere
from backend.markdown.dialect import LONGEST_MARKDOWN, reader, split_charts
from backend.sandbox.errors import WorkFailed
from backend.sandbox.sandbox import Sandbox
from backend.tabular.chart_places import MOST_CHARTS, NOT_FOUND, TOO_MANY, ChartPlace
from tests.patience import ends_within

ID = UUID("0a1b2c3d-1111-4222-8333-444455556666")
CHART = f"![Spend](artifact:{ID}@2)"
SUBJECT = Subject('Report "x" #y', 3, "Writer", datetime(2026, 11, 23, 9, 30, 1, 5, tzinfo=UTC))
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40"><text y="20">bar</text></svg>'
)
PAGES = FromElsewhere(ID, "https://desk.example.com")
BOUNDS = replace(LAYING_OUT, seconds=280)  # a busy machine is slow; its memory is the same
HOSTILE = """#include "/etc/passwd" #read("/etc/passwd") #{sys.inputs} $x^2$ @label <label> =
`#read("/etc/hosts")` "quoted" // not a comment /* nor this */ ~ -- ... ' [#]
#import "@preview/a:0.1.0"
"""


@pytest.fixture(scope="module")
def sandbox():
    made = Sandbox(["backend.artifacts.preloaded"])
    yield made
    made.close()


@pytest.fixture
def lay_out(sandbox: Sandbox, tmp_path: Path):
    """Makes the PDF of a text as the API does; gives its pages."""

    def make(text: str, **figures: Figure) -> list[pypdf.PageObject]:
        target = tmp_path / "form"
        drawn = {ChartPlace("Spend", ID, 2): f for f in figures.values()}
        work = (SUBJECT, text, drawn, PAGES, target)
        sandbox.run_blocking(write_pdf, *work, bounds=BOUNDS)
        return list(pypdf.PdfReader(io.BytesIO(target.read_bytes())).pages)

    return make


def words(*pages: pypdf.PageObject) -> str:
    """What pages say, in one line."""
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def typst(text: str) -> str:
    return Blocks(reader().parse(text), {}).write()


def test_the_parts_of_a_document_are_written_as_such():
    text = "## A *b* **c**\n\n1. one\n2. two\n   - three\n\n> said\n\n---\n\n```py\nx = 1\n```\n"

    assert typst(text).split("\n") == [
        'heading(level: 2, {{"A "', 'emph("b")', '" "', 'strong("c")}})',
        'enum(start: 1, tight: true, {"one"}, {"two"', 'list(tight: true, {"three"})})',
        'quote(block: true, {par("said")})',
        "rule",
        'raw(block: true, "x = 1")',
    ]  # fmt: skip


def test_a_table_repeats_its_head_and_has_numbers_on_the_right():
    rows = "| Figure | EUR | Share |\n|---|---|:-:|\n| a | -1,234.50 | x |\n| b | - | y |\n"

    written = typst(rows)

    assert "align: (left, right, center, )" in written
    assert 'table.header(strong("Figure"), strong("EUR"), strong("Share"))' in written
    assert written.startswith("table(columns: 3, ")


def test_links_lead_to_the_web_or_to_the_pages_or_nowhere():
    cell = f"[1.50](artifact:{ID}@1#row=1)"
    text = f"[a](https://x.org/b_c) {cell} [c](mailto:a@b.c) ![d](http://x/p.png) [e](/f)"

    written = write_typst(SUBJECT, text, {}, PAGES)

    query = f"session={ID}&artifact={ID}@1&row=1"
    assert written.split("#{\n")[1] == "par({" + "\n".join([
        'link("https://x.org/b_c", "a")', '" "',
        f'link("https://desk.example.com/?{query}", "1.50")', '" "',
        'link("mailto:a@b.c", "c")', '" "', 'link("http://x/p.png", "d")', '" e"',
    ]) + "})\n}\n"  # fmt: skip


@given(st.text(st.characters(codec="utf-8")))
@example('"\\" #read("x")\n\u2028\x00')
def test_a_literal_has_no_end_but_its_own(text: str):
    inside = literal(text)[1:-1]

    assert '"' not in inside.replace("\\\\", "").replace('\\"', "")
    assert not set(inside) & {chr(code) for code in range(32)}
    assert not inside.replace("\\\\", "").endswith("\\")


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("#$@\\*_`[](){}<>\"'-=+|!~>1.\n ab"), max_size=80))
def test_outside_of_literals_stands_nothing_of_the_text(text: str):
    said = typst(text).replace("\\\\", "").replace('\\"', "")

    outside = "".join(said.split('"')[::2])
    assert not set(outside) & set("#$@\\*_`<>'=+|!~"), outside


def test_hostile_text_comes_out_as_its_letters_and_reads_no_file(lay_out):
    said = words(*lay_out(HOSTILE))

    assert "root:" not in said and "localhost" not in said
    for line in ('#include "/etc/passwd" #read("/etc/passwd") #{sys.inputs} x^2 @label <label>',
                 '#read("/etc/hosts")', "// not a comment /* nor this */", "[#]",
                 '#import "@preview/a:0.1.0"'):  # fmt: skip
        assert line in said
    assert "2026-11-23 · Version 3 · Writer" in said
    assert 'Report "x" #y 1 / 1' in said


def test_what_is_nested_deeply_keeps_its_letters(lay_out):
    text = ">" * 500 + " deep\n\n" + "".join("  " * n + f"- at{n}\n" for n in range(40))

    said = words(*lay_out(text))

    assert "deep" in said
    assert all(f"at{n}" in said for n in range(40))


def test_a_text_of_a_million_letters_is_written_as_it_is(lay_out):
    pages = lay_out("Line #1 of *many* $5 words that stand here.\n" * 23_000 + "The end.")

    assert VERBATIM in words(pages[0])
    assert words(pages[-2]).count("Line #1 of *many* $5") > 30
    assert "The end." in words(pages[-1])


def test_even_code_could_read_nothing(sandbox: Sandbox, tmp_path: Path):
    (tmp_path / "secret.txt").write_text("secret")

    def compiled(source: bytes) -> bytes:
        return sandbox.run_blocking(compile_typst, source, tmp_path, 0, bounds=BOUNDS)

    assert compiled(b"fine").startswith(b"%PDF")
    for source in (b'#read("secret.txt")', b'#import "@preview/cetz:0.3.4"'):
        with pytest.raises(WorkFailed):
            compiled(source)


def test_a_chart_stands_in_its_place_with_its_title(lay_out):
    said = words(*lay_out(f"before\n{CHART}\nafter", chart=Figure("Spend", PICTURE)))

    assert "before bar Spend after" in said


def test_a_chart_that_is_not_there_is_said_and_so_is_one_too_many():
    written = typst("\n\n".join([CHART] * (MOST_CHARTS + 1)))

    assert written.count(NOT_FOUND) == MOST_CHARTS
    assert written.count(TOO_MANY) == 1


def test_charts_are_found_in_lines_of_their_own_and_not_in_code():
    quoted = f"> {CHART}\n\n```\n{CHART}\n```\n\n    {CHART}\n\nin a line {CHART}\r\n{CHART}\r\nend"

    parts = split_charts(quoted)

    assert [part.number for part in parts if isinstance(part, ChartPlace)] == [1, 2]
    assert parts[-1] == "end"
    assert split_charts("no chart") == ["no chart"]


def test_what_the_fonts_lack_is_said():
    missing = find_missing("Ελλ Привет “a” € 日本 😀 日")
    written = write_typst(SUBJECT, "日本", {}, PAGES)

    assert missing == ["日", "本", "😀"]
    assert "cannot draw U+65E5, U+672C, U+1F600: boxes" in say_missing(missing)
    assert say_missing(find_missing("Grüße\n")) == ""
    assert "#notice(" in written


def test_the_signs_that_fonts_have_are_those_of_the_typesetter():
    assert version("typst") == TYPST_VERSION


def test_a_long_text_is_not_parsed():
    written = write_typst(SUBJECT, "# A\n" * LONGEST_MARKDOWN, {}, PAGES)

    assert "heading(" not in written.split("\n#{\n")[1]


@pytest.mark.parametrize("cell", ["1" + " " * 90_000 + "x", "1" + "\u00a0" * 90_000 + "x"])
def test_a_number_with_many_blanks_is_aligned_in_time(cell):
    with ends_within(10):
        written = write_typst(SUBJECT, f"| a | b |\n|---|---|\n| {cell} | 1 000,5 % |\n", {}, PAGES)

    assert "align: (left, right, )" in written


def test_a_picture_has_shapes_and_words_only():
    written = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        '<script>a()</script><image xlink:href="http://x"/><foreignObject/><g onclick="a()">'
        '<linearGradient id="g0"/><path fill="url(#g0)" style="x"/><text>&lt;b&gt;</text></g></svg>'
    )

    assert clean_svg(written, "c1-") == (
        '<svg xmlns="http://www.w3.org/2000/svg"><g><linearGradient id="c1-g0" />'
        '<path fill="url(#c1-g0)" /><text>&lt;b&gt;</text></g></svg>'
    )
