"""Which measures may be added up, and the figures that stand for several rows. Pure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median
from typing import Any

_WORD = re.compile(r"[^\W\d_]+|%")
_CAMEL = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])")
# Ratios, averages and extremes: the sum of two of them is a figure of nothing.
_RATE_WORDS = """
    % pct percent percents percentage percentages perc rate rates ratio ratios share shares quota
    avg average mean median min max minimum maximum per index score scores rating grade rank
    ranking age growth yoy mom qoq yield utilisation utilization occupancy probability temperature
    temp unique distinct dso dpo churn conversion efficiency coverage
    prozent anteil quote quoten satz durchschnitt schnitt mittelwert mittel kurs rang alter
    wachstum auslastung zins rendite inflation pourcentage taux moyenne porcentaje tasa promedio
    percentuale tasso media percentual taxa média gemiddelde процент доля ставка средняя среднее
    roi roe roa irr cagr nps ctr cpc cpm arpu apr
"""
# Of words that are put together: Marktanteil, Wechselkurs, Zinssatz (but Umsatz), 利益率.
_RATE_ENDINGS = (
    "anteil", "quote", "rate", "kurs", "grad", "zinssatz", "steuersatz", "prozent", "wachstum",
    "率", "比", "割合", "占比", "平均", "均价",
)  # fmt: skip
_RATE_BEGINNINGS = ("durchschnitt", "mittlere", "average", "平均")
# A price is one as well, unless the name says that it has been added up.
_PRICE_WORDS = "price prices preis preise prix precio prezzo preço unit 单价 単価"
_PRICE_ENDINGS = ("preis", "price")
_SUM_WORDS = "sum total totals revenue amount summe gesamt gesamtpreis value sold"
_RATES, _PRICES, _SUMS = (frozenset(w.split()) for w in (_RATE_WORDS, _PRICE_WORDS, _SUM_WORDS))
_SHARES_OF_ONE = ((1.0, 0.011), (100.0, 1.1))  # with the errors of rounding

NAMES: Mapping[str, str] = {
    "sum": "Sum of {}",
    "mean": "Mean of {}",
    "median": "Median of {}",
    "min": "Smallest {}",
    "max": "Largest {}",
    "count": "Number of {}",
    "distinct": "Number of different {}",
}


def is_rate(name: str) -> bool:
    """Return whether a column's name speaks of a ratio, an average or a price: never a sum.

    It is a guess by words, which errs towards the mean: that is named and cannot exceed its parts.
    """
    words = {word.lower() for word in _WORD.findall(_CAMEL.sub(" ", name.replace("_", " ")))}
    if words & _RATES or _have(words, _RATE_ENDINGS, _RATE_BEGINNINGS):
        return True
    is_price = bool(words & _PRICES) or _have(words, _PRICE_ENDINGS)
    return is_price and not words & _SUMS


def _have(words: Iterable[str], endings: tuple[str, ...], beginnings: tuple[str, ...] = ()) -> bool:
    return any(word.endswith(endings) or word.startswith(beginnings) for word in words)


def are_parts_of_a_whole(values: Sequence[float]) -> bool:
    """Return whether ratios add up to 1 or to 100 %, as shares of one whole do."""
    whole = sum(values)
    return any(abs(whole - one) <= error for one, error in _SHARES_OF_ONE)


def figure(aggregate: str, values: Sequence[Any]) -> float | int | None:
    """Return the figure that stands for the cells of several rows; None if none has a value."""
    if aggregate == "count":
        return len(values)
    filled = [value for value in values if value is not None]
    if aggregate == "distinct":
        return len(set(map(str, filled)))
    numbers = [number for value in filled if (number := as_number(value)) is not None]
    return _FIGURES[aggregate](numbers) if numbers else None


def as_number(value: Any) -> float | int | None:
    """Return a cell as a number; numbers of many digits are stored as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


_FIGURES: Mapping[str, Callable[[Sequence[float]], float]] = {
    "sum": sum,
    "mean": fmean,
    "median": median,
    "min": min,
    "max": max,
}
