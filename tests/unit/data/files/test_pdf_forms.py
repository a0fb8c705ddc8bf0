"""What people entered into a PDF, and pages of few letters, are read as any text."""

import duckdb
import pytest
from pypdf import PdfWriter
from pypdf.annotations import FreeText
from pypdf.generic import (
    ArrayObject,
    DictionaryObject,
    NameObject,
    TextStringObject,
)

from backend.data.files.documents import PAGES, read_pdf

SCANNED = "The PDF has no text: its pages are images"


def field(kind, **entries):
    """A field of a form, as it stands on a page."""
    named = {f"/{name}": value for name, value in entries.items()}
    return DictionaryObject(
        {
            NameObject(name): value
            if hasattr(value, "write_to_stream")
            else TextStringObject(value)
            for name, value in {
                "/Subtype": NameObject("/Widget"),
                "/FT": NameObject(kind),
                **named,
            }.items()
        }
    )


@pytest.fixture
def read(tmp_path):
    """Read a PDF of one page with these annotations; return its text and the warnings."""

    def read_page(*annotations):
        writer = PdfWriter()
        page = writer.add_blank_page(200, 200)
        page[NameObject("/Annots")] = ArrayObject(map(writer._add_object, annotations))
        writer.write(tmp_path / "a.pdf")
        with duckdb.connect() as connection:
            understood = read_pdf(connection, tmp_path / "a.pdf")[PAGES]
            ((text,),) = connection.execute("SELECT text FROM pages").fetchall()
        return text.strip(), understood.warnings

    return read_page


def test_what_was_entered_into_a_form_is_read(read):
    several = ArrayObject([TextStringObject("red"), TextStringObject("blue")])
    parent = field("/Tx", T="Place", V="Köln")
    text, warnings = read(
        field("/Tx", T="f1", TU="First name", V="Alice"),
        field("/Tx", T="Last name", V=""),
        field("/Ch", T="Colours", V=several),
        field("/Btn", T="Member", AS=NameObject("/Yes")),
        field("/Btn", T="Guest", AS=NameObject("/Off")),
        DictionaryObject(
            {NameObject("/Subtype"): NameObject("/Widget"), NameObject("/Parent"): parent}
        ),
    )

    assert text == "First name: Alice\nColours: red, blue\nMember: Yes\nPlace: Köln"
    assert warnings == []


def test_what_was_written_on_a_page_is_read(read):
    assert read(FreeText(text="Agreed.", rect=(10, 10, 90, 30))) == ("Agreed.", [])


def test_a_form_that_nobody_filled_in_has_no_text(read):
    text, (warning,) = read(field("/Tx", T="Name", V=""))

    assert text == ""
    assert warning.startswith(SCANNED)
