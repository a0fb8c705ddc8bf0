"""What the tests of approvals share: a domain whose mails ask first."""

from collections.abc import Iterator

import pytest

from tests.integration.turns.approvals.post import Post, open_post
from tests.stack import Stack


@pytest.fixture
def post(stack: Stack) -> Iterator[Post]:
    with open_post(stack) as opened:
        yield opened
