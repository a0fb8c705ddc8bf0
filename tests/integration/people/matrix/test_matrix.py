"""Every operation of the API, asked by everybody about everybody's things.

The operations are those of the OpenAPI document; what each needs stands in `rules`.
"""

import json
import logging
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from backend.api.app import create_routes
from backend.api.refusals import Refusals
from backend.auth.scope import PERMISSIONS
from backend.logs.formats import Json
from backend.logs.setup import REFUSED
from backend.schemas.people.rights import Right, Role
from backend.types import JSON
from tests.integration.people.matrix.installation import (
    NAMED,
    PREFIX,
    ROLES,
    Installation,
    comparable,
    installation,
)
from tests.integration.people.matrix.rules import (
    ALL,
    ASKS_WHY,
    OF_FILES,
    OF_SESSIONS,
    PUBLIC,
    TO_LOOK,
    Needs,
)
from tests.integration.people.matrix.things import Things, nothing
from tests.stack import Servers

RELATIONS: dict[str, set[Right | None]] = {
    "own": {None, Right.READ, Right.CONTINUE},
    "the team's": {None, Right.READ, Right.CONTINUE},
    "shared to read": {Right.READ},
    "shared to continue": {Right.READ, Right.CONTINUE},
    "under review": {Right.READ},
    "another's": set(),
    "another team's": set(),
    "another organisation's": set(),
    "leaving": set(),
    "deleted": set(),
    "random": set(),
}
GONE = {"leaving", "deleted", "random"}
LEVELS = ("read", "ask", "manage")
UNWELCOME = ("nobody", "disabled", "disabled's manage token", "expired", "revoked", "ended", "old",
             "idle")  # fmt: skip


def described() -> dict[str, JSON]:
    """Each operation of the document, as `METHOD /path`."""
    document = create_routes().openapi()
    return {
        f"{method.upper()} {path.removeprefix(PREFIX)}": operation
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    }


OPERATIONS = described()


@pytest.fixture
def empty_place(servers: Servers, tmp_path: Path) -> Iterator[Installation]:
    redis_url = servers.new_redis()
    with installation(servers.new_database(), redis_url, tmp_path) as running:
        yield running
    servers.stop_redis(redis_url)


@pytest.fixture(scope="module")
def place(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    redis_url = servers.new_redis()
    folder = tmp_path_factory.mktemp("matrix")
    with installation(servers.new_database(), redis_url, folder) as running:
        yield running
    servers.stop_redis(redis_url)


def level_of(operation: str) -> str | None:
    """What a token must allow, as the document says; None: it needs no token."""
    (level,) = {
        scope for one in OPERATIONS[operation].get("security", []) for scope in one.get("token", [])
    } or {None}
    return level


def test_each_operation_declares_its_rule_and_is_expected_here() -> None:
    for operation in OPERATIONS:
        if operation in PUBLIC:
            assert level_of(operation) is None, operation
            continue
        assert level_of(operation) in LEVELS, f"{operation} declares no rule"
        assert level_of(operation) != "read" or operation.startswith("GET "), operation
        assert operation in ALL, f"{operation}: say in rules.py what it needs"

    assert (ALL.keys() | PUBLIC.keys()) <= OPERATIONS.keys()
    assert not ALL.keys() & PUBLIC.keys()


@pytest.mark.parametrize("operation", sorted(ALL))
def test_a_token_must_be_valid_and_allow_the_operation(place: Installation, operation: str) -> None:
    needs, values = ALL[operation], nothing().ids

    for caller in UNWELCOME:
        answer = place.ask(operation, place.tokens.get(caller), values, needs.body, needs.query)
        assert answer.status_code == 401, (caller, answer.text)
        assert answer.headers["www-authenticate"] == "Bearer"
    least = LEVELS.index(str(level_of(operation)))
    for holder in ("member", "program"):
        for level in LEVELS[:least]:
            token = place.tokens[f"{holder}'s {level} token"]
            answer = place.ask(operation, token, values, needs.body, needs.query)
            assert answer.status_code == 403, (holder, level, answer.text)
            assert answer.json()["title"] == "Token too narrow"


@pytest.mark.parametrize("operation", sorted(OF_SESSIONS))
def test_a_session_is_there_for_those_who_have_the_right(
    place: Installation, operation: str
) -> None:
    needs = OF_SESSIONS[operation]
    wanted = None if needs.of_owner else needs.right

    for role in ROLES:
        token = place.tokens[role]
        missing = ask(place, operation, needs, token, nothing())
        assert missing.status == 404, missing
        for relation, rights in RELATIONS.items():
            if relation == "under review" and (role == "member" or not needs.by_review):
                rights = set()
            is_allowed = wanted in rights or (may(role, needs) and relation not in GONE)
            is_changed = is_allowed and not operation.startswith("GET")
            things = (place.things if is_changed else place.looked_at)(relation, role)
            answer = ask(place, operation, needs, token, things)
            case = (role, relation, answer)
            if is_allowed:
                assert answer.status not in (401, 403) and answer.status < 500, case
                assert (answer.status, answer.title) != (404, missing.title), case
            elif operation in ASKS_WHY and role != "member" and relation not in GONE:
                assert (answer.status, answer.title) == (403, "Reason needed"), case
            elif Right.READ in rights:
                assert answer.status in (403, 404), case
            else:
                assert answer == missing, case


@pytest.mark.parametrize("operation", sorted(OF_FILES))
def test_a_file_is_there_for_its_owner(place: Installation, operation: str) -> None:
    needs = OF_FILES[operation]

    for role in ROLES:
        token = place.tokens[role]
        missing = ask(place, operation, needs, token, nothing())
        assert missing.status == 404, missing
        for relation in ("own", "another's", "another team's", "deleted", "random"):
            if relation == "own" and role != "member":
                continue
            of_whom = place.things if relation == "own" else place.looked_at
            answer = ask(place, operation, needs, token, of_whom(relation, role))
            if relation == "own":
                assert answer.status not in (401, 403, 404), (role, answer)
            else:
                assert answer == missing, (role, relation, answer)


NESTED = [one for one in sorted(OF_SESSIONS) if "{session_id}" in one and (
    {*NAMED.findall(one + str(OF_SESSIONS[one].body) + str(OF_SESSIONS[one].query))}
    - {"session_id", "version", "number", "tool"})]  # fmt: skip


@pytest.mark.parametrize("operation", NESTED)
def test_what_another_session_holds_is_not_in_ones_own(place: Installation, operation: str) -> None:
    needs, token = OF_SESSIONS[operation], place.tokens["member"]
    own, others = place.things("own", "member"), place.things("another's", "member")

    def within_own(of: Things) -> Any:
        return ask(place, operation, needs, token, of, session_id=own.session_id)

    assert within_own(others) == within_own(nothing())


@pytest.mark.parametrize("operation", [one for one in sorted(ALL) if ALL[one].permission])
def test_what_concerns_all_needs_a_permission(place: Installation, operation: str) -> None:
    needs = ALL[operation]
    if needs.is_of_session:
        return  # its owners do it without: see above

    for caller in ("member", "reviewer", "program", "admin", "admin's read token"):
        answer = ask(place, operation, needs, place.tokens[caller], nothing())
        looks = needs.permission in TO_LOOK and level_of(operation) == "read"
        if caller == "admin" or may(caller, needs) or (looks and "admin" in caller):
            assert answer.status not in (401, 403), (caller, answer)
        else:
            assert answer.status in (403, 404), (caller, answer)


def test_lists_hold_what_one_may_read(empty_place: Installation) -> None:
    place = empty_place
    made = {relation: place.things(relation, "member") for relation in RELATIONS}
    to_decide = {r for r, rights in RELATIONS.items() if Right.CONTINUE in rights}

    for operation in ("GET /sessions", "GET /approvals", "GET /tasks", "GET /search", "GET /files"):
        readable = to_decide if operation == "GET /approvals" else to_decide | {"shared to read"}
        query = {"q": "Tangerine", "limit": 50} if operation == "GET /search" else {"limit": 200}
        answer = place.ask(operation, place.tokens["member"], {}, None, query)
        assert answer.status_code == 200, answer.text
        listed = {r for r, one in made.items() if any(i in answer.text for i in one.ids.values())}
        assert listed <= readable, operation
        if operation != "GET /files":
            assert listed == readable, operation


def test_documents_and_metrics_are_not_public(place: Installation) -> None:
    client, admin = place.client, place.tokens["admin's read token"]

    for path in ("/metrics", "/api/docs", "/api/openapi.json"):
        assert client.get(path).status_code == 401, path
        assert client.get(path, headers=bearer(admin)).status_code == 200, path
    assert client.get("/metrics", headers=bearer(place.tokens["member"])).status_code == 403
    assert client.get("/healthz").json() == {"status": "alive"}
    assert set(client.get("/readyz").json().values()) <= {"ok", "not ok"}


def test_refused_calls_are_logged(place: Installation) -> None:
    path = f"{PREFIX}/people/{uuid4()}"
    # The tests before have been refused more often than is logged in a minute.
    place.client.app.state.refusals = Refusals()  # type: ignore[attr-defined]

    written = StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(Json("api", "desk.7"))
    logging.getLogger(REFUSED).addHandler(handler)
    for caller in ("member", "revoked"):
        place.client.get(path, headers=bearer(place.tokens[caller]))
    place.client.get(path)
    logging.getLogger(REFUSED).removeHandler(handler)

    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert [(one["status"], one.get("person"), one["route"]) for one in lines] == [
        (403, "member", "/people/{user_id}"),
        (401, None, "/people/{user_id}"),
    ]


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def may(role: str, needs: Needs) -> bool:
    return role in ROLES and needs.permission in PERMISSIONS[Role(role)]


def ask(
    place: Installation, operation: str, needs: Needs, token: str, things: Things, **other: str
) -> Any:
    values = {**vars(things), **other}
    answer = place.ask(operation, token, values, needs.body, needs.query)
    return comparable(answer, values)
