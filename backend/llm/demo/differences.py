"""The demo model's words about a comparison of FI with BPC. Pure."""

import re
from collections.abc import Sequence
from decimal import Decimal

from backend.llm.demo.conversation import Conversation, Result
from backend.llm.demo.plans import LEDGER_KEYS, late_query
from backend.llm.demo.reading import UNREADABLE, Row, figure, money, number, read_rows, table

# The pattern that the comparison found, and what usually causes it between FI and BPC.
_CAUSES = (
    ("rounding", "rounding"),
    ("opposite sign", "wrong sign"),
    ("fiscal_period", "late posting"),
    ("group_account", "mapping"),
    ("company_code", "missing elimination"),
    ("in proportion", "currency translation"),
    ("only in", "missing on one side"),
)


def explain(conversation: Conversation) -> str:
    """The comparison in words: how many differ, which weigh most, and what explains them."""
    result = conversation.results[0]
    if " keys: " not in result.content:
        return UNREADABLE
    found = read_rows(result.content, *LEDGER_KEYS, "difference", "class")
    rows = [row for row in found if row["class"] != "match"]
    counted = next((line for line in result.content.splitlines() if " keys: " in line), "")
    counted = re.sub(r"-?\d+\.\d\d", lambda found: money(found[0]), counted)
    heading = f"I compared FI (left) with BPC ACTUAL (right). {counted}"
    if not rows:
        return f"{heading}\n\nNothing differs by more than the threshold."
    columns = ("fiscal_year", "fiscal_period", "cost_centre", "group_account")
    lines = [
        [
            *(row.get(c, "") for c in columns),
            *_amounts(row),
            row.get("class", ""),
            _cause(row, conversation.results),
        ]
        for row in rows[:10]
    ]
    headings = ("Year", "Period", "Cost centre", "Group account", "FI", "BPC", "Difference")
    shown = table((*headings, "Class", "Likely cause"), lines)
    return "\n\n".join(
        filter(
            None, [heading, shown, _causes(rows, conversation.results), _late(conversation.results)]
        )
    )


def _amounts(row: Row) -> list[str]:
    return [figure(row.get(name, "")) for name in ("left", "right", "difference")]


def _cause(row: Row, results: Sequence[Result]) -> str:
    hint = row.get("hint", "")
    name = next((cause for pattern, cause in _CAUSES if pattern in hint), "unexplained")
    if hint:
        return f"{name} ({hint})"
    return "late posting (entered after the load)" if _is_late(row, results) else name


def _is_late(row: Row, results: Sequence[Result]) -> bool:
    """Whether the documents entered after the load add up to what BPC lacks."""
    for result in results:
        if result.call.arguments == late_query(row):
            found = read_rows(result.content, "amount_group")
            late = sum((number(r["amount_group"]) for r in found), Decimal(0))
            return late == -number(row["difference"])
    return False


def _causes(found: Sequence[Row], results: Sequence[Result]) -> str:
    """How many of the differences shown have each cause, and what they add up to."""
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
    """The documents that a late posting consists of, if they were looked up."""
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
