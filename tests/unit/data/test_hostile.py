"""Files and queries that are made to be expensive: each costs only itself, within its limits."""

import asyncio
import csv
import time
import zipfile
from datetime import date

import duckdb
import openpyxl
import psutil
import pyarrow as pa
import pyarrow.parquet
import pytest
from python_calamine import CalamineError

from backend.data.errors import DataError, QueryRefused
from backend.data.files.spreadsheets import read_workbook
from backend.data.results import Limits
from backend.data.sources import Sources
from tests.patience import ends_within
from tests.sandboxed import AMPLE, supervisor_id

GREW_AT_MOST = 300_000_000
GROWING = "range::VARCHAR || 'aaaaaaaaaa'"
for _ in range(6):
    GROWING = f"replace({GROWING}, 'a', 'aaaaaaaaaa')"
HEAVY = f"SELECT sum(length({GROWING})) FROM range(100000)"


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "sources"
    path.mkdir()
    return path


@pytest.fixture
def sources(tmp_path, folder, sandbox):
    return Sources(tmp_path, {}, sandbox)


def ask(sources, name, sql, limits=None):
    return asyncio.run(sources.query("asker", name, sql, limits or Limits()))


def errors_of(sources):
    return {info.name: info.error for info in asyncio.run(sources.list_all("asker"))}


def bomb(path, sheet):
    """A workbook of one sheet whose XML is `sheet`: a few thousand times smaller when packed."""
    place = "xl/worksheets/sheet1.xml"
    plain = path.with_suffix(".plain")
    openpyxl.Workbook().save(plain)
    with (
        zipfile.ZipFile(plain) as source,
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
    ):
        for name in source.namelist():
            if name != place:
                target.writestr(name, source.read(name))
        with target.open(place, "w", force_zip64=True) as part:
            for piece in sheet:
                part.write(piece)
    plain.unlink()


def sheet_of(rows, times):
    yield b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
    for _ in range(times):
        yield rows
    yield b"</sheetData></worksheet>"


@pytest.mark.security
@pytest.mark.parametrize(
    "piece", [b"<c", b"<c ", b'<c t="e" r="A1', b"<f", b' r="A1" t="e"'], ids=repr
)
def test_a_sheet_of_unfinished_tags_is_scanned_in_time(tmp_path, piece):
    path = tmp_path / "a.xlsx"
    bomb(path, [b'<worksheet><c r="A1" t="e"', piece * (2_000_000 // len(piece)), b"<f"])

    with ends_within(10), pytest.raises(CalamineError):
        read_workbook(duckdb.connect(), path)


@pytest.mark.security
def test_a_value_that_grows_by_nested_calls_is_ended_by_the_limit_of_memory(folder, sources):
    (folder / "a.csv").write_text("x\n1\n")

    with pytest.raises(DataError, match="needs more than"):
        ask(sources, "a", HEAVY)

    assert ask(sources, "a", "FROM a").rows == [[1]]


@pytest.mark.security
def test_a_stop_is_obeyed_while_a_value_grows(folder, sources, sandbox):
    (folder / "a.csv").write_text("x\n1\n")
    ask(sources, "a", "FROM a")
    endless = (
        "SELECT count(*) FROM range(100000) a, range(100000) b, range(100000) c "
        "WHERE (a.range + b.range * c.range) % 7 = 3"
    )

    supervisor = psutil.Process(sandbox.run_blocking(supervisor_id, bounds=AMPLE))

    async def story():
        task = asyncio.create_task(sources.query("asker", "a", endless, Limits(seconds=600)))
        children = []
        while not children:
            await asyncio.sleep(0.01)
            children = supervisor.children()
        task.cancel()
        began = time.monotonic()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(psutil.wait_procs, children, 20)
        return time.monotonic() - began

    assert asyncio.run(story()) < 15


@pytest.mark.security
@pytest.mark.parametrize(
    "sql",
    [
        f"SELECT {'(' * 5000}1{')' * 5000}",
        f"SELECT {'-' * 5001}1",
        f"SELECT {'NOT ' * 9000}true",
        f"SELECT 1{' + 1' * 12_000}",
        "SELECT " + ", ".join(f"CASE WHEN {n} THEN {n} END" for n in range(1500)),
        "SELECT '" + "x" * 5_000_000 + "'",
    ],
    ids=["brackets", "signs", "nots", "sums", "cases", "megabytes"],
)
def test_text_that_is_hard_to_parse_costs_its_own_question_only(folder, sources, sql):
    (folder / "a.csv").write_text("x\n1\n")

    try:
        ask(sources, "a", sql, Limits(seconds=20))
    except DataError as error:
        assert error.detail

    assert ask(sources, "a", "FROM a").rows == [[1]]


@pytest.mark.security
def test_a_query_of_megabytes_is_refused_before_anybody_reads_it(folder, sources):
    (folder / "a.csv").write_text("x\n1\n")

    with pytest.raises(QueryRefused, match="longer than 50,000 characters"):
        ask(sources, "a", "SELECT '" + "x" * 5_000_000 + "'")


@pytest.mark.security
@pytest.mark.timeout(400)
def test_a_workbook_that_unpacks_to_gigabytes_is_listed_with_its_error(folder, sources):
    row = b'<row><c r="A1"><v>1</v></c></row>' * 20_000
    bomb(folder / "bomb.xlsx", sheet_of(row, 900))
    (folder / "good.csv").write_text("x\n1\n")

    errors = errors_of(sources)

    assert "unpacks to 594 MB; at most 500 MB" in errors["bomb"]
    assert errors["good"] is None


@pytest.mark.security
@pytest.mark.timeout(400)
def test_a_table_of_20_000_columns_is_listed_with_its_error(folder, sources):
    names = [f"c{n}" for n in range(20_000)]
    pa.parquet.write_table(pa.table({name: [1] for name in names}), folder / "wide.parquet")
    (folder / "wide_2.csv").write_text(f"{','.join(names)}\n{','.join(['1'] * 20_000)}\n")
    (folder / "good.csv").write_text("x\n1\n")

    errors = errors_of(sources)

    assert "20,000 columns; at most 2,000" in errors["wide"]
    assert errors["wide_2"]
    assert errors["good"] is None


@pytest.mark.security
@pytest.mark.timeout(400)
def test_a_deeply_nested_column_costs_its_own_file_only(folder, sources):
    value: object = 1
    for _ in range(80):
        value = [value]
    pa.parquet.write_table(pa.table({"deep": [value]}), folder / "deep.parquet")
    (folder / "good.csv").write_text("x\n1\n")

    assert errors_of(sources)["good"] is None


@pytest.mark.security
@pytest.mark.timeout(400)
def test_a_workbook_that_takes_too_much_memory_is_listed_with_its_error(folder, sources):
    wide = b'<row><c r="A1" t="inlineStr"><is><t>' + b"x" * 200_000_000 + b"</t></is></c></row>"
    bomb(folder / "bomb.xlsx", sheet_of(wide, 2))
    (folder / "good.csv").write_text("x\n1\n")

    errors = errors_of(sources)

    said = errors["bomb"] or ""
    assert any(why in said for why in ("more than 300 MB", "more memory than", "takes too long"))
    assert errors["good"] is None


@pytest.mark.security
@pytest.mark.timeout(900)
def test_large_honest_files_are_read_within_the_limits(folder, sources):
    with open(folder / "large.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([f"c{n}" for n in range(10)])
        writer.writerows([n, date(2026, 1, 1), *range(8)] for n in range(300_000))
    duckdb.sql(
        "SELECT range AS n, 'text ' || range AS t, range / 7 AS d FROM range(300000)"
    ).write_parquet(str(folder / "p.parquet"))
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("s")
    sheet.append([f"c{n}" for n in range(10)])
    for n in range(100_000):
        sheet.append([n, f"text {n}", n / 7, date(2026, 1, 1), *range(6)])
    book.save(folder / "book.xlsx")

    assert set(errors_of(sources).values()) == {None}
    assert ask(sources, "large", "SELECT count(*) FROM large").rows == [[300_000]]
    assert ask(sources, "book", "SELECT count(*), max(c3) FROM s").rows == [[100_000, "2026-01-01"]]
    whole = ask(sources, "p", "SELECT * FROM p", Limits(seconds=60))
    assert len(whole.rows) == 100_000
    joined = "SELECT count(*) FROM large l JOIN p.p ON l.c0 = p.n GROUP BY l.c0 % 1000"
    assert len(ask(sources, "large", joined).rows) == 1000


@pytest.mark.security
def test_no_process_grows_by_more_than_it_may(folder, sources, sandbox):
    """The mixture of calls that took 3 GB, with all processes watched from outside."""
    (folder / "a.csv").write_text("x\n1\n")
    ask(sources, "a", "FROM a")
    supervisor = psutil.Process(sandbox.run_blocking(supervisor_id, bounds=AMPLE))
    most = 0

    async def watch(task):
        nonlocal most
        while not task.done():
            for child in supervisor.children():
                try:
                    most = max(most, child.memory_info().rss)
                except psutil.Error:
                    continue
            await asyncio.sleep(0.01)

    async def story():
        task = asyncio.create_task(sources.query("asker", "a", HEAVY, Limits()))
        await watch(task)
        with pytest.raises(DataError):
            await task

    asyncio.run(story())
    at_first = supervisor.memory_info().rss

    assert most < at_first + GREW_AT_MOST * 1.2
