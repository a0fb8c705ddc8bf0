"""A request about the ledgers as one SELECT, with the parts of the request it applies. Pure."""

from dataclasses import dataclass, replace

from backend.demo_model.conversation import Call
from backend.demo_model.plans.statement import (
    COLUMNS,
    MASTER_TABLES,
    CannotApply,
    Condition,
    compared,
    figures_statement,
    filter_conditions,
    is_variance,
    kind_of_account,
    where_clause,
)
from backend.demo_model.questions.catalogue import Catalogue
from backend.demo_model.questions.request import SUBJECTS, Filter, Request
from backend.demo_model.questions.vocabulary import DIMENSION_NAMES

USUAL_LIMIT = 5
_LONGEST_TITLE = 120
_DOCUMENTS = (
    "SELECT f.document_number, f.posting_date, f.company_code, f.cost_centre, f.gl_account, "
    "a.name, f.amount_group AS amount, f.text, COUNT(*) OVER () AS all_rows, "
    "SUM(f.amount_group) OVER () AS all_amount FROM fi.documents f "
    "JOIN fi.gl_accounts a ON a.gl_account = f.gl_account {where} ORDER BY {order} LIMIT {limit}"
)
_LIST = "SELECT {columns}, COUNT(*) OVER () AS all_rows FROM {table} f {where} ORDER BY {order}"
MEASURES = ("actual", "budget", "forecast", "bpc")


@dataclass(frozen=True)
class Plan:
    """Calls that answer a request, and the names of the request's parts that they apply."""

    kind: str
    calls: tuple[Call, ...]
    applied: frozenset[str]
    request: Request
    measures: tuple[str, ...] = ()


def plan_figures(request: Request, catalogue: Catalogue) -> Plan:
    """Return the plan of the figures by the requested groups. Raise CannotApply."""
    measures = measures_of(request)
    request = _settled(request, catalogue, measures)
    statement, applied = figures_statement(request, measures, catalogue)
    applied |= {f"by {d}" for d in request.grouping} | _said(request, measures)
    title = _title(request, measures)
    call = Call("query_source", {"source": "fi", "sql": statement, "title": title})
    return Plan("figures", (call,), frozenset(applied), request, measures)


def plan_documents(request: Request, catalogue: Catalogue) -> Plan:
    """Return the plan of the documents themselves, largest first. Raise CannotApply."""
    settled = _settled(replace(request, threshold=None), catalogue, ("actual",))
    request = replace(settled, grouping=request.grouping, threshold=request.threshold)
    limit = request.limit or 2 * USUAL_LIMIT
    conditions = [*filter_conditions(request)]
    kind = kind_of_account(request)
    conditions.append(replace(kind, sql=kind.sql.replace("f.", "a.")))
    if request.threshold:
        conditions.append(Condition("threshold", compared("f.amount_group", request.threshold)))
    where = where_clause(conditions).replace("f.group_account", "a.group_account")
    direction = "ASC" if request.order == "asc" else "DESC"
    order = f"f.amount_group {direction}, f.document_number, f.line_item"
    statement = _DOCUMENTS.format(where=where, order=order, limit=limit)
    call = Call("query_source", {"source": "fi", "sql": statement, "title": "Documents"})
    applied = {c.part for c in conditions} | {"order", "limit", "documents", "spend", "revenue"}
    applied |= {"number of"}
    if request.order_by in ("spend", "actual"):
        applied.add("order_by")
    return Plan(
        "documents", (call,), frozenset(applied), replace(request, limit=limit), ("actual",)
    )


def plan_list(request: Request) -> Plan:
    """Return the plan of a list: companies, cost centres with their owners, or accounts."""
    kinds = [*request.grouping, *request.mentioned]
    kinds = kinds or (["cost_centre"] if "responsible" in request.topics else [])
    if len(set(kinds)) != 1:
        raise CannotApply("List what? Ask for the companies, the cost centres or the accounts.")
    kind = {"account": "gl_account"}.get(kinds[0], kinds[0])
    if kind not in MASTER_TABLES:
        raise CannotApply(f"I cannot list that: {kind.replace('_', ' ')}.")
    columns = {
        "company_code": ("company_code", "company_code, name, country, local_currency"),
        "cost_centre": ("company_code cost_centre", "cost_centre, name, company_code, responsible"),
        "gl_account": ("gl_account group_account", "gl_account, name, account_type, group_account"),
        "group_account": ("group_account", "group_account, name"),
    }
    known, shown = columns[kind]
    conditions = [c for c in filter_conditions(request) if c.part in known.split()]
    statement = _LIST.format(
        columns=shown, table=MASTER_TABLES[kind], where=where_clause(conditions), order=kind
    )
    applied = {c.part for c in conditions} | {f"by {each}" for each in kinds}
    applied |= {"number of"} | ({"responsible"} if kind == "cost_centre" else set())
    call = Call("query_source", {"source": "fi", "sql": statement, "title": "List"})
    return Plan("list", (call,), frozenset(applied), request)


def measures_of(request: Request) -> tuple[str, ...]:
    """Return the measures that a request names, by default what was spent."""
    topics = set(request.topics)
    if {"revenue", "spend"} <= topics:
        raise CannotApply("Ask for revenue or for costs, one at a time: they are not added up.")
    if topics & {"spend", "fi"}:
        topics.add("actual")
    if topics & {"left", "over"}:
        topics |= {"actual", "budget"}
    if "compare" in topics and topics & {"budget", "forecast"} and "bpc" not in topics:
        one_plan = len(topics & {"budget", "forecast"}) == 1
        topics |= {"actual"} if one_plan and not _pairs(request) else set()
    if "bpc" in topics and topics & {"budget", "forecast"}:
        topics.discard("bpc")  # the plan's source
    elif "bpc" in topics and not topics & {"fi", "spend"}:
        topics.discard("actual")  # BPC's own
    return tuple(m for m in MEASURES if m in topics) or ("actual",)


def _title(request: Request, measures: tuple[str, ...]) -> str:
    """Return what the figures are, in the words of the question: Spend by cost centre, 2026."""
    names = {"actual": "revenue" if "revenue" in request.topics else "spend", "bpc": "BPC"}
    what = " and ".join(names.get(measure, measure) for measure in measures)
    by = " and ".join(DIMENSION_NAMES[dimension] for dimension in request.grouping)
    years = ", ".join(request.filters.get("fiscal_year", Filter()).values)
    title = f"{what} by {by}" if by else what
    title = f"{title}, {years}" if years else title
    return f"{title[0].upper()}{title[1:]}"[:_LONGEST_TITLE]


def _settled(request: Request, catalogue: Catalogue, measures: tuple[str, ...]) -> Request:
    """Return the request with the default year and groups where it names none."""
    grouping = _grouping(request, measures)
    filters, notes = dict(request.filters), list(request.notes)
    if request.over_budget is not None and not {"fiscal_period", "months"} & filters.keys():
        notes.append("Compared with the budget of the posted periods, not of the whole year.")
    if is_variance(request, measures):
        notes.append("Plan and actual are compared over the posted periods only.")
    if not {"fiscal_year", "months"} & filters.keys() and "fiscal_year" not in grouping:
        year = catalogue.years[-1]
        filters["fiscal_year"] = Filter((str(year),))
        notes.append(f"You named no year: I took {year}, the latest with postings.")
    if not request.topics & SUBJECTS and not _names_account(request):
        notes.append("You named no figure: I took what was spent.")
    limit = request.limit or (USUAL_LIMIT if request.limit == 0 else None)
    return replace(
        request, filters=filters, grouping=grouping, limit=limit, notes=tuple(dict.fromkeys(notes))
    )


def _names_account(request: Request) -> bool:
    """Return whether it names an account, for which only postings can be asked."""
    return bool({"gl_account", "group_account"} & request.filters.keys())


def _grouping(request: Request, measures: tuple[str, ...]) -> tuple[str, ...]:
    is_plain = measures == ("actual",)
    account = "gl_account" if is_plain else "group_account"
    grouping = [account if d == "account" else d for d in request.grouping]
    several = _pairs(request)
    if "compare" in request.topics or not grouping:
        grouping = [*several, *grouping]
    accounts = {"gl_account", "group_account"} & request.filters.keys()
    if not grouping and (request.limit is not None or request.order):
        grouping = ["cost_centre"]
    if not grouping and request.over_budget is not None and "cost_centre" in request.filters:
        grouping = ["cost_centre"]
    if not grouping and is_plain and accounts:
        grouping = ["gl_account"]
    if {"fiscal_period", "fiscal_quarter"} & set(grouping) and _is_of_several_years(request):
        grouping = ["fiscal_year", *grouping]
    if request.threshold and not grouping:
        raise CannotApply(
            "That amount is a limit of what? Say by what the figures are to be summed, for example "
            "“by cost centre” or “by month”, or ask for the postings."
        )
    grouping = [g for n, g in enumerate(grouping) if g not in grouping[:n]]
    if "gl_account" in {*grouping, *request.filters} and not is_plain:
        raise CannotApply(
            "Budget, forecast and BPC are kept by group account, not by GL account. Ask by group "
            "account, or for what was spent."
        )
    return tuple(grouping)


def _is_of_several_years(request: Request) -> bool:
    years = {*request.filters.get("fiscal_year", Filter()).values}
    years |= {month[:4] for month in request.filters.get("months", Filter()).values}
    return len(years) > 1


def _pairs(request: Request) -> list[str]:
    """Return the dimensions for which several values are named."""
    several = [n for n, f in request.filters.items() if len(f.values) > 1 and n in COLUMNS]
    if "compare" not in request.topics and "difference" not in request.topics:
        several = [n for n in several if n not in ("fiscal_period", "months")]
    if "fiscal_year" in several:
        several = [n for n in several if n != "fiscal_period"]
    if "months" in several:
        several = [n for n in several if n != "months"] + ["fiscal_year", "fiscal_period"]
    return several


def _is_pair(request: Request) -> bool:
    """Return whether the answer has two rows, one for each of two values."""
    return (
        len(request.grouping) == 1
        and len(request.filters.get(request.grouping[0], Filter()).values) == 2
    )


def _said(request: Request, measures: tuple[str, ...]) -> set[str]:
    """Return the parts that the answer computes or states from the rows."""
    kinds = {"spend", "revenue"}
    if request.topics & {"total", "number of"}:
        kinds |= {"documents"}
    kinds |= {"number of"} if request.grouping or "documents" in request.topics else set()
    if len(measures) > 1 or _pairs(request):
        kinds |= {"compare"}
    if {"actual", "budget"} <= set(measures) or _is_pair(request):
        kinds |= {"difference"}
    return kinds
