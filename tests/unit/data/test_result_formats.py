"""How the numbers of a query's result are written: as the columns that its expressions keep."""

import pytest
import sqlglot

from backend.data.sql.result_formats import formats_by_path, result_formats
from backend.data.tables import ColumnInfo, TableInfo

EURO, SHARE, CENTS = "[$€]#,##0.00", "0.00%", "#,##0.00"
SALES = TableInfo(
    "Sales",
    (
        ColumnInfo("region", "VARCHAR"),
        ColumnInfo("Amount", "DOUBLE", format=EURO),
        ColumnInfo("cost", "DOUBLE", format=EURO),
        ColumnInfo("pieces", "BIGINT", format="#,##0"),
        ColumnInfo("margin", "DOUBLE", format=SHARE),
    ),
)
PATHS = [(), ("files",), ("files", "main")]


@pytest.mark.parametrize(
    ("expression", "format_"),
    [
        ("amount", EURO),
        ('s."Amount"', EURO),
        ("margin", SHARE),
        ("region", ""),
        ("SUM(amount)", EURO),
        ("MAX(margin)", SHARE),
        ("AVG(amount)", EURO),
        ("AVG(pieces)", CENTS),
        ("SUM(amount) FILTER (WHERE region = 'n')", EURO),
        ("SUM(CASE WHEN region = 'n' THEN amount ELSE 0 END)", EURO),
        ("SUM(amount) OVER (PARTITION BY region)", EURO),
        ("COALESCE(ROUND(SUM(amount), 2), 0)", EURO),
        ("CAST(SUM(amount) AS DECIMAL(18, 2))", EURO),
        ("SUM(amount) - SUM(cost)", EURO),
        ("SUM(amount) / COUNT(*)", EURO),
        ("SUM(amount) / 12", EURO),
        ("COUNT(*)", "0"),
        ("COUNT(DISTINCT amount)", "0"),
        ("row_number() OVER (ORDER BY amount)", "0"),
        ("SUM(cost) / SUM(amount)", "General"),
        ("SUM(pieces) / SUM(amount)", "General"),
        ("COUNT(amount) / COUNT(*)", "General"),
        ("amount * pieces", ""),
        ("amount + margin", ""),
        ("CAST(amount AS VARCHAR)", ""),
        ("length(region)", ""),
    ],
)
def test_an_expression_keeps_the_format_of_its_column_or_has_its_own(expression, format_):
    query = sqlglot.parse_one(f"SELECT {expression} AS total FROM sales AS s", dialect="duckdb")

    assert result_formats(query, formats_by_path([SALES], PATHS), ["total"]) == [format_]


@pytest.mark.parametrize(
    ("sql", "formats"),
    [
        ("SELECT * FROM files.sales", ["", EURO, EURO, "#,##0", SHARE]),
        ("SELECT s.*, COUNT(*) OVER () n FROM sales s", ["", EURO, EURO, "#,##0", SHARE, "0"]),
        ("WITH x AS (SELECT region, amount v FROM sales) SELECT SUM(v), region FROM x", [EURO, ""]),
        ("SELECT t.v FROM (SELECT margin AS v FROM sales) t", [SHARE]),
        ("SELECT amount FROM sales UNION ALL SELECT cost FROM sales", [EURO]),
        ("SELECT amount FROM sales UNION ALL SELECT margin FROM sales", [""]),
        ("SELECT amount FROM unknown", [""]),
        ("SELECT a.margin FROM sales a JOIN files.main.sales b ON a.region = b.region", [SHARE]),
    ],
)
def test_formats_are_followed_through_tables_with_and_subqueries(sql, formats):
    query = sqlglot.parse_one(sql, dialect="duckdb")
    names = [f"c{place}" for place in range(len(formats))]

    assert result_formats(query, formats_by_path([SALES], PATHS), names) == formats
