"""What the tests of the pages share: a fake API, and a page opened over it."""

import functools
from collections.abc import Iterator

import pytest
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from tests.ui.fakes.api import serve
from tests.ui.fakes.store import Store
from ui.features.artifacts.state import MEMORY, Panel

# Each opened page would read the metadata of all installed packages anew.
manifest_scanner.scan_component_manifests = functools.cache(
    manifest_scanner.scan_component_manifests
)


@pytest.fixture(autouse=True)
def _no_unexpected_error(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A page takes unexpected errors in; no test may pass over one."""
    yield
    said = [record.getMessage() for record in caplog.get_records("call")]
    assert "The page could not be drawn" not in said


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def api(store, monkeypatch):
    with serve(store) as url:
        monkeypatch.setenv("API_URL", url)
        yield url


@pytest.fixture
def open_page(api):
    """Open the pages at a URL's query, as a browser would."""

    def open_at(**query) -> AppTest:
        page = AppTest.from_file("../../ui/app.py", default_timeout=60)
        for name, value in query.items():
            page.query_params[name] = str(value)
        return page.run()

    return open_at


@pytest.fixture
def open_panel(api):
    """Open the chat page with this in its panel, as the conversation asks for it."""

    def open_it(**asked) -> AppTest:
        page = AppTest.from_file("../../ui/app.py", default_timeout=60)
        page.session_state[MEMORY] = panel = Panel()
        panel.take(asked)
        return page.run()

    return open_it
