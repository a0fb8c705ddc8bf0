"""Where reviewers need no reason: what they read of a session is still shown to its owner."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.people.matrix.installation import STRANGER, Installation, installation
from tests.integration.people.matrix.rules import OF_SESSIONS
from tests.integration.people.matrix.things import WORD
from tests.stack import Servers

LISTS = {
    "GET /sessions/csv": {"scope": "all"},
    "GET /search": {"q": WORD, "scope": "all"},
    "GET /approvals": {"scope": "all"},
    "GET /tasks": {"scope": "all"},
}


@pytest.fixture(scope="module")
def place(servers: Servers, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    redis_url = servers.new_redis()
    folder: Path = tmp_path_factory.mktemp("reviewers")
    with installation(servers.new_database(), redis_url, folder, review="on") as running:
        yield running
    servers.stop_redis(redis_url)


def is_noted(place: Installation, session_id: str) -> bool:
    path, values = "GET /sessions/{session_id}/reviews", {"session_id": session_id}
    return bool(place.ask(path, place.tokens[STRANGER], values, None, None).json()["items"])


@pytest.mark.parametrize("operation", [one for one in sorted(OF_SESSIONS) if one[:3] == "GET"])
def test_what_was_said_is_read_by_nobody_in_secret(place: Installation, operation: str) -> None:
    needs, things = OF_SESSIONS[operation], place.things("another's", "reviewer")

    answer = place.ask(operation, place.tokens["reviewer"], vars(things), needs.body, needs.query)

    says = WORD in answer.text.replace(f"{WORD} {STRANGER}", "").replace(WORD.lower(), "")
    assert not says or is_noted(place, things.session_id), answer.text


@pytest.mark.parametrize("operation", sorted(LISTS))
def test_lists_of_everybody_say_nothing_of_what_was_said(
    place: Installation, operation: str
) -> None:
    place.things("another's", "admin")
    query = LISTS[operation]

    answer = place.ask(operation, place.tokens["admin"], {}, None, query)

    assert answer.status_code == 200, answer.text
    assert WORD not in answer.text.replace(f"{WORD} {STRANGER}", "")
