"""Lists drawn with bars and rules, and the totals that SAP marks with stars."""

from tests.messy.mess import NULL, D, Mess, text

SAP = """\
01.02.2026           Dynamic List Display            1

Ledger 0L
--------------------------------------------------
|  CoCd|Account |Pstng Date| Amount in LC|Text     |
--------------------------------------------------
|  1000|00400000|31.01.2026|    1.234,50 |Rent     |
|  1000|00410000|30.01.2026|      234,50-|"Credit" |
|* 1000|        |          |    1.000,00 |         |
|------------------------------------------------|

01.02.2026           Dynamic List Display            2

--------------------------------------------------
|  CoCd|Account |Pstng Date| Amount in LC|Text     |
--------------------------------------------------
|  2000|00400000|01.01.2026|        5,00 |Tea; 5%  |
|* 2000|        |          |        5,00 |         |
--------------------------------------------------
|**    |        |          |    1.005,00 |         |
--------------------------------------------------
"""
MYSQL = """\
+--------+--------+
| region | amount |
+--------+--------+
| North  |   1.50 |
| South  |   NULL |
+--------+--------+
2 rows in set (0.00 sec)
"""
PSQL = " region | amount \n--------+--------\n North  |   1.50\n South  |   2.50\n(2 rows)\n"
MARKDOWN = "| Region | Amount |\n|:---|---:|\n| North | 1.5 |\n| South | 2.5 |\n"
REGIONS = "VARCHAR, amount DOUBLE"


def drawn() -> list[Mess]:
    """What programs print instead of a table of data."""
    return [
        text("list of sap", SAP, "CoCd BIGINT, Account VARCHAR, Pstng Date DATE, Amount in LC DOUBLE, Text VARCHAR",
             [[1000, "00400000", D("2026-01-31"), 1234.5, "Rent"], [1000, "00410000", D("2026-01-30"), -234.5, '"Credit"'],
              [2000, "00400000", D("2026-01-01"), 5.0, "Tea; 5%"]],
             "drawn with bars and rules", "2 lines of titles", "header in line 5", "once more", "3 lines are totals",
             "line 20: '** | 1.005,00'", "1 line outside its bars was left out: line 12", suffix=".txt"),
        text("list of mysql", MYSQL, f"region {REGIONS}", [["North", 1.5], ["South", NULL]],
             "header in line 2", "1 line outside its bars was left out: line 7: '2 rows in set (0.00 sec)'", suffix=".txt"),
        text("list of psql", PSQL, f"region {REGIONS}", [["North", 1.5], ["South", 2.5]], "drawn", "line 5: '(2 rows)'", suffix=".txt"),
        text("list of markdown", MARKDOWN, "Region VARCHAR, Amount DOUBLE", [["North", 1.5], ["South", 2.5]], "drawn", suffix=".txt"),
        text("bars with dashes for nothing", "a|b\n-|-\nx|1\ny|2\n", "a VARCHAR, b BIGINT", [["-", NULL], ["x", 1], ["y", 2]], "bars"),
        text("stars as totals", "CoCd\tAccount\tAmount\n1000\t4\t1,5\n1000\t5\t2,5\n*\t\t4,0\n2000\t4\t1,0\n*\t\t1,0\n**\t\t5,0\n",
             "CoCd BIGINT, Account BIGINT, Amount DOUBLE", [[1000, 4, 1.5], [1000, 5, 2.5], [2000, 4, 1.0]],
             "3 lines are totals", "line 7: '** | 5,0'", suffix=".tsv"),
        text("stars as marks", "new;name;x\n*;A;1\n;B;2\n*;C;3\n", "new VARCHAR, name VARCHAR, x BIGINT",
             [["*", "A", 1], [NULL, "B", 2], ["*", "C", 3]]),
        text("star as footnote", "name;x;y\nA;1;2\nB;2;4\n* estimated;;\n", "name VARCHAR, x BIGINT, y BIGINT", [["A", 1, 2], ["B", 2, 4]],
             "1 line below the table was left out"),
    ]  # fmt: skip
