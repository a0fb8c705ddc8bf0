"""What a chart says: the order, the figures and the days of its table, and what it leaves out."""

import os
import subprocess
import sys

import pytest

from backend.tabular.charts.drawing import draw
from backend.tabular.charts.fitting import chart_of

ZONES = ("America/Los_Angeles", "Europe/Berlin", "Pacific/Auckland")


def table(rows, **types):
    columns = [{"name": name, "type": type_} for name, type_ in types.items()]
    return {"columns": columns, "rows": rows}


def drawn(rows, spec=None, **types):
    shown = table(rows, **types)
    return draw(chart_of(spec, shown["columns"]), shown, "en-GB")


def order(names, values, mark="bar", **channel):
    """The categories along the axis."""
    x = {"field": "label", "type": "nominal", **channel}
    spec = {"mark": mark, "encoding": {"x": x, "y": {"field": "value", "type": "quantitative"}}}
    rows = [list(row) for row in zip(names, values, strict=True)]
    return drawn(rows, spec, label="VARCHAR", value="DOUBLE").spec["encoding"]["x"]["sort"]


IN_ORDER = [
    "January February March April",
    "Mon Tue Wed Thu Fri",
    "2025-11 2025-12 2026-01 2026-02",
    "2025/11 2025/12 2026/01 2026/02",
    "202511 202512 202601 202602",
    "11/2025 12/2025 01/2026",
    "Nov-25 Dec-25 Jan-26",
    "Q1 Q2 Q3 Q4",
    "2025-Q4 2026-Q1 2026-Q2",
    "4Q25 1Q26 2Q26",
    "W8 W9 W10 W11",
    "2026-W08 2026-W10 2026-W11",
    "FY9 FY10 FY11",
    "31.12.2025 01.01.2026 02.01.2026",
    "2025-12-31 2026-01-01 2026-01-02",
    "Januar Februar März April Mai",
    "lun. mar. mié. jue.",
    "janv. févr. mars avr.",
    "fev mars avril mai août",
    "Jan Feb Mrz Apr",
    "ago sep oct nov dic",
    "leden únor březen duben",
    "segunda-feira terça quarta-feira quinta-feira sábado domingo",
    "nov/25 dez/25 jan/26 fev/26",
    "1월 2월 3월 10월",
    "1月 2月 3月 10月",
    "2025年12月 2026年1月 2026年2月",
]


CYCLES = [  # which begin elsewhere: a week with Sunday, a fiscal year with July
    "Sun Mon Tue Wed Thu Fri Sat",
    "Jul Aug Sep Oct Nov Dec Jan Feb",
    "Q3 Q4 Q1 Q2",
    "P10 P11 P12 P1 P2",
]


@pytest.mark.parametrize("names", [line.split() for line in IN_ORDER], ids=lambda n: n[0])
def test_parts_of_the_calendar_are_in_the_order_of_time(names):
    up_and_down = [7 + 2 * (n % 2) + n / 10 for n in range(len(names))]

    for rows in (names, sorted(names), [names[1], names[0], *names[2:]]):
        assert order(rows, up_and_down) == names
        assert order(rows, up_and_down, "line") == names


@pytest.mark.parametrize("names", [line.split() for line in CYCLES], ids=lambda n: n[0])
def test_a_cycle_begins_where_the_rows_begin_it(names):
    up_and_down = [7 + 2 * (n % 2) + n / 10 for n in range(len(names))]

    assert order(names, up_and_down, "line") == names
    assert order([names[1], names[0], *names[2:]], up_and_down, "line") != names


def test_a_number_after_a_month_is_a_year_where_only_so_the_rows_ascend():
    months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    names = [*(f"{month} 25" for month in months), "Jan 26", "Feb 26"]

    assert order(names, range(len(names)), "line") == names
    assert order(["Feb 26", "Jan 26", "Jan 31"], [1, 3, 2], "line") == [
        "Feb 26", "Jan 26", "Jan 31"
    ]  # fmt: skip


def test_a_line_never_follows_the_value_and_bars_do_only_where_the_rows_do():
    ranked = ["Mar", "Jan", "Feb"]

    assert order(ranked, [9, 5, 1]) == ranked
    assert order(ranked, [9, 5, 1], "line") == ["Jan", "Feb", "Mar"]
    assert order(ranked, [5, 1, 9]) == ["Jan", "Feb", "Mar"]
    assert order(ranked, [5, 1, 9], sort="-y") == ["Feb", "Mar", "Jan"]
    assert order(ranked, [5, 1, 9], "line", sort="-y") == ["Jan", "Feb", "Mar"]
    assert order(["2026-03", "2026-02", "2026-01"], [1, 9, 5]) == ["2026-03", "2026-02", "2026-01"]
    assert order(["2026-03", "2026-02", "2026-01"], [1, 9, 5], "line")[0] == "2026-01"


@pytest.mark.parametrize("names", [["pear", "apple", "fig"], ["CC-9", "CC-10", "CC-1"]])
def test_other_categories_are_in_the_order_of_the_rows_unless_another_is_asked_for(names):
    values = [2, 3, 1]

    assert order(names, values) == names
    assert order(names, values, sort=None) == names
    assert order(names, values, sort="ascending") == sorted(names)
    assert order(names, values, sort="-y") == [names[1], names[0], names[2]]
    assert order(names, values, sort="y") == [names[2], names[0], names[1]]


def test_the_alphabet_is_never_the_order_of_months_even_if_it_is_asked_for():
    names = ["January", "February", "March", "April"]

    assert order(sorted(names), [1, 3, 2, 4], sort="ascending") == names
    assert order(sorted(names), [1, 3, 2, 4], sort="descending") == names[::-1]


TWO_REGIONS = [["Jan", "N", 50.0], ["Jan", "S", 100.0], ["Feb", "N", 40.0], ["Feb", "S", 60.0]]


@pytest.mark.parametrize(
    ("measure", "aggregate", "title", "values", "said"),
    [
        ("revenue", None, "Sum of revenue", [150, 100], "Sum of revenue of all rows"),
        ("units_sold", None, "Sum of units_sold", [150, 100], "Sum of units_sold"),
        ("total_price", None, "Sum of total_price", [150, 100], "Sum of total_price"),
        ("margin_pct", None, "Mean of margin_pct", [75, 50], "is not added up"),
        ("unit_price", None, "Mean of unit_price", [75, 50], "is not added up"),
        ("avg(amount)", None, "Mean of avg(amount)", [75, 50], "is not added up"),
        ("ConversionRate", "sum", "Mean of ConversionRate", [75, 50], "is not added up"),
        ("Marktanteil", None, "Mean of Marktanteil", [75, 50], "is not added up"),
        ("Zinssatz", None, "Mean of Zinssatz", [75, 50], "is not added up"),
        ("利益率", None, "Mean of 利益率", [75, 50], "is not added up"),
        ("Umsatz", None, "Sum of Umsatz", [150, 100], "Sum of Umsatz of all rows"),
        ("Marge %", "sum", "Mean of Marge %", [75, 50], "is not added up"),
        ("revenue", "sum", "Sum of revenue", [150, 100], None),
        ("revenue", "max", "Largest revenue", [100, 60], None),
        ("revenue", "count", "Number of revenue", [2, 2], None),
    ],
)
def test_rows_that_are_one_bar_are_combined_by_an_aggregate_that_is_named(
    measure, aggregate, title, values, said
):
    y = {"field": measure, "type": "quantitative"} | ({"aggregate": aggregate} if aggregate else {})
    spec = {"mark": "bar", "encoding": {"x": {"field": "month"}, "y": y}}

    chart = drawn(TWO_REGIONS, spec, month="VARCHAR", region="VARCHAR", **{measure: "DOUBLE"})

    assert chart.spec["encoding"]["y"]["title"] == title
    assert [row["y"] for row in chart.rows] == values
    assert (said or "") in " ".join(chart.notes) and bool(said) == bool(chart.notes)
    assert (said is None) or chart.spec["title"]["text"]


def test_a_figure_of_one_row_is_itself_and_needs_no_aggregate():
    y = {"field": "margin_pct", "type": "quantitative", "aggregate": "sum"}
    spec = {"mark": "bar", "encoding": {"x": {"field": "month"}, "y": y}}

    chart = drawn([["Jan", 0.3], ["Feb", 0.4]], spec, month="VARCHAR", margin_pct="DOUBLE")

    assert chart.spec["encoding"]["y"]["title"] == "margin_pct"
    assert "aggregate" not in str(chart.spec) and not chart.notes


def test_bars_of_rates_stand_beside_each_other_and_lines_do_not_pile_up():
    encoding = {"x": {"field": "month"}, "y": {"field": "margin_pct"}, "color": {"field": "region"}}
    types = {"month": "VARCHAR", "region": "VARCHAR", "margin_pct": "DOUBLE"}

    bars = drawn(TWO_REGIONS, {"mark": "bar", "encoding": encoding}, **types)
    areas = drawn(TWO_REGIONS, {"mark": "area", "encoding": encoding}, **types)

    assert bars.spec["encoding"]["xOffset"]["field"] == "color"
    assert bars.spec["encoding"]["y"]["stack"] is None
    assert areas.spec["mark"]["type"] == "line"
    assert areas.notes


@pytest.mark.parametrize(
    ("measure", "values", "mark"),
    [
        ("spend", [1.0, 2.0], "arc"),
        ("share", [0.4, 0.6], "arc"),
        ("share_pct", [33.3, 66.7], "arc"),
        ("margin_pct", [50.0, 100.0], "bar"),
        ("spend", [-1.0, 2.0], "bar"),
    ],
)
def test_slices_are_parts_of_a_whole_anything_else_is_bars(measure, values, mark):
    encoding = {"theta": {"field": measure}, "color": {"field": "region"}}
    rows = [["N", values[0]], ["S", values[1]]]

    chart = drawn(rows, {"mark": "arc", "encoding": encoding},
                  region="VARCHAR", **{measure: "DOUBLE"})  # fmt: skip

    assert chart.spec["mark"]["type"] == mark
    assert bool(chart.notes) == (mark == "bar")


CENTRES = [[f"CC-{1000 + n}", float((n * 37) % 200 + 1)] for n in range(200)]


def test_two_hundred_bars_are_the_largest_thirty_lying_and_the_rest_is_said():
    chart = drawn(CENTRES, centre="VARCHAR", spend="DOUBLE")

    shown = chart.spec["encoding"]["y"]["sort"]
    by_value = dict(map(tuple, CENTRES))
    assert len(shown) == len(chart.rows) == 30
    assert min(by_value[name] for name in shown) == 171
    assert shown == [name for name, _ in CENTRES if name in shown]
    assert chart.notes == [
        "The largest 30 of 200 values of centre; the other 170 add up to 14,535 and are not drawn."
    ]
    assert 400 < chart.height < 800


def test_of_ranked_rows_the_first_are_shown_and_what_cannot_be_added_up_is_not():
    lowest = sorted(CENTRES, key=lambda row: row[1])

    chart = drawn(lowest, centre="VARCHAR", margin_pct="DOUBLE")

    assert chart.spec["encoding"]["y"]["sort"] == [name for name, _ in lowest[:30]]
    assert chart.notes == [
        "The first 30 of 200 values of centre; the other 170 are not drawn."
    ]  # fmt: skip


def test_many_slices_and_colours_are_merged_where_they_add_up():
    slices = drawn(CENTRES, {"mark": "arc"}, centre="VARCHAR", spend="DOUBLE")
    rows = [[day, *row] for day in ("2026-01-01", "2026-02-01") for row in CENTRES]
    lines = drawn(rows, day="DATE", centre="VARCHAR", spend="DOUBLE")

    assert slices.spec["encoding"]["color"]["sort"][-1] == "Other (189)"
    assert sum(row["theta"] for row in slices.rows) == sum(value for _, value in CENTRES)
    assert len(lines.spec["encoding"]["color"]["sort"]) == 12
    assert "the other 188 add up to" in lines.notes[0]


def test_months_are_never_left_out_and_names_of_columns_are_those_of_the_question():
    months = [[f"20{year}-{month:02}", 1.0] for year in range(20, 26) for month in range(1, 13)]

    chart = drawn(months, month="VARCHAR", revenue="DOUBLE")
    counted = drawn([["N", 2], ["S", 3]], **{"region": "VARCHAR", "count_star()": "BIGINT"})

    assert len(chart.spec["encoding"]["x"]["sort"]) == 72 and not chart.notes
    assert chart.spec["encoding"]["x"]["title"] == "month"
    assert counted.spec["encoding"]["y"]["title"] == "Number of rows"


def test_what_has_no_place_in_time_is_said():
    rows = [["2026-01-31", 1], [None, 2], ["infinity", 3], ["2026-02-01", 4]]

    chart = drawn(rows, day="DATE", n="BIGINT")

    assert [row["y"] for row in chart.rows] == [1, 4]
    assert chart.notes == ["2 rows have no time in day that can be drawn."]


@pytest.mark.parametrize(
    ("type_", "cells", "zone", "first"),
    [
        ("DATE", ["2026-01-31", "2026-02-01"], "", "2026-01-31T00:00:00Z"),
        ("TIMESTAMP", ["2026-01-31T23:30:00", "2026-02-01T01:00:00"], "", "2026-01-31T23:30:00Z"),
        ("TIMESTAMP WITH TIME ZONE", ["2026-01-31T23:30:00+00:00", "2026-02-01T01:00:00+00:00"],
         " (UTC)", "2026-01-31T23:30:00Z"),
        ("VARCHAR", ["2026-01-31T23:30:00-05:00", "2026-02-01T01:00:00-05:00"], " (UTC-05:00)",
         "2026-01-31T23:30:00Z"),
        ("VARCHAR", ["2026-01-31T23:30:00-05:00", "2026-02-01T01:00:00+09:00"], " (UTC)",
         "2026-02-01T04:30:00Z"),
    ],
)  # fmt: skip
def test_a_time_is_drawn_in_the_zone_that_its_axis_names(type_, cells, zone, first):
    encoding = {"x": {"field": "seen", "type": "temporal"}, "y": {"field": "n"}}

    chart = drawn([[cell, 1] for cell in cells], {"mark": "line", "encoding": encoding},
                  seen=type_, n="BIGINT")  # fmt: skip

    x = chart.spec["encoding"]["x"]
    assert (x["title"], x["scale"]["type"]) == (f"seen{zone}", "utc")
    assert chart.rows[0]["x"] == first


IN_A_ZONE = """
import re, sys
from backend.artifacts.documents.charts import Source, draw_all
from backend.artifacts.forms import as_svg, with_data
from backend.tabular.charts.drawing import draw

DAYS = [["2026-01-01", 1], ["2026-02-01", 2], ["2026-03-01", 3], ["2026-04-01", 4]]
SUMMER = [["2026-03-28", 1], ["2026-03-29", 2], ["2026-03-30", 3], ["2026-10-25", 4]]
CLOCKS = [["2026-03-29T00:30:00+00:00", 1], ["2026-03-29T02:30:00+00:00", 2]]
UNITS = ("year", "quarter", "month", "yearquarter", "yearmonth", "yearmonthdate", "date", None)
for type_, rows in (("DATE", DAYS), ("DATE", SUMMER), ("TIMESTAMP WITH TIME ZONE", CLOCKS)):
    table = {"columns": [{"name": "day", "type": type_}, {"name": "n", "type": "BIGINT"}],
             "rows": rows}
    for unit in UNITS:
        for mark, place in (("bar", "x"), ("line", "x"), ("point", "color")):
            by = {"field": "day", "type": "temporal"} | ({"timeUnit": unit} if unit else {})
            y = {"field": "n", "type": "quantitative"}
            spec = {"mark": {"type": mark}, "encoding": {place: by, "y": y}}
            svg = as_svg(with_data(draw(spec, table, "de")))
            print(unit, mark, re.findall(r'<text[^>]*>([^<]*)</text>|aria-label="([^"]*)"', svg))
    (document,) = draw_all([Source("c", spec, table)], "de")
    print(re.findall(r"<text[^>]*>([^<]*)</text>", document))
"""


def test_pictures_of_servers_in_three_zones_are_the_same():
    found = [
        subprocess.run([sys.executable, "-c", IN_A_ZONE], env={**os.environ, "TZ": zone},
                       capture_output=True, text=True, check=True, timeout=120).stdout
        for zone in ZONES
    ]  # fmt: skip

    assert found[0] == found[1] == found[2]
    assert "Jan. 2026" in found[0] and "Dez." not in found[0]
    assert "29.03.2026" in found[0] and "day (UTC)" in found[0]
    assert "Sum of n of all rows with the same quarter of day." in found[0]


ODD = [None, "", "\x00 x", True, 3, 2.5, "nan", "1e400", "2026-13-40", "infinity", "Jan", "a" * 300]


@pytest.mark.parametrize("mark", ["bar", "line", "arc", "point", "rect"])
@pytest.mark.parametrize("type_", ["VARCHAR", "DATE", "TIMESTAMP", "BOOLEAN", "BIGINT", "DOUBLE"])
def test_cells_of_any_kind_are_drawn(mark, type_):
    rows = [[cell, n, cell] for n, cell in enumerate(ODD)]
    for unit in ("yearmonth", "month", None):
        by = {"field": "by"} | ({"timeUnit": unit} if unit else {})
        encoding = {"x": by, "y": {"field": "n"}, "color": {"field": "other"}}
        chart = drawn(rows, {"mark": mark, "encoding": encoding}, by=type_, n="BIGINT", other=type_)

        texts = [cell for row in chart.rows for cell in row.values() if isinstance(cell, str)]
        assert all(text.isprintable() for text in texts)
