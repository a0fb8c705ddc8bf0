"""What is laid out for readers: lists drawn with bars, columns of fixed width, totals with stars."""

from tests.messy.mess import NULL, D, Mess, T, text

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
REPORT = """\
GL REPORT                 PAGE 1
RUN 31/01/2026 08:15

ACCT   DESCRIPTION          DATE           DEBIT       CREDIT
------ -------------------- ---------- ------------ ------------
400000 RENT OFFICE          01/31/2026     1,234.56
410000 TRAVEL BERLIN        01/30/2026                   234.56
420000 PHONE                01/29/2026        99.90
                                       ------------ ------------
TOTAL                                      1,334.46      234.56
"""
GERMAN = """\
Konto       Text                   Betrag
400000      Miete                1.234,56
410000      Reise, Berlin          234,56-
420000      Tee                      0,50
"""
STAMPS = "ts                   value\n2026-01-01 10:00:00      5\n2026-01-01 11:00:00     16\n"
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
        text("report of fixed width", REPORT, "ACCT BIGINT, DESCRIPTION VARCHAR, DATE DATE, DEBIT DOUBLE, CREDIT DOUBLE",
             [[400000, "RENT OFFICE", D("2026-01-31"), 1234.56, NULL], [410000, "TRAVEL BERLIN", D("2026-01-30"), NULL, 234.56],
              [420000, "PHONE", D("2026-01-29"), 99.9, NULL]], "columns of fixed width", "header in line 4", "total", suffix=".txt"),
        text("fixed width with decimal commas", GERMAN, "Konto BIGINT, Text VARCHAR, Betrag DOUBLE",
             [[400000, "Miete", 1234.56], [410000, "Reise, Berlin", -234.56], [420000, "Tee", 0.5]], "columns of fixed width"),
        text("fixed width with spaces in cells", STAMPS, "ts TIMESTAMP, value BIGINT",
             [[T("2026-01-01 10:00:00"), 5], [T("2026-01-01 11:00:00"), 16]], "columns of fixed width"),
        text("fixed width with longer cells later", "name      x\n" + "a        1\n" * 300 + "longer  22\nPage 2 of the report\nb      333\n",
             "name VARCHAR, x BIGINT", [*[["a", 1]] * 300, ["longer", 22], ["Page 2 of the report", NULL], ["b", 333]], "fewer cells", "line 303"),
        text("padded cells", "name,   x,   y\na,      1,   5\nbb,     2,   6\nccc,    3,   7\n", "name VARCHAR, x BIGINT, y BIGINT",
             [["a", 1, 5], ["bb", 2, 6], ["ccc", 3, 7]], "commas"),
        text("bars with dashes for nothing", "a|b\n-|-\nx|1\ny|2\n", "a VARCHAR, b BIGINT", [["-", NULL], ["x", 1], ["y", 2]], "bars"),
        text("stars as totals", "CoCd\tAccount\tAmount\n1000\t4\t1,5\n1000\t5\t2,5\n*\t\t4,0\n2000\t4\t1,0\n*\t\t1,0\n**\t\t5,0\n",
             "CoCd BIGINT, Account BIGINT, Amount DOUBLE", [[1000, 4, 1.5], [1000, 5, 2.5], [2000, 4, 1.0]],
             "3 lines are totals", "line 7: '** | 5,0'", suffix=".tsv"),
        text("stars as marks", "new;name;x\n*;A;1\n;B;2\n*;C;3\n", "new VARCHAR, name VARCHAR, x BIGINT",
             [["*", "A", 1], [NULL, "B", 2], ["*", "C", 3]]),
        text("star as footnote", "name;x;y\nA;1;2\nB;2;4\n* estimated;;\n", "name VARCHAR, x BIGINT, y BIGINT", [["A", 1, 2], ["B", 2, 4]],
             "1 line below the table was left out"),
    ]  # fmt: skip
