"""A colleague who names what is another's where it is no part of an address.

In bodies, queries, cursors and words that are searched for. What is told of another's thing is what
is told of one that does not exist.
"""

from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import delete, func, insert, update

from backend.types import JSON
from db.models.conversations.conversation import ConversationRow
from db.models.conversations.session_link import SessionLinkRow
from db.models.people.grant import GrantRow
from db.models.people.user import TeamMemberRow, UserRow
from db.models.turns.approval import ApprovalRow
from db.models.usage_day import UsageDayRow
from tests.integration.people.matrix.installation import (
    OTHER_TEAM,
    STRANGER,
    TEAM,
    Installation,
    comparable,
    installation,
)
from tests.integration.people.matrix.things import Things, nothing
from tests.stack import Servers

SECRET = "Vermilion"  # the name of a domain that only the stranger may use


@pytest.fixture(scope="module")
def place(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    redis_url = servers.new_redis()
    folder = tmp_path_factory.mktemp("colleague")
    with installation(servers.new_database(), redis_url, folder) as running:
        yield running
    servers.stop_redis(redis_url)


@pytest.fixture(scope="module")
def own(place: Installation) -> Things:
    return place.things("own", "member")


@pytest.fixture(scope="module")
def others(place: Installation) -> Things:
    return place.things("another's", "member")


@pytest.fixture(scope="module")
def withheld(place: Installation) -> str:
    """The id of a domain that was granted to the stranger."""
    domain = UUID(
        place.ask("POST /domains", place.tokens["admin"], {}, {"name": SECRET}, None).json()["id"]
    )
    grant(place, "domain", str(domain), STRANGER, "use")
    used = {"day": func.current_date(), "model": SECRET, "turns": 3, "input_tokens": 5}
    with place.services.database.transaction() as session:
        of = {"owner_id": STRANGER, "domain_id": domain, "domain_name": SECRET, "team": OTHER_TEAM}
        session.execute(insert(UsageDayRow).values(**used, **of))
    return str(domain)


def grant(place: Installation, resource: str, resource_id: str, user: str, right: str) -> None:
    with place.services.database.transaction() as session:
        session.add(
            GrantRow(
                resource_type=resource, resource_id=resource_id, principal_type="user",
                principal_id=user, right=right, granted_by="admin",
            )
        )  # fmt: skip


def told(
    place: Installation, operation: str, named: str, body: Any = None, query: Any = None,
    caller: str = "member", **values: str,
) -> Any:  # fmt: skip
    """Return what a caller is told when they name this; without the name, and what varies."""
    values = {**values, "named": named}
    answer = place.ask(operation, place.tokens[caller], values, body, query)
    text = answer.text.replace(named, "…")
    return comparable(answer, {"named_id": named, **values}), text


LISTS: list[tuple[str, JSON, str, str]] = [
    ("GET /sessions", {"owner": "{named}"}, STRANGER, "nobody"),
    ("GET /sessions", {"team": "{named}"}, OTHER_TEAM, "noteam"),
    ("GET /sessions", {"domain": "{named}"}, SECRET, "Nothing"),
    ("GET /sessions", {"q": "{named}"}, f"Tangerine {STRANGER}", "Tangerine nobody"),
    ("GET /usage", {"person": "{named}"}, STRANGER, "nobody"),
    ("GET /usage", {"team": "{named}"}, OTHER_TEAM, "noteam"),
    ("GET /usage", {"domain": "{named}"}, SECRET, "Nothing"),
    ("GET /usage", {"model": "{named}", "by": "owner"}, SECRET, "Nothing"),
    ("GET /search", {"q": "Tangerine", "domain": "{named}"}, SECRET, "Nothing"),
    ("GET /principals", {"q": "{named}"}, "stranger@example.co", "nobody@example.co"),
    ("GET /principals", {"q": "{named}"}, "foreigner", "nobody"),
]


@pytest.mark.parametrize(("operation", "query", "anothers", "none"), LISTS)
def test_a_filter_finds_nothing_of_another(
    place: Installation, own: Things, others: Things, withheld: str,
    operation: str, query: JSON, anothers: str, none: str,
) -> None:  # fmt: skip
    with place.services.database.transaction() as session:
        session.execute(
            update(UserRow).where(UserRow.id == STRANGER).values(email="stranger@example.com")
        )

    of_another = told(place, operation, anothers, query=query)

    assert of_another[0].status == 200
    assert of_another == told(place, operation, none, query=query)


@pytest.mark.parametrize(
    "words",
    [
        f"owner:{STRANGER}",
        f"'owner:{STRANGER}'",
        f"x' | 'owner:{STRANGER}",
        f"\\' | 'owner:{STRANGER}' | '",
        f'"owner:{STRANGER}"',
        f"owner:{STRANGER}*",
        "kind:text",
        "!nothing",
        "-nothing Tangerine",
        "Tangerine OR it",
        "* | *",
        ":*",
    ],
)
def test_no_words_find_what_another_said(
    place: Installation, own: Things, others: Things, words: str
) -> None:
    answer = place.ask("GET /search", place.tokens["member"], {}, None, {"q": words})

    assert answer.status_code in (200, 422), answer.text
    found = {one["session_id"] for one in answer.json().get("items", [])}
    assert found <= set(own_sessions(place))


@pytest.mark.parametrize(
    ("operation", "query"),
    [
        ("GET /sessions", {}),
        ("GET /sessions", {"order_by": "title"}),
        ("GET /search", {"q": "Tangerine"}),
        ("GET /approvals", {}),
        ("GET /tasks", {}),
        ("GET /files", {}),
    ],
)
def test_anothers_cursor_leads_to_ones_own(
    place: Installation, own: Things, others: Things, operation: str, query: JSON
) -> None:
    place.things("another's", "member")
    page = place.ask(operation, place.tokens[STRANGER], {}, None, {**query, "limit": 1}).json()
    assert page["next_cursor"]

    query = {**query, "cursor": page["next_cursor"]}
    answer = place.ask(operation, place.tokens["member"], {}, None, query)

    assert answer.status_code == 200, answer.text
    assert not [one for one in others.ids.values() if one in answer.text]


NAMED: list[tuple[str, Any, Any]] = [
    ("POST /sessions", {"domain": "{named}"}, None),
    ("POST /chat", {"message": "Hello", "domain": "{named}"}, None),
    ("GET /domains/{named}", None, None),
    ("GET /domains/{named}/agents", None, None),
    ("GET /domains/{named}/versions", None, None),
    ("GET /domains/{named}/versions/1", None, None),
    ("PATCH /domains/{named}", {"description": "Ours"}, None),
    ("DELETE /domains/{named}", None, None),
    ("POST /domains/{named}/duplicate", {"name": "Ours"}, None),
    ("POST /domains/{named}/versions/1/restore", None, None),
    ("GET /domains/{named}/servers", None, None),
    ("GET /domains/{named}/tool-versions", None, None),
    ("POST /domains/check/request",
     {"template": {"name": "x"}, "question": "Hello", "domain_id": "{named}"}, None),
    ("POST /domains/check/servers", {"template": {"name": "x"}, "domain_id": "{named}"}, None),
    ("GET /grants", None, {"resource_type": "domain", "resource_id": "{named}"}),
    ("PUT /grants", {"resource_type": "domain", "resource_id": "{named}",
                     "principal_type": "everyone", "right": "use"}, None),
    ("DELETE /grants", None, {"resource_type": "domain", "resource_id": "{named}",
                              "principal_type": "everyone"}),
]  # fmt: skip


@pytest.mark.parametrize(("operation", "body", "query"), NAMED)
@pytest.mark.parametrize("caller", ["member", "reviewer"])
def test_a_domain_that_is_withheld_does_not_exist(
    place: Installation, withheld: str, operation: str, body: Any, query: Any, caller: str
) -> None:
    of_another = told(place, operation, withheld, body, query, caller)

    assert of_another[0].status in (403, 404)
    assert of_another == told(place, operation, str(uuid4()), body, query, caller)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("chat", {"message": "Hello"}),
        ("query", {"source": "fi", "sql": "SELECT 1"}),
        ("query/artifact", {"source": "fi", "sql": "SELECT 1", "title": "Kept"}),
    ],
)
def test_a_session_of_it_is_not_continued(
    place: Installation, withheld: str, path: str, body: JSON
) -> None:
    things = place.things("own", "member")
    with place.services.database.transaction() as session:
        session.get_one(ConversationRow, UUID(things.session_id)).domain_id = UUID(withheld)

    operation = f"POST /sessions/{{session_id}}/{path}"
    answer = place.ask(operation, place.tokens["member"], things.ids, body, None)

    assert (answer.status_code, answer.json()["title"]) == (404, "Domain not found")


@pytest.mark.parametrize("operation", ["GET /domains", "GET /agents", "GET /catalog", "GET /server",
                                       "GET /usage/choices", "GET /sources"])  # fmt: skip
def test_what_is_offered_says_nothing_of_it(
    place: Installation, withheld: str, operation: str
) -> None:
    answer = place.ask(operation, place.tokens["member"], {}, None, None)

    assert answer.status_code == 200
    assert SECRET not in answer.text and withheld not in answer.text


@pytest.mark.parametrize("kind", ["session", "file"])
@pytest.mark.parametrize("caller", ["member", "reviewer"])
def test_grants_on_anothers_things_are_not_there(
    place: Installation, others: Things, kind: str, caller: str
) -> None:
    anothers, right = getattr(others, f"{kind}_id"), {"session": "read", "file": "query"}[kind]
    of_it = {"resource_type": kind, "resource_id": "{named}"}
    to = {"principal_type": "user", "principal_id": caller}
    asked = [
        ("GET /grants", None, of_it),
        ("PUT /grants", {**of_it, **to, "right": right}, None),
        ("DELETE /grants", None, {**of_it, **to}),
    ]

    for operation, body, query in asked:
        of_another = told(place, operation, anothers, body, query, caller)
        assert of_another[0].status == 404
        assert of_another == told(place, operation, str(uuid4()), body, query, caller)


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("POST /sessions", {"team": "{named}"}),
        ("POST /chat", {"message": "Hello", "team": "{named}"}),
        ("PATCH /sessions/{session_id}", {"team": "{named}"}),
    ],
)
def test_nothing_is_given_to_anothers_team(
    place: Installation, own: Things, operation: str, body: JSON
) -> None:
    of_another = told(place, operation, OTHER_TEAM, body, session_id=own.session_id)

    assert of_another[0].status == 404
    assert of_another == told(place, operation, "noteam", body, session_id=own.session_id)


def test_somebody_of_another_organisation_is_nobody_to_share_with(
    place: Installation, own: Things
) -> None:
    body = {"principal_type": "user", "principal_id": "{named}"}
    operation = "PUT /sessions/{session_id}/grants"

    of_another = told(place, operation, "foreigner", body, session_id=own.session_id)

    assert of_another[0].status == 404
    assert of_another == told(place, operation, "nobody", body, session_id=own.session_id)


def test_how_often_others_use_a_domain_is_not_counted(place: Installation) -> None:
    domain = place.ask("POST /domains", place.tokens["admin"], {}, {"name": "Counted"}, None).json()
    for caller in (STRANGER, STRANGER, "member"):
        body = {"domain": domain["id"]}
        assert place.ask("POST /sessions", place.tokens[caller], {}, body, None).status_code == 201

    def counted(caller: str) -> int:
        page = place.ask("GET /domains", place.tokens[caller], {}, None, {"counted": True}).json()
        return next(one["sessions"] for one in page["items"] if one["id"] == domain["id"])

    assert (counted("member"), counted("admin")) == (1, 3)


def link_to(place: Installation, session_id: str, maker: str) -> str:
    token = f"link-{uuid4().hex}"
    with place.services.database.transaction() as session:
        session.add(
            SessionLinkRow(
                conversation_id=UUID(session_id), made_by=maker,
                token_hash=sha256(token.encode()).hexdigest(),
                expires_at=func.clock_timestamp() + timedelta(days=1),
            )
        )  # fmt: skip
    return token


def test_a_link_opens_what_its_session_holds_and_no_more(
    place: Installation, others: Things
) -> None:
    own = place.things("own", "member")
    token = link_to(place, own.session_id, "member")
    operation = "GET /shared/{token}/results/{named}"

    of_own = told(place, operation, own.result_id, caller=STRANGER, token=token)
    of_another = told(place, operation, others.result_id, caller="reviewer", token=token)

    assert of_own[0].status == 200
    assert of_another[0].status == 404
    assert of_another == told(place, operation, str(uuid4()), caller="reviewer", token=token)


@pytest.mark.parametrize("why", ["left the team", "gave it to a team", "is disabled"])
def test_a_link_ends_when_who_made_it_could_make_it_no_more(place: Installation, why: str) -> None:
    maker = f"maker-{uuid4().hex[:8]}"
    with place.services.database.transaction() as session:
        session.add(UserRow(id=maker, name=maker, login=maker, organisation="here"))
        session.flush()
        session.add(TeamMemberRow(team_id=TEAM, user_id=maker))
    relation = "own" if why == "gave it to a team" else "the team's"
    session_id = place.things(relation, maker).session_id
    token = link_to(place, session_id, maker)
    path = "GET /shared/{token}"
    assert place.ask(path, place.tokens["member"], {"token": token}, None, None).status_code == 200

    with place.services.database.transaction() as session:
        of_maker = TeamMemberRow.user_id == maker
        if why == "is disabled":
            now = func.clock_timestamp()
            session.execute(update(UserRow).where(UserRow.id == maker).values(disabled_at=now))
        elif why == "left the team":
            session.execute(delete(TeamMemberRow).where(of_maker))
        else:
            given = update(ConversationRow).where(ConversationRow.id == UUID(session_id))
            session.execute(given.values(team=OTHER_TEAM))

    answer = place.ask(path, place.tokens["member"], {"token": token}, None, None)
    assert answer.status_code == 410, answer.text


@pytest.mark.parametrize(
    ("operation", "body"),
    [
        ("POST /approvals/{approval_id}/decision", {"type": "edit", "args": {"a": 1}}),
        ("POST /turns/{turn_id}/decisions", {"decisions": [{"type": "edit", "args": {"a": 1}}]}),
    ],
)
def test_a_call_runs_with_what_its_asker_or_the_agent_gave_it(
    place: Installation, operation: str, body: JSON
) -> None:
    """An edited call would run with the asker's rights, on what somebody else wants to see."""

    def edit(things: Things) -> int:
        values = {**things.ids, "turn_id": asking(place, things)}
        return place.ask(operation, place.tokens["member"], values, body, None).status_code

    assert edit(place.things("shared to continue", "member")) == 403
    assert edit(place.things("own", "member")) == 200


def test_who_may_continue_a_session_approves_its_calls(place: Installation) -> None:
    things = place.things("shared to continue", "member")
    operation = "POST /approvals/{approval_id}/decision"

    seen = place.ask("GET /approvals/{approval_id}", place.tokens["member"], things.ids, None, None)
    answer = place.ask(operation, place.tokens["member"], things.ids, {"type": "approve"}, None)

    assert seen.json()["allowed_decisions"] == ["approve", "reject"]
    assert answer.status_code == 200, answer.text


def asking(place: Installation, things: Things) -> str:
    """The id of the turn that waits for a decision."""
    with place.services.database.read() as session:
        return str(session.get_one(ApprovalRow, UUID(things.approval_id)).turn_id)


def test_a_key_that_another_used_is_a_new_one(place: Installation) -> None:
    key = {"Idempotency-Key": uuid4().hex, "Prefer": "respond-async"}

    def ask(caller: str) -> str:
        headers = {**key, "Authorization": f"Bearer {place.tokens[caller]}"}
        path, body = "/api/v1/chat", {"message": "The same words"}
        answer = place.client.post(path, json=body, headers=headers)
        assert answer.status_code == 202, answer.text
        return str(answer.json()["session_id"])

    assert ask(STRANGER) != ask("member")
    assert ask("member") == ask("member")


def test_files_come_into_nobody_elses_session(place: Installation, others: Things) -> None:
    def upload(session_id: str) -> Any:
        headers = {"Authorization": f"Bearer {place.tokens['member']}"}
        fields = {"session_id": session_id, "if_exists": "replace"}
        files = {"file": ("tangerine.csv", b"a,b\n1,2\n")}
        answer = place.client.post("/api/v1/files", data=fields, files=files, headers=headers)
        return comparable(answer, {"session_id": session_id})

    assert upload(others.session_id).status == 404
    assert upload(others.session_id) == upload(nothing().session_id)


def own_sessions(place: Installation) -> list[str]:
    query = {"limit": 200}
    page = place.ask("GET /sessions", place.tokens["member"], {}, None, query).json()
    return [one["id"] for one in page["items"]]
