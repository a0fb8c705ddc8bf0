"""Number formats of workbooks: what they mean, how they are written, and which are codes."""

import pytest

from backend.tabular.number_formats import NumberFormat, is_code, parse_format, write_code

F = NumberFormat


@pytest.mark.parametrize(
    ("code", "means"),
    [
        ("General", F()),
        ("0", F(0)),
        ("0.00", F(2)),
        ("#,##0.00", F(2, is_grouped=True)),
        ("#,##0_);(#,##0)", F(0, is_grouped=True)),
        ("0%", F(0, is_percent=True)),
        ("0.00%", F(2, is_percent=True)),
        ("#,##0.00 [$€-407]", F(2, "€", is_before=False, is_grouped=True)),
        ("[$€-2] #,##0.00", F(2, "€", is_grouped=True)),
        ('"$"#,##0', F(0, "$", is_grouped=True)),
        ("$#,##0.00", F(2, "$", is_grouped=True)),
        ("\\$0.0", F(1, "$")),
        ("[$USD] #,##0", F(0, "USD", is_grouped=True)),
        ('#,##0.00 "CHF"', F(2, "CHF", is_before=False, is_grouped=True)),
        ("#,##0.00\\ \\k\\r", F(2, "kr", is_before=False, is_grouped=True)),
        (
            '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
            F(2, "$", is_grouped=True),
        ),
        ('_-* #,##0.00\\ "€"_-;\\-* #,##0.00\\ "€"_-', F(2, "€", is_before=False, is_grouped=True)),
        ("[$-409]#,##0.0", F(1, is_grouped=True)),
        ("[Red]-#,##0.00;#,##0.00", F(2, is_grouped=True)),
        ("[<1]0.00%;0%", F(2, is_percent=True)),
        ('[>=1000000]0.0,,"M";[>=1000]0.0,"K";0', F(0, is_grouped=True)),
        ('0.0"%"', F(1, unit="%")),
        ('0.0 "kg"', F(1, unit="kg")),
        ("# ##0.00", F(2, is_grouped=True)),
        ("0.00E+00", None),
        ("# ?/?", None),
        ("yyyy-mm-dd", None),
        ("@", None),
        ("00000", None),
        (";;;", None),
    ],
)
def test_a_workbooks_format_means_decimals_percent_currency_or_unit(code, means):
    assert parse_format(code) == means


@pytest.mark.parametrize(
    "form",
    [
        F(), F(0), F(2, "€", is_grouped=True), F(2, "€", is_before=False), F(0, "CHF"),
        F(1, is_percent=True), F(1, unit="%"), F(0, unit="kg"), F(3, is_grouped=True),
    ],
)  # fmt: skip
def test_a_format_is_what_its_code_means(form):
    assert parse_format(form.code) == form


@pytest.mark.parametrize(
    ("code", "value", "locale", "text"),
    [
        ("0.00%", 0.0745501285, "en-US", "7.46%"),
        ("0.00%", 0.0745501285, "de-DE", "7,46\u00a0%"),
        ('0.0"%"', 7.4, "en-US", "7.4%"),
        ("#,##0.00 [$€-407]", 1234.5, "de-DE", "1.234,50\u00a0€"),
        ("[$€-2]#,##0.00", -1234.5, "en-US", "-€1,234.50"),
        ("[$CHF] #,##0", 50000, "de-CH", "CHF\u00a050\u2019000"),
        ("#,##0.00", 50000, "en-US", "50,000.00"),
        ("0", 50000, "en-US", "50000"),
        ('0 "kg"', 5, "en-US", "5\u00a0kg"),
        ("#,##0.00", -0.001, "en-US", "0.00"),
        ("General", 1234.56, "en-US", "1,234.56"),
    ],
)
def test_numbers_are_written_as_the_format_says_in_the_readers_locale(code, value, locale, text):
    assert parse_format(code).write(value, locale) == text


@pytest.mark.parametrize(
    ("code", "value", "text"),
    [
        ("00000", 1067, "01067"),
        ("000-00-0000", 12345678, "012-34-5678"),
        ("00000-0000", 10115_0001, "10115-0001"),
        ('"INV-"0000', 42, "INV-0042"),
        ("[<=9999999]###-####;(###) ###-####", 5551234, "555-1234"),
        ("[<=9999999]###-####;(###) ###-####", 2125551234, "(212) 555-1234"),
        ("00000;-00000", -7, "-00007"),
        ("00", 7, "07"),
    ],
)
def test_codes_are_written_with_their_zeros_and_signs(code, value, text):
    assert is_code(code)
    assert write_code(value, code) == text


@pytest.mark.parametrize(
    "code",
    ["0", "0.00", "00.00", "#,##0", "# ##0", "0%", "General", "$00", "#,##0_);(#,##0)", "d-m-yy"],
)
def test_formats_of_amounts_are_no_codes(code):
    assert not is_code(code)
