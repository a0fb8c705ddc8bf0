"""The format of a file is found whatever precedes or packs it."""

import gzip
from io import BytesIO

import pytest
from pypdf import PdfWriter

from backend.data.files.formats import Format, find_format
from tests.unit.data.files.uploading import fill

ROWS = [(1, "x"), (2, "y")]


def pdf():
    held, writer = BytesIO(), PdfWriter()
    writer.add_blank_page(10, 10)
    writer.write(held)
    return held.getvalue()


@pytest.mark.parametrize("before", [b"", b"\n", b"\r\n \r\n"])
def test_a_pdf_may_begin_with_empty_lines(before):
    assert find_format(before + pdf(), "a.pdf") is Format.PDF


@pytest.mark.parametrize(
    "content", ['{"a":1,"b":"x"}\n{"a":2,"b":"y"}\n', '[{"a":1,"b":"x"},{"a":2,"b":"y"}]']
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_packed_json_is_read_as_json(content, encoding, tmp_path):
    packed = gzip.compress(content.encode(encoding))

    assert fill(tmp_path, packed, {}, Format.GZIP, "a.json.gz") == ROWS


def test_packed_json_is_read_as_a_table_of_text_where_a_person_says_so(tmp_path):
    packed = gzip.compress(b'{"a":1\n{"b":2\n')

    assert fill(tmp_path, packed, {"header_row": 0}, Format.GZIP, "a.json.gz") == [
        ('{"a"', 1),
        ('{"b"', 2),
    ]


def test_types_of_packed_json_can_be_corrected(tmp_path):
    packed = gzip.compress(b'{"a":"1"}\n{"a":"2"}\n')
    corrections = {"types": {"a": "integer"}}

    assert fill(tmp_path, packed, corrections, Format.GZIP, "a.json.gz") == [(1,), (2,)]
