"""The format of a file is found whatever precedes or packs it."""

import gzip
from io import BytesIO
from zipfile import ZipFile

import duckdb
import pytest
from pypdf import PdfWriter

from backend.data.errors import SourceUnusable
from backend.data.files.formats import Format, find_format
from backend.data.files.readers import read_file
from tests.unit.data.files.uploading import fill

ROWS = [(1, "x"), (2, "y")]
PAGE = """<html><head><style>td {color: red}</style></head><body><p>Export</p>
<TABLE><tr><th rowspan=2>Konto<th colspan="2">Betrag</tr><tr><th>Soll</th><th>Haben</th></tr>
<tr><td>Kasse &amp; Bank</td><td align=right>1.234,50</td><td>&nbsp;</td></tr>
<tr><td>Erl&ouml;se<br>brutto<td><td>-2,00</table></body></html>"""

AS_READ = [("Kasse & Bank", 1234.5, None), ("Erlöse brutto", None, -2.0)]

XML = """<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><Ntry><Amt>50.25</Amt></Ntry>
<Ntry xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.02"><Amt>200.00</Amt></Ntry></Document>
"""
MT199 = """:20:STARTUMSE
:21:NONREF
:79:Please confirm
:80:by Friday
:81:thank you
-
"""


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


@pytest.mark.parametrize("name", ["page.html", "page.HTM"])
def test_a_web_page_is_read_by_its_table(name, tmp_path):
    assert fill(tmp_path, PAGE, {}, name=name) == AS_READ


def test_a_web_page_without_a_table_is_a_document(tmp_path):
    page = "<html>\n<p>Rent, heating, repairs</p>\n<p>Wages, bonuses, travel</p>\n</html>\n"

    assert fill(tmp_path, page, {}, name="page.html", table="pages") == [(1, page)]


@pytest.mark.parametrize("before", ["", "\ufeff", "\n"])
@pytest.mark.parametrize("content", [XML, MT199, "{1:F01BANKDEFF}{2:I199X}{4:\n" + MT199])
def test_xml_and_a_message_of_a_bank_are_no_tables_of_their_colons(content, before, tmp_path):
    document = before + content

    ((page, text),) = fill(tmp_path, document, {}, name="statement.txt", table="pages")

    assert (page, text.strip("\ufeff\n")) == (1, content.strip())


def test_a_web_page_that_is_named_as_a_workbook_is_read_by_its_table(tmp_path):
    assert fill(tmp_path, PAGE, {}, name="export.xls") == AS_READ
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        (understood,) = read_file(connection, "export", tmp_path / "export.xls").values()
        relation = connection.sql("FROM export")
        assert (relation.columns, relation.fetchall()) == (
            ["Konto", "Betrag Soll", "Betrag Haben"],
            AS_READ,
        )
    assert "a web page, of which only tables are read" in understood.form


def test_a_web_page_is_read_as_a_person_says(tmp_path):
    rows = fill(tmp_path, PAGE, {"header_row": 2, "types": {"Soll": "text"}}, name="a.xls")

    assert rows[0] == ("Kasse & Bank", "1.234,50", None)


def test_each_table_of_a_web_page_is_a_table(tmp_path):
    inner = "<table><tr><td>a<td>b<tr><td>1<td>2</table>"
    page = f"<body><table><tr><td>{inner}</td></tr></table>{inner}".encode()
    path = tmp_path / "a.xls"
    path.write_bytes(page)
    with duckdb.connect() as connection:
        connection.execute("ATTACH ':memory:' AS scratch")
        tables = read_file(connection, "a", path)
        rows = [connection.sql(f"FROM {name}").fetchall() for name in tables]

    assert rows == [[(1, 2)], [(1, 2)]]


def test_a_workbook_in_xml_is_told_as_such(tmp_path):
    xml = '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>'

    with pytest.raises(SourceUnusable, match="XML format of Excel 2003"):
        fill(tmp_path, xml, {}, name="a.xls")


@pytest.mark.parametrize("packed", [pdf(), b"PAR1", b"PK\x03\x04", b"\x89PNG"])
def test_what_is_packed_and_no_text_is_to_be_unpacked(packed, tmp_path):
    with pytest.raises(SourceUnusable, match="Unpack it, and upload what it holds"):
        fill(tmp_path, gzip.compress(packed), {}, Format.GZIP, "a.gz")


def test_an_archive_of_files_is_to_be_unpacked(tmp_path):
    with ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "a,b")
    content = (tmp_path / "a.zip").read_bytes()

    with pytest.raises(SourceUnusable, match="unpack an archive, and upload its files"):
        fill(tmp_path, content, {}, Format.WORKBOOK, "a.zip")


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"hello, world!", "text"),
        (b"A letter.\n\nIt has no table.\n", "text"),
        (b"PKx\x01\x02,\n,", "text"),
        (pdf(), "a PDF"),
        (b'{"a": 1}', "JSON"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "a packed file"),
    ],
)
@pytest.mark.parametrize("name", ["a.xlsx", "A.XLS", "a.xlsm"])
def test_under_a_workbooks_name_other_bytes_are_refused(content, what, name):
    assert find_format(content, name) == f"{what} under the name of a workbook"


def test_a_table_of_text_under_a_workbooks_name_is_read(tmp_path):
    content = b"a\tb\n1\tx\n2\ty\n"

    assert find_format(content, "a.xls") is Format.TEXT
    assert fill(tmp_path, content, {}, name="a.xls") == [(1, "x"), (2, "y")]


def test_a_text_without_a_table_under_a_workbooks_name_is_refused_when_it_is_read(tmp_path):
    with pytest.raises(SourceUnusable, match="the name of a workbook, but it is a text without"):
        fill(tmp_path, b"Dear all,\n\nit is, as I said, no table.\n", {}, name="a.xlsx")
