"""A question about a file's table as one SELECT, applied completely or refused. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.demo_model.files.columns import FileColumn, FileContents
from backend.demo_model.plans.statement import CannotApply
from backend.demo_model.questions.vocabulary import FILLERS
from backend.tabular.charts.measures import is_rate

_AGGREGATES = {
    "total": ("SUM", "total totals sum sums amount amounts"),
    "average": ("AVG", "average averages mean avg"),
    "highest": ("MAX", "highest maximum max largest biggest"),
    "lowest": ("MIN", "lowest minimum min smallest"),
    "rows": ("COUNT", "count number rows entries records lines"),
}
_SUMMING = frozenset(["of"]).union(
    *(words.split() for name, (_, words) in _AGGREGATES.items() if name != "rows")
)
_SPANS = {
    "year": ("strftime({}, '%Y')", "year years yearly annually"),
    "quarter": ("strftime({0}, '%Y') || ' Q' || quarter({0})", "quarter quarters quarterly"),
    "month": ("strftime({}, '%Y-%m')", "month months monthly"),
    "week": ("strftime({}, '%G-W%V')", "week weeks weekly"),
    "day": ("strftime({}, '%Y-%m-%d')", "day days daily"),
}
_TIME_WORDS = """
    month months weekday day week quarter period year monat wochentag tag woche quartal jahr
"""
_TIMES = frozenset(_TIME_WORDS.split())
_BY = frozenset(["by", "per", "each", "every", "grouped", "group", "split", "across"])
_MORE_FILLERS = """
    file files table tables upload uploaded attached csv excel sheet workbook it its this that these
    again now column columns field fields all every grouped group split broken down across new old
"""
_IGNORED = FILLERS | _BY | frozenset(_MORE_FILLERS.split())
_DESCRIBING_WORDS = """
    column columns field fields structure schema describe contain contains hold holds inside
"""
_DESCRIBING = frozenset(_DESCRIBING_WORDS.split())
_OPENING_WORDS = ("what", "whats")
_WORDS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class FileQuery:
    """A SELECT over a file, and its column names for the answer."""

    sql: str
    names: tuple[str, ...]
    title: str


def asks_for_columns(text: str) -> bool:
    """Return whether a question is about the content of a file, or is no question at all."""
    words = [word.lower() for word in _WORDS.findall(text.replace("'s", ""))]
    if any(word not in _IGNORED | _DESCRIBING for word in words):
        return False
    return not words or words[0] in _OPENING_WORDS or any(word in _DESCRIBING for word in words)


def open_words(text: str) -> list[str]:
    """Return the words of a question to search a document for."""
    about = frozenset(["say", "says", "document", "documents", "pdf", "page", "pages", "about",
                       "mention", "mentions", "search", "where", "read", "text"])  # fmt: skip
    return [word for word in _WORDS.findall(text) if word.lower() not in _IGNORED | about]


def plan_query(contents: FileContents, text: str) -> FileQuery:
    """Return the SELECT that answers a question. Raise CannotApply for what it cannot express.

    Of several tables that could answer, such as the sheets of a year, the question has to name one.
    """
    queries: dict[str, FileQuery] = {}
    problems: list[CannotApply] = []
    for table in contents.tables:
        try:
            queries[table] = _query_table(contents, table, text)
        except CannotApply as problem:
            problems.append(problem)
    words = _WORDS.findall(text)
    named = {t: q for t, q in queries.items() if _find(words, _words_of(t)) is not None} or queries
    if len(named) > 1:
        names = ", ".join(_name_of(table) for table in list(named)[:40])
        raise CannotApply(f"Of which table? These can answer it: {names}. Name one.")
    if named:
        return next(iter(named.values()))
    raise problems[0] if problems else CannotApply("The file holds no table that I can ask.")


def _query_table(contents: FileContents, table: str, text: str) -> FileQuery:
    """Return the SELECT over one table, which the title names if the file has others.

    The name may be a word of the question. Raise CannotApply.
    """
    columns = contents.tables[table]
    if len(contents.tables) == 1:
        return _Reading(table, columns, text).query()
    try:
        query = _Reading(table, columns, text).query()
    except CannotApply:
        words, name = _WORDS.findall(text), _words_of(table)
        place = _find(words, name)
        if place is None:
            raise
        others = " ".join([*words[:place], "the", *words[place + len(name) :]])
        query = _Reading(table, columns, others).query()
    return replace(query, title=f"{query.title} (table {_name_of(table)})")


def _name_of(table: str) -> str:
    """Return the name of a table without that of its source."""
    return table.rpartition(".")[2].strip('"')


def _words_of(table: str) -> list[str]:
    return [word.lower() for word in _WORDS.findall(_name_of(table))]


class _Reading:
    """One question, read with the column names of one table."""

    def __init__(self, table: str, columns: Sequence[FileColumn], text: str) -> None:
        self._table = table
        self._columns = columns
        self._named: list[FileColumn] = []
        words = self._take_columns(_WORDS.findall(text))
        self._aggregates = self._take(words, {k: v[1] for k, v in _AGGREGATES.items()})
        self._spans = self._take(words, {k: v[1] for k, v in _SPANS.items()})
        self._unread = [word for word in words if word.lower() not in _IGNORED]
        if re.search(r"\bhow many\b", text, re.IGNORECASE):
            self._aggregates = ["rows"]
            self._unread = [word for word in self._unread if word.lower() != "many"]

    def query(self) -> FileQuery:
        """Return the SELECT. Raise CannotApply."""
        self._refuse_unread()
        self._refuse_texts()
        groups = self._groups()
        figures = self._figures()
        selected = [f"{sql} AS {_quoted(name)}" for sql, name in (*groups, *figures)]
        numbers = ", ".join(str(n) for n in range(1, len(groups) + 1))
        order = numbers if self._spans or not groups else f"{len(groups) + 1} DESC, {numbers}"
        if not self._spans and any(_is_time(name) for _, name in groups):
            order = "MIN(rowid)"  # as in the file: neither alphabet nor value is an order of months
        query = f"SELECT {', '.join(selected)} FROM {self._table}"  # noqa: S608 - names as the tool gave them
        if groups:
            query += f" GROUP BY {numbers} ORDER BY {order}"
        names = tuple(name for _, name in (*groups, *figures))
        what = " and ".join(name for _, name in figures)
        keys = [*self._spans, *(name for _, name in groups[len(self._spans) :])]
        by = f" by {' and '.join(keys)}" if keys else ""
        return FileQuery(query, names, f"{what}{by}")

    def _refuse_unread(self) -> None:
        if not self._unread:
            return
        shown = ", ".join(f"“{word[:80]}”" for word in dict.fromkeys(self._unread))
        known = ", ".join(column.name for column in self._columns[:40])
        raise CannotApply(
            f"I do not understand {shown}. It may be a filter, so I give no figure without it. "
            f"The columns are: {known}."
        )

    def _refuse_texts(self) -> None:
        """Refuse the sum of a text: it would be the sum of another column, by this one."""
        texts = [column for column in self._named if column.name in self._summed]
        if texts and self._aggregates != ["rows"] and not any(map(self._is_measure, self._named)):
            raise CannotApply(
                f"{texts[0].name} holds no numbers. If it should, correct its type on the page"
                " Data; to group by it, ask for another column by it."
            )

    def _groups(self) -> list[tuple[str, str]]:
        """Return what the rows are grouped by, as SQL, and its name: that of the question."""
        groups = []
        for span in self._spans:
            date = self._date()
            sql = _SPANS[span][0].format(date.written)
            groups.append((sql, span.capitalize()))
        groups += [
            (column.written, column.name)
            for column in self._named
            if not self._is_measure(column) and not (column.is_date and self._spans)
        ]
        return groups

    def _figures(self) -> list[tuple[str, str]]:
        """Return the figures as SQL, with their names. Raise CannotApply for the sum of rates."""
        figures = []
        for name in self._aggregates or [""]:
            if name == "rows":
                figures.append(("COUNT(*)", "Rows"))
                continue
            for column in self._measures():
                asked = name or ("average" if is_rate(column.name) else "total")
                if asked == "total" and is_rate(column.name):
                    raise CannotApply(
                        f"{column.name} is a rate, an average or a price, which is not added up. "
                        f"Ask for the average of {column.name}."
                    )
                sql = f"ROUND({_AGGREGATES[asked][0]}({column.written}), 6)"
                figures.append((sql, f"{asked.capitalize()} of {column.name}"))
        return figures

    def _measures(self) -> list[FileColumn]:
        named = [column for column in self._named if self._is_measure(column)]
        numbers = [column for column in self._columns if column.is_number]
        amounts = [column for column in numbers if column.has_fractions]
        found = named or (amounts if len(amounts) == 1 else numbers)
        if not found:
            raise CannotApply(
                "No column of it holds numbers. If one should, correct its type on the page Data."
            )
        if not named and len(found) > 1:
            names = ", ".join(column.name for column in found[:40])
            raise CannotApply(f"Which column? Numbers are in {names}. Name one.")
        return found

    def _date(self) -> FileColumn:
        dates = [column for column in self._columns if column.is_date]
        named = [column for column in self._named if column.is_date]
        if not dates:
            raise CannotApply(
                "No column of it holds dates. If one should, correct its type on the page Data."
            )
        if not named and len(dates) > 1:
            names = ", ".join(column.name for column in dates[:40])
            raise CannotApply(f"By which date? There are {names}. Name one.")
        return (named or dates)[0]

    def _is_measure(self, column: FileColumn) -> bool:
        """Return whether a number is a figure to sum: one used after `by` is not."""
        return column.is_number and column.name not in self._keys

    def _take_columns(self, words: list[str]) -> list[str]:
        """Find column names among the words, longest first; return the other words."""
        self._keys: set[str] = set()
        self._summed: set[str] = set()  # those that are no numbers
        by_length = sorted(self._columns, key=lambda c: -len(_WORDS.findall(c.name)))
        for column in by_length:
            parts = [part.lower() for part in _WORDS.findall(column.name)]
            place = _find(words, parts)
            if place is None:
                continue
            self._named.append(column)
            before = words[place - 1].lower() if place else ""
            if before in _BY:
                self._keys.add(column.name)
            elif before in _SUMMING and not column.is_number:
                self._summed.add(column.name)
            words = [*words[:place], "the", *words[place + len(parts) :]]
        return words

    @staticmethod
    def _take(words: list[str], meanings: dict[str, str]) -> list[str]:
        found = []
        for name, written in meanings.items():
            known = frozenset(written.split())
            if any(word.lower() in known for word in words):
                found.append(name)
                words[:] = [word for word in words if word.lower() not in known]
        return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _is_time(name: str) -> bool:
    """Return whether a text column is named for a part of the calendar."""
    return any(word.lower() in _TIMES for word in re.split(r"[^a-zA-Z]+", name))


def _find(words: list[str], parts: list[str]) -> int | None:
    """Return the position of a name among words, in the singular or plural."""
    for place in range(len(words) - len(parts) + 1 if parts else 0):
        candidate = [word.lower() for word in words[place : place + len(parts)]]
        if candidate == parts or (
            candidate[:-1] == parts[:-1] and candidate[-1] in (f"{parts[-1]}s", f"{parts[-1]}es")
        ):
            return place
    return None
