"""What is drawn of a table: what a specification says, and what fits the columns."""

import pytest

from backend.tabular.charts.drawing import draw
from backend.tabular.charts.fitting import chart_of
from backend.tabular.charts.spec import SpecRefused

SPENT = [{"name": "cost_centre", "type": "VARCHAR"}, {"name": "spend", "type": "DECIMAL(18,2)"}]
OVER_TIME = [{"name": "month", "type": "DATE"}, *SPENT]
NAMES = [{"name": "name", "type": "VARCHAR"}]


def fields(spec):
    return {channel: drawn["field"] for channel, drawn in spec["encoding"].items()}


def test_without_a_specification_the_columns_decide():
    assert chart_of(None, SPENT)["mark"] == {"type": "bar"}
    over_time = chart_of(None, OVER_TIME)
    assert over_time["mark"] == {"type": "line"}
    assert fields(over_time) == {"x": "month", "y": "spend", "color": "cost_centre"}


def test_each_year_is_a_line_over_its_months():
    years = [{"name": "fiscal_year", "type": "INTEGER"}, {"name": "period", "type": "INTEGER"}]

    spec = chart_of(None, [*years, SPENT[1]])

    assert spec["mark"] == {"type": "line"}
    assert fields(spec) == {"x": "period", "y": "spend", "color": "fiscal_year"}
    assert spec["encoding"]["color"]["type"] == "nominal"


@pytest.mark.parametrize("mark", ["line", "area", "bar", "point", "tick", "rect"])
def test_a_mark_alone_gets_the_columns_that_fit(mark):
    spec = chart_of({"mark": mark, "title": "Spend"}, SPENT)

    assert (spec["mark"], spec["title"]) == ({"type": mark}, "Spend")
    assert fields(spec) == {"x": "cost_centre", "y": "spend"}


def test_slices_are_of_the_value_and_coloured_by_what_it_is_measured_by():
    spec = chart_of({"mark": {"type": "arc"}}, SPENT)

    assert spec["mark"] == {"type": "arc"}
    assert fields(spec) == {"theta": "spend", "color": "cost_centre"}


@pytest.mark.parametrize(
    ("spec", "columns", "words"),
    [
        (None, NAMES, "No chart fits these columns"),
        ({"mark": "bar"}, NAMES, "No chart fits these columns"),
        ({"mark": "cake"}, SPENT, "mark.type is one of bar,"),
        ({"encoding": {"x": {"field": "spend"}}}, SPENT, "mark.type is one of bar,"),
        ({"mark": "bar", "encoding": {}}, SPENT, "`encoding` names columns"),
        ({}, SPENT, "mark.type is one of bar,"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(spec, columns, words):
    with pytest.raises(SpecRefused, match=words):
        chart_of(spec, columns)


@pytest.mark.parametrize(
    ("code", "axis", "tip", "title"),
    [
        ("0.00%", {"format": "~%"}, ",.2%", "Mean of x"),
        ("[$€]#,##0.0", {"format": "~s"}, ",.1f", "Sum of x (€)"),
        ('0 "kg"', None, ",.0f", "Sum of x (kg)"),
    ],
)
def test_a_charts_numbers_are_written_as_its_table_writes_them(code, axis, tip, title):
    columns = [{"name": "g", "type": "VARCHAR"}, {"name": "x", "type": "DOUBLE", "format": code}]
    spec = {"mark": "bar", "encoding": {"x": {"field": "g"}, "y": {"field": "x"}}}

    drawn = draw(
        spec | {"mark": {"type": "bar"}}, {"columns": columns, "rows": [["a", 1], ["a", 2]]}
    )

    y = drawn.spec["encoding"]["y"]
    assert (y.get("axis"), y["title"]) == (axis, title)
    assert drawn.spec["encoding"]["tooltip"][1]["format"] == tip
