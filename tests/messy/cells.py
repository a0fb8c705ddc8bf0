"""Messes within columns: dates, numbers and missing values."""

from datetime import time

from tests.messy.mess import NULL, D, Mess, T, column, text


def dates() -> list[Mess]:
    """How days and times are written."""
    days = [D("2024-08-31"), D("2024-09-01"), D("2024-09-15")]
    return [
        column("date dd.mm.yy", ["31.08.24", "01.09.24", "15.09.24"], "DATE", days, "dd.mm.yy", "20xx"),
        column("date dd.mm.yyyy", ["31.08.2024", "01.09.2024", "15.09.2024"], "DATE", days),
        column("date d.m.yyyy", ["31.8.2024", "1.9.2024", "15.9.2024"], "DATE", days),
        column("date dd/mm/yy", ["31/08/24", "01/09/24", "15/09/24"], "DATE", days, "dd/mm/yy"),
        column("date dd-mm-yy", ["31-08-24", "01-09-24", "15-09-24"], "DATE", days, "dd-mm-yy"),
        column("date dd/mm/yyyy", ["31/08/2024", "01/09/2024", "15/09/2024"], "DATE", days),
        column("date mm/dd/yyyy", ["08/31/2024", "09/01/2024", "09/15/2024"], "DATE", days, "mm/dd/yyyy"),
        column("date m/d/yy", ["8/31/24", "9/1/24", "9/15/24"], "DATE", days, "mm/dd/yy"),
        column("date yy-mm-dd", ["24-08-31", "24-09-01", "24-09-15"], "DATE", days, "yy-mm-dd"),
        column("date yyyy/mm/dd", ["2024/08/31", "2024/09/01", "2024/09/15"], "DATE", days),
        column("date yyyy.mm.dd", ["2024.08.31", "2024.09.01", "2024.09.15"], "DATE", days),
        column("date iso", ["2024-08-31", "2024-09-01", "2024-09-15"], "DATE", days),
        column("date ambiguous", ["03/04/2025", "05/06/2025"], "VARCHAR", ["03/04/2025", "05/06/2025"],
               "day or month first", "03/04/2025"),
        column("date ambiguous with points", ["03.04.2025", "05.06.2025"], "DATE",
               [D("2025-04-03"), D("2025-06-05")], "dd.mm.yyyy"),
        *(
            column(f"date or code {cells[1]}", cells, "VARCHAR", cells, "stays text", cells[0])
            for cells in (["1.1.01", "4.2.10"], ["03.04.25", "10.11.12"], ["1.2.03", "1.15.04"], ["1.1.98", "1.2.98"],
                          ["1-1-01", "4-2-10"], ["1001-1-1", "1002-2-3"], ["1.1.1001", "2.1.1002"])
        ),
        column("date mixed orders", ["31/08/2024", "08/31/2024"], "VARCHAR", ["31/08/2024", "08/31/2024"],
               "stays text", "08/31/2024"),
        column("date mixed forms", ["31.08.2024", "2024-09-01"], "VARCHAR", ["31.08.2024", "2024-09-01"],
               "several ways", "2024-09-01"),
        column("date not of the calendar", ["31.01.2025", "31.02.2025"], "VARCHAR",
               ["31.01.2025", "31.02.2025"], "31.02.2025", "calendar"),
        column("date of the last century", ["31.08.69", "01.09.68"], "DATE",
               [D("1969-08-31"), D("2068-09-01")], "19xx"),
        column("date with missing", ["31.08.2024", "n/a", "00.00.0000", ""], "DATE",
               [days[0], NULL, NULL, NULL], "n/a", "00.00.0000"),
        column("date with month names", ["31-Aug-24", "01-Sep-24", "15-Sep-24"], "DATE", days),
        column("date with long month names", ["August 31, 2024", "September 1, 2024", "Sept 15, 2024"], "DATE", days),
        column("date with german months", ["31. März 2024", "1. Mai 2024", "15. Dez 2024"], "DATE",
               [D("2024-03-31"), D("2024-05-01"), D("2024-12-15")]),
        column("time of day iso", ["2024-08-31 09:05:00", "2024-08-31 17:30:15"], "TIMESTAMP",
               [T("2024-08-31 09:05"), T("2024-08-31 17:30:15")]),
        column("time of day german", ["31.08.2024 9:05", "01.09.2024 17:30"], "TIMESTAMP",
               [T("2024-08-31 09:05"), T("2024-09-01 17:30")]),
        column("time of day american", ["8/31/2024 12:05 AM", "8/31/2024 5:30 PM"], "TIMESTAMP",
               [T("2024-08-31 00:05"), T("2024-08-31 17:30")]),
        column("time always midnight", ["31.08.2024 00:00:00", "01.09.2024 00:00:00"], "DATE", days[:2]),
        column("time with zones", ["2024-08-31T12:00:00Z", "2024-08-31T12:00:00+02:00"],
               "TIMESTAMP", [T("2024-08-31 12:00"), T("2024-08-31 10:00")], "UTC"),
        column("time with some zones", ["2024-08-31T12:00:00Z", "2024-08-31T12:00:00"], "VARCHAR",
               ["2024-08-31T12:00:00Z", "2024-08-31T12:00:00"], "zone"),
        column("time alone", ["9:05", "17:30"], "TIME", [time(9, 5), time(17, 30)]),
    ]  # fmt: skip


def numbers() -> list[Mess]:
    """How numbers are written, and what only looks like one."""
    return [
        column("number german", ["1.234,56", "7,5", "1.000.000,00"], "DOUBLE", [1234.56, 7.5, 1e6], "1.234,56"),
        column("number english", ["1,234.56", "7.5", "1,000,000.00"], "DOUBLE", [1234.56, 7.5, 1e6], "1,234.56"),
        column("number with spaces", ["1 234,56", "7,5", "1\u00a0000\u202f000,00"], "DOUBLE", [1234.56, 7.5, 1e6], "spaces"),
        column("number swiss", ["1'234.56", "7.5"], "DOUBLE", [1234.56, 7.5]),
        column("number indian", ["1,23,456.5", "7.5"], "DOUBLE", [123456.5, 7.5]),
        column("number open", ["1.234", "2.500"], "VARCHAR", ["1.234", "2.500"], "thousands or decimals"),
        text("number open but for another column", "a;b\n1.234;0,5\n2.500;1,25\n", "a BIGINT, b DOUBLE",
             [[1234, 0.5], [2500, 1.25]], "1.234,56"),
        text("number with quoted thousands", 'a,b\nx,"1,234"\ny,"2,500"\n', "a VARCHAR, b BIGINT",
             [["x", 1234], ["y", 2500]], "1,234.56"),
        column("number mixed", ["1.5", "1,5"], "VARCHAR", ["1.5", "1,5"], "two ways", "1,5"),
        column("number in brackets", ["(1,234.50)", "7.5"], "DOUBLE", [-1234.5, 7.5], "(1) is -1"),
        column("number with minus behind", ["1.234,50-", "7,5"], "DOUBLE", [-1234.5, 7.5], "1- is -1"),
        column("price with a dash", ["5,-", "7,50", "3,-"], "VARCHAR", ["5,-", "7,50", "3,-"], "stays text", "5,-"),
        column("number with a long minus", ["−5", "7"], "BIGINT", [-5, 7]),
        column("number with currency", ["€ 1.234,50", "7,50 €", "-3,00 €"], "DOUBLE", [1234.5, 7.5, -3], "€"),
        column("number with dollars", ["$1,234.50", "-$7.50", "($3.00)"], "DOUBLE", [1234.5, -7.5, -3], "$"),
        column("number of an account in dollars", [" $1,234.50 ", " $(7.50)", " $ -   "], "DOUBLE", [1234.5, -7.5, NULL], "$ -"),
        column("number of an account in euros", [" 1.234,50 € ", "-7,50 € ", " -   € "], "DOUBLE", [1234.5, -7.5, NULL], "€"),
        column("number with rupees", ["Rs. 12,34,567.00", "Rs. 5.50"], "DOUBLE", [1234567, 5.5], "Rs."),
        column("number with reais", ["R$ 1.234,50", "-R$ 7,50"], "DOUBLE", [1234.5, -7.5], "R$"),
        column("number with two currencies", ["$5", "€5"], "VARCHAR", ["$5", "€5"], "more than one currency"),
        column("number with percent", ["12.5%", "7 %"], "DOUBLE", [12.5, 7], "12.5 %"),
        column("number with some percent", ["12.5%", "7"], "VARCHAR", ["12.5%", "7"], "percent sign"),
        column("number scientific", ["1.5E+03", "2.0e-1"], "DOUBLE", [1500, 0.2]),
        column("code like a power", ["12E3", "345", "1E5"], "VARCHAR", ["12E3", "345", "1E5"], "12E3", "codes"),
        column("code with zeros", ["00123", "456"], "VARCHAR", ["00123", "456"], "codes"),
        column("code as a formula", ['="00123"', '="A ""b"""', '=""', "7"], "VARCHAR", ["00123", 'A "b"', NULL, "7"], '="text"'),
        column("code of many digits", ["1234567890123456789", "1"], "VARCHAR",
               ["1234567890123456789", "1"], "codes"),
        column("code of versions", ["1.2.3", "1.10.12"], "VARCHAR", ["1.2.3", "1.10.12"]),
        column("code of addresses", ["10.0.0.1", "10.0.0.2"], "VARCHAR", ["10.0.0.1", "10.0.0.2"]),
        column("code with dashes", ["12-34-5678", "98-76-5432"], "VARCHAR", ["12-34-5678", "98-76-5432"]),
        column("code of a telephone", ["+4930123456", "+4930123457"], "VARCHAR", ["+4930123456", "+4930123457"]),
        column("number with a word", [*map(str, range(1, 31)), "tbd"], "BIGINT", [*range(1, 31), NULL], "tbd", "NULL"),
        column("number with a remark", [*map(str, range(1, 31)), "5 kg"], "VARCHAR",
               [*map(str, range(1, 31)), "5 kg"], "5 kg", "stays text"),
        column("boolean", ["true", "FALSE", ""], "BOOLEAN", [True, False, NULL]),
        column("yes and no", ["yes", "no"], "VARCHAR", ["yes", "no"]),
        column("integers of fifteen digits", ["999999999999999", "-1"], "BIGINT", [999999999999999, -1]),
        column("decimals without a zero", [".5", "-.25", "1."], "DOUBLE", [0.5, -0.25, 1.0]),
    ]  # fmt: skip


def missing() -> list[Mess]:
    """Marks that stand for no value."""
    marks = ["NA", "N/A", "null", "-", "#N/A", "nan", ".", "n.a.", "--", "#DIV/0!"]
    return [
        column("numbers with cents beside whole ones", ["44,000.00", "50000", "1,200"], "DOUBLE", [44000.0, 50000.0, 1200.0], "1,234.56"),
        column("missing marks among numbers", ["1", *marks, "2.5"], "DOUBLE", [1.0, *[NULL] * 10, 2.5],
               "10 marks for missing values", "'NA' (line 3)"),
        column("missing marks among words", ["NA", "Windhoek", "#N/A", "#NAME?"], "VARCHAR", ["NA", "Windhoek", "#N/A", "#NAME?"],
               "2 cells are a spreadsheet's error, kept as text: '#N/A' (line 4)"),
        column("nothing but marks", ["NA", "NA"], "VARCHAR", ["NA", "NA"]),
        column("missing late", [*["1"] * 3000, "NA"], "BIGINT", [*[1] * 3000, NULL], "NA"),
        column("text late", [*["1"] * 3000, "1a"], "VARCHAR", [*["1"] * 3000, "1a"], "1a", "3002"),
        text("null of a database", "a,b\n1,\\N\n2,x\n", "a BIGINT, b VARCHAR", [[1, NULL], [2, "x"]],
             "1 cell is a database's NULL"),
    ]  # fmt: skip
