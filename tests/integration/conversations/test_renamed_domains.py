"""A domain is the same by any name: its budgets, its sessions and its usage follow a rename."""

from uuid import uuid4

from backend.types import JSON
from tests.fakes import script
from tests.integration.scenes import list_all, make_domain, make_session
from tests.stack import Stack

MONTH = {"limits": {"domain_tokens_per_month": 100}}
USED_UP = "Domain budget used up"


def rename(stack: Stack, domain: JSON) -> str:
    """Give the domain an unused name; return that."""
    name = f"renamed-{uuid4().hex[:8]}"
    renamed = stack.client.patch(f"/domains/{domain['id']}", json={"name": name})
    assert renamed.status_code == 200, renamed.text
    return name


def use_up(stack: Stack, domain: JSON) -> str:
    """Use the month's budget up in a session; return its id."""
    session_id = make_session(stack, domain["name"])
    assert stack.chat(script({"text": "word " * 400}), session_id)["status"] == "succeeded"
    return session_id


def fault_in(stack: Stack, session_id: str) -> str | None:
    """The title of the error that one more message has, if any."""
    turn = stack.finished(stack.submit(script({"text": "more"}), session_id)["turn_id"])
    return turn["error"]["title"] if turn["error"] else None


def month_of(stack: Stack, session_id: str) -> float:
    """What is left of the month's budget, as the session says it."""
    (budget,) = stack.client.get(f"/sessions/{session_id}/usage").json()["budgets"]
    return budget["left"]


def test_a_renamed_domain_has_used_what_it_has_used(stack: Stack) -> None:
    domain = make_domain(stack, **MONTH)
    old = use_up(stack, domain)

    name = rename(stack, domain)

    new = make_session(stack, name)
    assert [fault_in(stack, each) for each in (old, new)] == [USED_UP] * 2
    assert [month_of(stack, each) for each in (old, new)] == [0, 0]
    report = stack.client.get("/usage", params={"by": "domain"}).json()
    (budgets,) = [one["budgets"] for one in report["domains"] if one["domain"] == name]
    assert budgets[0]["left"] == 0


def test_a_domain_that_takes_over_a_name_takes_over_no_usage(stack: Stack) -> None:
    domain = make_domain(stack, **MONTH)
    use_up(stack, domain)
    rename(stack, domain)

    stack.client.post("/domains", json={"name": domain["name"], **MONTH}).raise_for_status()

    session_id = make_session(stack, domain["name"])
    assert month_of(stack, session_id) == 100
    assert fault_in(stack, session_id) is None


def test_sessions_are_found_and_counted_by_their_domains_new_name(stack: Stack) -> None:
    domain = make_domain(stack)
    word = f"w{uuid4().hex}"
    for _ in range(2):
        stack.chat(script({"text": word}), make_session(stack, domain["name"]))

    name = rename(stack, domain)
    stack.chat(script({"text": word}), make_session(stack, name))

    found = {"domain": domain["name"]}, {"domain": name}
    listed = [stack.client.get("/sessions", params=each).json()["items"] for each in found]
    assert [len(each) for each in listed] == [0, 3]
    assert {each["domain"] for each in listed[1]} == {name}
    hits = [stack.client.get("/search", params={"q": word, **each}).json() for each in found]
    assert [len({hit["session_id"] for hit in each["items"]}) for each in hits] == [0, 3]
    counted = list_all(stack, "/domains", counted=True)
    assert [one["sessions"] for one in counted if one["name"] == name] == [3]
    usage = stack.client.get("/usage", params={"by": "domain"}).json()["items"]
    turns = {row["key"]: row["turns"] for row in usage}
    assert (turns.get(domain["name"]), turns[name]) == (None, 3)


def test_a_deleted_domain_keeps_its_last_name_and_its_usage(stack: Stack) -> None:
    domain = make_domain(stack, **MONTH)
    old = make_session(stack, domain["name"])
    name = rename(stack, domain)
    use_up(stack, {**domain, "name": name})

    stack.client.delete(f"/domains/{domain['id']}").raise_for_status()
    stack.client.post("/domains", json={"name": name, **MONTH}).raise_for_status()

    session = stack.client.get(f"/sessions/{old}").json()
    assert (session["domain"], session["domain_id"]) == (name, None)
    assert fault_in(stack, old) == USED_UP
    assert fault_in(stack, make_session(stack, name)) is None


def test_a_deleted_domain_has_its_usage_from_before_a_rename_under_its_last_name(
    stack: Stack,
) -> None:
    domain = make_domain(stack, **MONTH)
    old = use_up(stack, domain)
    used = month_of(stack, old)
    name = rename(stack, domain)
    fault_in(stack, make_session(stack, name))
    stack.client.post("/domains", json={"name": domain["name"]}).raise_for_status()

    stack.client.delete(f"/domains/{domain['id']}").raise_for_status()

    assert month_of(stack, old) == used == 0
    assert fault_in(stack, old) == USED_UP
    usage = stack.client.get("/usage", params={"by": "domain"}).json()["items"]
    turns = {row["key"]: row["turns"] for row in usage}
    assert (turns.get(domain["name"]), turns[name]) == (None, 1)


def test_usage_under_two_names_on_a_day_is_added_up_when_the_domain_is_deleted(
    stack: Stack,
) -> None:
    domain = make_domain(stack)
    stack.chat(script({"text": "one"}), make_session(stack, domain["name"]))
    name = rename(stack, domain)
    stack.chat(script({"text": "two"}), make_session(stack, name))
    params = {"by": "domain"}
    before = stack.client.get("/usage", params=params).json()

    stack.client.delete(f"/domains/{domain['id']}").raise_for_status()

    after = stack.client.get("/usage", params=params).json()
    assert (after["total"], after["items"]) == (before["total"], before["items"])
    assert [row["turns"] for row in after["items"] if row["key"] == name] == [2]
