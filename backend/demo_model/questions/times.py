"""The times that a question names, and the filters that they result in. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.request import Filter


@dataclass(frozen=True)
class TimeSpan:
    """Periods of a year, periods of any year, or a year; `months` are pairs such as 202603."""

    periods: tuple[int, ...] = ()
    year: int | None = None
    months: tuple[int, ...] = ()
    is_excluded: bool = False

    @property
    def is_year(self) -> bool:
        """Whether it is a whole year."""
        return self.year is not None and not self.periods


class Times:
    """The times that a question names, and the filters that they result in."""

    def __init__(self, catalogue: Catalogue | None) -> None:
        self.catalogue = catalogue
        self.spans: list[TimeSpan] = []
        self.problems: list[str] = []
        self.notes: list[str] = []
        self.asks_catalogue = False
        self.all_years = False
        self.is_to_date = False

    def relative_year(self, offset: int, *, exclude: bool) -> None:
        """Add the latest year with postings, or one relative to it."""
        self.asks_catalogue = True
        if not self.catalogue:
            return
        year = self.catalogue.years[-1] + offset
        self.spans.append(TimeSpan(year=year, is_excluded=exclude))
        named = {0: "This", -1: "Last", 1: "Next"}[offset]
        self.notes.append(
            f"{named} year is fiscal year {year}: {self.catalogue.years[-1]} is the latest with "
            "postings."
        )

    def last_months(self, count: int, *, exclude: bool) -> None:
        """Add the last months with postings."""
        self.asks_catalogue = True
        if self.catalogue:
            months = tuple(self.catalogue.posted_months[-count:])
            self.spans.append(TimeSpan(months=months, is_excluded=exclude))
            self.notes.append(f"The last {count} months are the last ones with postings.")

    def add(self, span: TimeSpan, *, exclude: bool) -> None:
        """Add a time as it was named."""
        self.spans.append(TimeSpan(span.periods, span.year, span.months, is_excluded=exclude))

    def filters(self) -> tuple[dict[str, Filter], list[str], list[str]]:
        """Return the filters by time; what is wrong with the times; what was assumed."""
        self._settle_to_date()
        if self.all_years and self.catalogue:
            self.spans += [TimeSpan(year=year) for year in self.catalogue.years]
        included = [m for m in self.spans if not m.is_excluded]
        filters = _crossed(included) if not _are_pairs(included) else self._paired(included)
        for span in self.spans:
            if span.is_excluded:
                _exclude(filters, span)
        self._check(filters)
        return filters, self.problems, self.notes

    def _settle_to_date(self) -> None:
        if not self.is_to_date or not self.catalogue:
            return
        years = {m.year for m in self.spans if m.year} or {self.catalogue.years[-1]}
        year = max(years)
        if len(years) > 1 or any(m.periods or m.months for m in self.spans):
            self.problems.append("“To date” goes with one year only; name one.")
            return
        last = self.catalogue.posted_until(year)
        self.spans = [TimeSpan(tuple(range(1, last + 1)), year)]
        self.notes.append(f"To date: {year} is posted up to period {last}.")

    def _paired(self, spans: Sequence[TimeSpan]) -> dict[str, Filter]:
        """Return months of several years; a month without a year belongs to the next one named."""
        months: list[int] = []
        year: int | None = None
        for span in reversed(spans):
            year = span.year or year
            months += span.months
            if span.months:
                continue
            if year is None:
                self.problems.append("Name the year of each month.")
                continue
            periods = span.periods or tuple(range(1, 13))
            months += [year * 100 + period for period in periods]
        alike = _same_of_each_year(months)
        if alike:
            return alike
        return {"months": Filter(tuple(str(month) for month in sorted(set(months))))}

    def _check(self, filters: dict[str, Filter]) -> None:
        if not self.catalogue:
            return
        named = [*_all_of(filters, "fiscal_year")]
        named += [month[:4] for month in _all_of(filters, "months")]
        known = [str(year) for year in self.catalogue.years]
        for year in dict.fromkeys(named):
            if year not in known:
                self.problems.append(
                    f"There are no figures of fiscal year {year}, only of {', '.join(known)}."
                )


def _are_pairs(spans: Sequence[TimeSpan]) -> bool:
    """Return whether months have years of their own, so that they must not be combined freely."""
    if any(span.months for span in spans):
        return True
    years = [m.year for m in spans if m.periods and m.year]
    first_pair = next((n for n, m in enumerate(spans) if m.periods and m.year), None)
    led_by_year = first_pair is not None and any(not m.periods for m in spans[:first_pair])
    return len(set(years)) > 1 or led_by_year


def _crossed(spans: Sequence[TimeSpan]) -> dict[str, Filter]:
    years = sorted({str(m.year) for m in spans if m.year})
    periods = sorted({period for m in spans for period in m.periods})
    filters = {}
    if years:
        filters["fiscal_year"] = Filter(tuple(years))
    if periods:
        filters["fiscal_period"] = Filter(tuple(str(period) for period in periods))
    return filters


def _same_of_each_year(months: Sequence[int]) -> dict[str, Filter]:
    """Return filters by year and period, if the months are the same in each year."""
    years = sorted({month // 100 for month in months})
    periods = sorted({month % 100 for month in months})
    if len(set(months)) != len(years) * len(periods):
        return {}
    return {
        "fiscal_year": Filter(tuple(map(str, years))),
        "fiscal_period": Filter(tuple(map(str, periods))),
    }


def _exclude(filters: dict[str, Filter], span: TimeSpan) -> None:
    months = span.months
    if span.periods and span.year:
        months = tuple(span.year * 100 + period for period in span.periods)
    values = {"months": months, "fiscal_period": () if months else span.periods,
              "fiscal_year": () if months or span.periods else (span.year,)}  # fmt: skip
    for name, found in values.items():
        for value in found:
            filters[name] = filters.get(name, Filter()).add(str(value), exclude=True)


def _all_of(filters: dict[str, Filter], name: str) -> tuple[str, ...]:
    found = filters.get(name, Filter())
    return (*found.values, *found.excluded)
