"""The demo model's answers: each figure in them comes from a tool result. Pure."""

import re
from collections.abc import Sequence
from decimal import Decimal

from backend.demo_model.conversation import Conversation, Result
from backend.demo_model.questions.recognising import described_names, split_select
from backend.demo_model.reading import (
    UNREADABLE,
    Row,
    figure,
    money,
    number,
    read_rows,
    table,
    two_places,
)

_SHOWN_ROWS = 20
_TITLE_CHARS = 500
_AMOUNTS = ("budget", "actual", "remaining")
_BUDGET_TITLE = re.compile(r"Budget of (\S+) (.+?), fiscal year (\d+), by (\w+)")
_COUNTS_TO = 1_000
_COUNT = re.compile(
    r"(?:please |can you |could you )?count (?:up )?to ([0-9]{1,9})(?: please)?[.!?]?",
    re.IGNORECASE,
)
_SPOKEN = re.compile(r"(?:- )?\[?(person|agent|human|user|ai|assistant)\]?:? +(.+)", re.IGNORECASE)
_OPENING = re.compile(
    r"^(?:please |can you |could you |(?:what's|what is|what are)\s+(?!in\b|on\b)"
    r"|(?:show me|tell me|give me)\s+"
    r"|(?:the|our)\s+)+",
    re.IGNORECASE,
)
_POSTED = re.compile(r"posted up to period (\d+)")

ABOUT = """I am the **demo model**: a small rule-based stand-in that runs on this machine, not a \
language model. I recognise a handful of questions, look the figures up with the tools, and \
compute my words from their results. What I do not understand of a question I say, and give no \
figure without it. For example:

- What's the budget for CC-1001? How much of it is left?
- Compare CC-1001 and CC-2002.
- Compare FI and BPC for period 9 of 2026 and explain the differences.
- Which cost centres spent the most this year? Only company 2000. And above 500,000?
- Which cost centres are over budget?
- What is the total for travel in March 2026? By month?
- What data do you have? Describe fi.documents.
- Of a file that you upload: what columns does it have? Totals by month? By customer?
- SELECT gl_account, SUM(amount_group) FROM documents GROUP BY gl_account

To talk with a real model, connect one on the page *Models* under *Administration*, which an \
administrator sees. Or set `OPENAI_API_KEY` (and `OPENAI_BASE_URL` for any other \
OpenAI-compatible endpoint, and `MODEL` for the model's name) in `.env`, then start Colloquy \
again."""


def about(unread: str) -> str:
    """Return what the demo model is and can do, and which words it did not understand."""
    return f"I do not understand {unread}.\n\n{ABOUT}" if unread else ABOUT


def budget(results: Sequence[Result], *, with_forecast: bool) -> str:
    """Return budget, spent and remaining amounts of each cost centre that was looked up."""
    return "\n\n".join(_budget(result, with_forecast=with_forecast) for result in results)


def budgets_side_by_side(results: Sequence[Result]) -> str:
    """Return several cost centres in one table, and which has used most of its budget."""
    readable = [r for r in results if read_rows(r.content, *_AMOUNTS)]
    if not readable:
        return UNREADABLE
    rows = [(_title(r), _sum(read_rows(r.content))) for r in readable]
    lines = [
        [f"{number_} {name}", year, *(two_places(amounts[c]) for c in _AMOUNTS), _percent(amounts)]
        for (number_, name, year), amounts in rows
    ]
    columns = ("Cost centre", "Fiscal year", "Budget (EUR)", "Spent (EUR)", "Left (EUR)", "Used")
    span = readable[0].call.arguments
    if "fiscal_period_from" in span:
        year = f", periods {span['fiscal_period_from']} to {span['fiscal_period_to']}"
        lines = [[line[0], line[1] + year, *line[2:]] for line in lines]
    (most, name, _), amounts = max(rows, key=lambda row: _used(row[1]))
    return (
        f"{table(columns, lines)}\n\n**{most} {name}** has used most of its budget: "
        f"{_percent(amounts)}, with {money(amounts['remaining'])} left.{_until(readable[0])}"
    )


def rows(conversation: Conversation) -> str:
    """Return the rows of a query, or the first ones if there are many."""
    if not conversation.results:
        unread = split_select(conversation.question)[2][:200]
        return (
            f"Before the SELECT I do not understand “{unread}”. "
            "It may be a filter, so I do not run the query without it: put it into the SELECT."
        )
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
    """Return the sources as a list."""
    columns = ("source", "kind", "tables", "description")
    found = read_rows(conversation.results[0].content, *columns)
    if not found:
        return UNREADABLE
    lines = []
    for row in found:
        problem = row.get("problem")
        state = f"**cannot be read**: {problem.rstrip('.')}" if problem else row["tables"]
        lines.append(
            f"- **{row['source']}** ({row['kind']}): {row['description']} Tables: {state}."
        )
    plural = "" if len(found) == 1 else "s"
    return (
        f"There {'is' if len(found) == 1 else 'are'} {len(found)} source{plural}:\n\n"
        + "\n".join(lines)
    )


def description(conversation: Conversation) -> str:
    """Return a source's tables and columns."""
    if not conversation.results:
        unread = ", ".join(f"“{n[:80]}”" for n in described_names(conversation.asked)[:12])
        return (
            f"I describe up to five sources or tables by name; these are no such names: {unread}."
        )
    if conversation.results[0].call.name == "list_sources":
        return sources(conversation)
    return described(conversation.results)


def described(results: Sequence[Result]) -> str:
    """Return the tables and columns of each source described."""
    return "\n\n".join(_description(result) for result in results)


def _description(result: Result) -> str:
    about_it = [line for line in result.content.splitlines()[1:] if line and line[0] not in "|E"]
    columns = ("table", "column", "type", "meaning", "values")
    found = read_rows(result.content, *columns)
    if not found:
        return UNREADABLE
    lines = [[row.get(c, "")[:80].replace("|", "\\|") for c in columns] for row in found]
    return "\n".join(about_it) + "\n\n" + table([c.capitalize() for c in columns], lines)


def summary(conversation: Conversation) -> str:
    """Return an extract of the conversation that is to be summarised."""
    found = (_SPOKEN.match(line.strip()) for line in conversation.question.splitlines())
    results = [f"{m[1].lower()}: {m[2][:300]}" for m in found if m and len(m[2]) > 8]
    kept = results if len(results) <= 12 else [*results[:4], "…", *results[-8:]]
    return "An extract of the conversation so far:\n\n" + "\n".join(f"- {line}" for line in kept)


_JOINING = {"a", "and", "at", "between", "by", "for", "from", "in", "of", "on", "per", "the", "to"}


def title(conversation: Conversation) -> str:
    """Return the first words of the conversation's first question, without its opening."""
    asked = re.search(r"^Person: *(.*)", conversation.question, re.MULTILINE)
    words = _OPENING.sub("", asked[1] if asked else "").rstrip(" ?!.").split()
    kept = words[:8]
    while len(kept) < len(words) and kept and kept[-1].lower() in _JOINING:
        kept.pop()  # cut where something begins
    if len(kept) < len(words) and "and" in map(str.lower, kept[-2:-1]):
        kept = kept[:-2]  # a second request, of which only the verb would be left
    named = " ".join(kept)
    return named[:1].upper() + named[1:] or "A conversation"


def counts_to(conversation: Conversation) -> int:
    """Return the number that the question asks to count to; 0 if it asks something else."""
    found = _COUNT.fullmatch(conversation.asked)
    return int(found[1]) if found else 0


def count(conversation: Conversation) -> str:
    """Return the numbers up to the requested one: a long answer without data, to watch a stream."""
    wanted = counts_to(conversation)
    numbers = " ".join(str(value) for value in range(1, min(wanted, _COUNTS_TO) + 1))
    more = f" I count to {_COUNTS_TO:,} at most." if wanted > _COUNTS_TO else ""
    return numbers + more


def _first_line(content: str) -> str:
    return next(iter(content.splitlines()), "")


def _budget(result: Result, *, with_forecast: bool) -> str:
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
    if with_forecast:
        forecast = sum((number(row.get("forecast")) for row in found), Decimal(0))
        text += f" The forecast is **{money(forecast)}**."
    if len(found) < 2:
        return text
    return f"{text}\n\n{_breakdown(found, with_forecast=with_forecast)}"


def _until(result: Result) -> str:
    posted = _POSTED.search(result.content)
    return f" Spent is what is posted, up to period {posted[1]}." if posted else ""


def _breakdown(found: Sequence[Row], *, with_forecast: bool) -> str:
    hidden = ("used_percent",) if with_forecast else ("used_percent", "forecast")
    names = [column for column in found[0] if column not in hidden]
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
