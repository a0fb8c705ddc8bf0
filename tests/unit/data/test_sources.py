"""Files as sources, and the engine's own walls around them."""

import asyncio
import csv
import os
import threading
import time
from datetime import date, datetime
from decimal import Decimal

import duckdb
import openpyxl
import pytest

from backend.data.engines import local
from backend.data.errors import (
    QueryFailed,
    QueryRefused,
    SourceUnusable,
    UnknownSource,
)
from backend.data.results import Limits
from backend.data.sources import Sources

# What must fail in the engine itself, were it ever to get past the parser.
ESCAPES = [
    "INSERT INTO t VALUES (2)",
    "DROP TABLE t",
    "CREATE TABLE memory.x AS SELECT 1",
    "COPY t TO '{folder}/out.csv'",
    "COPY (SELECT 1) TO '{snapshot}' (USE_TMP_FILE false)",
    "EXPORT DATABASE '{folder}/out'",
    "ATTACH '{folder}/new.duckdb'",
    "ATTACH '{snapshot}' AS again",
    "SELECT * FROM read_csv('{folder}/secret.csv')",
    "SELECT * FROM read_text('{folder}/secret.csv')",
    "SELECT * FROM read_blob('{snapshot}')",
    "SELECT * FROM '{folder}/secret.csv'",
    "SELECT * FROM glob('{folder}/*')",
    "CREATE SECRET s (TYPE s3)",
    "SELECT getenv('HOME')",
    "INSTALL httpfs",
    "SET enable_external_access = true",
    "SET disabled_filesystems = ''",
    "RESET disabled_filesystems",
    "SET lock_configuration = false",
    "SELECT * FROM secret_frame",
]


def ask(sources, name, sql, limits=None):
    return asyncio.run(sources.query("asker", name, sql, limits or Limits()))


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "sources"
    path.mkdir()
    return path


@pytest.fixture
def sources(tmp_path, folder, sandbox):
    return Sources(tmp_path, {}, sandbox)


@pytest.fixture
def snapshot(tmp_path):
    (tmp_path / "secret.csv").write_text("password\nhunter2\n")
    path = tmp_path / "s.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS a")
    return path


@pytest.mark.parametrize("escape", ESCAPES)
def test_the_engine_itself_neither_writes_nor_reaches_a_file(escape, snapshot, tmp_path):
    secret_frame = {"a": [1]}  # Python's variables are no tables either
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    statement = escape.format(folder=tmp_path, snapshot=snapshot)

    with (
        local.sealed("s", {"s": snapshot}) as connection,
        pytest.raises(duckdb.Error),
    ):
        connection.execute(statement).fetchall()

    assert secret_frame
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_what_the_engine_lets_through_is_empty_or_gone_with_the_query(snapshot):
    for _ in range(2):
        with local.sealed("s", {"s": snapshot}) as connection:
            connection.execute("CREATE TEMP TABLE x AS SELECT 1")
            assert connection.execute("SELECT * FROM duckdb_secrets()").fetchall() == []


def test_two_statements_never_run_even_past_the_parser(snapshot):
    with pytest.raises(QueryRefused):
        local.run_query("s", {"s": snapshot}, "SELECT 1; SELECT 2", Limits())


def test_csv_parquet_and_excel_files_become_sources(folder, sources):
    (folder / "Sales 2026 (v2).csv").write_text("id,amount,amount\n1,2.50,x\n2,3,y\n")
    duckdb.sql("SELECT 7 AS i").write_parquet(str(folder / "p.parquet"))
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "My Sheet"
    sheet.append([None, None])
    sheet.append(["id", "id", None, "when"])
    sheet.append([1, "a", 2.5, datetime(2026, 1, 31)])
    book.create_sheet("Empty")
    book.create_sheet("Second").append(["only a header"])
    book.save(folder / "book.xlsx")

    assert ask(sources, "sales_2026_v2", "SELECT * FROM sales_2026_v2").rows[0] == [1, 2.5, "x"]
    assert ask(sources, "p", "FROM p").rows == [[7]]
    assert ask(sources, "book", "FROM my_sheet").rows == [[1, "a", 2.5, "2026-01-31"]]
    tables = [t.name for t in asyncio.run(sources.describe("asker", "book")).tables]
    assert tables == ["my_sheet", "second"]


def test_files_can_be_joined_with_the_bundled_sources(folder, sources):
    (folder / "targets.csv").write_text("cost_centre,target\nCC-1001,5\n")

    table = ask(
        sources,
        "targets",
        "SELECT t.target, c.name FROM targets t JOIN fi.cost_centres c USING (cost_centre)",
    )

    assert table.rows == [[5, "Marketing"]]


def test_broken_files_are_listed_with_their_error_and_harm_no_others(folder, sources):
    (folder / "empty.csv").write_text("")
    (folder / "binary.csv").write_bytes(bytes(range(256)) * 50)
    (folder / "fake.parquet").write_bytes(b"not parquet")
    (folder / "fake.xlsx").write_bytes(b"PK not a zip")
    (folder / "old.xls").write_bytes(b"old")
    (folder / "good.csv").write_text("a\n1\n")

    errors = {info.name: info.error for info in asyncio.run(sources.list_all("asker"))}

    assert {name for name, error in errors.items() if error} == {
        "empty", "binary", "fake", "fake_2", "old",
    }  # fmt: skip
    assert ask(sources, "good", "FROM good").rows == [[1]]
    with pytest.raises(SourceUnusable, match="empty"):
        ask(sources, "empty", "FROM empty")


@pytest.mark.parametrize(
    "name", ["a*[b]?.csv", "it's; DROP TABLE x --.csv", "sp ace\n.csv", "ü.CSV"]
)
def test_odd_file_names_are_only_names(folder, sources, name):
    (folder / name).write_text("a\n1\n")
    (folder / "ab.csv").write_text("a\n2\n")

    (odd,) = [n for n in sources.names() if n not in ("fi", "bpc", "ab")]

    assert ask(sources, odd, f"SELECT a FROM {odd}").rows == [[1]]


def test_files_that_come_change_and_go_are_noticed(folder, sources):
    path = folder / "a.csv"
    assert "a" not in sources.names()
    path.write_text("x\n1\n")
    assert ask(sources, "a", "FROM a").rows == [[1]]

    path.write_text("y\n22\n")
    os.utime(path, ns=(1, 1))
    assert ask(sources, "a", "SELECT y FROM a").rows == [[22]]
    path.unlink()

    with pytest.raises(UnknownSource):
        ask(sources, "a", "FROM a")


def test_a_new_file_takes_no_name_of_another_also_when_that_is_gone(folder, sources):
    (folder / "Sales 2026.csv").write_text("x\n1\n")
    (folder / "销售.csv").write_text("x\n2\n")
    assert ask(sources, "sales_2026", "FROM sales_2026").rows == [[1]]

    (folder / "Sales  2026.csv").write_text("x\n3\n")
    (folder / "年.csv").write_text("x\n4\n")
    values = {name: ask(sources, name, f"FROM {name}").rows for name in sources.names()[2:]}
    (folder / "Sales 2026.csv").unlink()

    assert values == {"sales_2026": [[1]], "sales_2026_2": [[3]], "销售": [[2]], "年": [[4]]}
    with pytest.raises(UnknownSource):
        ask(sources, "sales_2026", "FROM sales_2026")
    assert ask(sources, "sales_2026_2", "FROM sales_2026_2").rows == [[3]]


def test_latin_1_and_semicolons_are_read(folder, sources):
    (folder / "latin.csv").write_bytes("name;ort\nMüller;Köln\n".encode("latin-1"))

    assert ask(sources, "latin", "FROM latin").rows == [["Müller", "Köln"]]


def test_a_wrong_column_is_answered_with_the_right_one(folder, sources):
    (folder / "a.csv").write_text("amount\n1\n")

    with pytest.raises(QueryFailed, match=r"Did you mean 'amount'\?"):
        ask(sources, "a", "SELECT amout FROM a")


def test_all_kinds_of_values_come_out_as_scalars(folder, sources):
    duckdb.sql(
        "SELECT now() AS tz, DATE '12000-01-01' AS far, [1, 2] AS l, {'a': 1} AS s, 'nan'::DOUBLE "
        "AS n, 12345678901234567890123::HUGEINT AS h, INTERVAL 1 DAY AS i, 1.10::DECIMAL(9,2) AS d"
    ).write_parquet(str(folder / "odd.parquet"))

    (row,) = ask(sources, "odd", "SELECT far, l, s, n, h, d FROM odd").rows

    assert row[0] == "12000-01-01"
    assert row[1:4] == ["[1, 2]", '{"a": 1}', "nan"]
    assert row[5] == float(Decimal("1.10"))
    assert len(ask(sources, "odd", "SELECT tz, i FROM odd").rows) == 1


def test_several_installations_may_generate_the_finance_data_at_once(tmp_path, sandbox):
    both = [Sources(tmp_path, {}, sandbox) for _ in range(3)]
    failures = []

    def use(sources):
        try:
            ask(sources, "fi", "SELECT count(*) FROM documents")
        except Exception as error:  # noqa: BLE001 - any failure of a thread is the finding
            failures.append(error)

    threads = [threading.Thread(target=use, args=(sources,)) for sources in both]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failures
    assert [p.name for p in (tmp_path / "cache" / "sources").iterdir()] == ["finance-1"]


def test_a_large_file_is_cut_at_the_limit_without_being_held_in_memory(folder, sources):
    with open(folder / "large.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["n", "day"])
        writer.writerows((n, date(2026, 1, 1)) for n in range(50_000))

    ask(sources, "large", "SELECT count(*) FROM large")
    began = time.monotonic()
    table = ask(sources, "large", "SELECT a.n FROM large a, large b, large c", Limits(rows=1000))

    assert len(table.rows) == 1000
    assert not table.complete
    assert time.monotonic() - began < 10


def test_a_query_is_warned_about_the_files_that_it_names_and_no_text(tmp_path, folder, sandbox):
    (folder / "customers.csv").write_text("name,x\nsales,1\nrent,2\n")
    (folder / "sales.csv").write_text("a,b\n1\n2,3\n")
    sources = Sources(tmp_path, {}, sandbox)

    def warned(sql):
        return asyncio.run(sources.warnings("asker", "customers", sql))

    assert warned("SELECT x FROM customers WHERE name = 'sales'") == []
    assert warned("SELECT x /* not 'sales */ FROM customers -- as in sales") == []
    assert warned("SELECT count(*) AS sales FROM customers") == []
    assert warned("SELECT 'it''s sales' || e'it\\'s sales' || $$sales$$ FROM customers") == []
    for name in ("sales", '"sales"', "sales.sales"):
        (warning,) = warned(f"SELECT 'it''s', -- 'x\n b FROM customers, {name}")
        assert warning.startswith("sales.sales: 1 row has fewer cells than the header")
