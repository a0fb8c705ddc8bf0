"""Many sources, tables, columns and rows: what is not shown is said, with how to go on."""

import asyncio
import re
import sqlite3
from uuid import uuid4

import pytest

from backend.auth.scope import LOCAL_USER
from backend.data.engines import catalogs
from backend.data.engines.databases import Database
from backend.data.sources import Sources
from backend.tools.context import ToolContext
from backend.tools.registry import build_tools

# Oracle's driver is not among the requirements; the other is no driver at all.
BAD = {
    "driverless": "oracle+oracledb://u:hunter2@127.0.0.1/x",
    "nonsense": "nonsense+nothing://u:hunter2@127.0.0.1/x",
    "unreachable": "postgresql://u:hunter2@127.0.0.1:1/x",
    "asyncpg": "postgresql+asyncpg://u:hunter2@127.0.0.1:1/x",
}
TABLES = 700
COLUMNS = 500


@pytest.fixture(scope="module")
def sources(tmp_path_factory, sandbox):
    home = tmp_path_factory.getbasetemp() / "shared-finance"
    folder = tmp_path_factory.mktemp("many")
    many = folder / "many.db"
    with sqlite3.connect(many) as connection:
        for number in range(TABLES):
            connection.execute(f'CREATE TABLE "Table {number}" (id INTEGER, "the name" TEXT)')
        connection.execute(f"CREATE TABLE wide ({', '.join(f'c{n} INT' for n in range(COLUMNS))})")
        connection.execute("CREATE TABLE n (a INT)")
        connection.executemany("INSERT INTO n VALUES (?)", [(n,) for n in range(100)])
    few = {f"shop_{number}": f"sqlite:///{folder / 'none'}" for number in range(60)}
    return Sources(home, {"many": f"sqlite:///{many}", **BAD, **few}, sandbox)


@pytest.fixture(scope="module")
def call(sources):
    context = ToolContext(sources, uuid4(), uuid4(), LOCAL_USER)
    tools = {tool.name: tool for tool in build_tools(None, context)}

    def run(name, **arguments):
        request = {"type": "tool_call", "id": "call_1", "name": name, "args": arguments}
        return asyncio.run(tools[name].ainvoke(request))

    return run


def walk(call, name, **arguments):
    """The first cells of all rows that a model sees who goes on as it is told."""
    seen, offset, calls = [], 0, 0
    while offset is not None:
        calls += 1
        said = call(name, offset=offset, **arguments).content
        rows = [line for line in said.splitlines() if line.startswith("|")][2:]
        seen += [row.split(" | ")[:2] for row in rows]
        found = re.search(r"offset=(\d+)", said.partition("EXCERPT")[2])
        offset = int(found[1]) if found else None
        assert calls < 60
    return seen


def test_each_bad_source_is_listed_with_its_own_error_and_harms_no_other(call):
    rows = {row[0]: row for row in call("list_sources").artifact["rows"]}

    assert "driver oracledb is not installed" in rows["driverless"][4]
    assert "no way to open nonsense" in rows["nonsense"][4]
    assert rows["unreachable"][4]
    assert "not installed" not in rows["asyncpg"][4]
    assert rows["many"][4] == rows["fi"][4] == ""
    assert "hunter2" not in repr(rows)


@pytest.mark.security
def test_all_sources_are_seen_by_going_on_and_some_by_matching(call, sources):
    seen = walk(call, "list_sources")
    matching = call("list_sources", matching="shop_5")
    none = call("list_sources", offset=1000)

    assert [cells[0].removeprefix("| ") for cells in seen] == sources.names()
    assert [row[0] for row in matching.artifact["rows"]] == ["shop_5"] + [
        f"shop_{n}" for n in range(50, 60)
    ]
    assert "Only what matches 'shop_5'" in matching.content
    assert "There are no rows after the first" in none.content


def test_tables_and_columns_beyond_the_excerpt_are_reached(call):
    by_table = call("describe_source", source="many", table="Table 699")
    by_word = call("describe_source", source="many", matching="c499")
    whole = call("describe_source", source="many")
    columns = walk(call, "describe_source", source="many", table="wide")
    last = call("query_source", source="many", sql='SELECT "the name" FROM "Table 699"')

    assert '| "Table 699" | "the name" | TEXT |' in by_table.content
    assert [row[1] for row in by_word.artifact["rows"]] == ["c499"]
    assert "702 tables: " in whole.content
    assert "more: give matching or table" in whole.content
    assert [cells[1] for cells in columns] == [f"c{n}" for n in range(COLUMNS)]
    assert last.status == "success"


def test_rows_beyond_the_excerpt_are_reached_by_offset(call):
    seen = walk(call, "query_source", source="many", sql="SELECT a FROM n ORDER BY a")
    later = call("query_source", source="many", sql="SELECT a FROM n ORDER BY a", offset=90)

    assert [cells[0] for cells in seen] == [f"| {n} |" for n in range(100)]
    assert later.artifact["rows"][0] == [90]
    assert "10 rows after the first 90." in later.content


def test_an_unknown_table_of_many_is_answered_briefly(call):
    queried = call("query_source", source="many", sql="SELECT 1 FROM nothing")
    described = call("describe_source", source="many", table="nothing")

    assert "and 662 more: describe_source lists them" in queried.content
    assert len(queried.content) < 2_000
    assert len(described.content) < 2_000


def test_a_catalog_beyond_the_limit_says_that_it_is_cut(tmp_path, monkeypatch):
    path = tmp_path / "x.db"
    with sqlite3.connect(path) as connection:
        for number in range(4):
            connection.execute(f"CREATE TABLE t{number} (a INT)")
    monkeypatch.setattr(catalogs, "MAX_TABLES", 3)

    catalog = Database(f"sqlite:///{path}").read_catalog()

    assert len(catalog.tables) == 3
    assert "more tables than the 3 listed" in catalog.note


def test_a_list_does_not_wait_for_what_takes_long_and_says_so(sources):
    infos = asyncio.run(sources.list_all("asker", wait_seconds=0))

    assert {info.name for info in infos} >= {"fi", "bpc", "many", *BAD}
    assert all(info.error is None for info in infos if info.name in ("fi", "bpc"))
    assert "still being read" in {info.name: info.error for info in infos}["unreachable"]


def test_cells_are_told_from_each_other(call):
    odd = (
        "SELECT NULL AS a, 'x' || char(10) || 'y' AS b UNION ALL SELECT '', 'a  b' UNION ALL "
        f"SELECT 'z', '{'x' * 300}'"
    )

    said = call("query_source", source="many", sql=odd).content

    assert "x\\ny" in said
    assert "a  b" in said
    assert "Empty cells of a are NULL in some rows, '' in others." in said
    assert "CUT: texts are shown up to 200 characters; substr" in said
