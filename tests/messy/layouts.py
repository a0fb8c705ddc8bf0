"""Messes of whole files: dialects, encodings, layouts and workbooks."""

import codecs
import gzip
from datetime import datetime

import openpyxl

from tests.messy.mess import NULL, D, Mess, T, sheet, text, workbook


def dialects() -> list[Mess]:
    """Separators, quotes and line ends."""
    two = [[1, "x"], [2, "y"]]
    return [
        text("separator tab", "a\tb\n1\tx\n2\ty\n", "a BIGINT, b VARCHAR", two, "tabs", suffix=".tsv"),
        text("separator semicolon", "a;b\n1,5;x\n2,5;y\n", "a DOUBLE, b VARCHAR", [[1.5, "x"], [2.5, "y"]], "semicolons"),
        text("separator bar", "a|b\n1|x\n2|y\n", "a BIGINT, b VARCHAR", two, "bars"),
        text("separator control character", "a\x01b\n1\x01x\n2\x01y\n", "a BIGINT, b VARCHAR", two),
        text("separator said first", "sep=;\na;b\n1;x\n2;y\n", "a BIGINT, b VARCHAR", two, "first line says", "header in line 2"),
        text("separator in values", 'a;b\nk1;"x, y; z"\nk2;p, q\n', "a VARCHAR, b VARCHAR",
             [["k1", "x, y; z"], ["k2", "p, q"]]),
        text("one column", "city\nBerlin\nParis, France\n", "city VARCHAR", [["Berlin"], ["Paris, France"]], "one column"),
        text("one column of decimals", "x\n1,5\n2,5\n", "x DOUBLE", [[1.5], [2.5]]),
        text("quoted newlines", 'a,b\n1,"x\ny"\n2,"p\r\nq"\n', "a BIGINT, b VARCHAR", [[1, "x\ny"], [2, "p\r\nq"]]),
        text("quotes doubled", 'a,b\n1,"say ""hi"", now"\n', "a BIGINT, b VARCHAR", [[1, 'say "hi", now']]),
        text("quotes escaped", 'a,b\n1,"say \\"hi\\", now"\n2,x\n', "a BIGINT, b VARCHAR", [[1, 'say "hi", now'], [2, "x"]]),
        text("quotes single", "a,b\n'1','x, y'\n'2','z'\n", "a BIGINT, b VARCHAR", [[1, "x, y"], [2, "z"]], "quotes are '"),
        text("quote never closed", 'a,b\n1,"x\n2,y\n3,z\n', "a BIGINT, b VARCHAR", [[1, '"x'], [2, "y"], [3, "z"]],
             "has quotes out of place", "line 2"),
        text("quote inside", 'a,b\n1,5" pipe\n2,y\n', "a BIGINT, b VARCHAR", [[1, '5" pipe'], [2, "y"]]),
        text("space after separators", 'a, b\nk, "x, y"\nl, "z"\n', "a VARCHAR, b VARCHAR", [["k", "x, y"], ["l", "z"]]),
        text("line ends of windows", "a,b\r\n1,x\r\n2,y\r\n", "a BIGINT, b VARCHAR", two),
        text("line ends of old macs", "a,b\r1,x\r2,y\r", "a BIGINT, b VARCHAR", two),
        text("line ends mixed", "a,b\r\n1,x\n2,y\r3,z\r\n", "a BIGINT, b VARCHAR", [*two, [3, "z"]]),
        text("no line end at the end", "a,b\n1,x\n2,y", "a BIGINT, b VARCHAR", two),
        text("everything quoted", '"a","b"\n"1","x, y"\n"2","z"\n', "a BIGINT, b VARCHAR", [[1, "x, y"], [2, "z"]]),
        Mess("packed", gzip.compress(b"a,b\n1,x\n2,y\n"), ["a BIGINT", "b VARCHAR"], two, (), ".csv.gz"),
    ]  # fmt: skip


def encodings() -> list[Mess]:
    """Which characters the bytes stand for."""
    table = "name;preis\nMüller;5 €\nGrün;7 €\n"
    columns, rows = "name VARCHAR, preis BIGINT", [["Müller", 5], ["Grün", 7]]
    cyrillic = "город;число\nМосква;1\nНовосибирск;2\nСанкт-Петербург;3\nЕкатеринбург;4\n"
    return [
        text("utf-8", table, columns, rows, "UTF-8"),
        text("utf-8 with mark", table, columns, rows, "UTF-8", encoding="utf-8-sig"),
        text("windows-1252", table, columns, rows, "Windows-1252", "guess", encoding="cp1252"),
        text("utf-16 with mark", table, columns, rows, "UTF-16", encoding="utf-16"),
        text("utf-16 little without mark", table, columns, rows, "UTF-16", "no byte order mark", encoding="utf-16-le"),
        text("utf-16 big without mark", table, columns, rows, "UTF-16", encoding="utf-16-be"),
        Mess("utf-16 big with mark", codecs.BOM_UTF16_BE + table.encode("utf-16-be"), columns.split(", "), rows, ("UTF-16",)),
        text("utf-32 with mark", table, columns, rows, "UTF-32", encoding="utf-32"),
        text("utf-32 without mark", table, columns, rows, "UTF-32", encoding="utf-32-le"),
        text("windows-1251", cyrillic, "город VARCHAR, число BIGINT",
             [["Москва", 1], ["Новосибирск", 2], ["Санкт-Петербург", 3], ["Екатеринбург", 4]], "guess", encoding="cp1251"),
        Mess("utf-8 with a slip", ("näme;x\n" + "Grün öde Süß;1\n" * 20).encode() + b"M\xfcller;2\n",
             ["näme VARCHAR", "x BIGINT"], [*[["Grün öde Süß", 1]] * 20, ["Müller", 2]], ("not UTF-8",)),
        Mess("zero characters", b"a,b\n1,x\0y\n2,z\n" + b"3,w\n" * 50, ["a BIGINT", "b VARCHAR"],
             [[1, "xy"], [2, "z"], *[[3, "w"]] * 50], ("zero character",)),
        text("late special characters", "a;b\n" + "x;1\n" * 30_000 + "Zürich;2\n", "a VARCHAR, b BIGINT",
             [*[["x", 1]] * 30_000, ["Zürich", 2]], "Windows-1252", encoding="cp1252"),
    ]  # fmt: skip


def layouts() -> list[Mess]:
    """What stands around a table, and rows that do not have its width."""
    body = "2026-01-01,north,5\n2026-01-02,south,7\n"
    columns = "day DATE, region VARCHAR, amount BIGINT"
    rows = [[D("2026-01-01"), "north", 5], [D("2026-01-02"), "south", 7]]
    head = "day,region,amount\n"
    return [
        text("titles above", f"Report of sales\nprinted 3 January\n\n{head}{body}", columns, rows, "2 lines of titles", "header in line 4"),
        text("titles with separators", f"Report of sales,,\n,,\n{head}{body}", columns, rows, "titles"),
        text("titles of two cells", f"Report of sales\nAs of 3 January,draft\n{head}{body}", columns, rows, "2 lines of titles", "header in line 3"),
        text("titles of two cells, padded", f"Report of sales,,\nCurrency: EUR,draft,\n{head}{body}", columns, rows, "2 lines of titles"),
        text("titles of two cells in a row", f"Unit:,EUR,\nPeriod:,2026,\n{head}{body}", columns, rows, "2 lines of titles"),
        text("titles left of the table", "Report of sales,,,,\nUnit:,EUR,,,\n,,day,region,amount\n,,2026-01-01,north,5\n,,2026-01-02,south,7\n",
             f"column_1 VARCHAR, column_2 VARCHAR, {columns}", [[NULL, NULL, *row] for row in rows], "2 lines of titles", "header in line 3"),
        text("comments above", f"# made by X\n# version 2\n{head}{body}", columns, rows, "titles"),
        text("remark below", f"{head}{body}\nSource: SAP\n", columns, rows, "left out", "Source: SAP"),
        text("remark below with separators", f"{head}{body}Source: SAP,,\n", columns, rows, "Source: SAP"),
        text("total below", f"{head}{body}Total,,12\n", columns, rows, "total", "12"),
        text("total in german", "Konto;Wert\nA;1,5\nB;2,5\nSumme;4,0\n", "Konto VARCHAR, Wert DOUBLE", [["A", 1.5], ["B", 2.5]], "total"),
        text("total that is none", "name,x\nA,1\nB,2\nTotal,9\n", "name VARCHAR, x BIGINT", [["A", 1], ["B", 2], ["Total", 9]], "calls itself a total"),
        text("subtotals", "name,x\nA,1\nSubtotal,1\nB,2\nSubtotal,2\nC,4\n", "name VARCHAR, x BIGINT",
             [["A", 1], ["B", 2], ["C", 4]], "2 lines are totals", "line 5: 'Subtotal | 2'"),
        text("subtotals that are none", "name,x\nA,1\nSubtotal,1\nB,2\nSubtotal,5\nC,4\n", "name VARCHAR, x BIGINT",
             [["A", 1], ["Subtotal", 1], ["B", 2], ["Subtotal", 5], ["C", 4]], "2 rows call themselves totals"),
        text("row too long", "a,b\n1,x\n2,y,extra\n3,z\n", "a BIGINT, b VARCHAR, surplus_cells VARCHAR",
             [[1, "x", NULL], [2, "y", "extra"], [3, "z", NULL]], "more cells", "line 3"),
        text("row too short", "a,b,c\n1,x,2\n2\n3,z,4\n", "a BIGINT, b VARCHAR, c BIGINT",
             [[1, "x", 2], [2, NULL, NULL], [3, "z", 4]], "fewer cells", "line 3"),
        text("separator at each end", "a,b\n1,x,\n2,y,\n", "a BIGINT, b VARCHAR", [[1, "x"], [2, "y"]]),
        text("header too short", "a,b\n1,x,5\n2,y,6\n", "a BIGINT, b VARCHAR, column_3 BIGINT", [[1, "x", 5], [2, "y", 6]]),
        text("blank lines", "a,b\n\n1,x\n,\n2,y\n\n", "a BIGINT, b VARCHAR", [[1, "x"], [2, "y"]]),
        text("header of words over words", "name,city\nBob,Rome\nAnn,Oslo\n", "name VARCHAR, city VARCHAR", [["Bob", "Rome"], ["Ann", "Oslo"]], "header in line 1"),
        text("header of years", "country,2019,2020\nA,1,2\nB,3,4\n", "country VARCHAR, 2019 BIGINT, 2020 BIGINT", [["A", 1, 2], ["B", 3, 4]]),
        text("header of dates", "country,1/22/20,1/23/20\nA,1,2\nB,3,4\n", "country VARCHAR, 1/22/20 BIGINT, 1/23/20 BIGINT", [["A", 1, 2], ["B", 3, 4]]),
        text("header alone", "a,b\n", "a VARCHAR, b VARCHAR", []),
        text("header twice the same", "a,A,,b\n1,2,3,4\n5,6,7,8\n", "a BIGINT, A_2 BIGINT, column_3 BIGINT, b BIGINT", [[1, 2, 3, 4], [5, 6, 7, 8]]),
        text("header again and again", "a,b\n1,x\na,b\n2,y\n", "a BIGINT, b VARCHAR", [[1, "x"], [2, "y"]], "once more"),
        text("header over two lines", 'a,"b\nc"\n1,x\n2,y\n', "a BIGINT, b c VARCHAR", [[1, "x"], [2, "y"]]),
        text("header in two rows, groups last", "region,2025,,\nno,Q1,Q2,Q3\nn,1,2,3\ns,5,6,7\n",
             "region no VARCHAR, 2025 Q1 BIGINT, 2025 Q2 BIGINT, 2025 Q3 BIGINT", [["n", 1, 2, 3], ["s", 5, 6, 7]]),
        text("header in two rows", ",2025,,2026,\nregion,Q1,Q2,Q1,Q2\nn,1,2,3,4\ns,5,6,7,8\n",
             "region VARCHAR, 2025 Q1 BIGINT, 2025 Q2 BIGINT, 2026 Q1 BIGINT, 2026 Q2 BIGINT",
             [["n", 1, 2, 3, 4], ["s", 5, 6, 7, 8]], "joined"),
        text("no header of numbers", "1,2\n3,4\n5,6\n", "column_1 BIGINT, column_2 BIGINT", [[1, 2], [3, 4], [5, 6]], "no header"),
        text("no header with words", "Bob,5\nAnn,6\nBob,7\n", "column_1 VARCHAR, column_2 BIGINT", [["Bob", 5], ["Ann", 6], ["Bob", 7]], "no header"),
        text("two tables below each other", "a,b,c\nx,2026-01-01,1.5\ny,2026-01-02,2\n\nname,city,age\nBob,Rome,5\n", "a VARCHAR, b VARCHAR, c VARCHAR",
             [["x", "2026-01-01", "1.5"], ["y", "2026-01-02", "2"], ["name", "city", "age"], ["Bob", "Rome", "5"]],
             "Line 5 reads as the header of another table: 'name | city | age'"),
        text("spaces around", " a , b \n 1 , x \n 2 ,y\n", "a BIGINT, b VARCHAR", [[1, " x "], [2, "y"]]),
    ]  # fmt: skip


def workbooks() -> list[Mess]:
    """What people do in spreadsheets."""

    def merged(book: openpyxl.Workbook) -> None:
        sheet(
            [None, 2025, None, 2026, None], ["region", "Q1", "Q2", "Q1", "Q2"], ["n", 1, 2, 3, 4]
        )(book)
        book.active.append(["s", 5, 6, 7, 8])
        book.active.merge_cells("B1:C1")
        book.active.merge_cells("D1:E1")

    def hidden(book: openpyxl.Workbook) -> None:
        sheet(["a"], [1])(book)
        other = book.create_sheet("Secret")
        other.append(["b"])
        other.sheet_state = "hidden"

    def old_macs(book: openpyxl.Workbook) -> None:
        book.epoch = datetime(1904, 1, 1)
        sheet(["a", "d"], [1, D("2026-01-31")])(book)

    def errors(book: openpyxl.Workbook) -> None:
        sheet(["a", "b"], [1, 2], [3, "#DIV/0!"], [5, "#REF!"])(book)
        for place in ("B3", "B4"):
            book.active[place].data_type = "e"

    return [
        workbook("workbook plain", sheet(["a", "b"], [1, "x"], [2.5, "y"]), "a DOUBLE, b VARCHAR", [[1.0, "x"], [2.5, "y"]]),
        workbook("workbook whole numbers", sheet(["a"], [1], [2]), "a BIGINT", [[1], [2]]),
        workbook("workbook titles above", sheet(["Report"], [None], ["a", "b", "c"], [1, "x", 3], [2, "y", 4]),
                 "a BIGINT, b VARCHAR, c BIGINT", [[1, "x", 3], [2, "y", 4]], "titles", "Report"),
        workbook("workbook merged header", merged,
                 "region VARCHAR, 2025 Q1 BIGINT, 2025 Q2 BIGINT, 2026 Q1 BIGINT, 2026 Q2 BIGINT",
                 [["n", 1, 2, 3, 4], ["s", 5, 6, 7, 8]], "joined"),
        workbook("workbook hidden sheet", hidden, "a BIGINT", [[1]], "hidden", "Secret"),
        workbook("workbook dates of 1904", old_macs, "a BIGINT, d DATE", [[1, D("2026-01-31")]]),
        workbook("workbook dates and times", sheet(["d", "t"], [D("2026-01-31"), T("2026-01-31 08:30")]),
                 "d DATE, t TIMESTAMP", [[D("2026-01-31"), T("2026-01-31 08:30")]]),
        workbook("workbook numbers as text", sheet(["a"], ["1,5"], ["2,5"]), "a DOUBLE", [[1.5], [2.5]]),
        workbook("workbook codes as text", sheet(["a"], ["00123"], ["00456"]), "a VARCHAR", [["00123"], ["00456"]], "codes"),
        workbook("workbook formulas without values", sheet(["a", "b"], [1, "=A2*2"], [2, "=A3*2"]),
                 "a BIGINT, b VARCHAR", [[1, NULL], [2, NULL]], "2 formulas have no stored value", "B2"),
        workbook("workbook errors", errors, "a BIGINT, b BIGINT", [[1, 2], [3, NULL], [5, NULL]], "2 cells hold an error", "#DIV/0!", "B3"),
        workbook("workbook total below", sheet(["a", "b"], ["x", 1], ["y", 2], ["Total", 3]), "a VARCHAR, b BIGINT",
                 [["x", 1], ["y", 2]], "total"),
        workbook("workbook booleans", sheet(["a"], [True], [False]), "a BOOLEAN", [[True], [False]]),
        workbook("workbook mixed column", sheet(["a"], [1], ["x 2"]), "a VARCHAR", [["1"], ["x 2"]]),
        workbook("workbook empty rows", sheet(["a", "b"], [1, 2], [None, None], [3, 4]), "a BIGINT, b BIGINT", [[1, 2], [3, 4]]),
        workbook("workbook beginning below", lambda book: [book.active.cell(5 + r, 3 + c, v) for r, row in
                 enumerate([["a", "b"], [1, "x"], [2, "y"]]) for c, v in enumerate(row)] and None,
                 "a BIGINT, b VARCHAR", [[1, "x"], [2, "y"]], "header in line 5"),
    ]  # fmt: skip
