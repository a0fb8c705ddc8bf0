"""The administrators' page of tool servers."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest

from backend.schemas.conversations.sessions import Problem
from backend.schemas.domains.servers import ServerReport, ServerTool, ToolVersion, VersionStatus
from tests.ui.seen import words
from ui.features.servers.words import changes

SCHEMA = {"type": "object"}


def add_domain(store):
    servers = {"ledger": {"transport": "stdio", "command": "serve"}}
    return store.domains.add(mcp_servers=servers)


def a_version(status=VersionStatus.PENDING, before="Books it.", now="Books it, and mails it."):
    return ToolVersion(
        id=uuid4(), server="ledger", tool="book", status=status,
        description={"name": "book", "description": now, "inputSchema": SCHEMA},
        before={"name": "book", "description": before, "inputSchema": SCHEMA} if before else None,
        seen_at=datetime.now(UTC), decided_by=None, decided_at=None,
    )  # fmt: skip


def a_report(**fields):
    tool = ServerTool(
        name="book", called="ledger__book", description="Books *it*.", input_schema=SCHEMA,
        effect="acts", status=VersionStatus.PENDING,
    )  # fmt: skip
    values = {"name": "ledger", "transport": "stdio", "answers": True, "seconds": 0.5}
    return ServerReport(**values | {"tools": [tool]} | fields)


@pytest.fixture
def open_servers(open_page):
    def open_it():
        return open_page().switch_page("app_pages/administration/servers.py").run()

    return open_it


def test_a_domain_is_offered_however_many_others_there_are(open_servers, store):
    for number in range(200):
        store.domains.add(f"a-{number}")
    servers = {"ledger": {"transport": "stdio", "command": "serve"}}
    store.domains.add("last", mcp_servers=servers)

    assert open_servers().selectbox[0].options == ["last"]


def test_without_servers_it_says_where_to_name_them(open_servers):
    page = open_servers()

    assert not page.exception
    assert "No domain has tool servers" in words(page)


def test_a_server_stands_with_its_tools(open_servers, store):
    add_domain(store)
    store.servers.reports = [a_report()]

    page = open_servers()

    assert not page.exception
    said = words(page).replace("\\", "")
    assert "child process of a worker · answered in 0.5 s · 1 tool" in said
    (tool,) = [one for one in page.expander if "book" in one.label]
    label = tool.label.replace("\\", "").replace("&#58;", ":")
    assert "called ledger__book" in label and "waiting for a decision" in label
    assert "Books *it*." in words(page)


def test_tools_that_no_turn_can_use_are_named(open_servers, store):
    add_domain(store)
    store.servers.reports = [a_report(notices=["Tools of the tool server ledger cannot be used."])]

    page = open_servers()

    assert not page.exception
    assert "Tools of the tool server ledger cannot be used" in words(page)


def test_a_missing_server_says_why_and_that_turns_go_on(open_servers, store):
    add_domain(store)
    problem = "it did not answer within 10 seconds"
    store.servers.reports = [
        a_report(answers=False, problem=problem, paused_seconds=12, seconds=10, tools=[])
    ]

    said = words(open_servers()).replace("\\", "")

    assert "It did not answer within 10 seconds. Turns continue without its tools." in said
    assert "skip it for another 12 s" in said


def test_looking_takes_time_so_that_it_is_done_once_until_somebody_asks_again(open_servers, store):
    domain = add_domain(store)
    page = open_servers()
    page.run()
    looked = f"GET /api/v1/domains/{domain.id}/servers?"
    assert store.calls.count(looked) == 1

    page.button(key="look-again").click().run()

    assert store.calls.count(looked) == 2


def test_what_waits_is_shown_as_a_diff_and_accepted(open_servers, store):
    add_domain(store)
    version = a_version()
    store.servers.versions = [version]
    page = open_servers()
    assert "-Books it.\n+Books it, and mails it." in page.code[0].value

    page.button(key=f"accept-{version.id}").click().run()

    assert version.status is VersionStatus.ACCEPTED
    assert "Waiting for a decision" not in [one.value for one in page.subheader]
    assert page.button(key=f"refuse-{version.id}")


def test_what_waits_is_refused(open_servers, store):
    add_domain(store)
    version = a_version(before=None)
    store.servers.versions = [version]
    page = open_servers()
    assert "new, seen" in words(page).lower()

    page.button(key=f"refuse-{version.id}").click().run()

    assert version.status is VersionStatus.REFUSED


def test_a_diff_holds_all_that_is_said():
    shown = changes(a_version())

    assert '"inputSchema"' in shown
    assert shown.splitlines()[:2] == ["-Books it.", "+Books it, and mails it."]


def test_no_worker_is_said_and_what_waits_can_still_be_decided(open_servers, store):
    add_domain(store)
    store.servers.versions = [a_version()]
    problem = Problem(title="Tool servers not checked", status=503, detail="No worker has looked.")
    store.servers.refusal = problem

    page = open_servers()

    assert not page.exception
    assert "No worker has looked" in words(page)
    assert [button for button in page.button if button.label == "Accept"]


def test_others_are_told_that_it_is_for_administrators(open_servers, store):
    store.server.permissions = []

    page = open_servers()

    assert "administrators" in page.info[0].value
    assert not page.selectbox
