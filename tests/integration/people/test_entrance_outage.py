"""The service behind the pages is away, or nobody signs in: what the entrance says then."""

from pathlib import Path

import pytest
from websockets.exceptions import ConnectionClosed

from tests.conftest import make_stack
from tests.fakes import ScriptedModel
from tests.integration.people.people import PASSWORD
from tests.integration.people.test_entrance import tab, visitor
from tests.stack import Servers, Stack


def test_an_outage_of_the_service_ends_no_sign_in(
    servers: Servers, model: ScriptedModel, tmp_path: Path
) -> None:
    with make_stack(servers, model, tmp_path, AUTH="local") as stack:
        pages = stack.start_ui()
        _, said = stack.run("-m", "backend.people.first_admin")
        browser, token = visitor(pages), said.strip().rpartition("/")[2]
        given = {"name": "A", "login": "a", "password": PASSWORD, "again": PASSWORD}
        browser.post(f"/sign-in/link/{token}", data=given)
        socket, _ = tab(pages, browser)

        stack.kill_api()
        with pytest.raises((TimeoutError, ConnectionClosed)) as nothing:
            while True:
                socket.recv(timeout=7)
        known = browser.get("/colloquy/person").status_code
        unknown = visitor(pages, Cookie="colloquy=cqs_x").get("/colloquy/person").status_code
        socket.close()

    assert nothing.type is TimeoutError
    assert (known, unknown) == (200, 503)


@pytest.mark.parametrize("path", ["/sign-in", "/sign-in?next=//evil.example", "/sign-in/out"])
def test_where_nobody_signs_in_the_entrance_leads_to_the_first_page(
    stack: Stack, path: str
) -> None:
    answer = visitor(stack.start_ui()).get(path)

    assert (answer.status_code, answer.headers["location"]) == (303, "/")
