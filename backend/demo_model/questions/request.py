"""The parts of a question, and how a follow-up question changes them. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal

# Topics that determine the figures: a plan that ignores one answers a different question.
_NARROWING = (
    "explain", "difference", "compare", "number of", "spend", "revenue", "documents", "responsible",
)  # fmt: skip
TIME = ("fiscal_year", "fiscal_period", "months")
THINGS = ("company_code", "cost_centre", "gl_account", "group_account")


@dataclass(frozen=True)
class Filter:
    """The values of a dimension to include, and those to exclude."""

    values: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()

    def add(self, value: str, *, exclude: bool) -> "Filter":
        """Return the filter with one more value, included or excluded."""
        if exclude:
            return replace(self, excluded=_with(self.excluded, value))
        return replace(self, values=_with(self.values, value))


@dataclass(frozen=True)
class Threshold:
    """A limit of an amount: `operator` is one of > >= < <= or between."""

    operator: str
    amount: Decimal
    until: Decimal | None = None


@dataclass(frozen=True)
class Choice:
    """A name with several meanings: their kinds and codes, and how they are called."""

    name: str
    fits: tuple[tuple[str, str, str], ...]
    is_excluded: bool = False

    def __str__(self) -> str:
        named = [label for _, _, label in self.fits]
        listed = f"{', '.join(named[:-1])} or {named[-1]}"
        return f"“{self.name}” may be {listed}. Say which, for example “{named[0]}”."


@dataclass(frozen=True)
class Request:
    """A question's parts; `unread` are the words that no part has used."""

    topics: frozenset[str] = frozenset()
    filters: Mapping[str, Filter] = field(default_factory=dict)
    grouping: tuple[str, ...] = ()
    limit: int | None = None
    order: str = ""  # desc or asc
    order_by: str = ""  # a topic, if one was named
    threshold: Threshold | None = None
    over_budget: bool | None = None
    unread: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()  # names with several meanings
    notes: tuple[str, ...] = ()
    # How it may change the previous question:
    is_marked: bool = False
    is_whole: bool = False  # it begins as a question or an order does: "which", "show"
    adds: bool = False
    is_lost: bool = False  # the previous question can no longer be read
    drops: bool = False
    mentioned: tuple[str, ...] = ()  # dimensions mentioned without a value: all are meant
    cleared: frozenset[str] = frozenset()
    bare_kinds: frozenset[str] = frozenset()  # "the cost centre", without saying which
    asks_catalogue: bool = False

    @property
    def named(self) -> frozenset[str]:
        """The parts that filter or order the figures: each must be applied."""
        parts = {
            "limit": self.limit is not None,
            "order": bool(self.order),
            "order_by": bool(self.order_by),
            "threshold": self.threshold is not None,
            "over_budget": self.over_budget is not None,
        } | {topic: topic in self.topics for topic in _NARROWING}
        arranged = {f"by {dimension}" for dimension in self.grouping}
        return frozenset({name for name, is_named in parts.items() if is_named} | arranged) | set(
            self.filters
        )

    @property
    def is_refused(self) -> bool:
        """Whether there is no figure because of a part that was not understood, or is wrong."""
        return bool(self.unread or self.problems or self.choices)

    @property
    def is_about_figures(self) -> bool:
        """Whether anything in it was understood as a question about figures."""
        return bool(
            self.topics or self.named or self.cleared or self.drops or self.problems or self.choices
        )


def follows(asked: Request, before: Request | None) -> bool:
    """Return whether a question changes the previous one rather than being complete by itself."""
    if before is None:
        return False
    if not asked.topics & SUBJECTS or asked.is_marked or asked.adds:
        return True
    differences_again = {"compare", "difference"} & before.topics and not asked.filters
    return bool(differences_again and asked.topics <= {"difference", "compare", "explain"})


_SUBJECTS = """
    actual spend budget forecast left revenue documents fi bpc difference compare responsible list
    total exists over
"""
SUBJECTS = frozenset(_SUBJECTS.split())


def merge(before: Request, asked: Request) -> Request:
    """Return the previous question with what the follow-up replaces, adds, excludes or clears."""
    things = any(name in asked.filters for name in THINGS)
    filters = {name: f for name, f in before.filters.items() if name not in asked.cleared}
    if any(name in asked.filters for name in TIME):
        filters = _without_replaced_time(filters, asked)
    for name, given in asked.filters.items():
        filters[name] = _merged(filters.get(name, Filter()), given, adds=asked.adds)
    if {"gl_account", "group_account"} & asked.filters.keys() and not asked.adds:
        filters = {
            name: f
            for name, f in filters.items()
            if name not in ("gl_account", "group_account") or name in asked.filters
        }
    settled = things or asked.drops
    chosen, choices = _chosen(before.choices, asked.bare_kinds)
    for choice in chosen:
        kind, code, _ = choice.fits[0]
        filters[kind] = filters.get(kind, Filter()).add(code, exclude=choice.is_excluded)
    grouping = asked.grouping if not asked.adds else (*before.grouping, *asked.grouping)
    if "grouping" in asked.cleared:
        before = replace(before, grouping=())
    return replace(
        asked,
        topics=(asked.topics if asked.topics & SUBJECTS else before.topics | asked.topics),
        filters=filters,
        grouping=tuple(dict.fromkeys(grouping)) or before.grouping,
        limit=before.limit if asked.limit is None else asked.limit,
        order=asked.order or before.order,
        order_by=asked.order_by or before.order_by,
        threshold=asked.threshold or before.threshold,
        over_budget=_first(
            asked.over_budget, None if asked.topics & SUBJECTS else before.over_budget
        ),
        is_lost=before.is_lost,
        unread=asked.unread if settled else (*before.unread, *asked.unread),
        problems=asked.problems if settled else (*_lasting(before, asked), *asked.problems),
        choices=asked.choices if settled else (*choices, *asked.choices),
        notes=(
            *(() if asked.filters else before.notes),
            *asked.notes,
            *(_left_out(before) if asked.drops else ()),
        ),
    )


def _left_out(before: Request) -> tuple[str, ...]:
    """Return in words what "without it" leaves out: all that was refused."""
    names = [*before.unread, *(choice.name for choice in before.choices)]
    quoted = ", ".join(f"“{name[:80]}”" for name in names)
    return (*([f"Left out: {quoted}."] if quoted else []), *before.problems)


def _chosen(
    choices: tuple[Choice, ...], kinds: frozenset[str]
) -> tuple[list[Choice], list[Choice]]:
    """Return the choices that naming a kind decides, and those that stay open."""
    left = [
        replace(choice, fits=tuple(fit for fit in choice.fits if is_kind(kinds, fit[0])))
        for choice in choices
    ]
    decided = [choice for choice in left if len(choice.fits) == 1]
    names = {choice.name for choice in decided}
    return decided, [choice for choice in choices if choice.name not in names]


def is_kind(dimensions: Collection[str], kind: str) -> bool:
    """Return whether one of the dimensions is this kind; an account may be of either ledger."""
    return kind in dimensions or ("account" in dimensions and kind.endswith("_account"))


def _lasting(before: Request, asked: Request) -> tuple[str, ...]:
    """Return what was wrong with the previous question, unless the follow-up changes its time."""
    return () if any(name in asked.filters for name in TIME) else before.problems


def _first(value: bool | None, otherwise: bool | None) -> bool | None:
    return otherwise if value is None else value


def _without_replaced_time(filters: Mapping[str, Filter], asked: Request) -> dict[str, Filter]:
    """Drop replaced times: a new month keeps the year, a new year the month; pairs go entirely."""
    if "months" in asked.filters:
        return {name: f for name, f in filters.items() if name not in TIME}
    return {name: f for name, f in filters.items() if name != "months"}


def _merged(before: Filter, given: Filter, *, adds: bool) -> Filter:
    if adds:
        return Filter(
            tuple(dict.fromkeys((*before.values, *given.values))),
            tuple(value for value in before.excluded if value not in given.values),
        )
    if given.values:
        return given
    kept = tuple(value for value in before.values if value not in given.excluded)
    excluded = tuple(dict.fromkeys((*before.excluded, *given.excluded)))
    return Filter(kept, excluded)


def _with(values: tuple[str, ...], value: str) -> tuple[str, ...]:
    return values if value in values else (*values, value)
