"""The page Data: what there is, how it was read, and how that is corrected."""

import io

import pyarrow
import pytest

from backend.schemas.data.files import FileTable
from backend.schemas.data.sources import SourceColumn, TableSample
from backend.tabular.locales import NOTHING
from tests.ui import seen


@pytest.fixture
def open_data(open_page):
    def open_it():
        return open_page().switch_page("app_pages/data.py").run()

    return open_it


def words(page):
    """All that a reader reads, without the marks that keep it from being Markdown."""
    headings = "\n".join(str(element.value) for element in page.subheader)
    return f"{seen.words(page)}\n{headings}".replace("\\", "")


def press(page, label):
    next(b for b in page.button if b.label.replace("\\", "").strip("*") == label).click()
    return page.run()


def test_without_files_the_page_says_how_they_come(open_data):
    page = open_data()

    assert not page.exception
    assert "No files yet." in words(page)
    assert "The books." in words(page)
    assert "cannot be read as Parquet" in words(page)


def test_a_file_is_listed_with_how_it_was_read_and_who_can_use_it(open_data, store):
    store.uploads.add("Umsätze *2026*.csv")
    store.uploads.add("broken.xlsx", problem="It is damaged.", content=[], rows=None, tables=0)
    page = open_data()

    assert not page.exception
    for said in ("Read as Windows-1252.", "All your sessions", "1.2 KB", "It is damaged."):
        assert said in words(page)


def test_a_file_opens_with_columns_a_sample_and_its_form(open_data, store):
    store.uploads.add("sales.csv")
    page = press(open_data(), "sales.csv")

    assert not page.exception
    columns, rows = (frame.value for frame in page.dataframe)
    assert list(columns["Type"]) == ["Text", "Text"]
    assert rows.iloc[0].tolist() == ["Müller", "0012"]


def test_a_table_of_one_column_is_counted_in_the_singular(open_data, store):
    column = SourceColumn(name="Kunde", type="VARCHAR")
    store.uploads.add("names.csv", content=[FileTable(name="names", rows=3, columns=[column])])

    page = press(open_data(), "names.csv")

    assert "1 column, 3 rows" in words(page)


def test_a_sample_is_written_as_tables_in_answers_are(open_data, store):
    store.uploads.add("sales.csv")
    columns = [SourceColumn(name="Datum", type="DATE"), SourceColumn(name="Betrag", type="DOUBLE")]
    rows = [["2026-02-01", 10234.1], [None, None]]
    store.uploads.sample = TableSample(table="sales", columns=columns, rows=rows, complete=True)

    page = press(open_data(), "sales.csv")

    written = page.dataframe[1].proto.arrow_data.styler.display_values
    shown = pyarrow.ipc.open_stream(io.BytesIO(written)).read_all().to_pydict()
    assert shown == {"Datum": ["2026-02-01", NOTHING], "Betrag": ["10,234.10", NOTHING]}
    assert page.dataframe[1].proto.placeholder == NOTHING  # what the browser draws for no value


def test_a_file_that_is_still_being_read_says_so(open_data, store):
    store.uploads.add("big.csv", is_read=False, content=[], rows=None, summary="", tables=0)
    page = press(open_data(), "big.csv")

    assert not page.exception
    assert "still being read" in words(page)


def test_a_field_of_the_form_says_what_was_detected(open_data, store):
    table = FileTable(name="sales", rows=1, columns=[], decimal=",", header=[3])
    store.uploads.add("sales.csv", content=[table])
    page = press(open_data(), "sales.csv")

    (line,) = page.number_input
    assert line.placeholder == "Detected from the file: 3"
    decimals = next(box for box in page.selectbox if box.label == "Decimals")
    assert decimals.options[0] == "Detected from the file: Comma: 1.234,56"


def test_a_correction_is_tried_and_one_that_is_refused_says_why(open_data, store):
    store.uploads.add("sales.csv")
    page = press(open_data(), "sales.csv")
    chosen = next(box for box in page.selectbox if box.label == "Encoding")
    page = press(chosen.set_value("UTF-8").run(), "Preview")
    previewed = words(page)
    page = press(page, "Save")

    assert not page.exception
    assert "Result:" in previewed and "Read as UTF-8." in previewed
    assert "Kunde cannot be numbers" in words(page)
    assert [said.encoding for said in store.uploads.said] == ["UTF-8", "UTF-8"]


def test_a_source_of_the_service_opens_with_its_tables(open_data):
    page = press(open_data(), "fi")

    assert not page.exception
    assert "2 columns, 47 rows" in words(page)
