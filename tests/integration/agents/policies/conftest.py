"""What the tests of policies share: policies made for one test, and a tool that only looks."""

from typing import Any

import pytest
from pydantic import BaseModel

from backend.agents.middleware import registry
from backend.agents.middleware.registry import PolicySpec
from tests.servers.tool import ToolServer, tool


class NoSettings(BaseModel):
    pass


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Add policies for one test: name and how it is built."""

    def add(**policies: Any) -> None:
        made = {
            name: PolicySpec(NoSettings, lambda _, __, policy=policy: policy)
            for name, policy in policies.items()
        }
        monkeypatch.setattr(registry, "MIDDLEWARE", {**registry.MIDDLEWARE, **made})

    return add


@pytest.fixture
def looking() -> Any:
    with ToolServer([tool("look", readOnlyHint=True)], lambda name, args: str(args)) as server:
        yield server
