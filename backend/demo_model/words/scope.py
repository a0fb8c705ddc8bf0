"""States what figures were computed for: each part of the request that was applied. Pure."""

from backend.demo_model.plans.ledger import Plan
from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.request import TIME, Filter, Request, Threshold
from backend.demo_model.questions.understanding import Understanding
from backend.demo_model.questions.vocabulary import DIMENSION_NAMES

_OPERATORS = {">": "above", ">=": "at least", "<": "below", "<=": "at most"}


def scope(plan: Plan, understood: Understanding) -> str:
    """Return the filters, groups and limits of the figures, and what was assumed."""
    request = plan.request
    parts = [] if plan.kind == "list" else [_time(request)]
    parts += [
        _filtered(name, found, understood.catalogue)
        for name, found in request.filters.items()
        if name not in TIME
    ]
    if not any(name in request.filters for name in ("company_code", "cost_centre")):
        parts.append("all companies")
    if request.grouping and plan.kind != "list":
        parts.append("by " + " and ".join(DIMENSION_NAMES[d] for d in request.grouping))
    if request.threshold:
        parts.append(limit_words(request.threshold))
    if request.limit:
        parts.append(f"at most {request.limit} {'row' if request.limit == 1 else 'rows'}")
    lines = [f"*Computed for {'; '.join(parts)}.*", *request.notes]
    is_posted = plan.kind != "list" and ("actual" in plan.measures or not plan.measures)
    if understood.catalogue and is_posted:
        lines += _not_posted(request, understood.catalogue)
    if understood.follows:
        lines.append("What you did not change is as in the question before.")
    return " ".join(lines)


def _time(request: Request) -> str:
    named = [_filtered(n, f, None) for n, f in request.filters.items() if n in TIME]
    if not any(name in request.filters for name in ("fiscal_year", "months")):
        named.insert(0, "all fiscal years")
    return ", ".join(named)


def _not_posted(request: Request, catalogue: Catalogue) -> list[str]:
    """Return a sentence if the figures cover a year beyond what is posted."""
    year = catalogue.years[-1]
    years = request.filters.get("fiscal_year", Filter())
    periods = request.filters.get("fiscal_period", Filter()).values or ("12",)
    posted = catalogue.posted_until(year)
    if str(year) not in years.values or max(int(period) for period in periods) <= posted:
        return []
    return [f"{year} is posted up to period {posted}."]


def limit_words(threshold: Threshold) -> str:
    """Return an amount's limit in words: above EUR 5,000."""
    if threshold.operator == "between":
        return f"between EUR {threshold.amount:,} and EUR {threshold.until:,}"
    return f"{_OPERATORS[threshold.operator]} EUR {threshold.amount:,}"


def _filtered(dimension: str, found: Filter, catalogue: Catalogue | None) -> str:
    name = DIMENSION_NAMES[dimension]
    if catalogue and dimension != "company_code":
        found = Filter(
            tuple(_called(dimension, value, catalogue) for value in found.values),
            tuple(_called(dimension, value, catalogue) for value in found.excluded),
        )
    if dimension == "months":
        found = Filter(tuple(map(_month, found.values)), tuple(map(_month, found.excluded)))
        name = "month"
    parts = []
    if found.values:
        parts.append(f"{name} {', '.join(found.values)}")
    if found.excluded:
        parts.append(f"without {name} {', '.join(found.excluded)}")
    return ", ".join(parts)


def _called(dimension: str, code: str, catalogue: Catalogue) -> str:
    entry = catalogue.by_code(dimension, code)
    return f"{code} {entry.name}" if entry else code


def _month(value: str) -> str:
    return f"{value[:4]}-{value[4:]}"
