"""A search in documents finds words as people type them, whichever way a page prints them."""

from io import BytesIO

import pytest
from pypdf import PdfWriter

from tests.integration.data.test_files_in_turns import calls, results, upload
from tests.integration.scenes import make_session
from tests.stack import Stack

PRINTED = (
    "The mis\ufb01ts see things di\ufb00erently.\n"
    "The con-\nsideration is a well-\nknown one, of 2019-\n2021.\n"
    "Fu\u0308r die Vertrags- und Lieferbe\u00ad\ndingungen.\n"
    "It isn\u2019t due\u00a0now, nor co\u00adoperative.\n"
)


@pytest.mark.parametrize(
    "words",
    [
        "misfits differently",
        "mis\ufb01ts",
        '"see things differently"',
        '"the consideration is"',
        "well-known",
        "2019-2021",
        "f\u00fcr",
        '"vertrags- und lieferbedingungen"',
        "isn't",
        '"due now"',
        "cooperative",
    ],
)
def test_words_are_found_however_they_are_printed(stack: Stack, words: str) -> None:
    session_id = make_session(stack)
    made = upload(stack, "printed.md", PRINTED.encode(), session_id=session_id)
    asked = calls(("search_document", {"words": words, "source": made["source"]}))
    stack.chat(asked, session_id)
    (found,) = results(stack, session_id)

    assert f"| {made['source']} | 1 |" in found


def test_a_scan_that_is_read_or_searched_is_said_to_be_one(stack: Stack) -> None:
    session_id = make_session(stack)
    writer, held = PdfWriter(), BytesIO()
    writer.add_blank_page(200, 200)
    writer.write(held)
    made = upload(stack, "scan.pdf", held.getvalue(), session_id=session_id)
    asked = calls(
        ("search_document", {"words": "notice", "source": made["source"]}),
        ("read_document", {"source": made["source"]}),
    )
    stack.chat(asked, session_id)

    for told in results(stack, session_id):
        assert "The PDF has no text: its pages are images" in told
