"""The demo model's words: each figure in them comes from a tool result of the request. Pure."""

import re
from collections.abc import Sequence
from decimal import Decimal

from backend.llm.demo.conversation import Conversation, Result
from backend.llm.demo.reading import UNREADABLE, Row, figure, money, number, read_rows, table

_SHOWN_ROWS = 20
_TITLE_CHARS = 500
_AMOUNTS = ("budget", "actual", "remaining")
_BUDGET_TITLE = re.compile(r"Budget of (\S+) (.+?), fiscal year (\d+), by (\w+)")
_GREETING = re.compile(
    r"\s*(hi|hello|hey|good \w+|thanks?|help|who are you|what (are|can|do) you)\b", re.IGNORECASE
)
_SPOKEN = re.compile(r"(?:- )?\[?(person|agent|human|user|ai|assistant)\]?:? +(.+)", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:please |can you |could you |(?:what's|what is|what are|show me|tell me|give me)\s+"
    r"|(?:the|our)\s+)+",
    re.IGNORECASE,
)
_POSTED = re.compile(r"posted up to period (\d+)")

ABOUT = """I am the **demo model**: a small rule-based stand-in that runs on this machine, not a \
language model. I recognise a handful of questions, look the figures up with the tools, and \
compute my words from their results. For example:

- What's the budget for CC-1001? How much of it is left?
- Compare CC-1001 and CC-2002.
- Compare FI and BPC for period 9 of 2026 and explain the differences.
- What are the top 5 cost centres by spend in 2026?
- What is the total for travel in March 2026?
- What data do you have? Describe fi.documents.
- SELECT gl_account, SUM(amount_group) FROM documents GROUP BY gl_account

To talk with a real model, set `OPENAI_API_KEY` (and `OPENAI_BASE_URL` for any other \
OpenAI-compatible endpoint, and `MODEL` for the model's name) in `.env`, then start Colloquy \
again."""


def about(conversation: Conversation) -> str:
    """What the demo model is and can do."""
    greeting = _GREETING.match(conversation.asked)
    return ABOUT if greeting else f"I do not understand this question.\n\n{ABOUT}"


def budget(conversation: Conversation) -> str:
    """Budget, spent and left of each cost centre that was looked up."""
    return "\n\n".join(_budget(result) for result in conversation.results)


def budgets_side_by_side(conversation: Conversation) -> str:
    """Several cost centres in one table, and who has used most of its budget."""
    readable = [r for r in conversation.results if read_rows(r.content, *_AMOUNTS)]
    if not readable:
        return UNREADABLE
    rows = [(_title(r), _sum(read_rows(r.content))) for r in readable]
    lines = [
        [f"{number_} {name}", year, *(f"{amounts[c]:,.2f}" for c in _AMOUNTS), _percent(amounts)]
        for (number_, name, year), amounts in rows
    ]
    columns = ("Cost centre", "Fiscal year", "Budget (EUR)", "Spent (EUR)", "Left (EUR)", "Used")
    (most, name, _), amounts = max(rows, key=lambda row: _used(row[1]))
    return (
        f"{table(columns, lines)}\n\n**{most} {name}** has used most of its budget: "
        f"{_percent(amounts)}, with {money(amounts['remaining'])} left."
    )


def top_centres(conversation: Conversation) -> str:
    """Cost centres ranked by their spending."""
    columns = ("cost_centre", "name", "responsible", "fiscal_year", "spend")
    rows = read_rows(conversation.results[0].content, *columns)
    if not rows:
        return "No postings on cost centres were found for that time."
    first = rows[0]
    lines = [
        [str(rank), f"{row['cost_centre']} {row['name']}", row["responsible"], figure(row["spend"])]
        for rank, row in enumerate(rows, 1)
    ]
    ranking = table(("Rank", "Cost centre", "Responsible", "Spend (EUR)"), lines)
    return (
        f"In fiscal year {first['fiscal_year']}, **{first['cost_centre']} {first['name']}** spent "
        f"most: {money(first['spend'])}.\n\n{ranking}"
    )


def total(conversation: Conversation) -> str:
    """The sum over the accounts found, and the accounts."""
    columns = ("gl_account", "name", "fiscal_year", "documents", "amount")
    rows = read_rows(conversation.results[0].content, *columns)
    if not rows:
        return (
            "No account or posting fits that question. Name a GL account by its number (such as "
            "630000) or by a word of its name (such as travel), and a year that is posted."
        )
    amount = sum((number(row["amount"]) for row in rows), Decimal(0))
    documents = sum((number(row["documents"]) for row in rows), Decimal(0))
    lines = [
        [row["gl_account"], row["name"], row["documents"], figure(row["amount"])] for row in rows
    ]
    note = " Revenue is a credit and therefore negative in the ledger." if amount < 0 else ""
    return (
        f"The total is **{money(amount)}** from {documents:,} postings in fiscal year "
        f"{rows[0]['fiscal_year']}.{note}\n\n"
        + table(("GL account", "Name", "Postings", "Amount (EUR)"), lines)
    )


def rows(conversation: Conversation) -> str:
    """The rows of a query, the first ones where there are many."""
    content = conversation.results[0].content
    found = read_rows(content)
    counted = _first_line(content).rpartition(": ")[2].rstrip(".")
    if not found:
        return f"The query gave {counted}." if counted else UNREADABLE
    columns = list(found[0])
    lines = [
        [figure(row.get(c, "")).replace("|", "\\|") for c in columns] for row in found[:_SHOWN_ROWS]
    ]
    more = "" if len(found) <= _SHOWN_ROWS else f" The first {_SHOWN_ROWS}:"
    return f"The query gave {counted}.{more}\n\n{table(columns, lines)}"


def sources(conversation: Conversation) -> str:
    """The sources as a list."""
    columns = ("source", "kind", "tables", "description")
    found = read_rows(conversation.results[0].content, *columns)
    if not found:
        return UNREADABLE
    lines = []
    for row in found:
        state = f"**cannot be read**: {row['problem']}" if row.get("problem") else row["tables"]
        lines.append(
            f"- **{row['source']}** ({row['kind']}): {row['description']} Tables: {state}."
        )
    plural = "" if len(found) == 1 else "s"
    return (
        f"There {'is' if len(found) == 1 else 'are'} {len(found)} source{plural}:\n\n"
        + "\n".join(lines)
    )


def description(conversation: Conversation) -> str:
    """A source's tables and columns."""
    result = conversation.results[0]
    if result.call.name == "list_sources":
        return sources(conversation)
    about_it = [line for line in result.content.splitlines()[1:] if line and line[0] not in "|E"]
    columns = ("table", "column", "type", "meaning", "values")
    found = read_rows(result.content, *columns)
    if not found:
        return UNREADABLE
    lines = [[row.get(c, "")[:80].replace("|", "\\|") for c in columns] for row in found]
    return "\n".join(about_it) + "\n\n" + table([c.capitalize() for c in columns], lines)


def summary(conversation: Conversation) -> str:
    """An extract of the conversation that the request asks to summarise."""
    found = (_SPOKEN.match(line.strip()) for line in conversation.question.splitlines())
    said = [f"{m[1].lower()}: {m[2][:300]}" for m in found if m and len(m[2]) > 8]
    kept = said if len(said) <= 12 else [*said[:4], "…", *said[-8:]]
    return "An extract of the conversation so far:\n\n" + "\n".join(f"- {line}" for line in kept)


def title(conversation: Conversation) -> str:
    """The first words of the question that the conversation began with, without its opening."""
    asked = re.search(r"^Person: *(.*)", conversation.question, re.MULTILINE)
    words = _OPENING.sub("", asked[1] if asked else "").rstrip(" ?!.").split()
    named = " ".join(words[:8])
    return named[:1].upper() + named[1:] or "A conversation"


def count(conversation: Conversation) -> str:
    """Numbers up to the one asked for: a long answer without data, to watch a stream."""
    wanted = re.search(r"count (?:up )?to (\d{1,9})", conversation.question, re.IGNORECASE)
    last = min(int(wanted[1]), 1000) if wanted else 10
    return " ".join(str(value) for value in range(1, last + 1))


def _first_line(content: str) -> str:
    return next(iter(content.splitlines()), "")


def _budget(result: Result) -> str:
    number_, name, year = _title(result)
    found = read_rows(result.content, *_AMOUNTS)
    if not found:
        return UNREADABLE
    amounts = _sum(found)
    posted = _POSTED.search(result.content)
    until = f" up to period {posted[1]}" if posted else ""
    left = amounts["remaining"]
    rest = f"**{money(left)}** is left" if left >= 0 else f"it is **overspent by {money(-left)}**"
    span = result.call.arguments
    periods = ""
    if "fiscal_period_from" in span:
        periods = f", periods {span['fiscal_period_from']} to {span['fiscal_period_to']},"
    text = (
        f"The budget of **{number_} {name}** for fiscal year {year}{periods} is "
        f"**{money(amounts['budget'])}**. {money(amounts['actual'])} ({_percent(amounts)}) was "
        f"spent{until}; {rest}."
    )
    return text if len(found) < 2 else f"{text}\n\n{_breakdown(found)}"


def _breakdown(found: Sequence[Row]) -> str:
    names = [column for column in found[0] if column not in ("used_percent", "forecast")]
    lines = [[figure(row.get(name, "")) for name in names] for row in found]
    return table([name.replace("_", " ").capitalize() for name in names], lines)


def _title(result: Result) -> tuple[str, str, str]:
    found = _BUDGET_TITLE.search(result.content[:_TITLE_CHARS])
    return (found[1], found[2], found[3]) if found else ("?", "", "?")


def _sum(found: Sequence[Row]) -> dict[str, Decimal]:
    return {name: sum((number(row.get(name)) for row in found), Decimal(0)) for name in _AMOUNTS}


def _used(amounts: dict[str, Decimal]) -> Decimal:
    return amounts["actual"] / amounts["budget"] * 100 if amounts["budget"] else Decimal(0)


def _percent(amounts: dict[str, Decimal]) -> str:
    return f"{_used(amounts):.1f} %"
