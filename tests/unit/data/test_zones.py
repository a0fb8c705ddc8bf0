"""Days and months are those of the zone that is said, wherever the server is."""

import asyncio
import json
import os
import time
from itertools import zip_longest

import duckdb
import pytest

from backend.data.engines.local import own_connection
from backend.data.files.json_tables import read_json
from backend.data.results import Limits
from backend.data.sources import Sources
from backend.data.tables import ColumnInfo, TableInfo
from backend.data.zones import LOCAL_ZONES, zone_notes
from backend.sandbox.process import clean

SERVERS = ("America/Los_Angeles", "Europe/Berlin", "Pacific/Auckland")
NO_DOUBT = {
    # the last hour of a month, and the first of the next, where they were written
    "UTC-05:00": ["2026-01-31 23:30:00 -0500", "2026-02-01 00:30:00 -0500"],
    "UTC+05:30": ["2026-01-31T23:30:00+05:30", "2026-02-01T00:30:00+05:30"],
    "UTC+13:00": ["2026-01-31T23:30:00+13", "2026-02-01T00:30:00+13"],
    "UTC": ["2026-01-31T23:30:00Z", "2026-02-01T00:30:00Z"],
    "UTC+01:00": ["31.01.2026 23:30 +0100", "01.02.2026 00:30 +0100"],
    "UTC-08:00": ["Jan 31, 2026 11:30 PM -0800", "Feb 1, 2026 12:30 AM -0800"],
}
SUMMER = [
    "2026-03-28T23:30:00+01:00", "2026-03-29T12:00:00+02:00", "2026-03-30T00:30:00+02:00",
    "2026-10-24T23:30:00+02:00", "2026-10-25T23:30:00+01:00",
]  # fmt: skip
SEVERAL = ["2026-01-31T23:30:00-05:00", "2026-01-31T23:30:00+09:00", "2026-01-31T23:30:00Z"]
# Two shops an hour apart are no summer time, which changes twice a year.
SHOPS = [f"2026-01-{day:02}T23:30:00+0{1 + day % 2}:00" for day in range(1, 8)]
ODD = ["2026-01-31 23:30 +9900", "2026-01-31 22:30 +0100"]


@pytest.fixture(params=SERVERS)
def server(request, monkeypatch):
    """The zone of a server."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def ask(server, tmp_path, sandbox):
    """Ask about a CSV file with a column of each kind, and a Parquet file."""
    (tmp_path / "sources").mkdir()
    texts = [*NO_DOUBT.values(), SUMMER, SEVERAL, SHOPS, ODD]
    names = [*(f"c{n}" for n in range(len(NO_DOUBT))), "summer", "several", "shops", "odd"]
    lines = [",".join(f'"{cell}"' for cell in row) for row in zip_longest(*texts, fillvalue="")]
    (tmp_path / "sources" / "t.csv").write_text("\n".join([",".join(names), *lines]))
    duckdb.sql(
        "SELECT DATE '2026-01-01' AS day, '2026-01-31 23:30:00-05'::TIMESTAMPTZ AS seen, "
        "TIMESTAMP '2026-01-31 23:30:00' AS clock"
    ).write_parquet(str(tmp_path / "sources" / "p.parquet"))
    sources = Sources(tmp_path, {}, sandbox)

    def answer(name, sql):
        rows = asyncio.run(sources.query("asker", name, sql, Limits())).rows
        return rows, asyncio.run(sources.warnings("asker", name, sql))

    return answer


def test_times_are_counted_in_the_zone_that_is_said(ask):
    for number, zone in enumerate(NO_DOUBT):
        told = zone if zone == "UTC" else f"the file's local time, {zone}"
        month = f"strftime(c{number}, '%Y-%m')"
        rows, said = ask("t", f"SELECT {month}, count(*) FROM t WHERE {month} > '' GROUP BY 1")
        assert sorted(rows) == [["2026-01", 1], ["2026-02", 1]]
        assert said[-1:] == [f"t.t: c{number} is in {told}; so are its days and months."]

    days, said = ask("t", "SELECT summer::DATE::VARCHAR FROM t WHERE summer IS NOT NULL")
    assert [day for (day,) in days] == [text[:10] for text in SUMMER]
    assert "UTC+01:00, in summer UTC+02:00" in said[-1]

    days, said = ask("t", "SELECT several::DATE::VARCHAR FROM t WHERE several IS NOT NULL")
    assert [day for (day,) in days] == ["2026-02-01", "2026-01-31", "2026-01-31"]
    assert "several is in UTC; so are its days and months" in said[-1]

    assert "shops is in UTC" in ask("t", "SELECT shops FROM t")[1][-1]
    assert ask("t", "SELECT odd FROM t LIMIT 1")[0] == [[ODD[0]]]
    assert not [said for said in ask("t", "SELECT count(*) FROM t")[1] if "UTC" in said]

    rows, said = ask("p", "SELECT *, strftime(seen, '%Y-%m') FROM p")
    assert rows == [["2026-01-01", "2026-02-01T04:30:00+00:00", "2026-01-31T23:30:00", "2026-02"]]
    assert said == ["p.p: seen is in UTC; so are its days and months, unless the query names "
                    "another zone."]  # fmt: skip
    local = "SELECT seen AT TIME ZONE 'America/New_York' FROM p"
    assert ask("p", local)[0] == [["2026-01-31T23:30:00"]]


@pytest.mark.parametrize(
    ("texts", "days", "zone"),
    [
        (NO_DOUBT["UTC+05:30"], ["2026-01-31", "2026-02-01"], "UTC+05:30"),
        (SUMMER, [text[:10] for text in SUMMER], "UTC+01:00, in summer UTC+02:00"),
        (SEVERAL, ["2026-02-01", "2026-01-31", "2026-01-31"], None),
    ],
)
def test_the_same_holds_for_json(server, tmp_path, texts, days, zone):
    place = tmp_path / "t.json"
    place.write_text(json.dumps([{"seen": text} for text in texts]))

    with own_connection() as connection:
        understood = read_json(connection, "t", place)
        found = connection.sql("SELECT seen::DATE::VARCHAR FROM t").fetchall()

    assert [day for (day,) in found] == days
    assert understood.facts.get(LOCAL_ZONES, {}).get("seen") == zone


def test_children_of_the_sandbox_are_in_one_zone_wherever_the_server_is():
    for zone in SERVERS:
        assert clean({**os.environ, "TZ": zone})["TZ"] == "UTC"


@pytest.mark.parametrize(
    ("type_name", "dialect", "is_said"),
    [
        ("timestamp with time zone", "postgres", True),
        ("timestamp(3) with time zone", "postgres", True),
        ("timestamp without time zone", "postgres", False),
        ("timestamp", "mysql", True),
        ("datetime", "mysql", False),
        ("TIMESTAMP", "duckdb", False),
        ("DATE", "duckdb", False),
    ],
)
def test_the_zone_of_a_databases_instants_is_said(type_name, dialect, is_said):
    table = TableInfo("t", (ColumnInfo("seen", type_name),))

    assert bool([*zone_notes("SELECT seen FROM t", table, dialect)]) == is_said
