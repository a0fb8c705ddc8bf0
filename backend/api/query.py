"""Refuses what a route does not accept: unknown or repeated input, unexpected bodies."""

import json
from collections import Counter
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any, get_origin

from fastapi import Request
from fastapi.dependencies.models import Dependant

from backend.errors.base import InvalidInput
from backend.text import first_of
from colloquy_kit.messages.clean import clean_text

EMPTY = (b"", b"{}", b"null")  # sent by clients that always send a body
MOST_NAMED = 10
LONGEST_NAMED = 80
# Headers that change what a call does; all others may be sent along, as HTTP has it.
OURS = ("idempotency-key", "last-event-id")
LISTS = ("accept-encoding", "prefer")  # headers that several lines may make up (RFC 9110, 5.3)


async def refuse_unknown(request: Request) -> None:
    """Raise InvalidInput for unknown or repeated input, or a body that the route ignores."""
    _check_parameters(request)
    _check_headers(request)
    route = request.scope["route"]
    reads_itself = "requestBody" in (route.openapi_extra or {})  # the route streams the body
    takes_none = route.body_field is None and request.method != "GET" and not reads_itself
    if takes_none and (await request.body()).strip() not in EMPTY:
        raise InvalidInput("This call takes no body. Leave it out.")
    if route.body_field is not None and not reads_itself:
        _check_fields(await request.body())


def _check_parameters(request: Request) -> None:
    sent = Counter(name for name, _ in request.query_params.multi_items())
    if not sent:
        return
    known = sorted(set(_names(request.scope["route"].dependant)))
    if unknown := [name for name in sent if name not in known]:
        raise InvalidInput(_say_unknown(unknown, known))
    lists = set(_lists(request.scope["route"].dependant))
    if repeated := [name for name, times in sent.items() if times > 1 and name not in lists]:
        raise InvalidInput(f"{_named(repeated)}: sent more than once; send it once.")


def _check_headers(request: Request) -> None:
    names = [field.alias for field in request.scope["route"].dependant.header_params]
    if unknown := [name for name in OURS if name in request.headers and name not in names]:
        raise InvalidInput(f"{_named(unknown)}: this call does not take this header. Leave it out.")
    repeated = [name for name in names if len(request.headers.getlist(name)) > 1]
    if repeated := [name for name in repeated if name not in LISTS]:
        raise InvalidInput(f"{_named(repeated)}: sent more than once; send it once.")


def _check_fields(body: bytes) -> None:
    """Raise InvalidInput for a field that a JSON object has twice: parsers ignore all but one."""
    try:
        json.loads(body, object_pairs_hook=_object)
    except ValueError:
        return  # the route refuses what is no JSON


def _object(fields: list[tuple[str, Any]]) -> None:
    if len(dict(fields)) < len(fields):
        times = Counter(name for name, _ in fields)
        repeated = [clean_text(name) for name in times if times[name] > 1]
        raise InvalidInput(f"{_named(repeated)}: sent more than once; send it once.")


def _names(dependant: Dependant) -> Iterator[str]:
    """Yield the parameter names of a route and its dependencies."""
    yield from (field.alias for field in dependant.query_params)
    for inner in dependant.dependencies:
        yield from _names(inner)


def _lists(dependant: Dependant) -> Iterator[str]:
    """Yield the names of parameters that may be repeated."""
    fields = dependant.query_params
    yield from (f.alias for f in fields if get_origin(f.field_info.annotation) is list)
    for inner in dependant.dependencies:
        yield from _lists(inner)


def _say_unknown(unknown: list[str], known: list[str]) -> str:
    if not known:
        return f"{_named(unknown)}: this call takes no query parameters. Leave them out."
    close = get_close_matches(unknown[0][:LONGEST_NAMED].lower(), known, 1)
    meant = f" Did you mean `{close[0]}`?" if close else ""
    return f"{_named(unknown)}: unknown parameter.{meant} This call takes {', '.join(known)}."


def _named(names: list[str]) -> str:
    return first_of([f"`{name[:LONGEST_NAMED]}`" for name in names], MOST_NAMED)
