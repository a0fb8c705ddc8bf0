"""What the tests of branches share: a model whose answers tell which message they are to."""

from collections.abc import Iterator

import pytest

from tests.fakes import ScriptedModel
from tests.stack import Stack


@pytest.fixture(autouse=True)
def answers(stack: Stack, model: ScriptedModel) -> Iterator[None]:
    """The model answers each message with its words and the number of the request."""
    model.steps = lambda messages, body: {
        "text": f"{messages[-1]['content']}! ({len(model.requests)})"
    }
    yield
    model.steps = ()
