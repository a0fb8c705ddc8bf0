"""Files of another version of the pages: browsers ask again, as another server may have them."""

import pytest
from starlette.responses import PlainTextResponse
from starlette.testclient import TestClient

from ui import index_page
from ui.other_versions import MOST, ask_others
from ui.shared import assets

OTHER = f"{assets.ROOT}/0123456789ab/conversation/index.js"


@pytest.fixture
def browser() -> TestClient:
    return TestClient(ask_others(PlainTextResponse("as it is here")), follow_redirects=False)


@pytest.mark.parametrize("path", [OTHER, "/static/js/index.of-another-version.js"])
def test_a_file_of_another_version_is_asked_for_again_and_then_answered_as_it_is_here(
    browser: TestClient, path: str
) -> None:
    places = [path]
    while (answer := browser.get(places[-1])).is_redirect:
        assert answer.headers["cache-control"] == "no-store"
        places.append(answer.headers["location"])

    assert places == [path, *(f"{path}?again={number + 1}" for number in range(MOST))]
    assert answer.text == "as it is here"


@pytest.mark.parametrize("asked", ["again=x", "again=-1", f"again={'9' * 5_000}", "again=٣"])
def test_what_no_page_of_ours_asks_for_is_answered_at_once(browser: TestClient, asked: str) -> None:
    assert browser.get(f"{OTHER}?{asked}").text == "as it is here"


def test_pages_and_files_of_this_version_are_answered_at_once(browser: TestClient) -> None:
    html = index_page.INDEX.read_text()
    own = [part.split('"')[0] for part in html.split('="./static/')[1:]]
    assert own
    paths = [f"{assets.PATH}/keys.js", "/", "/data", *(f"/static/{one}" for one in own)]

    assert {browser.get(path).status_code for path in paths} == {200}
    assert browser.post(OTHER).status_code == 200
