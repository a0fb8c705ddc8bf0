"""Calls that ask: decided in the chat and in the inbox, by clicks, across tabs and restarts."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from backend.schemas.approvals import MAX_MESSAGE_CHARS
from backend.types import JSON
from tests.e2e.desk import Desk
from tests.fakes import ScriptedModel
from tests.integration.scenes import make_domain, make_session
from tests.processes import stop_process
from tests.servers.tool import ToolServer, tool
from tests.stack import Stack

SCHEMA: JSON = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "amount": {"type": "integer"}},
    "required": ["to"],
}
RULES: list[JSON] = [{"tools": "mail", "action": "ask", "description": "Sends a mail."}]
ANN = {"name": "mail", "args": {"to": "ann", "amount": 12}}
BOB = {"name": "mail", "args": {"to": "bob", "amount": 7}}
EVE = {"name": "mail", "args": {"to": "eve", "amount": 3}}


@pytest.fixture
def tools() -> Iterator[ToolServer]:
    with ToolServer([tool("mail", SCHEMA)], lambda name, given: f"sent to {given['to']}") as server:
        yield server


def make_asking_session(stack: Stack, tools: ToolServer, title: str = "Orders") -> str:
    domain = make_domain(
        stack,
        mcp_servers={"tools": tools.template},
        middleware=[{"approvals": {"rules": RULES}}],
    )
    return make_session(stack, domain["name"], title)


def card(desk: Desk, text: str) -> Locator:
    """The card of the call whose arguments say so."""
    return desk.question("Sends a mail.", text)


def press(within: Locator, name: str) -> None:
    within.get_by_role("button", name=name, exact=True).click()


class Post:
    """The desk over an agent whose mails ask first, and the server that counts what is sent."""

    def __init__(self, desk: Desk, stack: Stack, model: ScriptedModel, tools: ToolServer) -> None:
        self.desk, self.stack, self.model, self.tools = desk, stack, model, tools

    def ask(self, *calls: JSON) -> str:
        """Open a session and let its agent make calls that ask."""
        session_id = make_asking_session(self.stack, self.tools)
        self.desk.open(f"?session={session_id}")
        self.ask_again(*calls)
        waits = "1 call" if len(calls) == 1 else f"{len(calls)} calls"
        self.desk.sees(f"Waiting for you: {waits} to decide")
        return session_id

    def ask_again(self, *calls: JSON, words: str = "All done.") -> None:
        self.model.steps = [{"tools": list(calls)}, {"text": words}]
        self.desk.ask("Do it")


@pytest.fixture
def post(desk: Desk, stack: Stack, model: ScriptedModel, tools: ToolServer) -> Post:
    return Post(desk, stack, model, tools)


@pytest.mark.journey
def test_approving_runs_the_call_once_also_after_a_reload_and_each_tab_hears_of_it(
    desk: Desk, post: Post, tools: ToolServer
):
    session_id = post.ask(ANN)
    desk.is_marked(session_id, "waits for approval")
    first = desk.page
    first.reload()
    expect(card(desk, "ann")).to_be_visible()
    desk.open(desk.query)
    assert tools.calls == []

    card(desk, "ann").get_by_role("button", name="Approve", exact=True).dblclick()

    desk.sees("approved by you", "All done.")
    desk.is_idle()
    desk.page = first
    desk.sees("approved by you", "All done.")
    assert tools.calls == [("mail", {"to": "ann", "amount": 12})]


def test_edited_arguments_run_and_stand_beside_those_of_before(
    desk: Desk, post: Post, tools: ToolServer
):
    post.ask(ANN)
    press(card(desk, "ann"), "Edit")
    desk.main.get_by_label("to", exact=True).fill("eve")
    desk.main.get_by_label("amount (optional)").fill("a few")
    desk.press("Run with these arguments")
    desk.sees("Enter a whole number")
    assert tools.calls == []

    desk.main.get_by_label("amount (optional)").fill("3")
    desk.press("Run with these arguments")

    desk.sees("edited by you", "→ eve", "→ 3", "All done.")
    assert tools.calls == [("mail", {"to": "eve", "amount": 3})]


def test_the_agent_is_told_why_a_call_was_rejected_in_words_that_are_not_too_long(
    desk: Desk, post: Post, tools: ToolServer
):
    post.ask(ANN)
    words = "not to her" + "w" * (MAX_MESSAGE_CHARS - 9)
    press(card(desk, "ann"), "Reject")
    reason = desk.main.get_by_label("Reason, shown to the agent")

    reason.fill(words)
    desk.press("Reject this call")

    desk.sees("It has 20,001 characters; the maximum is 20,000. Shorten it.")
    expect(reason).to_have_value(words)
    reason.fill(words[:-1])
    desk.press("Reject this call")
    desk.sees("rejected by you", "All done.")
    assert words[:-1] in str(post.model.messages[-1][-1])
    assert tools.calls == []


def test_calls_are_decided_by_keys_and_the_focus_goes_along(
    desk: Desk, post: Post, tools: ToolServer
):
    post.ask(ANN, BOB)
    desk.is_at_rest()
    first = card(desk, "ann")

    first.get_by_role("button", name="Reject", exact=True).press("Enter")
    reason = desk.main.get_by_label("Reason, shown to the agent")
    expect(reason).to_be_focused()
    first.get_by_role("button", name="Back", exact=True).press("Enter")
    expect(first.get_by_role("button", name="Reject", exact=True)).to_be_focused()
    desk.page.keyboard.press("Enter")
    expect(reason).to_be_focused()
    desk.page.keyboard.type("not to her")
    first.get_by_role("button", name="Reject this call").press("Enter")
    expect(card(desk, "bob")).to_be_focused()
    card(desk, "bob").get_by_role("button", name="Approve", exact=True).press("Enter")

    expect(desk.composer).to_be_focused()
    desk.sees("rejected by you", "All done.")
    assert tools.calls == [("mail", {"to": "bob", "amount": 7})]


@pytest.mark.journey
def test_calls_are_decided_in_the_chat_and_in_the_inbox_in_which_what_is_written_stays(
    desk: Desk, post: Post, tools: ToolServer
):
    session_id = post.ask(ANN, BOB, EVE)
    chat = desk.page
    press(card(desk, "ann"), "Approve")
    desk.sees("Waiting for you: 2 calls to decide")
    assert tools.calls == []

    desk.open()
    desk.link("Inbox").click()
    desk.sees("Orders")
    press(card(desk, "bob"), "Approve")
    desk.sees("approved by you")
    press(card(desk, "eve"), "Respond")
    answer = desk.main.get_by_label("Result for the agent")
    answer.press_sequentially("sent by")
    other = make_asking_session(post.stack, tools, "Bills")
    post.model.steps = [{"tools": [ANN]}, {"text": "All done."}]
    post.stack.submit("And the bills", other)
    desk.sees("Bills")
    expect(answer).to_have_value("sent by")
    expect(answer).to_be_focused()
    answer.press_sequentially(" hand")
    desk.press("Send as the result")
    desk.sees("answered by you")
    expect(desk.link("Inbox")).to_contain_text("1")
    post.stack.client.post(f"/sessions/{other}/stop")

    desk.page = chat
    desk.sees("All done.")
    assert sorted(given["to"] for _, given in tools.calls) == ["ann", "bob"]
    assert session_id in desk.page.url


def test_what_was_allowed_for_good_asks_no_more_until_it_is_taken_back_and_then_can_be_stopped(
    desk: Desk, post: Post, tools: ToolServer
):
    session_id = post.ask(ANN)
    desk.main.get_by_text("allow mail for the rest").click()
    press(card(desk, "ann"), "Approve")
    desk.sees("All done.")
    desk.is_idle()
    post.ask_again(BOB, words="Second done.")
    desk.sees("Second done.")
    desk.is_idle()
    assert len(tools.calls) == 2

    desk.choose(session_id, "Allowed tools")
    dialog = desk.page.get_by_role("dialog")
    press(dialog, "Ask again")
    expect(dialog).to_contain_text("No tools run without asking")
    desk.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    desk.is_at_rest()
    post.ask_again(BOB)

    desk.sees("Waiting for you: 1 call to decide")
    expect(card(desk, "bob")).to_be_visible()
    desk.press("Stop")
    desk.is_idle()
    desk.sees("withdrawn")
    expect(card(desk, "bob")).to_have_count(0)
    assert len(tools.calls) == 2


def test_all_processes_restart_between_asking_and_deciding(
    context: BrowserContext, own_stack: Stack, model: ScriptedModel, tools: ToolServer
):
    desk = Desk(context, own_stack.start_ui())
    session_id = Post(desk, own_stack, model, tools).ask(ANN)
    own_stack.kill_workers()
    for process in (own_stack.api, *own_stack.others):
        stop_process(process)
    own_stack.others.clear()

    own_stack.start_api()
    own_stack.start_worker()
    desk = Desk(context, own_stack.start_ui())
    desk.open(f"?session={session_id}")
    press(card(desk, "ann"), "Approve")

    desk.sees("All done.")
    assert tools.calls == [("mail", {"to": "ann", "amount": 12})]
