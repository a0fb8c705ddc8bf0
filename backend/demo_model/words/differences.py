"""The demo model's answers about a comparison of FI with BPC. Pure."""

import re
from collections import defaultdict
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
from backend.text import counted

_LATE, _UNEXPLAINED, _WITHIN = "late posting", "unexplained", "within"
# The comparison's sums by pattern.
_PATTERN = re.compile(
    r"^([^:|\n]{1,200}): ([\d,]{1,12}) differences?, net (-?\d{1,20}\.\d\d)$", re.MULTILINE
)
# The patterns that the comparison finds, and their usual causes between FI and BPC.
_CAUSES = (
    ("rounding", "rounding"),
    ("opposite sign", "wrong sign"),
    ("fiscal_period", _LATE),
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
    keyed = next((line for line in result.content.splitlines() if " keys: " in line), "")
    if keyed.startswith("0 keys"):
        return f"There are no figures to compare.\n\n{scope(plan, understood)}"
    heading = f"I compared FI (left) with BPC ACTUAL (right). {_in_money(keyed)}"
    is_grouped = bool(plan.request.grouping) and plan.request.limit is None
    rows = found if is_grouped else [row for row in found if row["class"] != "match"]
    if not rows:
        return f"{heading}\n\n{_nothing_differs(plan)}\n\n{scope(plan, understood)}"
    shown = rows if is_grouped else rows[: plan.request.limit or SHOWN_DIFFERENCES]
    if is_grouped and not plan.request.order:
        shown = sorted(shown, key=lambda row: [row[key].zfill(6) for key in keys])
    parts = [heading, _how_many(plan, shown, keyed, result), _table(shown, keys, conversation)]
    if not plan.request.grouping:
        within = money(Decimal(str(call.arguments.get("match_within", 1))))
        parts.append(_causes(result.content, rows, conversation, within))
        parts.append(_late(conversation.results))
    return "\n\n".join(part for part in [*parts, scope(plan, understood)] if part)


def _in_money(text: str) -> str:
    return re.sub(r"(?<![0-9.])-?[0-9]{1,20}\.[0-9][0-9](?![0-9])", lambda f: money(f[0]), text)


def _nothing_differs(plan: Plan) -> str:
    threshold = plan.request.threshold
    least = f"EUR {threshold.amount:,}" if threshold else "the threshold"
    return f"Nothing differs by more than {least}."


def _how_many(plan: Plan, shown: Sequence[Row], keyed: str, result: Result) -> str:
    """Return how many differences the table shows, of the tool's total."""
    if plan.request.grouping and plan.request.limit is None:
        return _cut(result)
    counts = re.search(r"([0-9,]{1,12}) match, ([0-9,]{1,12}) minor, ([0-9,]{1,12}) major", keyed)
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
    if hint := row.get("hint", ""):
        return f"{_cause_of(hint)} ({hint})"
    return f"{_LATE} (entered after the load)" if _is_late(row, results) else _UNEXPLAINED


def _cause_of(pattern: str) -> str:
    return next((cause for part, cause in _CAUSES if part in pattern), _UNEXPLAINED)


def _is_late(row: Row, results: Sequence[Result]) -> bool:
    """Return whether the documents entered after the load add up to what BPC lacks."""
    for result in results:
        if result.call.arguments == late_query(row):
            found = read_rows(result.content, "amount_group")
            late = sum((number(r["amount_group"]) for r in found), Decimal(0))
            return late == -number(row["difference"])
    return False


def _causes(content: str, rows: Sequence[Row], conversation: Conversation, within: str) -> str:
    """Return how many differences have each cause, and their sums: over all rows, shown or not.

    What nothing explains, and what is within the tolerance, are lines too: all add up.
    """
    counts: dict[str, int] = defaultdict(int)
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for pattern, count, net in _PATTERN.findall(content):
        cause = _WITHIN if pattern == "within the match threshold" else _cause_of(pattern)
        counts[cause] += int(count.replace(",", ""))
        sums[cause] += Decimal(net)
    if not counts:
        return ""
    late = [
        number(row.get("difference"))
        for row in rows
        if not row.get("hint") and _is_late(row, conversation.results)
    ]
    counts[_LATE] += len(late)
    counts[_UNEXPLAINED] -= len(late)
    sums[_LATE] += sum(late, Decimal(0))
    sums[_UNEXPLAINED] -= sum(late, Decimal(0))
    matches = counts.pop(_WITHIN, 0)
    causes = [cause for cause in counts if counts[cause] or cause == _UNEXPLAINED]
    causes.sort(key=lambda cause: (cause == _UNEXPLAINED, -counts[cause]))
    lines = [
        f"- **{cause}**: {counted(counts[cause], 'difference')}, net {money(sums[cause])}"
        for cause in causes
    ]
    total = sum(counts.values())
    return (
        f"Likely causes, of all {counted(total, 'difference')}:\n\n"
        + "\n".join(lines)
        + f"\n- within the tolerance of {within}: {counted(matches, 'figure')}, net"
        f" {money(sums[_WITHIN])}\n\nTogether: {money(sum(sums.values(), Decimal(0)))}."
    )


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
