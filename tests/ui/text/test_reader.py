"""Figures and moments as the reader of the page writes them."""

import re
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from babel import localedata

from backend.tabular.locales import number_format, signs, time_format, write_day, write_number
from ui.shared.formats.times import moment

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("locale", "written"),
    [
        ("de-DE", "03.11.2026 12:00"),
        ("en-US", "11/03/2026 12:00"),
        ("sv-SE", "2026-11-03 12:00"),
        ("hu", "2026. 11. 03. 12:00"),
        ("de-DE-u-co-phonebk", "03.11.2026 12:00"),
        ("xx-YY", "3 Nov 12:00"),
        (None, "3 Nov 12:00"),
    ],
)
def test_an_earlier_day_is_written_as_the_locale_has_it(locale, written):
    assert moment(NOW - timedelta(days=20), NOW, locale) == written


@pytest.mark.parametrize(
    ("locale", "thousands", "decimal"),
    [
        ("de-DE", ".", ","),
        ("de-CH", "\u2019", "."),
        ("en-ZA", "\xa0", ","),
        ("uk", "\xa0", ","),
        ("../etc", ",", "."),
        (None, ",", "."),
    ],
)
def test_axes_of_charts_are_written_as_tables_are(locale, thousands, decimal):
    told = number_format(locale)

    assert (told["thousands"], told["decimal"]) == (thousands, decimal)


@pytest.mark.parametrize(
    ("locale", "written"),
    [
        ("en-IN", "12,34,567.50"),
        ("hi", "12,34,567.50"),
        ("en-US", "1,234,567.50"),
        ("de-CH", "1\u2019234\u2019567.50"),
    ],
)
def test_digits_are_grouped_as_the_locale_has_it(locale, written):
    assert write_number(1234567.5, locale, 2) == written
    assert write_number(-1234567.5, locale, 2) == f"-{written}"
    assert write_number(123, locale) == "123"
    sizes = [len(group) for group in re.findall(r"\d+", written.removesuffix(".50"))][:0:-1]
    told = number_format(locale)["grouping"]
    assert (told * 3)[: len(sizes)] == sizes


def test_axes_of_charts_name_months_and_weekdays_in_the_readers_language():
    told = time_format("de-DE")

    assert told["date"] == "%d.%m.%Y"
    assert told["months"][2] == "März"
    assert told["shortMonths"][11] == "Dez."
    assert told["days"][:2] == ["Sonntag", "Montag"]


def test_days_numbers_and_months_can_be_read_in_every_locale():
    orders = [list(order) for order in permutations(("2026", "03", "04"))]

    for locale in localedata.locale_identifiers():
        number = write_number(1234567.89, locale, 2)
        assert re.findall(r"\d+", write_day("2026-03-04", locale)) in orders, locale
        assert re.sub(r"\D", "", number) == "123456789", locale
        assert len(set(signs(locale))) == 2, locale
        assert len(set(time_format(locale)["months"])) == 12, locale
