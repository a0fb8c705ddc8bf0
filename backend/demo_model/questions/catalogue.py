"""What can be asked for, as tools report it: companies, accounts, years and so on. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from backend.demo_model.conversation import Call, Conversation, Result
from backend.demo_model.questions.vocabulary import COUNTRIES, DIMENSION_NAMES, FILLERS
from backend.demo_model.reading import read_rows

_COLUMNS = ("kind", "code", "name", "belongs_to")
_PLACES = (
    "SELECT 'company_code' AS kind, company_code AS code, name, country AS belongs_to "
    "FROM fi.company_codes UNION ALL "
    "SELECT 'cost_centre', cost_centre, name, company_code FROM fi.cost_centres UNION ALL "
    "SELECT 'fiscal_year', CAST(fiscal_year AS VARCHAR), CAST(MAX(fiscal_period) AS VARCHAR), '' "
    "FROM fi.totals GROUP BY fiscal_year ORDER BY 1, 2"
)
_ACCOUNTS = (
    "SELECT 'gl_account' AS kind, gl_account AS code, name, group_account AS belongs_to "
    "FROM fi.gl_accounts UNION ALL "
    "SELECT 'group_account', group_account, name, '' FROM bpc.group_accounts ORDER BY 1, 2"
)
CALLS = (
    Call(
        "query_source", {"source": "fi", "sql": _PLACES, "title": "Companies, cost centres, years"}
    ),
    Call("query_source", {"source": "fi", "sql": _ACCOUNTS, "title": "Accounts"}),
)
Phrase = tuple[str, ...]


@dataclass(frozen=True)
class Entry:
    """One thing that can be asked for; `belongs_to` is a company, a country or a group account."""

    kind: str
    code: str
    name: str
    belongs_to: str = ""

    def __str__(self) -> str:
        return f"{DIMENSION_NAMES[self.kind]} {self.code} {self.name}"


@dataclass(frozen=True)
class Catalogue:
    """Everything that can be asked for, found by code or by words of its name."""

    entries: tuple[Entry, ...]
    _names: dict[Phrase, list[Entry]] = field(default_factory=dict)
    _parts: dict[Phrase, list[Entry]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for entry in self.entries:
            if entry.kind == "fiscal_year":
                continue
            words = tuple(stem(word) for word in _words(entry.name))
            for phrase in (words, *_country(entry)):
                self._names.setdefault(phrase, []).append(entry)
            for first in range(len(words)):
                for last in range(first + 1, len(words) + 1):
                    self._parts.setdefault(words[first:last], []).append(entry)

    def of(self, kind: str) -> list[Entry]:
        """Return all entries of a kind."""
        return [entry for entry in self.entries if entry.kind == kind]

    def by_code(self, kind: str, code: str) -> Entry | None:
        """Return the entry with this code; a cost centre's digits alone are enough."""
        return next(
            (e for e in self.of(kind) if e.code == code or e.code == f"CC-{code}"),
            None,
        )

    def by_name(self, words: Sequence[str]) -> list[Entry]:
        """Return the entries with this name; if there are none, those whose names contain it."""
        phrase = tuple(stem(word) for word in words)
        if len(phrase) == 1 and (words[0] in FILLERS or len(words[0]) < 3):
            return list(self._names.get(phrase, ()))
        return self._names.get(phrase) or list(dict.fromkeys(self._parts.get(phrase, ())))

    @property
    def years(self) -> list[int]:
        """The fiscal years with postings."""
        return sorted(int(e.code) for e in self.of("fiscal_year") if e.code.isdecimal())

    def posted_until(self, year: int) -> int:
        """Return the last period of a year with postings."""
        entry = self.by_code("fiscal_year", str(year))
        return int(entry.name) if entry and entry.name.isdecimal() else 0

    @property
    def posted_months(self) -> list[int]:
        """The months with postings, such as 202609, in order."""
        return [y * 100 + p for y in self.years for p in range(1, self.posted_until(y) + 1)]

    def listed(self, kind: str) -> str:
        """Return all entries of a kind in words."""
        return ", ".join(
            entry.code if kind == "fiscal_year" else f"{entry.code} {entry.name}"
            for entry in self.of(kind)
        )


def find_catalogue(conversation: Conversation) -> Catalogue | None:
    """Return the catalogue that this conversation looked up, for this or an earlier question."""
    found: dict[str, Result] = {}
    for result in (*conversation.results, *reversed(conversation.earlier)):
        sql = str(result.call.arguments.get("sql"))
        if sql in (_PLACES, _ACCOUNTS):
            found.setdefault(sql, result)
    if len(found) < len(CALLS):
        return None
    rows = [row for result in found.values() for row in read_rows(result.content, *_COLUMNS)]
    entries = tuple(Entry(*(row[column] for column in _COLUMNS)) for row in rows)
    catalogue = Catalogue(tuple(e for e in entries if e.kind in DIMENSION_NAMES))
    return catalogue if catalogue.years else None


def stem(word: str) -> str:
    """Return a word without its plural ending."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


def _words(name: str) -> list[str]:
    plain = "".join(c if c.isalnum() else " " for c in name.lower().replace("center", "centre"))
    return plain.split()


def _country(entry: Entry) -> list[Phrase]:
    """Return the names of a company's country."""
    if entry.kind != "company_code":
        return []
    return [
        tuple(stem(word) for word in name.split())
        for name, code in COUNTRIES.items()
        if code == entry.belongs_to
    ]
