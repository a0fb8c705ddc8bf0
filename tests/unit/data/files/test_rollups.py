"""Rows that are made of others: found by their words and by arithmetic, left out or named."""

import pytest

from tests.unit.data.files.test_totals import read

AVERAGES = ["Average", "Ø", "Durchschnitt", "Moyenne", "Promedio", "Media", "Gemiddelde", "平均"]
OPENINGS = [
    ("Opening balance", "Closing balance"), ("Balance b/f", "Balance c/f"),
    ("Anfangsbestand", "Endbestand"), ("Saldovortrag", "Schlusssaldo"),
    ("Solde initial", "Solde final"), ("Saldo inicial", "Saldo final"),
    ("Saldo iniziale", "Saldo finale"), ("Beginsaldo", "Eindsaldo"), ("期初余额", "期末余额"),
    ("Saldo początkowe", "Saldo końcowe"), ("Входящий остаток", "Исходящий остаток"),
]  # fmt: skip
RESULTS = [
    "Net income", "Net profit", "Jahresüberschuss", "Résultat net", "Utile netto", "Nettowinst",
    "Beneficio neto", "Lucro líquido", "Zysk netto", "Чистая прибыль", "净利润", "当期純利益",
]  # fmt: skip


@pytest.mark.parametrize("label", ["", "Σ", "∑:", "Σ all"])
def test_a_last_row_without_a_word_is_left_out_if_it_is_the_sum_of_the_others(tmp_path, label):
    text = f"Region,Product,Amount,Units\nN,A,10.50,1\nN,B,20.25,2\nS,A,30.00,3\n{label},,60.75,6\n"

    rows, warnings, _ = read(tmp_path, text)

    assert sum(row[2] for row in rows) == 60.75
    assert len(warnings) == 1
    assert warnings[0].startswith("Line 5")
    assert "is the total of the others and was left out: " in warnings[0]


def test_so_it_is_where_the_first_column_is_a_number(tmp_path):
    rows, warnings, _ = read(tmp_path, "year,n\n2024,10\n2025,25\n,35\n")

    assert rows == [(2024, 10), (2025, 25)]
    assert "without a label, is the total of the others" in warnings[0]


def test_subtotals_without_a_word_are_left_out(tmp_path):
    text = "a,b,x\nN,p,10\nN,q,20\nN,r,1\n,,31\nS,p,5\nS,q,4\n,,9\n,,40\n"

    rows, warnings, _ = read(tmp_path, text)

    assert [row[2] for row in rows] == [10, 20, 1, 5, 4]
    assert warnings[0].startswith("3 lines are totals of lines above them and were left out")


@pytest.mark.parametrize("last", [",,61", ",EUR,35", "Yhteensä,,35", "Whole year,,35"])
def test_a_last_row_that_may_be_a_total_is_kept_and_named(tmp_path, last):
    rows, warnings, _ = read(tmp_path, f"a,b,x\nN,p,10\nN,q,20\nS,p,5\n{last}\n")

    assert len(rows) == 4
    assert warnings[0].startswith("The last row ")
    assert warnings[0].endswith("(line 5): kept; a sum over all rows may count amounts twice.")


def test_a_first_row_that_may_be_a_total_is_kept_and_named(tmp_path):
    rows, warnings, _ = read(tmp_path, "a,x,y\nWorld,35,7\nN,10,1\nO,20,2\nS,5,4\n")

    assert len(rows) == 4
    assert warnings == [
        "The first row has the sums of the other rows, and may be their total: 'World | 35 | 7' "
        "(line 2): kept; a sum over all rows may count amounts twice."
    ]


def test_rows_that_add_up_by_chance_are_not_spoken_of(tmp_path):
    rows, warnings, _ = read(tmp_path, "a,x\nAnna,10\nBert,20\nCarl,30\n")

    assert (len(rows), warnings) == (3, [])


@pytest.mark.parametrize("label", AVERAGES)
def test_an_average_is_left_out_if_it_is_one(tmp_path, label):
    rows, warnings, _ = read(tmp_path, f"a;x\nN;10\nO;20\nS;40\n{label};23,33\n")

    assert [row[1] for row in rows] == [10, 20, 40]
    assert warnings == [f"Line 5 is the average of the others and was left out: '{label} | 23,33'."]


def test_all_rows_of_a_summary_are_left_out_each_by_its_name(tmp_path):
    text = "a,x\nN,10\nO,20\nS,40\nTotal,70\nAverage,23.33\nMin,10\nMax,40\nCount,3\n"

    rows, warnings, facts = read(tmp_path, text)

    assert [row[1] for row in rows] == [10, 20, 40]
    assert [warning.split(" and was")[0] for warning in warnings] == [
        "Line 5 is the total of the others",
        "Line 6 is the average of the others",
        "Line 7 is the smallest value of the others",
        "Line 8 is the largest value of the others",
        "Line 9 is the count of the others",
    ]
    assert facts["totals_count"] == 5


@pytest.mark.parametrize("text", ["a,x\nAnna,10\nMax,40\nTom,20\n", "a,x\nMedia,9\nHR,4\n"])
def test_a_name_that_is_such_a_word_is_a_row_as_others(tmp_path, text):
    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == len(text.splitlines()) - 1
    assert not warnings


@pytest.mark.parametrize(("opening", "closing"), OPENINGS)
@pytest.mark.parametrize("form", ["both", "movements"])
def test_balances_are_not_added_to_what_moved(tmp_path, opening, closing, form):
    start, end = ("1000", "2500") if form == "both" else ("", "1500")
    text = (
        f"Date;Text;Amount;Balance\n2026-01-01;{opening};{start};1000\n"
        f"2026-01-05;Rent;-500;500\n2026-01-06;Pay;2000;2500\n2026-01-31;{closing};{end};2500\n"
    )

    rows, warnings, _ = read(tmp_path, text)

    assert [row[2] for row in rows] == [-500, 2000]
    assert f"'2026-01-01 | {opening} | " in warnings[0]
    assert f"'2026-01-31 | {closing} | " in warnings[1]


def test_balances_of_each_account_are_left_out_in_either_order(tmp_path):
    text = (
        "account,text,amount\na,Opening balance,100\na,x,-30\na,y,5\na,Closing balance,75\n"
        "b,Closing balance,6\nb,z,2\nb,Opening balance,4\n"
    )

    rows, warnings, _ = read(tmp_path, text)

    assert [row[2] for row in rows] == [-30, 5, 2]
    assert len(warnings) == 2


def test_a_balance_that_does_not_follow_is_kept_and_named(tmp_path):
    rows, warnings, _ = read(tmp_path, "d,text,x\n1,Opening balance,1000\n2,Rent,-500\n")

    assert len(rows) == 2
    assert "1 row calls itself an opening balance, as '1 | Opening balance | 1000'" in warnings[0]


@pytest.mark.parametrize("label", RESULTS)
@pytest.mark.parametrize("costs", [(600, 250), (-600, -250)])
def test_a_result_is_left_out_with_or_without_signs(tmp_path, label, costs):
    text = f"item;x\nSales;1000\nMaterial;{costs[0]}\nWages;{costs[1]}\n{label};150\n"

    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == 3
    assert warnings == [
        f"Line 5 is the result of lines above it and was left out: '{label} | 150'."
    ]


def test_results_on_the_way_and_of_each_month_are_left_out(tmp_path):
    text = "month,item,x\n" + "".join(
        f"{month},Sales,1000\n{month},Cost of goods,600\n{month},Gross profit,400\n"
        f"{month},Wages,200\n{month},Rent,50\n{month},Net income,150\n"
        for month in ("Jan", "Feb")
    )

    rows, warnings, _ = read(tmp_path, text)

    assert len(rows) == 8
    assert warnings[0].startswith("4 lines are results and were left out")


def test_a_result_of_totals_is_left_out_with_them(tmp_path):
    text = (
        "item,x\nGoods,700\nServices,300\nTotal revenue,1000\nWages,600\nRent,250\n"
        "Total costs,850\nNet income,150\n"
    )

    rows, warnings, _ = read(tmp_path, text)

    assert [row[0] for row in rows] == ["Goods", "Services", "Wages", "Rent"]
    assert len(warnings) == 2


def test_a_result_that_does_not_follow_is_kept_and_named(tmp_path):
    rows, warnings, _ = read(tmp_path, "item,x\nSales,1000\nWages,600\nNet income,150\n")

    assert len(rows) == 3
    assert warnings[0].startswith("1 row calls itself a result, as 'Net income | 150' (line 4)")
