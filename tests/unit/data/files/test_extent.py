"""The reach of a sheet is known before its cells are in memory, however they are written."""

import asyncio

import pytest

from backend.data.errors import SourceUnusable
from backend.data.files.extent import MOST_CELLS, Extent
from backend.data.results import Limits
from backend.data.sources import Sources
from tests.patience import ends_within
from tests.unit.data.test_reading import write_workbook

PLACELESS = "<c><v>1</v></c>"
# What each of these reaches over is refused; calamine reads all of them.
FAR = {
    "cells without a place": [[PLACELESS] * 16_000, *[[PLACELESS]] * 300],
    "a few of them without one": [['<c r="A1"/>'] + [PLACELESS] * 15_999, ['<c r="A300"/>']],
    "a cell after one that says its place": [['<c r="XFC1"/>', PLACELESS], *[[PLACELESS]] * 300],
    "a prefix": [["<x:c><x:v>1</x:v></x:c>"] * 16_000, *[[PLACELESS]] * 300],
    "other quotes": [["<c r='XFD1048576'><v>1</v></c>"]],
    "small letters": [['<c r = "xfd1048576"><v>1</v></c>']],
}


@pytest.mark.parametrize("rows", FAR.values(), ids=FAR.keys())
def test_a_sheet_is_refused_for_its_reach_however_its_cells_are_written(tmp_path, sandbox, rows):
    (tmp_path / "sources").mkdir()
    write_workbook(tmp_path / "sources" / "far.xlsx", rows)
    sources = Sources(tmp_path, {}, sandbox)

    with pytest.raises(SourceUnusable, match=r"reaches over [0-9,]+ rows and 16,[0-9]+ columns"):
        asyncio.run(sources.query("asker", "far", "FROM far.sheet", Limits()))


def test_rows_may_say_their_place_though_their_cells_do_not():
    with pytest.raises(SourceUnusable, match="1,048,576 rows and 5 columns"):
        Extent().add(b'<row r="1048576">' + b"<c/>" * 5)


@pytest.mark.security
@pytest.mark.parametrize("cell", [b'<c r="A1"><v>1</v></c>', b"<row><c/></row>"])
def test_a_sheet_of_too_many_cells_is_refused_before_it_is_read(cell):
    extent, block = Extent(), 100_000

    with ends_within(60), pytest.raises(SourceUnusable, match=f"{MOST_CELLS:,} cells"):
        for _ in range(MOST_CELLS // block + 1):
            extent.add(cell * block)


def test_a_sheet_of_as_many_cells_as_can_be_read_is_not_refused():
    extent, row = Extent(), b"<row>" + b"<c/>" * 1_000 + b"</row>"

    for _ in range(MOST_CELLS // 100_000):
        extent.add(row * 100)
