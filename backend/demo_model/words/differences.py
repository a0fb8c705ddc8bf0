"""The demo model's answers about a comparison of FI with BPC. Pure."""

import re
from collections.abc import Sequence
from decimal import Decimal

from backend.demo_model.conversation import Conversation, Result
from backend.demo_model.plans.calls import LEDGER_KEYS, late_query
from backend.demo_model.plans.ledger import Plan
from backend.demo_model.plans.planning import SHOWN_DIFFERENCES
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
from backend.demo_model.words.scope import scope

# The patterns that the comparison finds, and their usual causes between FI and BPC.
_CAUSES = (
    ("rounding", "rounding"),
    ("opposite sign", "wrong sign"),
    ("fiscal_period", "late posting"),
    ("group_account", "mapping"),
    ("company_code", "missing elimination"),
    ("in proportion", "currency translation"),
    ("only in", "missing on one side"),
)


def explain(conversation: Conversation, plan: Plan, understood: Understanding) -> str:
    """Return the comparison in words: how many differ, the largest ones, and their causes."""
    call = plan.calls[0]
    result = next((r for r in conversation.results if r.call == call), None)
    if result is None or " keys: " not in result.content:
        return UNREADABLE
    keys = [str(key) for key in call.arguments["keys"]]
    found = read_rows(result.content, *keys, "difference", "class")
    counted = next((line for line in result.content.splitlines() if " keys: " in line), "")
    if counted.startswith("0 keys"):
        return f"There are no figures to compare.\n\n{scope(plan, understood)}"
    heading = f"I compared FI (left) with BPC ACTUAL (right). {_in_money(counted)}"
    is_grouped = bool(plan.request.grouping) and plan.request.limit is None
    rows = found if is_grouped else [row for row in found if row["class"] != "match"]
    if not rows:
        return f"{heading}\n\n{_nothing_differs(plan)}\n\n{scope(plan, understood)}"
    shown = rows if is_grouped else rows[: plan.request.limit or SHOWN_DIFFERENCES]
    if is_grouped and not plan.request.order:
        shown = sorted(shown, key=lambda row: [row[key].zfill(6) for key in keys])
    parts = [heading, _how_many(plan, shown, counted, result), _table(shown, keys, conversation)]
    if not plan.request.grouping:
        explained = rows[: plan.request.limit or len(rows)]
        parts += [_causes(explained, conversation.results), _late(conversation.results)]
    return "\n\n".join(part for part in [*parts, scope(plan, understood)] if part)


def _in_money(text: str) -> str:
    return re.sub(r"(?<![0-9.])-?[0-9]{1,20}\.[0-9][0-9](?![0-9])", lambda f: money(f[0]), text)


def _nothing_differs(plan: Plan) -> str:
    threshold = plan.request.threshold
    least = f"EUR {threshold.amount:,}" if threshold else "the threshold"
    return f"Nothing differs by more than {least}."


def _how_many(plan: Plan, shown: Sequence[Row], counted: str, result: Result) -> str:
    """Return how many differences the table shows, of the tool's total."""
    if plan.request.grouping and plan.request.limit is None:
        return _cut(result)
    counts = re.search(r"([0-9,]{1,12}) match, ([0-9,]{1,12}) minor, ([0-9,]{1,12}) major", counted)
    everything = sum(int(counts[n].replace(",", "")) for n in (2, 3)) if counts else len(shown)
    least = ""
    if threshold := plan.request.threshold:
        least = (
            f" {'above' if threshold.operator == '>' else 'of at least'} EUR {threshold.amount:,}"
        )
    if len(shown) == everything:
        return f"There {'is' if everything == 1 else 'are'} {everything:,} difference" + (
            f"{'' if everything == 1 else 's'}{least}:"
        )
    return f"The {len(shown)} largest of {everything:,} differences{least}:"


def _cut(result: Result) -> str:
    return next((line for line in result.content.splitlines() if line.startswith("EXCERPT")), "")


def _table(rows: Sequence[Row], keys: Sequence[str], conversation: Conversation) -> str:
    is_fine = len(keys) == len(LEDGER_KEYS)
    lines = [
        [
            *(row.get(key, "") for key in keys),
            *_amounts(row),
            row.get("class", ""),
            *([_cause(row, conversation.results)] if is_fine else []),
        ]
        for row in rows
    ]
    names = [DIMENSION_NAMES[key].capitalize() for key in keys]
    headings = (*names, "FI", "BPC", "Difference", "Class")
    return table((*headings, "Likely cause") if is_fine else headings, lines)


def _amounts(row: Row) -> list[str]:
    return [figure(row.get(name, "")) for name in ("left", "right", "difference")]


def _cause(row: Row, results: Sequence[Result]) -> str:
    hint = row.get("hint", "")
    name = next((cause for pattern, cause in _CAUSES if pattern in hint), "unexplained")
    if hint:
        return f"{name} ({hint})"
    return "late posting (entered after the load)" if _is_late(row, results) else name


def _is_late(row: Row, results: Sequence[Result]) -> bool:
    """Return whether the documents entered after the load add up to what BPC lacks."""
    for result in results:
        if result.call.arguments == late_query(row):
            found = read_rows(result.content, "amount_group")
            late = sum((number(r["amount_group"]) for r in found), Decimal(0))
            return late == -number(row["difference"])
    return False


def _causes(found: Sequence[Row], results: Sequence[Result]) -> str:
    """Return how many of the shown differences have each cause, and their sums."""
    sums: dict[str, list[Decimal]] = {}
    for row in found:
        cause = _cause(row, results).split(" (")[0]
        sums.setdefault(cause, []).append(number(row.get("difference")))
    lines = [
        f"- **{cause}**: {len(amounts)} difference{'' if len(amounts) == 1 else 's'}, net "
        f"{money(sum(amounts, Decimal(0)))}"
        for cause, amounts in sums.items()
    ]
    return "Likely causes, of the differences I was shown:\n\n" + "\n".join(lines)


def _late(results: Sequence[Result]) -> str:
    """Return the documents of a late posting, if they were looked up."""
    names = ("document_number", "posting_date", "entry_date", "amount_group", "text")
    found = [row for result in results[1:] for row in read_rows(result.content, *names)]
    if not found:
        return ""
    lines = [
        [
            r["document_number"],
            r["posting_date"],
            r["entry_date"],
            figure(r["amount_group"]),
            r["text"],
        ]
        for r in found
    ]
    columns = ("Document", "Posted on", "Entered on", "Amount (EUR)", "Text")
    return (
        f"The late posting consists of documents entered after the load:\n\n{table(columns, lines)}"
    )
