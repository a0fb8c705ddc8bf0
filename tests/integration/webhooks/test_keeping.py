"""Who sets, sees and changes webhooks, and whose stop; what is refused, and what is never shown."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import delete, func, text, update

from backend.schemas.people.rights import Review
from backend.webhooks import service
from backend.webhooks.deliveries import forget_old
from db.models.people.user import TeamMemberRow, UserRow
from tests.integration.webhooks.conftest import Place
from tests.unit.web.test_webhook_signatures import documented

WAYS = [("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/test"), ("POST", "/secret"),
        ("GET", "/deliveries"), ("POST", f"/deliveries/{UUID(int=1)}/retry")]  # fmt: skip


def ask(person: TestClient, hook_id: str, method: str, way: str) -> Any:
    body = {"is_paused": True} if method == "PATCH" else None
    return person.request(method, f"/webhooks/{hook_id}{way}", json=body)


@pytest.mark.parametrize(("method", "way"), WAYS)
def test_anothers_webhook_does_not_exist(place: Place, method: str, way: str) -> None:
    (_, ada), (_, bob) = place.accounts.person(), place.accounts.person("admin")
    hook = place.hook(ada)

    answer = ask(bob, hook["id"], method, way)

    assert answer.status_code == 404
    assert answer.json()["detail"] == ask(bob, str(uuid4()), method, way).json()["detail"]
    assert not bob.get("/webhooks").json()["items"]
    assert ada.get(f"/webhooks/{hook['id']}").json()["paused"] is None


def test_the_second_wall_hides_webhooks_too(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    (_, ada), (_, bob) = place.accounts.person(), place.accounts.person()
    hook = place.hook(ada)
    place.ask(ada)
    monkeypatch.setattr(service, "shown_to", lambda _: text("true"))
    monkeypatch.setattr(service, "may_hold", lambda *_: True)

    assert len(ada.get("/webhooks").json()["items"]) == 1
    assert bob.get("/webhooks").json()["items"] == []
    assert bob.get(f"/webhooks/{hook['id']}/deliveries").status_code == 404


def test_a_teams_webhook_is_its_members(place: Place) -> None:
    team = place.accounts.team()
    (_, ada), (_, bob) = place.accounts.person(teams=[team]), place.accounts.person(teams=[team])
    hook = place.hook(ada, principal_type="team", principal_id=team)
    own = place.hook(ada, "/own")

    assert bob.get(f"/webhooks/{hook['id']}").json()["can_change"]
    place.ask(bob, team=team)
    place.sees(lambda: len(place.receiver.says()) == 4, "the team's was not told")
    place.ask(bob)
    place.ask(ada)

    place.sees(lambda: len(place.receiver.says("/own")) == 4, "her own was not told")
    assert len(place.receiver.says()) == 4  # what is not the team's is not told to it
    refused = bob.post(
        "/webhooks", json={"name": "x", "url": place.receiver.url, "principal_type": "team",
                           "principal_id": place.accounts.team()},
    )  # fmt: skip
    assert (refused.status_code, refused.json()["title"]) == (404, "Team not found")
    assert own["principal_name"] == own["set_by_name"]


def test_who_leaves_a_team_is_told_nothing_more(place: Place) -> None:
    team = place.accounts.team()
    (ada_id, ada), (_, bob) = (place.accounts.person(teams=[team]) for _ in range(2))
    hook = place.hook(ada, principal_type="team", principal_id=team)
    with place.accounts.database.transaction() as session:
        session.execute(delete(TeamMemberRow).where(TeamMemberRow.user_id == ada_id))

    place.ask(bob, team=team)
    place.sees(lambda: bob.get(f"/webhooks/{hook['id']}").json()["paused"], "it was not paused")

    assert bob.get(f"/webhooks/{hook['id']}").json()["paused"] == "rights"
    assert place.receiver.got == []
    resumed = bob.patch(f"/webhooks/{hook['id']}", json={"is_paused": False}).json()
    assert resumed["set_by"] != ada_id  # who resumes it answers for it
    place.sees(lambda: place.receiver.says(), "what waited was not told")


def test_a_disabled_persons_webhooks_stop(place: Place) -> None:
    ada_id, ada = place.accounts.person()
    place.hook(ada, events=["message_added"])
    place.receiver.answer = lambda _: 500
    place.ask(ada)
    place.sees(lambda: len(place.receiver.got) == 1, "nothing came")
    with place.accounts.database.transaction() as session:
        gone = update(UserRow).where(UserRow.id == ada_id)
        session.execute(gone.values(disabled_at=func.clock_timestamp()))

    paused = "SELECT paused FROM webhooks"
    place.sees(lambda: place.time_passes() or place.stack.query(paused)[0][0], "it goes on")

    assert place.stack.query(paused)[0][0] == "rights"
    assert len(place.receiver.got) == 1


def test_a_session_that_is_given_away_is_told_of_no_more(place: Place) -> None:
    team = place.accounts.team()
    _, ada = place.accounts.person(teams=[team])
    hook = place.hook(ada, events=["message_added"])
    place.receiver.answer = lambda _: 500
    turn = place.ask(ada)
    place.sees(lambda: place.receiver.got, "nothing came")

    ada.patch(f"/sessions/{turn['session_id']}", json={"team": team})
    place.sees(
        lambda: place.time_passes() or not place.deliveries(ada, hook, status="pending"), "it waits"
    )

    assert {one["status"] for one in place.deliveries(ada, hook)} == {"void"}


def test_everyones_needs_the_right_to_review_and_everybody_sees_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (_, ada), (_, reviewer) = place.accounts.person(), place.accounts.person("reviewer")
    admin = place.accounts.first_admin()
    everyone = {"name": "all", "url": place.receiver.url + "/key", "principal_type": "everyone"}
    app: Any = place.accounts.app

    made = place.hook(admin, "/key", principal_type="everyone")

    assert [one.post("/webhooks", json=everyone).status_code for one in (ada, reviewer)] == [
        403
    ] * 2
    (seen,) = ada.get("/webhooks").json()["items"]
    assert (seen["url"], seen["can_change"]) == (place.receiver.url, False)
    assert seen["principal_name"] == "Everyone"
    for method, way in WAYS[1:]:
        assert ask(ada, made["id"], method, way).status_code == 403
    monkeypatch.setattr(app.state.services.settings, "review", Review.OFF)
    app.state.callers.forget()
    assert admin.post("/webhooks", json=everyone).status_code == 403
    monkeypatch.undo()
    app.state.callers.forget()


def test_everyones_is_told_of_all_sessions_while_its_setter_may_review(place: Place) -> None:
    admin_id, admin = place.accounts.person("admin")
    (_, ada), team = place.accounts.person(), place.accounts.team()
    (_, bob) = place.accounts.person(teams=[team])
    hook = place.hook(admin, principal_type="everyone")

    place.ask(ada)
    place.ask(bob, team=team)
    place.sees(lambda: len(place.receiver.got) == 8, "not all came")
    with place.accounts.database.transaction() as session:
        session.execute(update(UserRow).where(UserRow.id == admin_id).values(role="reviewer"))
    place.ask(ada)

    paused = "SELECT paused FROM webhooks"
    place.sees(lambda: place.stack.query(paused)[0][0] == "rights", "it goes on")
    assert len(place.receiver.got) == 8
    assert hook["principal_id"] == ""


def test_a_webhook_of_a_domain_is_told_of_that_only(place: Place) -> None:
    _, ada = place.accounts.person()
    name = f"domain-{uuid4().hex[:8]}"
    domain = place.accounts.first_admin().post("/domains", json={"name": name}).json()
    hook = place.hook(ada, domain_id=domain["id"], events=["turn_finished"])

    place.ask(ada)
    place.ask(ada, domain=name)
    place.sees(lambda: place.receiver.got, "nothing came")

    contexts = [one.event["data"]["context"] for one in place.receiver.got]
    assert [one["domain_id"] for one in contexts] == [domain["id"]]
    assert (hook["domain"], len(place.deliveries(ada, hook))) == (name, 1)


def test_a_test_is_signed_and_shows_the_answer(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada)
    ada.patch(f"/webhooks/{hook['id']}", json={"is_paused": True})
    place.receiver.answer = lambda _: {"status": 418, "body": b"a \x00teapot" * 400}

    found = ada.post(f"/webhooks/{hook['id']}/test").json()

    assert (found["is_delivered"], found["status"]) == (False, 418)
    assert found["answer"].startswith("a ␀teapot") and len(found["answer"]) == 500
    (got,) = place.receiver.got
    assert got.event["type"] == "test"
    assert documented()(hook["secret"], got.headers, got.body)


def test_a_new_secret_signs_beside_the_old_one_for_a_day(place: Place) -> None:
    _, ada = place.accounts.person()
    hook, verify = place.hook(ada), documented()

    made = ada.post(f"/webhooks/{hook['id']}/secret").json()
    ada.post(f"/webhooks/{hook['id']}/test")
    place.stack.query_and_commit("UPDATE webhooks SET old_secret_until = clock_timestamp()")
    ada.post(f"/webhooks/{hook['id']}/test")

    during, after = place.receiver.got
    assert made["old_secret_until"]
    assert verify(hook["secret"], during.headers, during.body)
    assert verify(made["secret"], during.headers, during.body)
    assert verify(made["secret"], after.headers, after.body)
    assert not verify(hook["secret"], after.headers, after.body)


def test_secrets_and_addresses_are_in_no_log_trail_or_other_answer(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada, "/path-with-a-key")
    place.ask(ada)
    place.sees(lambda: len(place.receiver.says("/path-with-a-key")) == 4, "not all came")
    new = ada.post(f"/webhooks/{hook['id']}/secret").json()["secret"]
    admin = place.accounts.first_admin()

    trail = admin.get("/audit", params={"subject": "webhook"}).text
    shown = [ada.get(path).text for path in ("/webhooks", f"/webhooks/{hook['id']}/deliveries")]
    log = place.stack.log.read_text(errors="replace")
    stored = str(place.stack.query("SELECT * FROM webhooks"))

    assert '"made"' in trail and '"secret_rotated"' in trail and "127.0.0.1" in trail
    for secret in (hook["secret"], new):
        assert not [one for one in (trail, log, stored, *shown) if secret in one]
    assert "path-with-a-key" not in trail + log


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.com", "begins with https:// or http://"),
        ("example.com/hook", "begins with https:// or http://"),
        ("https://ada:secret@example.com", "names a user"),
        ("https://example.com/#part", "follows #"),
        ("https://exa mple.com", "begins with"),
        ("https://example.com:99999", "begins with"),
        ("http://10.0.0.1/hook", "does not allow its address"),
        ("http://[fd00::1]/hook", "does not allow its address"),
        ("http://169.254.169.254/latest", "does not allow its address"),
    ],
)
def test_an_address_that_cannot_be_told_is_refused(place: Place, url: str, said: str) -> None:
    _, ada = place.accounts.person()

    refused = ada.post("/webhooks", json={"name": "x", "url": url})

    assert refused.status_code == 422
    assert said in refused.json()["detail"]
    assert ada.get("/webhooks").json()["items"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"principal_id": "another"},
        {"events": []},
        {"events": ["text_delta"]},
        {"name": " "},
        {"domain_id": str(uuid4())},
        {"secret": "my own"},
    ],
)
def test_what_has_no_effect_or_no_meaning_is_refused(place: Place, body: dict[str, Any]) -> None:
    _, ada = place.accounts.person()

    refused = ada.post("/webhooks", json={"name": "x", "url": "https://example.com", **body})

    assert refused.status_code in (404, 422), refused.text
    assert ada.get("/webhooks").json()["items"] == []


def test_there_are_twenty_at_most(place: Place) -> None:
    _, ada = place.accounts.person()
    for number in range(service.MOST):
        place.hook(ada, f"/{number}")

    refused = ada.post("/webhooks", json={"name": "x", "url": place.receiver.url})

    assert "There are 20 webhooks already" in refused.json()["detail"]


def test_deliveries_are_paged_and_kept_for_a_week(place: Place) -> None:
    _, ada = place.accounts.person()
    hook = place.hook(ada)
    place.ask(ada)
    place.sees(lambda: len(place.deliveries(ada, hook, status="delivered")) == 4, "not all came")
    path = f"/webhooks/{hook['id']}/deliveries"

    first = ada.get(path, params={"limit": 3}).json()
    rest = ada.get(path, params={"limit": 3, "cursor": first["next_cursor"]}).json()

    assert [len(one["items"]) for one in (first, rest)] == [3, 1]
    assert rest["next_cursor"] is None
    place.stack.query_and_commit(
        "UPDATE webhook_deliveries SET created_at = clock_timestamp() - interval '8 days'"
        " WHERE event = 'turn_finished'"
    )
    with place.accounts.database.transaction() as session:
        assert forget_old(session) == 1
    assert len(place.deliveries(ada, hook)) == 3


def test_a_deleted_teams_webhooks_go_with_it(place: Place) -> None:
    team = place.accounts.team()
    _, ada = place.accounts.person(teams=[team])
    place.hook(ada, principal_type="team", principal_id=team)

    assert place.accounts.first_admin().delete(f"/teams/{team}").status_code == 204

    assert place.stack.query("SELECT count(*) FROM webhooks")[0][0] == 0
