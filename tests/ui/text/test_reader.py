"""Figures and moments as the reader of the page writes them."""

from datetime import UTC, datetime, timedelta

import pytest

from ui.shared.formats.locales import number_format
from ui.shared.formats.times import moment

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("locale", "written"),
    [("de-DE", "03.11.2026 12:00"), ("en-US", "11/03/2026 12:00"), (None, "3 Nov 12:00")],
)
def test_an_earlier_day_is_written_as_the_locale_has_it(locale, written):
    assert moment(NOW - timedelta(days=20), NOW, locale) == written


@pytest.mark.parametrize(
    ("locale", "thousands", "decimal"),
    [("de-DE", ".", ","), ("de-CH", "\u2019", "."), (None, ",", ".")],
)
def test_axes_of_charts_are_written_as_tables_are(locale, thousands, decimal):
    told = number_format(locale)

    assert (told["thousands"], told["decimal"]) == (thousands, decimal)
