"""Pages of a PDF: those whose text is missing or incomplete are said by number.

A text without pages is cut into parts between its lines.
"""

import duckdb
import pypdf
import pytest

from backend.data.files import documents
from backend.data.files.documents import PAGE_CHARS, read_document, read_pdf

LONG, BROKEN, BARE = "x" * 1_000_001, None, ""
PLAIN = "The text of a page."
SCANNED = "The PDF has no text: its pages are images"
LINE = "Some words of a line"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a PDF whose pages have these texts; return their lengths and the warnings."""

    def read_pages(texts):
        path, writer, left = tmp_path / "a.pdf", pypdf.PdfWriter(), list(texts)
        for _ in texts:
            writer.add_blank_page(10, 10)
        writer.write(path)

        def extract(_):
            if (text := left.pop(0)) is BROKEN:
                raise ZeroDivisionError
            return text

        monkeypatch.setattr(pypdf.PageObject, "extract_text", extract)
        with duckdb.connect() as connection:
            understood = read_pdf(connection, path)[documents.PAGES]
            rows = connection.execute("SELECT length(text) FROM pages ORDER BY page").fetchall()
        return [length for (length,) in rows], understood.warnings

    return read_pages


def test_a_page_that_is_too_long_is_cut_and_said(read):
    lengths, warnings = read([PLAIN, LONG, LONG])

    assert lengths == [len(PLAIN), 1_000_000, 1_000_000]
    assert warnings == ["The text of 2 pages is cut after 1,000,000 characters: page 2, 3."]


def test_pages_that_fail_are_no_scan(read):
    assert read([BROKEN] * 2)[1] == ["2 pages could not be read: page 1, 2."]
    assert read([PLAIN, BROKEN])[1] == ["1 page could not be read: page 2."]


def test_pages_without_text_are_counted_apart_from_those_that_fail(read):
    assert read([BARE, BROKEN, PLAIN])[1] == [
        "1 of 3 pages has no text; images cannot be read.",
        "1 page could not be read: page 2.",
    ]
    (only,) = read([BARE, BARE])[1]
    assert only.startswith(SCANNED)


def test_of_many_pages_that_fail_the_rest_is_counted(read):
    (warning,) = read([BROKEN] * 13)[1]

    assert warning == ("13 pages could not be read: page 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 3 more.")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_parts_end_between_lines(end, tmp_path):
    first = "x" * (PAGE_CHARS - 1)  # so that the first piece that is read ends within a line's end
    lines = [first, *[LINE] * 1_000]
    path = tmp_path / "a.txt"
    path.write_bytes("".join(line + end for line in lines).encode())

    with duckdb.connect() as connection:
        read_document(connection, path)
        parts = [t for (t,) in connection.sql("SELECT text FROM pages ORDER BY page").fetchall()]

    assert "".join(parts) == "".join(f"{line}\n" for line in lines)
    assert all(part.endswith("\n") for part in parts)
