"""Redis goes away while a person follows a turn: the page falls back to what is stored."""

from playwright.sync_api import BrowserContext

from tests.e2e.desk import Desk, slowly
from tests.fakes import ScriptedModel
from tests.stack import Servers, Stack

LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(60)) + "\n\nThe end."


def test_a_running_turn_is_followed_to_its_end(
    context: BrowserContext, servers: Servers, own_stack: Stack, model: ScriptedModel
):
    model.steps = slowly(LONG)
    desk = Desk(context, own_stack.start_ui())
    desk.ask("Tell me")
    desk.sees("Paragraph 3 of")

    servers.newest_redis.stop()

    desk.sees("The end.", "Live updates pause; what you send is kept and runs")
    desk.is_idle()
