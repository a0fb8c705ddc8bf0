"""The SELECT over the ledgers: figures, conditions and order, each as text. Pure."""

from dataclasses import dataclass

from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.request import Filter, Request, Threshold

_VERSIONS = {"budget": "BUDGET", "forecast": "FORECAST", "bpc": "ACTUAL"}
_MONTH = "f.fiscal_year * 100 + f.fiscal_period"
COLUMNS = {
    "company_code": "f.company_code",
    "cost_centre": "f.cost_centre",
    "gl_account": "f.gl_account",
    "group_account": "f.group_account",
    "fiscal_year": "f.fiscal_year",
    "fiscal_quarter": "CAST(CEIL(f.fiscal_period / 3.0) AS INTEGER)",
    "fiscal_period": "f.fiscal_period",
    "months": _MONTH,
}
_ACCOUNTS = ("gl_account", "group_account")
_NUMERIC = frozenset({"fiscal_year", "fiscal_period", "months"})
MASTER_TABLES = {
    "company_code": "fi.company_codes",
    "cost_centre": "fi.cost_centres",
    "gl_account": "fi.gl_accounts",
    "group_account": "bpc.group_accounts",
}
_POSTED = (
    "SELECT d.company_code, d.cost_centre, d.gl_account, a.group_account, a.account_type, "
    "d.fiscal_year, d.fiscal_period, 'actual' AS measure, d.amount_group "
    "FROM fi.documents d JOIN fi.gl_accounts a ON a.gl_account = d.gl_account"
)
_PLANNED = (
    "SELECT p.company_code, p.cost_centre, NULL AS gl_account, p.group_account, a.account_type, "
    "p.fiscal_year, p.fiscal_period, '{measure}' AS measure, p.amount_group "
    "FROM bpc.figures p JOIN (SELECT DISTINCT group_account, "
    "account_type FROM fi.gl_accounts WHERE group_account IS NOT NULL) a "
    "ON a.group_account = p.group_account WHERE p.version = '{version}'"
)

_STATEMENT = (
    "WITH figures AS ({figures}), grouped AS (SELECT {groups}{sums}, COUNT(*) AS figures "
    "FROM figures f {where}{group_by}) SELECT {named}{shown} FROM grouped g {having} "
    "ORDER BY {order}{limit}"
)
_NAME = "(SELECT any_value(n.name) FROM {table} n WHERE n.{code} = g.{code}) AS {code}_name, "


class CannotApply(Exception):
    """The plan cannot apply a part of the request; the message says which."""


@dataclass(frozen=True)
class Condition:
    """A condition of the SELECT, and the part of the request that it applies."""

    part: str
    sql: str


def figures_statement(
    request: Request, measures: tuple[str, ...], catalogue: Catalogue
) -> tuple[str, set[str]]:
    """Return the SELECT of the figures by group, and the parts of the request that it applies."""
    conditions = [*filter_conditions(request), kind_of_account(request)]
    if is_variance(request, measures):
        conditions.append(Condition("", f"{_MONTH} <= {catalogue.posted_months[-1]}"))
    having = [*thresholds(request, measures), *over_budget_condition(request)]
    order, ordered = ordering(request, measures)
    statement = _STATEMENT.format(
        figures=figures_of(measures),
        groups="".join(f"{COLUMNS[d]} AS {d}, " for d in request.grouping),
        sums=sums_of(request, measures, catalogue),
        where=where_clause(conditions),
        group_by=group_by(request),
        named="".join(f"g.{d}, {name_column(d)}" for d in request.grouping),
        shown=shown_columns(request, measures),
        having=where_clause([Condition("", "g.figures > 0"), *having]),
        order=order,
        limit=f" LIMIT {request.limit}" if request.limit else "",
    )
    applied = {condition.part for condition in (*conditions, *having)} | ordered
    return statement, applied | ({"limit"} if request.limit else set())


def is_variance(request: Request, measures: tuple[str, ...]) -> bool:
    """Return whether plan and actual are compared: then over the same months, the posted ones.

    What is left of a budget is left of the whole of it; being over it has columns of its own.
    """
    is_planned = bool({"budget", "forecast"} & set(measures)) and "actual" in measures
    return is_planned and "left" not in request.topics and request.over_budget is None


def filter_conditions(request: Request) -> list[Condition]:
    """Return each filter as a condition."""
    conditions = [
        Condition(name, _filtered(name, found)) for name, found in request.filters.items()
    ]
    accounts = [c for c in conditions if c.part in _ACCOUNTS]
    if len(accounts) < 2 or not all(request.filters[name].values for name in _ACCOUNTS):
        return conditions
    # Accounts of both ledgers: match any of them, as with a list of cost centres.
    either = f"({' OR '.join(condition.sql for condition in accounts)})"
    others = [c for c in conditions if c.part not in _ACCOUNTS]
    return [*others, *(Condition(name, either) for name in _ACCOUNTS)]


def figures_of(measures: tuple[str, ...]) -> str:
    """Return the postings and planned figures to sum the measures from."""
    planned = [_PLANNED.format(measure=m, version=_VERSIONS[m]) for m in measures if m in _VERSIONS]
    return " UNION ALL ".join([*([_POSTED] if "actual" in measures else []), *planned])


def sums_of(request: Request, measures: tuple[str, ...], catalogue: Catalogue) -> str:
    """Return each measure summed by group, and the number of postings."""
    sums = {m: f"COALESCE(SUM(f.amount_group) FILTER (f.measure = '{m}'), 0)" for m in measures}
    columns = [f"{sql} AS {name}" for name, sql in sums.items()]
    if request.over_budget is not None:
        last = catalogue.posted_months[-1]
        to_date = f"f.measure = 'budget' AND {_MONTH} <= {last}"
        columns = [c for c in columns if not c.endswith("AS budget")]
        columns.append(f"COALESCE(SUM(f.amount_group) FILTER ({to_date}), 0) AS budget")
        columns.append(f"{sums['budget']} AS whole_budget")
    if "actual" in measures:
        columns.append("COUNT(*) FILTER (f.measure = 'actual') AS postings")
    return ", ".join(columns)


def shown_columns(request: Request, measures: tuple[str, ...]) -> str:
    """Return the measures, their totals over all groups, and the number of groups."""
    columns = [f"g.{m}" for m in measures]
    totals = [f"SUM(g.{m}) OVER () AS all_{m}" for m in measures]
    if {"actual", "budget"} <= set(measures):
        columns.append("g.budget - g.actual AS remaining")
    if "actual" in measures:
        columns.append("g.postings")
        totals.append("SUM(g.postings) OVER () AS all_postings")
    if request.over_budget is not None:
        columns.append("g.whole_budget")
        totals.append("COUNT(*) FILTER (g.actual > g.whole_budget) OVER () AS over_whole_budget")
    return ", ".join([*columns, *totals, "COUNT(*) OVER () AS all_rows"])


def name_column(dimension: str) -> str:
    """Return the column of a code's name, shown beside it."""
    if dimension not in MASTER_TABLES:
        return ""
    return _NAME.format(table=MASTER_TABLES[dimension], code=dimension)


def group_by(request: Request) -> str:
    """Return the GROUP BY of the groups, if any."""
    return (
        f" GROUP BY {', '.join(COLUMNS[d] for d in request.grouping)}" if request.grouping else ""
    )


def where_clause(conditions: list[Condition]) -> str:
    """Return the WHERE of all conditions."""
    return f"WHERE {' AND '.join(condition.sql for condition in conditions) or 'TRUE'}"


def _filtered(name: str, found: Filter) -> str:
    """Return the filter's SQL; excluding values does not exclude NULL."""
    column = COLUMNS[name]
    parts = []
    if found.values:
        parts.append(f"{column} IN ({_listed(name, found.values)})")
    if found.excluded:
        listed = _listed(name, found.excluded)
        parts.append(f"({column} NOT IN ({listed}) OR {column} IS NULL)")
    return " AND ".join(parts) or "TRUE"


def _listed(name: str, values: tuple[str, ...]) -> str:
    if name in _NUMERIC:
        return ", ".join(str(int(value)) for value in values)
    return ", ".join("'" + value.replace("'", "''") + "'" for value in values)


def kind_of_account(request: Request) -> Condition:
    """Return the condition for costs, unless revenue or accounts are named."""
    if any(f.values for n, f in request.filters.items() if n in ("gl_account", "group_account")):
        return Condition("", "f.account_type IS NOT NULL")
    kind = "revenue" if "revenue" in request.topics else "expense"
    return Condition("", f"f.account_type = '{kind}'")


def _main(request: Request, measures: tuple[str, ...]) -> str:
    """Return the column to rank and limit rows by; none if that is unclear."""
    named = {"spend": "actual", "fi": "actual", "left": "remaining", "over": "overspent"}
    if request.order_by:
        name = named.get(request.order_by, request.order_by)
        name = "actual" if name == "revenue" else name
        if name not in (*measures, "remaining"):
            raise CannotApply(f"I cannot rank by {request.order_by}: it is not among the figures.")
    elif request.over_budget is not None:
        name = "overspent"
    elif "left" in request.topics:
        name = "remaining"
    elif len(measures) > 1:
        return ""
    else:
        name = measures[0]
    columns = {"remaining": "(g.budget - g.actual)", "overspent": "(g.actual - g.budget)"}
    column = columns.get(name, f"g.{name}")
    return f"ABS({column})" if "revenue" in request.topics else column


def thresholds(request: Request, measures: tuple[str, ...]) -> list[Condition]:
    """Return the condition of the amount's limit, on the figure that it refers to."""
    if not request.threshold:
        return []
    column = _main(request, measures)
    if not column:
        raise CannotApply(
            "That amount may be meant of each of several figures. Ask for one of them: what was "
            "spent, the budget, or what is left."
        )
    return [Condition("threshold", compared(column, request.threshold))]


def compared(column: str, threshold: Threshold) -> str:
    """Return a comparison of a column with a limit."""
    if threshold.operator == "between":
        return f"{column} BETWEEN {threshold.amount} AND {threshold.until}"
    return f"{column} {threshold.operator} {threshold.amount}"


def over_budget_condition(request: Request) -> list[Condition]:
    """Return the condition for over or within budget, unless the question asks which it is."""
    if request.over_budget is None:
        return []
    if not request.grouping or asks_whether(request):
        return [Condition("over_budget", "TRUE")]  # the answer says whether it is
    operator = ">" if request.over_budget else "<="
    return [Condition("over_budget", f"g.actual {operator} g.budget")]


def asks_whether(request: Request) -> bool:
    """Return whether it asks about the one thing that it names: is CC-1001 over budget."""
    return request.grouping == ("cost_centre",) and bool(
        request.filters.get("cost_centre", Filter()).values
    )


def ordering(request: Request, measures: tuple[str, ...]) -> tuple[str, set[str]]:
    """Return the ORDER BY, and the parts of the request that it applies."""
    groups = ", ".join(f"g.{d}" for d in request.grouping) or "1"
    is_ranked = (
        request.order or request.order_by or request.limit or request.over_budget is not None
    )
    if not is_ranked:
        return groups, set()
    column = _main(request, measures)
    if not column:
        raise CannotApply(
            "I do not know by which of the figures to rank. Say it, for example “by spend” or “by "
            "budget”."
        )
    direction = "ASC" if request.order == "asc" else "DESC"
    return f"{column} {direction}, {groups}", {"order", "order_by"}
