"""What is known of the work that a record of the log belongs to: request, session, turn, person."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from types import MappingProxyType
from typing import ParamSpec, TypeVar

REQUEST, SESSION, TURN, PERSON = "request", "session", "turn", "person"
P = ParamSpec("P")
T = TypeVar("T")
_RAISED = "known_fields"  # of an error
# Tasks and threads of a request inherit it, as do those of a turn.
_KNOWN: ContextVar[Mapping[str, str]] = ContextVar("known", default=MappingProxyType({}))


def known() -> Mapping[str, str]:
    """Return the fields that each record gets here and now."""
    return _KNOWN.get()


def request_id() -> str | None:
    """Return the id of the request that is being answered."""
    return known().get(REQUEST)


def add_fields(**found: object) -> None:
    """Give each further record of this request or turn these fields, as text; not those of None."""
    given = {name: str(value) for name, value in found.items() if value is not None}
    _KNOWN.set({**known(), **given})


def forget_fields() -> None:
    """Give further records none: what a request has begun works for others as well."""
    _KNOWN.set({})


def known_of(error: BaseException | None) -> Mapping[str, str]:
    """Return what was known of the work that has raised this."""
    found: Mapping[str, str] = getattr(error, _RAISED, {})
    return found


def as_known_here(work: Callable[P, T]) -> Callable[P, T]:
    """Return the work so that its records have the fields of here, in whatever thread it runs."""
    return partial(copy_context().run, work)


@contextmanager
def only_fields(**found: object) -> Iterator[None]:
    """Give the records within the block these fields, and those that are added there; no others.

    An error that leaves the block takes them along: whoever logs it may know nothing of the work.
    """
    before = _KNOWN.set({})
    add_fields(**found)
    try:
        yield
    except Exception as error:
        with suppress(AttributeError):  # most take any attribute
            setattr(error, _RAISED, {**known(), **known_of(error)})
        raise
    finally:
        _KNOWN.reset(before)
