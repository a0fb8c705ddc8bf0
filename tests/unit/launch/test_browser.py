"""A browser counts only after it has started."""

from pathlib import Path

import pytest

from launch.browser import GIVEN, NoBrowser, find_browser, starts


def program(folder: Path, text: str) -> Path:
    path = folder / "browser"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def test_a_file_that_does_not_start_is_no_browser(tmp_path):
    assert not starts(tmp_path / "missing")
    assert not starts(program(tmp_path, "exit 1"))
    assert not starts(program(tmp_path, "echo hello"))


def test_a_given_browser_that_starts_is_taken(tmp_path, monkeypatch):
    browser = program(tmp_path, "echo '<html></html>'")
    monkeypatch.setenv(GIVEN, str(browser))

    assert find_browser() == browser


def test_a_given_browser_that_does_not_start_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv(GIVEN, str(program(tmp_path, "exit 1")))

    with pytest.raises(NoBrowser, match=r"BROWSER_PATH=.*does not start"):
        find_browser()
