"""What the tests of the sandbox share: one that has nothing loaded before."""

import pytest

from backend.sandbox.sandbox import Sandbox


@pytest.fixture(scope="module")
def sandbox():
    opened = Sandbox()
    yield opened
    opened.close()
