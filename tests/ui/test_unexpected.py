"""An error that nobody expected leaves the frame of the page, and says what to do."""

import re

import pytest

from ui.features.conversation import component
from ui.features.sessions import sidebar


@pytest.mark.parametrize(("place", "what"), [(component, "show"), (sidebar, "show")])
def test_an_unexpected_error_is_told_in_words_and_logged(
    open_page, monkeypatch, caplog, place, what
):
    def fail(*given, **named):
        raise RuntimeError("a secret of ours")

    monkeypatch.setattr(place, what, fail)

    page = open_page()

    assert not page.exception
    assert ["could not be shown" in error.value for error in page.error] == [True]
    assert "a secret of ours" not in page.error[0].value
    assert "a secret of ours" in caplog.text
    assert re.search(r"under the request `[0-9a-f]{32}`", page.error[0].value)
    caplog.clear()
