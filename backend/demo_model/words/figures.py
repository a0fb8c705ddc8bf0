"""The demo model's answers about figures, budgets, documents and lists. Pure."""

from collections.abc import Sequence
from decimal import Decimal

from backend.demo_model.conversation import Conversation, Result
from backend.demo_model.plans.ledger import Plan
from backend.demo_model.plans.statement import asks_whether
from backend.demo_model.questions.understanding import Understanding
from backend.demo_model.questions.vocabulary import DIMENSION_NAMES
from backend.demo_model.reading import (
    UNREADABLE,
    Row,
    figure,
    money,
    number,
    read_rows,
    table,
)
from backend.demo_model.words import answers
from backend.demo_model.words.scope import scope

_MEASURE_NAMES = {
    "actual": "Spent", "budget": "Budget", "forecast": "Forecast", "bpc": "BPC ACTUAL",
    "remaining": "Left",
}  # fmt: skip


def answer(conversation: Conversation, plan: Plan, understood: Understanding) -> str:
    """Return the figures from the plan's calls in words, and what they are computed for."""
    results = [r for call in plan.calls for r in conversation.results if r.call == call]
    if not results:
        return UNREADABLE
    if plan.kind == "budget":
        return _budgets(results, plan)
    if ": 0 rows." in results[0].content.partition("\n")[0]:
        posted = _posted(understood) if plan.request.over_budget is None else ""
        return f"{_none(plan)}\n\n{scope(plan, understood)}{posted}"
    found = read_rows(results[0].content, "all_rows")
    if not found:
        return UNREADABLE
    words = {"documents": _documents, "list": _list}.get(plan.kind, _figures)
    return f"{words(found, plan)}\n\n{scope(plan, understood)}"


def _none(plan: Plan) -> str:
    if plan.request.over_budget is None:
        return "There are no such figures."
    names = " and ".join(DIMENSION_NAMES[d] for d in plan.request.grouping)
    return f"No {names} is {'over' if plan.request.over_budget else 'within'} budget."


def _budgets(results: Sequence[Result], plan: Plan) -> str:
    notes = " ".join(plan.request.notes)
    if len(results) > 1:
        words = answers.budgets_side_by_side(results)
    else:
        words = answers.budget(results, with_forecast="forecast" in plan.request.topics)
    return f"{words}\n\n{notes}".strip()


def _posted(understood: Understanding) -> str:
    if understood.catalogue is None:
        return ""
    years = understood.catalogue.years
    ends = [f"{year} up to period {understood.catalogue.posted_until(year)}" for year in years]
    return f" Posted are {' and '.join(ends)}."


def _figures(found: Sequence[Row], plan: Plan) -> str:
    if not plan.request.grouping:
        return _one_row(found[0], plan)
    if not all(d in row for row in found for d in plan.request.grouping):
        return UNREADABLE
    parts = [_lead(found, plan), _figure_table(found, plan), _total(found, plan)]
    return "\n\n".join(part for part in parts if part)


def _one_row(row: Row, plan: Plan) -> str:
    is_revenue = "revenue" in plan.request.topics
    names = {"actual": "revenue" if is_revenue else "total posted"}
    amounts = [
        f"{names.get(m, _MEASURE_NAMES[m].lower())} is **{money(row.get(m))}**"
        for m in plan.measures
    ]
    text = f"The {', the '.join(amounts)}."
    if "number of" in plan.request.topics:
        text = f"There are {number(row.get('postings')):,} postings. {text}"
    if "postings" in row:
        text = text[:-1] + f", from {number(row['postings']):,} postings."
    if "remaining" in row:
        left = number(row["remaining"])
        text += f" {_left(left, plan)}"
    return text + _sign(number(row.get("actual")), plan)


def _left(left: Decimal, plan: Plan) -> str:
    if plan.request.over_budget is not None:
        verdict = (
            f"over budget by {money(-left)}" if left < 0 else f"within budget by {money(left)}"
        )
        return f"That is **{verdict}**."
    return f"**{money(left)}** is left." if left >= 0 else f"It is **overspent by {money(-left)}**."


def _lead(found: Sequence[Row], plan: Plan) -> str:
    """Return how many rows there are, and the most notable one."""
    request = plan.request
    everything = int(number(found[0]["all_rows"]))
    noun = " and ".join(DIMENSION_NAMES[d] for d in request.grouping)
    counted = f"{everything:,} row{'' if everything == 1 else 's'} by {noun}"
    if request.over_budget is not None and asks_whether(request):
        verdicts = [_left(number(row.get("remaining")), plan) for row in found]
        labels = [_label(row, request.grouping) for row in found]
        return " ".join(f"{n}: {v}" for n, v in zip(labels, verdicts, strict=True))
    if request.over_budget is not None:
        over = "over" if request.over_budget else "within"
        counted = f"{everything:,} {over} budget, by {noun}"
        is_timed = any(d.startswith("fiscal") for d in request.grouping)
        if request.over_budget and not is_timed:
            whole = found[0].get("over_whole_budget", "")
            counted += f"; {whole} of them over the budget of the whole year"
    shown = f"{counted}:" if len(found) == everything else f"{len(found)} of {counted}:"
    is_ranked = bool(request.order or request.limit) and request.order != "asc"
    if is_ranked and plan.measures == ("actual",) and "revenue" not in request.topics:
        most = f"**{_label(found[0], request.grouping)}** spent most: {money(found[0]['actual'])}."
        return f"{most}\n\n{shown}"
    return shown[:1].upper() + shown[1:]


def _label(row: Row, grouping: Sequence[str]) -> str:
    labels = []
    for dimension in grouping:
        code, name = row.get(dimension, ""), row.get(f"{dimension}_name", "")
        is_time = dimension.startswith("fiscal") or not code
        labels.append(
            f"{DIMENSION_NAMES[dimension]} {code or '(none)'}" if is_time else f"{code} {name}"
        )
    return ", ".join(label.strip() for label in labels)


def _figure_table(found: Sequence[Row], plan: Plan) -> str:
    columns = [*plan.measures, *(["remaining"] if "remaining" in found[0] else [])]
    extra = ["postings"] if plan.measures == ("actual",) and "postings" in found[0] else []
    lines = [
        [
            *(_cell(row, dimension) for dimension in plan.request.grouping),
            *(row.get(name, "") for name in extra),
            *(figure(row.get(name, "")) for name in columns),
        ]
        for row in found
    ]
    names = [_MEASURE_NAMES[c] for c in columns]
    if "revenue" in plan.request.topics:
        names = ["Revenue" if name == "Spent" else name for name in names]
    headings = [_headed(DIMENSION_NAMES[d]) for d in plan.request.grouping]
    return table(
        [*headings, *(e.capitalize() for e in extra), *(f"{n} (EUR)" for n in names)], lines
    )


def _headed(name: str) -> str:
    return name[:1].upper() + name[1:]


def _cell(row: Row, dimension: str) -> str:
    return f"{row.get(dimension, '')} {row.get(f'{dimension}_name', '')}".strip() or "(none)"


def _total(found: Sequence[Row], plan: Plan) -> str:
    """Return the total of all rows, including those that are not shown."""
    row, everything = found[0], int(number(found[0]["all_rows"]))
    if everything == 1:
        return _sign(number(row.get("actual")), plan).strip()
    sums = [
        f"{_MEASURE_NAMES[m].lower() if len(plan.measures) > 1 else 'The total is'} "
        f"**{money(row.get(f'all_{m}'))}**"
        for m in plan.measures
    ]
    lead = "" if len(plan.measures) == 1 else "Together: "
    rows = f" of all {everything:,} rows" if len(found) < everything else ""
    text = f"{lead}{', '.join(sums)}{rows}."
    if "difference" in plan.request.topics and len(found) == 2 and len(plan.measures) == 1:
        measure = plan.measures[0]
        grown = number(found[1].get(measure)) - number(found[0].get(measure))
        labels = [_label(each, plan.request.grouping) for each in found]
        text += f" The difference, {labels[1]} less {labels[0]}, is **{money(grown)}**."
    return text + _sign(number(row.get("all_actual")), plan)


def _sign(amount: Decimal, plan: Plan) -> str:
    is_credit = amount < 0 and "actual" in plan.measures
    return " Revenue is a credit and therefore negative in the ledger." if is_credit else ""


def _documents(found: Sequence[Row], plan: Plan) -> str:
    everything = int(number(found[0]["all_rows"]))
    columns = ("document_number", "posting_date", "company_code", "cost_centre", "gl_account",
               "name", "amount", "text")  # fmt: skip
    lines = [
        [figure(row.get(column, "")).replace("|", "\\|") for column in columns] for row in found
    ]
    headings = [column.replace("_", " ").capitalize() for column in columns]
    size = "smallest" if plan.request.order == "asc" else "largest"
    return (
        f"The {len(found)} {size} of {everything:,} postings, which add up to "
        f"{money(found[0].get('all_amount'))}:\n\n{table(headings, lines)}"
    )


def _list(found: Sequence[Row], plan: Plan) -> str:
    columns = [column for column in found[0] if column != "all_rows"]
    lines = [[row.get(column, "").replace("|", "\\|") for column in columns] for row in found]
    headings = [column.replace("_", " ").capitalize() for column in columns]
    everything = int(number(found[0]["all_rows"]))
    return f"There are {everything:,}:\n\n{table(headings, lines)}"
